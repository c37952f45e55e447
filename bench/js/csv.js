// Sums the amounts of a large file by region, line by line.
const fs = require("fs");
const readline = require("readline");

(async () => {
	const totals = {};
	const lines = readline.createInterface({
		input: fs.createReadStream("CSV"),
		crlfDelay: Infinity,
	});
	let first = true;
	for await (const line of lines) {
		if (first) {
			first = false;
			continue;
		}
		const [, region, amount] = line.split(",");
		totals[region] = (totals[region] || 0) + Number(amount);
	}
	console.log(JSON.stringify(totals));
})();
