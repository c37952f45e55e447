// Words of the inspector: quoted strings, numbers, symbols, keys, widths.
(function(native, hooks, share) {
const { charCodeAt, codePointAt, found, indexOf, is, normalize, numberText,
	padStart, slice, startsWith, symbolText, toUpperCase } = share.safe;

// ---- quoting ----

const special = /[\x00-\x1f'\\\x7f-\x9f\ud800-\udfff]/;
const short = { __proto__: null, 8: '\\b', 9: '\\t', 10: '\\n', 12: '\\f',
	13: '\\r', 92: '\\\\' };

const hex = (code, digits) => padStart(numberText(code, 16), digits, '0');
const byByte = (code) => `\\x${toUpperCase(hex(code, 2))}`;

// What stands for the character at i, or undefined if it stands for itself.
function escapeAt(s, i, quote) {
	const c = charCodeAt(s, i);
	if (c < 32 || c === 92)
		return short[c] ?? byByte(c);
	if (c === quote)
		return "\\'";
	if (c < 127)
		return undefined;
	if (c < 160)
		return byByte(c);
	if (c < 0xd800 || c > 0xdfff)
		return undefined;
	const other = charCodeAt(s, c < 0xdc00 ? i + 1 : i - 1);
	const paired = c < 0xdc00 ? other >= 0xdc00 && other <= 0xdfff :
		other >= 0xd800 && other <= 0xdbff;
	return paired ? undefined : `\\u${hex(c, 4)}`;
}

// The text with escapes; `quote` is the code of a quote to escape, or 0.
function escaped(s, quote = 39) {
	if (!found(special, s))
		return s;
	let out = '', from = 0;
	for (let i = 0; i < s.length; i++) {
		const by = escapeAt(s, i, quote);
		if (by !== undefined) {
			out += slice(s, from, i) + by;
			from = i + 1;
		}
	}
	return out + slice(s, from);
}

function quoted(s) {
	if (!found(special, s))
		return `'${s}'`;
	if (indexOf(s, "'") >= 0) {
		if (indexOf(s, '"') < 0)
			return `"${escaped(s, 0)}"`;
		if (indexOf(s, '`') < 0 && indexOf(s, '${') < 0)
			return `\`${escaped(s, 0)}\``;
	}
	return `'${escaped(s)}'`;
}

// ---- numbers, symbols, keys ----

function groupDigits(digits) {
	const first = startsWith(digits, '-') ? 1 : 0;
	let out = '', end = digits.length;
	for (; end >= first + 4; end -= 3)
		out = `_${slice(digits, end - 3, end)}${out}`;
	return slice(digits, 0, end) + out;
}

function groupFraction(digits) {
	let out = '', at = 0;
	for (; at < digits.length - 3; at += 3)
		out += `${slice(digits, at, at + 3)}_`;
	return out + slice(digits, at);
}

function numeral(n, separate) {
	const s = is(n, -0) ? '-0' : `${n}`;
	if (!separate || found(/[^-.0-9]/, s))
		return s;
	const dot = indexOf(s, '.');
	return dot < 0 ? groupDigits(s) : `${groupDigits(slice(s, 0, dot))}.` +
		groupFraction(slice(s, dot + 1));
}

function bigNumeral(n, separate) {
	return `${separate ? groupDigits(`${n}`) : n}n`;
}

// The name of a property, as it stands before its colon.
function keyText(key, hidden, stylize) {
	if (typeof key === 'symbol')
		return `[${stylize(escaped(symbolText(key)), 'symbol')}]`;
	if (key === '__proto__')
		return "['__proto__']";
	if (hidden)
		return `[${escaped(key)}]`;
	return found(/^[a-zA-Z_][a-zA-Z_0-9]*$/, key) ? stylize(key, 'name') :
		stylize(quoted(key), 'string');
}

// ---- terminals ----

// Control sequences (ECMA-48): CSI, OSC up to its end, other escapes.
const control = new RegExp('(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]|' +
	'\\x1b\\][^\\x07\\x1b\\x9c]*(?:\\x07|\\x1b\\\\|\\x9c)|' +
	'\\x1b[ -/]*[0-Z\\\\^-~]');

function plain(s) {
	let out = '', m;
	if (indexOf(s, '\x1b') < 0 && indexOf(s, '\x9b') < 0)
		return s;
	while ((m = share.safe.exec(control, s)) !== null) {
		out += slice(s, 0, m.index);
		s = slice(s, m.index + m[0].length);
	}
	return out + s;
}

// First and last of the characters two columns wide (Unicode's East Asian
// Width W and F).
const wide = [
	0x1100, 0x115f, 0x231a, 0x231b, 0x2329, 0x232a, 0x23e9, 0x23ec, 0x23f0,
	0x23f0, 0x23f3, 0x23f3, 0x25fd, 0x25fe, 0x2614, 0x2615, 0x2648, 0x2653,
	0x267f, 0x267f, 0x2693, 0x2693, 0x26a1, 0x26a1, 0x26aa, 0x26ab, 0x26bd,
	0x26be, 0x26c4, 0x26c5, 0x26ce, 0x26ce, 0x26d4, 0x26d4, 0x26ea, 0x26ea,
	0x26f2, 0x26f3, 0x26f5, 0x26f5, 0x26fa, 0x26fa, 0x26fd, 0x26fd, 0x2705,
	0x2705, 0x270a, 0x270b, 0x2728, 0x2728, 0x274c, 0x274c, 0x274e, 0x274e,
	0x2753, 0x2755, 0x2757, 0x2757, 0x2795, 0x2797, 0x27b0, 0x27b0, 0x27bf,
	0x27bf, 0x2b1b, 0x2b1c, 0x2b50, 0x2b50, 0x2b55, 0x2b55, 0x2e80, 0x303e,
	0x3041, 0x3247, 0x3250, 0x4dbf, 0x4e00, 0xa4c6, 0xa960, 0xa97c, 0xac00,
	0xd7a3, 0xf900, 0xfad9, 0xfe10, 0xfe19, 0xfe30, 0xfe6b, 0xff01, 0xff60,
	0xffe0, 0xffe6, 0x16fe0, 0x1b2fb, 0x1f004, 0x1f004, 0x1f0cf, 0x1f0cf,
	0x1f18e, 0x1f18e, 0x1f191, 0x1f19a, 0x1f200, 0x1f320, 0x1f32d, 0x1f335,
	0x1f337, 0x1f37c, 0x1f37e, 0x1f393, 0x1f3a0, 0x1f3ca, 0x1f3cf, 0x1f3d3,
	0x1f3e0, 0x1f3f0, 0x1f3f4, 0x1f3f4, 0x1f3f8, 0x1f43e, 0x1f440, 0x1f440,
	0x1f442, 0x1f4fc, 0x1f4ff, 0x1f53d, 0x1f54b, 0x1f54e, 0x1f550, 0x1f567,
	0x1f57a, 0x1f57a, 0x1f595, 0x1f596, 0x1f5a4, 0x1f5a4, 0x1f5fb, 0x1f64f,
	0x1f680, 0x1f6c5, 0x1f6cc, 0x1f6cc, 0x1f6d0, 0x1f6d2, 0x1f6d5, 0x1f6df,
	0x1f6eb, 0x1f6ec, 0x1f6f4, 0x1f6fc, 0x1f7e0, 0x1f7f0, 0x1f90c, 0x1f93a,
	0x1f93c, 0x1f945, 0x1f947, 0x1f9ff, 0x1fa70, 0x1faf6, 0x20000, 0x3fffd
];
const noWidth = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]$/u;

function columnsOf(code) {
	if (code < 0x300)
		return code < 32 || (code >= 127 && code < 160) ||
			code === 0xad ? 0 : 1;
	let low = 0, high = wide.length >> 1;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (wide[2 * middle + 1] < code)
			low = middle + 1;
		else
			high = middle;
	}
	if (2 * low < wide.length && wide[2 * low] <= code)
		return 2;
	return found(noWidth, codePoint(code)) ? 0 : 1;
}
const codePoint = String.fromCodePoint;

// Columns a terminal needs for the text.
function width(s) {
	if (!found(/[^ -~]/, s))
		return s.length;
	s = normalize(plain(s), 'NFC');
	let n = 0;
	for (let i = 0; i < s.length; i++) {
		const code = codePointAt(s, i);
		n += columnsOf(code);
		if (code > 0xffff)
			i++;
	}
	return n;
}

share.words = { __proto__: null, bigNumeral, escaped, keyText, numeral, plain,
	quoted, width };
share.stripVTControlCharacters = (s) => {
	share.needString('str', s);
	return plain(s);
};
})
