// What the helpers share: errors with a code, and what a value is as a number,
// a text, a truth or a list.  Blank is null.
(function(native, F) {
const { isArray } = Array, { isFinite } = Number;
const day = 86400000, epoch = Date.UTC(1899, 11, 30);

// An error of a cell.  As a value it is that of another formula's cell: to
// compute with it throws it.
class Failure {
	constructor(code, message) {
		this.code = code;
		this.message = message;
	}
	[Symbol.toPrimitive]() {
		throw this;
	}
	toJSON() {
		throw this;
	}
	toString() {
		return this.code;
	}
}
F.failure = Failure.prototype;
F.Failure = Failure;

const fail = (code, message) => {
	throw new Failure(code, message);
};
F.fail = fail;
F.value = (message) => fail('#VALUE!', message);
F.num = (message) => fail('#NUM!', message);
F.na = (message) => fail('#N/A', message);
F.div = (message) => fail('#DIV/0!', message);
F.ref = (message) => fail('#REF!', message);

F.day = day;
// The number that a spreadsheet has for a date: days since 1899-12-30.
F.serial = (d) => (d.getTime() - epoch) / day;
F.fromSerial = (n) => new Date(epoch + Math.round(n * day));
F.isDate = (v) => v instanceof Date;
F.isList = (v) => isArray(v) || (typeof v === 'object' && v !== null &&
	typeof v.length === 'number' && !(v instanceof String));
F.blank = (v) => v === null || v === undefined;

const shown = (v) => typeof v === 'string' ? JSON.stringify(
	v.length > 40 ? v.slice(0, 40) + '...' : v) : typeof v;

const plain = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/;
// A text that is a number; undefined if it is none.
F.parse = (s) => plain.test(s) ? Number(s) : undefined;

function number(v) {
	switch (typeof v) {
	case 'number':
		if (v !== v)
			F.num('this is not a number (NaN)');
		if (!isFinite(v))
			F.div('this is infinite');
		return v;
	case 'boolean':
		return v ? 1 : 0;
	case 'undefined':
		return 0;
	case 'bigint':
		return Number(v);
	case 'string': {
		const n = F.parse(v);
		if (n === undefined || !isFinite(n))
			F.value(`${shown(v)} is not a number`);
		return n;
	}
	}
	if (v === null)
		return 0;
	if (v instanceof Failure)
		throw v;
	if (v instanceof Date)
		return F.serial(v);
	if (F.isList(v) && v.length === 1)
		return number(v[0]);
	return F.value(F.isList(v) ? 'a list is not one number' :
		`what has the type ${shown(v)} is not a number`);
}
F.number = number;
F.integer = (v) => Math.trunc(number(v));

function text(v) {
	if (typeof v === 'string')
		return v;
	if (v === null || v === undefined)
		return '';
	if (typeof v === 'boolean')
		return v ? 'TRUE' : 'FALSE';
	if (typeof v === 'number')
		return String(number(v));
	if (v instanceof Failure)
		throw v;
	if (v instanceof Date) {
		const s = v.toISOString();
		return s.endsWith('T00:00:00.000Z') ? s.slice(0, 10) :
			s.replace('.000Z', 'Z');
	}
	if (F.isList(v))
		return v.length === 1 ? text(v[0]) :
			F.value('a list is not one text');
	return typeof v === 'object' || typeof v === 'function' ?
		F.value(`what has the type ${typeof v} is not a text`) : String(v);
}
F.text = text;

function truth(v) {
	if (typeof v === 'boolean')
		return v;
	if (typeof v === 'string') {
		const s = v.toUpperCase();
		if (s === 'TRUE' || s === 'FALSE')
			return s === 'TRUE';
		F.value(`${shown(v)} is neither true nor false`);
	}
	return number(v) !== 0;
}
F.truth = truth;

// The cells of a list, of a list of lists one after another.
function* flat(v) {
	const cells = native.cells(v) ?? v;
	for (let i = 0; i < cells.length; i++) {
		if (F.isList(cells[i]))
			yield* flat(cells[i]);
		else
			yield cells[i];
	}
}
F.flat = flat;
F.list = (v) => {
	if (v instanceof Failure)
		throw v;
	return native.cells(v) ?? (isArray(v) ? v : F.isList(v) ?
		Array.from(v) : [v]);
};

// What whole columns come to is the same for each row: it is computed once, by
// helpers that give no list, and not in the time of the row that happens to be
// the first.  Only what cannot be changed is given twice.  None of this runs
// code of a formula.
const memo = new Map(), most = 4096;
const aside = (f) => {
	const was = native.aside(true);
	try {
		return f();
	} finally {
		native.aside(was);
	}
};
const keyOf = (name, args) => {
	let key = name, whole = false;
	for (let i = 0; i < args.length; i++) {
		const v = args[i];
		if (typeof v !== 'object' || v === null) {
			if (typeof v === 'function' || typeof v === 'symbol')
				return undefined;
			const s = String(v);
			key += `,${typeof v}${s.length}:${s}`;
			continue;
		}
		const column = native.column(v);
		if (column === undefined)
			return undefined;
		whole = true;
		key += `,@${column}`;
	}
	return whole ? key : undefined;
};
const someObject = (args) => {
	for (let i = 0; i < args.length; i++)
		if (typeof args[i] === 'object' && args[i] !== null)
			return true;
	return false;
};
F.ofColumns = (name, f) => (...args) => {
	const key = someObject(args) ? keyOf(name, args) : undefined;
	if (key === undefined)
		return f(...args);
	const was = memo.get(key);
	if (was !== undefined)
		return typeof was === 'object' ? new Date(was.ms) : was;
	const v = aside(() => f(...args));
	if (memo.size < most)
		memo.set(key, v instanceof Date ? { ms: v.getTime() } : v);
	return v;
};
// Of a column what `make` gives, once; it must not leave the helpers.
F.ofColumn = (make) => {
	const made = new Map();
	return (v) => {
		const column = native.column(v);
		if (column === undefined)
			return make(v);
		let found = made.get(column);
		if (found === undefined)
			made.set(column, found = aside(() => make(v)));
		return found;
	};
};

// Numbers of arguments: what stands in a list counts only if it is a number,
// what is given by itself has to be one.
F.numbers = (args) => {
	const found = [];
	for (let i = 0; i < args.length; i++) {
		const v = args[i];
		if (typeof v === 'number') {
			found.push(number(v));
			continue;
		}
		if (F.blank(v))
			continue;
		if (!F.isList(v)) {
			found.push(number(v));
			continue;
		}
		const cells = native.cells(v);
		for (const cell of cells ?? flat(v)) {
			if (typeof cell === 'number')
				found.push(number(cell));
			else if (cell instanceof Date)
				found.push(F.serial(cell));
			else if (cell instanceof Failure)
				throw cell;
			else if (typeof cell === 'bigint')
				found.push(Number(cell));
		}
	}
	return found;
};

// A number as a person reads it: without what binary arithmetic adds.
F.tidy = (n) => Number(n.toPrecision(15));

// The order of a sheet: numbers, texts without regard to case, truths.
const rank = (v) => typeof v === 'number' || typeof v === 'bigint' ||
	v instanceof Date ? 0 : typeof v === 'string' ? 1 :
	typeof v === 'boolean' ? 2 : 3;
F.compare = (a, b) => {
	if (a instanceof Failure)
		throw a;
	if (b instanceof Failure)
		throw b;
	const ra = rank(a), rb = rank(b);
	if (ra !== rb)
		return ra - rb;
	if (ra === 3)
		return 0;
	if (ra === 1) {
		a = a.toLowerCase();
		b = b.toLowerCase();
	} else {
		a = a instanceof Date ? F.serial(a) : a;
		b = b instanceof Date ? F.serial(b) : b;
	}
	return a < b ? -1 : a > b ? 1 : 0;
};
F.equal = (a, b) => {
	if (F.blank(a) || F.blank(b))
		return F.blank(a) && F.blank(b) || a === 0 || b === 0 ||
			a === '' || b === '';
	return F.compare(a, b) === 0;
};

// Text with * and ? and ~ before them, as a pattern for all of a text.
F.wildcard = (s, whole) => {
	let p = '', single = '';
	for (let i = 0; i < s.length; i++) {
		if (s[i] === '~' && i + 1 < s.length)
			i++;
		else if (s[i] === '*' || s[i] === '?') {
			p += s[i] === '*' ? '[^]*' : '[^]';
			// ? is a character, and may be two units.
			single = s[i] === '?' ? 'u' : single;
			continue;
		}
		p += s[i].replace(/[\\^$.*+?()[\]{}|\/]/g, '\\$&');
	}
	return new RegExp(whole ? `^(?:${p})$` : p, `i${single}`);
};

// A condition as COUNTIF has it: ">5", "<>x", "a*", or a value.
const operator = /^(<=|>=|<>|<|>|=)([^]*)$/;
const orders = {
	__proto__: null,
	'<': (n) => n < 0, '>': (n) => n > 0, '<=': (n) => n <= 0,
	'>=': (n) => n >= 0, '=': (n) => n === 0,
};
F.criterion = (c) => {
	if (c instanceof Failure)
		throw c;
	const m = typeof c === 'string' ? operator.exec(c) : null;
	const op = m ? m[1] : '=';
	let want = m ? m[2] : c;
	if (c === '')
		return (v) => F.blank(v) || v === '';
	if (typeof want === 'string') {
		const n = F.parse(want), up = want.toUpperCase();
		const d = n === undefined ? F.isoDate?.(want) : undefined;
		if (n !== undefined)
			want = n;
		else if (d)
			want = d;
		else if (up === 'TRUE' || up === 'FALSE')
			want = up === 'TRUE';
	}
	if (want instanceof Date)
		want = F.serial(want);
	if (F.blank(want) || (m && want === ''))
		return op === '<>' ? (v) => !F.blank(v) && v !== '' :
			m ? (v) => F.blank(v) : (v) => v === 0;
	let same;
	if (typeof want === 'string') {
		const p = F.wildcard(want, true);
		same = (v) => typeof v === 'string' && p.test(v);
	} else {
		same = (v) => {
			if (v instanceof Date)
				v = F.serial(v);
			else if (typeof v === 'string' &&
				typeof want === 'number')
				v = F.parse(v);
			return v === want;
		};
	}
	if (op === '=')
		return same;
	if (op === '<>')
		return (v) => !same(v);
	return (v) => {
		if (v instanceof Date)
			v = F.serial(v);
		return typeof v === typeof want && orders[op](
			F.compare(v, want));
	};
};

F.helpers = { __proto__: null };
// Adds helpers by name.
F.add = (table) => {
	for (const name of Object.keys(table))
		F.helpers[name] = table[name];
};
})
