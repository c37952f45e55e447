(() => {
	const seen = new Map();
	for (let i = 0; i < 160000; i++) {
		const key = "key" + (i * 7919) % 4999;
		seen.set(key, (seen.get(key) ?? 0) + i);
	}
	let sum = 0;
	for (const [key, value] of seen)
		sum += value + key.length;
	return sum;
})();
