(() => {
	let x = 20261130;
	const list = [];
	for (let i = 0; i < 60000; i++) {
		x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
		list.push(x);
	}
	list.sort((a, b) => a - b);
	return [list[0], list[30000], list[59999]];
})();
