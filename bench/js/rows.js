(() => {
	const rows = [];
	for (let i = 0; i < 25000; i++)
		rows.push({ region: "r" + i % 40, quantity: i % 9, price: i * 0.5 });
	const groups = {};
	const sold = rows.filter((row) => row.quantity > 1)
		.map((row) => ({ ...row, total: row.quantity * row.price }));
	for (const row of sold)
		(groups[row.region] ??= []).push(row);
	return Object.entries(groups).map(([region, list]) =>
		[region, list.reduce((sum, row) => sum + row.total, 0)]);
})();
