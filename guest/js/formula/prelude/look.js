// Looking things up.  A table is a list of rows (lists), a list of whole
// columns ([rows.sku, rows.price]), or rows itself.
(function(native, F) {
const { integer } = F;

const isColumn = (v) => native.column(v) !== undefined;
// A column is used as it is: it has elements and a length.
const listed = (v) => isColumn(v) ? v : F.list(v);
function table(v) {
	if (v instanceof F.Failure)
		throw v;
	if (typeof v !== 'object' || v === null)
		F.value('this is no table');
	if (!F.isList(v)) { // rows
		const columns = Object.values(v).map(listed);
		return { columns, n: columns.length };
	}
	if (v.length && !isColumn(v) && isColumn(v[0]))
		return { columns: Array.from(v, listed), n: v.length };
	const list = F.list(v).map((row) => F.isList(row) ? F.list(row) :
		[row]);
	const n = list.reduce((m, row) => Math.max(m, row.length), 0);
	const columns = [];
	for (let i = 0; i < n; i++)
		columns.push(list.map((row) => row[i] ?? null));
	return { columns, n };
}

const one = (v) => {
	if (v instanceof F.Failure)
		throw v;
	return v === undefined ? null : v;
};

// Equal for what compare says is equal; undefined for what is equal to nothing.
// A text, since a Map's hash of numbers is a weak one.
const keyOf = (v) => {
	switch (typeof v) {
	case 'number':
		return `n${Number.isSafeInteger(v) || !Number.isInteger(v) ? v :
			BigInt(v)}`;
	case 'bigint':
		return `n${v}`;
	case 'string':
		return `s${v.toLowerCase()}`;
	case 'boolean':
		return `b${v}`;
	}
	return v instanceof Date ? `n${F.serial(v)}` : undefined;
};
// Where a column's values are, up to its first error.
const places = F.ofColumn((column) => {
	const at = new Map(), cells = F.list(column);
	for (let i = 0; i < cells.length; i++) {
		if (cells[i] instanceof F.Failure)
			return { at, error: cells[i] };
		const key = keyOf(cells[i]);
		if (!at.has(key))
			at.set(key, i);
	}
	return { at, error: null };
});
function exactInColumn(column, key) {
	const { at, error } = places(column);
	key = keyOf(key);
	const i = key === undefined ? undefined : at.get(key);
	if (i === undefined && error)
		throw error;
	return i ?? -1;
}

// Index of what equals the key; texts may have wildcards.
function exact(list, key, last) {
	const p = typeof key === 'string' && /[*?~]/.test(key) ?
		F.wildcard(key, true) : null;
	if (!p && !last && isColumn(list))
		return exactInColumn(list, key);
	list = F.list(list);
	const n = list.length;
	for (let k = 0; k < n; k++) {
		const i = last ? n - 1 - k : k;
		if (p ? typeof list[i] === 'string' && p.test(list[i]) :
			!F.blank(list[i]) && F.compare(list[i], key) === 0)
			return i;
	}
	return -1;
}

const sameKind = (a, b) => typeof a === typeof b;

// The last that is not beyond the key, in a sorted list.
function nearest(list, key, down) {
	if (down) {
		let i = 0;
		while (i < list.length && F.compare(list[i], key) >= 0)
			i++;
		return i - 1;
	}
	let low = 0, high = list.length;
	while (low < high) {
		const mid = (low + high) >> 1;
		const c = F.compare(list[mid], key);
		if (c <= 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (let i = low - 1; i >= 0; i--)
		if (sameKind(list[i], key) || list[i] instanceof Date)
			return i;
	return -1;
}

const missing = (key) => F.na(`${JSON.stringify(F.text(key).slice(0, 40))} ` +
	'was not found');

function lookup(key, keys, values, approximate) {
	key = one(key);
	const i = approximate ? nearest(keys, key, false) : exact(keys, key);
	return i < 0 ? missing(key) : one(values[i]);
}

function match(key, list, type = 1) {
	key = one(key);
	list = listed(list);
	type = F.number(type);
	const i = type === 0 ? exact(list, key) : nearest(list, key, type < 0);
	return i < 0 ? missing(key) : i + 1;
}

function xlookup(key, keys, values, other, mode = 0, search = 1) {
	key = one(key);
	keys = listed(keys);
	values = listed(values);
	if (keys.length !== values.length)
		F.value('XLOOKUP needs as many keys as values');
	const last = F.number(search) < 0;
	let i;
	mode = F.number(mode);
	if (mode === 2)
		i = exact(keys, key, last);
	else
		i = exact(keys, typeof key === 'string' ?
			key.replace(/[*?~]/g, '~$&') : key, last);
	if (i < 0 && (mode === 1 || mode === -1)) {
		for (let k = 0; k < keys.length; k++) {
			const c = F.compare(keys[k], key);
			if (F.blank(keys[k]) || (mode < 0 ? c > 0 : c < 0))
				continue;
			const d = i < 0 ? 1 : F.compare(keys[k], keys[i]);
			if (i < 0 || (mode < 0 ? d > 0 : d < 0))
				i = k;
		}
	}
	if (i >= 0)
		return one(values[i]);
	return other === undefined ? missing(key) : other;
}

function index(list, row, column) {
	if (F.isList(list) && list.length && isColumn(list) ||
	    F.isList(list) && !F.isList(list[0])) {
		const cells = F.list(list);
		const i = integer(F.blank(row) || column !== undefined &&
			integer(row) <= 1 && cells.length >= integer(column) ?
			column : row);
		if (i === 0)
			return Array.from(cells);
		return i >= 1 && i <= cells.length ? one(cells[i - 1]) :
			F.ref('INDEX lies outside of the list');
	}
	const t = table(list), c = integer(column ?? 1), r = integer(row);
	const { columns } = t;
	if (c < 0 || c > t.n || r < 0 || !t.n ||
	    r > columns[Math.max(c, 1) - 1].length)
		F.ref('INDEX lies outside of the table');
	// 0 is all of them.
	if (c === 0 && r === 0)
		return Array.from(columns[0], (v, i) => columns.map((k) => k[i]));
	if (c === 0)
		return columns.map((k) => k[r - 1]);
	return r === 0 ? Array.from(columns[c - 1]) : one(columns[c - 1][r - 1]);
}

const order = (list, down) => list.sort((a, b) =>
	F.blank(a) || F.blank(b) ? F.blank(a) - F.blank(b) :
		down * F.compare(a, b));

F.add({
	VLOOKUP: (key, where, column, approximate = true) => {
		const t = table(where);
		let c = typeof column === 'string' && !F.isList(where) ?
			Object.keys(where).indexOf(column) + 1 :
			integer(column);
		if (c < 1)
			F.value('columns count from 1');
		return c > t.n ? F.ref('VLOOKUP past the last column') :
			lookup(key, t.columns[0], t.columns[c - 1],
				F.truth(approximate));
	},
	HLOOKUP: (key, where, row, approximate = true) => {
		const t = table(where), r = integer(row);
		if (r < 1)
			F.value('rows count from 1');
		if (!t.n || r > t.columns[0].length)
			F.ref('HLOOKUP past the last row');
		return lookup(key, t.columns.map((c) => c[0]),
			t.columns.map((c) => c[r - 1]), F.truth(approximate));
	},
	XLOOKUP: xlookup,
	INDEX: index,
	MATCH: match,
	UNIQUE: (list) => {
		const seen = new Set(), found = [];
		for (const v of F.list(list)) {
			const key = typeof v === 'string' ?
				's' + v.toLowerCase() : v instanceof Date ?
				'd' + v.getTime() : v;
			if (!seen.has(key)) {
				seen.add(key);
				found.push(one(v));
			}
		}
		return found;
	},
	SORT: (list, column = 1, direction = 1) => {
		const down = F.number(direction) < 0 ? -1 : 1;
		const cells = F.list(list).slice();
		if (!F.isList(cells[0]))
			return order(cells.map(one), down);
		const c = integer(column) - 1;
		return cells.sort((a, b) => down * F.compare(a[c], b[c]));
	},
	FILTER: (list, include, other) => {
		const cells = F.list(list), which = F.list(include);
		if (cells.length !== which.length)
			F.value('FILTER needs a truth for each element');
		const found = cells.filter((v, i) => F.truth(which[i]));
		return found.length || other === undefined ? found.length ?
			found : F.na('FILTER leaves nothing') : other;
	},
});
})
