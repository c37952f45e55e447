// Texts.  Positions count from 1, in characters: one beyond U+FFFF is one, though
// the language has two units for it.
(function(native, F) {
const { text, integer } = F;

const count = (n, what) => {
	n = integer(n);
	return n < 0 ? F.value(`${what} is negative`) : n;
};
const position = (n) => {
	n = integer(n);
	return n < 1 ? F.value('positions count from 1') : n;
};
const most = 1 << 22;
const bounded = (s) => s.length > most ?
	F.value('the text would be over 4 MiB') : s;

const { chars, unit } = native;
const cut = (s, from, to) => s.slice(unit(s, from), unit(s, to));

const upper = (c) => c.toUpperCase();
const proper = (s) => s.toLowerCase().replace(/\p{L}+/gu, (w) => {
	const first = String.fromCodePoint(w.codePointAt(0));
	return upper(first) + w.slice(first.length);
});

// The n-th of `from`, or all of them, by `to`.
function substitute(s, from, to, n) {
	s = text(s);
	from = text(from);
	to = text(to);
	if (n !== undefined)
		n = position(n);
	if (from === '')
		return s;
	if (n === undefined) {
		const parts = s.split(from);
		if (parts.length * to.length > most)
			F.value('the text would be over 4 MiB');
		return parts.join(to);
	}
	let i = -1;
	do
		i = s.indexOf(from, i < 0 ? 0 : i + from.length);
	while (i >= 0 && --n > 0);
	return i < 0 ? s : s.slice(0, i) + to + s.slice(i + from.length);
}

function find(what, s, from, pattern) {
	s = text(s);
	what = text(what);
	from = position(from) - 1;
	if (from > chars(s))
		F.value('the position is behind the text');
	from = unit(s, from);
	let at;
	if (pattern) {
		at = s.slice(from).search(F.wildcard(what, false));
		at = at < 0 ? -1 : at + from;
	} else {
		at = s.indexOf(what, from);
	}
	return at < 0 ? F.value(`${JSON.stringify(what)} is not in the text`) :
		chars(s.slice(0, at)) + 1;
}

// What a time is of a day; undefined if the text is none.
const clock = /^(\d{1,4}):([0-5]?\d)(?::([0-5]?\d(?:\.\d+)?))?\s*([AaPp][Mm])?$/;
F.dayPart = (s) => {
	const m = clock.exec(s);
	if (!m || (m[4] && !(m[1] >= 1 && m[1] <= 12)))
		return undefined;
	const h = m[4] ? m[1] % 12 + (/p/i.test(m[4]) ? 12 : 0) : Number(m[1]);
	return F.tidy((h * 3600 + m[2] * 60 + Number(m[3] ?? 0)) / 86400);
};

function value(v) {
	if (typeof v !== 'string')
		return F.number(v);
	let s = v.trim(), sign = 1, scale = 1;
	if (/^\(.*\)$/.test(s)) {
		s = s.slice(1, -1);
		sign = -1;
	}
	if (s.endsWith('%')) {
		s = s.slice(0, -1).trim();
		scale = 100;
	}
	s = s.replace(/^([+-]?)\s*[$€£¥]\s*/, '$1');
	if (/^[+-]?\d{1,3}(,\d{3})+(\.\d*)?$/.test(s))
		s = s.replace(/,/g, '');
	const n = F.parse(s);
	if (n !== undefined && Number.isFinite(n))
		return sign * n / scale;
	const d = F.isoDate(v.trim());
	return (d ? F.serial(d) : F.dayPart(v.trim())) ??
		F.value(`${JSON.stringify(v.slice(0, 40))} is not a number`);
}

const texts = (args) => {
	const found = [];
	for (const cell of F.flat(args))
		found.push(text(cell));
	return found;
};

F.add({
	LEFT: (s, n = 1) => cut(text(s), 0, count(n, 'the length')),
	RIGHT: (s, n = 1) => {
		s = text(s);
		n = count(n, 'the length');
		return cut(s, chars(s) - n, Infinity);
	},
	MID: (s, from, n) => {
		from = position(from) - 1;
		return cut(text(s), from, from + count(n, 'the length'));
	},
	LEN: (s) => chars(text(s)),
	TRIM: (s) => text(s).replace(/ +/g, ' ').replace(/^ | $/g, ''),
	CLEAN: (s) => text(s).replace(/[\0-\x1f]/g, ''),
	UPPER: (s) => text(s).toUpperCase(),
	LOWER: (s) => text(s).toLowerCase(),
	PROPER: (s) => proper(text(s)),
	SUBSTITUTE: substitute,
	REPLACE: (s, from, n, by) => {
		s = text(s);
		from = position(from) - 1;
		return cut(s, 0, from) + text(by) +
			s.slice(unit(s, from + count(n, 'the length')));
	},
	REPT: (s, n) => {
		s = text(s);
		n = count(n, 'the number');
		if (s.length * n > most)
			F.value('the text would be over 4 MiB');
		return s.repeat(n);
	},
	EXACT: (a, b) => text(a) === text(b),
	FIND: (what, s, from = 1) => find(what, s, from, false),
	SEARCH: (what, s, from = 1) => find(what, s, from, true),
	VALUE: value,
	CONCAT: (...args) => bounded(texts(args).join('')),
	CONCATENATE: (...args) => bounded(texts(args).join('')),
	TEXTJOIN: (between, skip, ...args) => {
		let list = texts(args);
		if (F.truth(skip))
			list = list.filter((s) => s !== '');
		return bounded(list.join(text(between)));
	},
	SPLIT: (s, by) => {
		s = text(s);
		by = text(by);
		return by === '' ? Array.from(s) : s.split(by);
	},
	CHAR: (n) => {
		n = integer(n);
		return n >= 1 && n <= 0x10ffff && !(n >= 0xd800 && n < 0xe000) ?
			String.fromCodePoint(n) : F.value('no such character');
	},
	CODE: (s) => text(s) ? text(s).codePointAt(0) :
		F.value('an empty text has no first character'),
});
})
