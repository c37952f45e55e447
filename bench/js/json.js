(() => {
	const orders = [];
	for (let i = 0; i < 3000; i++)
		orders.push({ id: i, customer: "name " + i, paid: i % 3 === 0,
			price: i * 1.25, note: null, tags: ["x", String(i)] });
	let total = 0;
	for (let k = 0; k < 8; k++) {
		const text = JSON.stringify(orders);
		total += text.length + JSON.parse(text).length;
	}
	return total;
})();
