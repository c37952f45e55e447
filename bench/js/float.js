(() => {
	let x = 0.5, sum = 0;
	for (let i = 1; i <= 2500000; i++) {
		x = x * 3.7 * (1 - x);
		sum += x / i;
	}
	return sum;
})();
