// TEXT: a number, a date or a text by a pattern, in the one form that knows no
// locale: a point before decimals, a comma between thousands, English names.
(function(native, F) {
const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July',
	'August', 'September', 'October', 'November', 'December'];
const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday',
	'Saturday'];
const piece = /"([^"]*)"|\\([^])|_([^ymdhs])|\*[^]|\[([^\]]*)\]|(General|AM\/PM|A\/P|y+|m+|d+|h+|s+|e[+-][0#?]+|[^])/gi;
const condition = /^(<=|>=|<>|<|>|=)\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*$/i;
const holds = {
	__proto__: null,
	'<': (a, b) => a < b, '>': (a, b) => a > b, '<=': (a, b) => a <= b,
	'>=': (a, b) => a >= b, '=': (a, b) => a === b, '<>': (a, b) => a !== b,
};

const datesEnd = 2958466; // the day behind 9999-12-31

// A condition, hours that go on behind 24, a currency; else a colour or the
// like.
function bracket(section, s) {
	const c = condition.exec(s);
	if (c)
		section.test = { op: c[1], bound: Number(c[2]) };
	else if (/^(h+|m+|s+)$/i.test(s))
		section.parts.push({ code: `[${s}]` });
	else if (s[0] === '$')
		section.parts.push({ text: s.slice(1).split('-')[0] });
}

// Its parts are literal text or codes.
function sectionOf(format) {
	const section = { parts: [], test: undefined };
	for (const m of format.matchAll(piece)) {
		if (m[5] !== undefined)
			section.parts.push({ code: m[5] });
		else if (m[4] !== undefined)
			bracket(section, m[4]);
		else if (m[3] !== undefined)
			section.parts.push({ text: ' ' });
		else if (m[1] !== undefined || m[2] !== undefined)
			section.parts.push({ text: m[1] ?? m[2] });
	}
	return section;
}

const sections = (format) => {
	const list = [''];
	for (const m of format.matchAll(/"[^"]*"|\\[^]|;|[^]/g)) {
		if (m[0] === ';')
			list.push('');
		else
			list[list.length - 1] += m[0];
	}
	return list.map(sectionOf);
};

const pad = (n, width) => String(n).padStart(width, '0');
const general = (c) => c !== undefined && c.toLowerCase() === 'general';
// The letter of a code.
const bare = (c) => (c[0] === '[' ? c[1] : c[0]).toLowerCase();
const codes = (parts, letters) => parts.filter(({ code: c }) =>
	c !== undefined && !general(c) && letters.includes(bare(c)))
	.map((p) => p.code);

// How many digits of seconds stand there behind their point.
function fractionAt(parts, i) {
	if (parts[i].code !== '.' || !i ||
		!'sS['.includes((parts[i - 1].code ?? 'x')[0]))
		return 0;
	let n = 0;
	while (parts[i + n + 1]?.code === '0')
		n++;
	return Math.min(n, 6);
}

// Letters beside digits, or beside a text, are themselves.
const isDated = (parts) => codes(parts, 'ymdhs').length > 0 &&
	codes(parts, '0#?@').length === parts.reduce((n, p, i) =>
		n + fractionAt(parts, i), 0);

// To what of its seconds is written.
function rounded(d, parts) {
	if (!codes(parts, 's').length)
		return d;
	const digits = Math.max(...parts.map((p, i) => fractionAt(parts, i)));
	const unit = 10 ** Math.max(3 - digits, 0), ms = d.getTime();
	return new Date(Math.floor((ms + unit / 2) / unit) * unit);
}

// All hours, minutes or seconds since day 0.
const elapsed = (d, code) => pad(Math.floor((d - F.fromSerial(0)) /
	({ h: 3600000, m: 60000, s: 1000 })[bare(code)]), code.length - 2);

function ofMonth(d, n) {
	const name = months[d.getUTCMonth()];
	return n <= 2 ? pad(d.getUTCMonth() + 1, n) :
		n === 3 ? name.slice(0, 3) : n === 5 ? name[0] : name;
}

function ofDay(d, n) {
	const name = days[d.getUTCDay()];
	return n <= 2 ? pad(d.getUTCDate(), n) :
		n === 3 ? name.slice(0, 3) : name;
}

function ofHalf(d, code) {
	const half = d.getUTCHours() < 12 ? 'AM' : 'PM';
	return code.length === 1 ? code : code.length === 3 ? half[0] : half;
}

function date(d, parts) {
	const half = codes(parts, 'a').some((c) => /^(am\/pm|a\/p)$/i.test(c));
	let out = '', hours = false;
	d = rounded(d, parts);
	for (let i = 0; i < parts.length; i++) {
		const c = parts[i].code;
		if (c === undefined) {
			out += parts[i].text;
			continue;
		}
		const n = c.length, which = bare(c);
		const after = codes(parts.slice(i + 1), 'ymdhs')[0];
		// Behind hours and before seconds these are minutes.
		const minutes = which === 'm' && n <= 2 && (hours ||
			(after !== undefined && bare(after) === 's'));
		if (c[0] === '[') {
			out += elapsed(d, c);
		} else if (which === 'y') {
			out += n <= 2 ? pad(d.getUTCFullYear() % 100, 2) :
				pad(d.getUTCFullYear(), 4);
		} else if (minutes) {
			out += pad(d.getUTCMinutes(), n);
		} else if (which === 'm') {
			out += ofMonth(d, n);
		} else if (which === 'd') {
			out += ofDay(d, n);
		} else if (which === 'h') {
			const h = d.getUTCHours();
			out += pad(half ? (h + 11) % 12 + 1 : h, n);
		} else if (which === 's') {
			out += pad(d.getUTCSeconds(), n);
		} else if (which === 'a') {
			out += ofHalf(d, c);
		} else {
			const some = fractionAt(parts, i);
			out += c + pad(d.getUTCMilliseconds(), 3).padEnd(6, '0')
				.slice(0, some);
			i += some;
			continue;
		}
		hours = which === 'h';
	}
	return out;
}

// The section that takes the number, and whether only negative ones come to it.
function byCondition(list, n) {
	for (const s of list.slice(0, 2))
		if (s.test && holds[s.test.op](n, s.test.bound))
			return [s, (s.test.op === '<' && s.test.bound <= 0) ||
				(s.test.op === '<=' && s.test.bound < 0)];
	const test = list[0].test;
	if (!test)
		return [list[0], false];
	const rest = list[1]?.test ? 2 : 1;
	if (rest >= list.length)
		F.value('no section of the pattern takes this number');
	return [list[rest], test.op[0] === '>' && test.bound <= 0];
}

function choose(list, n) {
	if (list[0].test || list[1]?.test)
		return byCondition(list, n);
	if (n < 0 && list.length > 1)
		return [list[1], true];
	return [list[n === 0 && list.length > 2 ? 2 : 0], false];
}

const takesText = (s) => s.parts.some((p) => p.code === '@');

function numeric(v, list) {
	const n = F.number(v);
	// The last may be for texts.
	if (list.length > 1 && takesText(list[list.length - 1]))
		list = list.slice(0, -1);
	const [{ parts }, negative] = choose(list.slice(0, 3), n);
	if (isDated(parts)) {
		if (n < 0 && !F.isDate(v))
			F.value('a negative number is no date');
		if (n >= datesEnd)
			F.num('this number is no date');
		return date(F.isDate(v) ? v : F.fromSerial(n), parts);
	}
	const [out, more] = F.masked(Math.abs(n), parts);
	return n < 0 && !negative && more ? '-' + out : out;
}

function ofText(s, list) {
	const own = list[3] ?? list.slice(-1).find(takesText);
	return own ? own.parts.map((p) => p.code === '@' ? s : p.text ?? p.code)
		.join('') : s;
}

F.add({
	TEXT: (v, format) => {
		format = F.text(format);
		if (format === '')
			return '';
		const list = sections(format);
		if (list.length > 4)
			F.value('a pattern has at most four sections');
		if (typeof v === 'string') {
			const n = F.parse(v) ?? F.isoDate(v);
			if (n === undefined)
				return ofText(v, list);
			v = n;
		}
		return /^(general|@)$/i.test(format) || typeof v === 'boolean' ?
			F.text(v) : numeric(v, list);
	},
});
})
