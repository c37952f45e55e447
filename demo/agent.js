// What an agent might write for Node: total sales by region, line by line.
const fs = require('node:fs');
const readline = require('node:readline');

async function totals(path) {
	const cents = new Map();
	const lines = readline.createInterface({ input: fs.createReadStream(path) });
	let column = null;

	for await (const line of lines) {
		const cells = line.split(',');
		if (column === null) {
			column = { region: cells.indexOf('region'), amount: cells.indexOf('amount') };
			continue;
		}
		const region = cells[column.region];
		const amount = Math.round(Number(cells[column.amount]) * 100);
		cents.set(region, (cents.get(region) ?? 0) + amount);
	}
	return [...cents].sort(([a], [b]) => (a < b ? -1 : 1));
}

async function main() {
	for (const [region, sum] of await totals('/data/sales.csv'))
		console.log(`${region} ${(sum / 100).toFixed(2)}`);
}

main();
