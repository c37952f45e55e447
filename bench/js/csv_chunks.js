// The same sums, by reading pieces into a buffer.
const fs = require("fs");
const fd = fs.openSync("CSV", "r");
const piece = Buffer.alloc(1 << 16);
const totals = {};
let rest = "", first = true, n;

while ((n = fs.readSync(fd, piece, 0, piece.length, null)) > 0) {
	const lines = (rest + piece.toString("latin1", 0, n)).split("\n");
	rest = lines.pop();
	for (const line of lines) {
		if (first) {
			first = false;
			continue;
		}
		const [, region, amount] = line.split(",");
		totals[region] = (totals[region] || 0) + Number(amount);
	}
}
fs.closeSync(fd);
console.log(JSON.stringify(totals));
