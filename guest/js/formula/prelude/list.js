// Of many values one.
(function(native, F) {
const { numbers, number } = F;

const sum = (list) => {
	let s = 0;
	for (let i = 0; i < list.length; i++)
		s += list[i];
	return s;
};
// Far from zero the sum of squares must not lose its digits.
const spread = (list, less) => {
	const n = list.length - less;
	if (n <= 0)
		F.div('too few numbers');
	const mean = sum(list) / list.length;
	let s = 0;
	for (let i = 0; i < list.length; i++)
		s += (list[i] - mean) ** 2;
	return s / n;
};
const sorted = (list) => list.sort((a, b) => a - b);
// The numbers of a list in their order.
const ordered = F.ofColumn((list) => sorted(numbers([list])));
// How many of them are less than x, or that and equal.
const below = (list, x, equal) => {
	let low = 0, high = list.length;
	while (low < high) {
		const mid = (low + high) >> 1;
		if (list[mid] < x || equal && list[mid] === x)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
};
const some = (list, what) => list.length ? list :
	F.num(`${what} of no numbers`);

// A date if nothing but dates was given.
const dated = (args, n) => {
	for (const v of F.flat(args)) {
		if (F.blank(v))
			continue;
		if (!(v instanceof Date))
			return n;
	}
	return args.length && n ? F.fromSerial(n) : n;
};
const extreme = (args, how) => {
	const list = numbers(args);
	if (!list.length)
		return 0;
	let best = list[0];
	for (let i = 1; i < list.length; i++)
		best = how(best, list[i]);
	return typeof args[0] === 'number' ? best : dated(args, best);
};

const percentile = (list, k) => {
	k = number(k);
	some(list, 'a percentile');
	if (!(k >= 0 && k <= 1))
		F.num('a percentile lies between 0 and 1');
	sorted(list);
	const at = k * (list.length - 1), low = Math.floor(at);
	return low + 1 < list.length ? list[low] + (at - low) *
		(list[low + 1] - list[low]) : list[low];
};
const median = (args) => percentile(some(numbers(args), 'the median'), 0.5);

// The numbers of `values` where `list` meets the condition.
const chosen = (list, condition, values) => {
	const test = F.criterion(condition), cells = F.list(list);
	const from = values === undefined ? cells : F.list(values);
	const found = [];
	for (let i = 0; i < cells.length; i++) {
		if (!test(cells[i]) || i >= from.length)
			continue;
		const v = from[i];
		if (v instanceof F.Failure)
			throw v;
		if (typeof v === 'number')
			found.push(v);
		else if (v instanceof Date)
			found.push(F.serial(v));
	}
	return found;
};
const mean = (list) => list.length ? sum(list) / list.length :
	F.div('the average of no numbers');

const table = {
	SUM: (...args) => sum(numbers(args)),
	PRODUCT: (...args) => numbers(args).reduce((a, b) => a * b, 1),
	AVERAGE: (...args) => mean(numbers(args)),
	MIN: (...args) => extreme(args, (a, b) => b < a ? b : a),
	MAX: (...args) => extreme(args, (a, b) => b > a ? b : a),
	COUNT: (...args) => {
		let n = 0;
		for (const v of args) {
			if (!F.isList(v)) {
				n += typeof v === 'number' ||
					typeof v === 'boolean' ||
					v instanceof Date ||
					(typeof v === 'string' &&
					F.parse(v) !== undefined);
				continue;
			}
			for (const cell of F.flat(v))
				n += typeof cell === 'number' ||
					cell instanceof Date;
		}
		return n;
	},
	COUNTA: (...args) => {
		let n = 0;
		for (const v of F.flat(args))
			n += !F.blank(v);
		return n;
	},
	COUNTBLANK: (...args) => {
		let n = 0;
		for (const v of F.flat(args))
			n += F.blank(v) || v === '';
		return n;
	},
	COUNTIF: (list, condition) => {
		const test = F.criterion(condition);
		let n = 0;
		for (const v of F.list(list))
			n += test(v);
		return n;
	},
	SUMIF: (list, condition, values) => sum(chosen(list, condition,
		values)),
	AVERAGEIF: (list, condition, values) => mean(chosen(list, condition,
		values)),
	MEDIAN: (...args) => median(args),
	VAR: (...args) => spread(numbers(args), 1),
	VARP: (...args) => spread(numbers(args), 0),
	STDEV: (...args) => Math.sqrt(spread(numbers(args), 1)),
	STDEVP: (...args) => Math.sqrt(spread(numbers(args), 0)),
	PERCENTILE: (list, k) => percentile(numbers([list]), k),
	RANK: (x, list, order = 0) => {
		x = number(x);
		const up = F.truth(order), l = ordered(list);
		const less = below(l, x, false), most = below(l, x, true);
		if (less === most)
			F.na('RANK of what is not in the list');
		return up ? less + 1 : l.length - most + 1;
	},
	LARGE: (list, k) => {
		const l = ordered(list), i = l.length - F.integer(k);
		return i >= 0 && i < l.length ? l[i] : F.num('no such place');
	},
	SMALL: (list, k) => {
		const l = ordered(list), i = F.integer(k) - 1;
		return i >= 0 && i < l.length ? l[i] : F.num('no such place');
	},
};
for (const name of Object.keys(table))
	table[name] = F.ofColumns(name, table[name]);
F.add(table);
})
