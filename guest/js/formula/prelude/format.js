// TEXT: a number or a date by a pattern, in the one form that knows no locale:
// a point before decimals, a comma between thousands, English names.
(function(native, F) {
const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July',
	'August', 'September', 'October', 'November', 'December'];
const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday',
	'Saturday'];

// Pieces of a pattern: quoted and escaped text is literal.
function pieces(format) {
	const found = [];
	const p = /"([^"]*)"|\\(.)|\[[^\]]*\]|AM\/PM|am\/pm|A\/P|(y+|m+|d+|h+|s+)|([eE][+-]0+)|([^])/gi;
	for (const m of format.matchAll(p)) {
		if (m[1] !== undefined || m[2] !== undefined)
			found.push({ text: m[1] ?? m[2] });
		else if (m[0][0] === '[')
			continue;
		else
			found.push({ code: m[0] });
	}
	return found;
}

const sections = (format) => {
	const list = [''];
	for (const m of format.matchAll(/"[^"]*"|\\.|;|[^]/g)) {
		if (m[0] === ';')
			list.push('');
		else
			list[list.length - 1] += m[0];
	}
	return list;
};

const pad = (n, width) => String(n).padStart(width, '0');

function date(d, parts) {
	const half = parts.some((p) => /^(am\/pm|a\/p)$/i.test(p.code ?? ''));
	let out = '', hours = false;
	for (let i = 0; i < parts.length; i++) {
		const c = parts[i].code, low = c?.toLowerCase();
		const n = c?.length;
		if (c === undefined) {
			out += parts[i].text;
			continue;
		}
		const rest = parts.slice(i + 1).find((p) =>
			/^[ymdhs]/i.test(p.code ?? ''));
		switch (low[0]) {
		case 'y':
			out += n <= 2 ? pad(d.getUTCFullYear() % 100, 2) :
				pad(d.getUTCFullYear(), 4);
			break;
		case 'm': {
			const name = months[d.getUTCMonth()];
			// Behind hours and before seconds these are minutes.
			if (n <= 2 && (hours ||
			    /^s/i.test(rest?.code ?? '')))
				out += pad(d.getUTCMinutes(), n);
			else
				out += n <= 2 ? pad(d.getUTCMonth() + 1, n) :
					n === 3 ? name.slice(0, 3) :
					n === 5 ? name[0] : name;
			hours = false;
			continue;
		}
		case 'd':
			out += n <= 2 ? pad(d.getUTCDate(), n) :
				n === 3 ? days[d.getUTCDay()].slice(0, 3) :
				days[d.getUTCDay()];
			break;
		case 'h': {
			const h = d.getUTCHours();
			out += pad(half ? (h + 11) % 12 + 1 : h, n);
			hours = true;
			continue;
		}
		case 's':
			out += pad(d.getUTCSeconds(), n);
			break;
		case 'a':
			if (n > 1)
				out += (d.getUTCHours() < 12 ? 'AM' : 'PM')
					.slice(0, n === 3 ? 1 : 2);
			else
				out += c;
			break;
		default:
			out += c;
			continue;
		}
		hours = false;
	}
	return out;
}

// Digits with a comma between thousands.
const grouped = (s) => s.replace(/\B(?=(\d{3})+(?!\d))/g, ',');

function shape(parts) {
	const s = { first: -1, last: -1, whole: '', part: '', point: false,
		comma: false, percent: 0, exponent: null, thousands: 0 };
	for (let i = 0; i < parts.length; i++) {
		const c = parts[i].code;
		if (c === '%')
			s.percent++;
		if (/^e[+-]0+$/i.test(c ?? '') && s.first >= 0) {
			s.exponent = c;
			s.last = i;
		}
		if (c === undefined || !'0#?.,'.includes(c))
			continue;
		if (s.first < 0 && c === ',')
			continue;
		if (s.first < 0)
			s.first = i;
		s.last = i;
		if (c === '.')
			s.point = true;
		else if (c === ',')
			s.thousands++;
		else if (s.point)
			s.part += c, s.thousands = 0;
		else
			s.whole += c, s.comma ||= s.thousands > 0,
			s.thousands = 0;
	}
	return s;
}

function digits(n, s) {
	const least = s.part.lastIndexOf('0') + 1;
	let exponent = 0, tail = '';
	if (s.exponent) {
		const width = Math.max(s.whole.length, 1);
		exponent = n ? Math.floor(Math.log10(n)) - width + 1 : 0;
		n = F.tidy(n / 10 ** exponent);
		tail = s.exponent[0] + (exponent < 0 ? '-' :
			s.exponent[1] === '+' ? '+' : '') +
			pad(Math.abs(exponent), s.exponent.length - 2);
	}
	n = F.helpers.ROUND(n, Math.min(s.part.length, 15));
	let [whole, part = ''] = n < 1e21 ? n.toFixed(Math.min(s.part.length,
		15)).split('.') : [BigInt(n).toString()];
	while (part.length > least && part.endsWith('0'))
		part = part.slice(0, -1);
	const min = (s.whole.match(/0/g) ?? []).length;
	if (whole === '0' && !min)
		whole = '';
	whole = whole.padStart(min, '0');
	if (s.comma)
		whole = grouped(whole);
	return whole + (s.point ? '.' : '') + part + tail;
}

function numeric(n, format) {
	const list = sections(format);
	let negative = n < 0, at = 0;
	if (negative && list.length > 1)
		at = 1, negative = false;
	else if (n === 0 && list.length > 2)
		at = 2;
	const parts = pieces(list[at]), s = shape(parts);
	let a = Math.abs(n) * 100 ** s.percent / 1000 ** s.thousands;
	a = F.tidy(a);
	if (s.first < 0) {
		const words = parts.map((p) => p.text ?? p.code).join('');
		return negative && words ? '-' + words : words;
	}
	const told = digits(a, s);
	let out = '';
	for (let i = 0; i < parts.length; i++) {
		const c = parts[i].code;
		if (i === s.first)
			out += told;
		if (i >= s.first && i <= s.last && (c === s.exponent ||
		    (c !== undefined && '0#?.,'.includes(c))))
			continue;
		out += parts[i].text ?? (c === '_' ? ' ' : c);
	}
	return negative && /[1-9]/.test(told) ? '-' + out : out;
}

F.add({
	TEXT: (v, format) => {
		format = F.text(format);
		if (format === '')
			return '';
		if (typeof v === 'string') {
			const n = F.parse(v) ?? F.isoDate(v);
			if (n === undefined)
				return v;
			v = n;
		}
		const general = /^(general|@)$/i.test(format);
		if (general || typeof v === 'boolean')
			return F.text(v);
		const parts = pieces(sections(format)[0]);
		const dated = parts.some((p) => /^[ymdhs]/i.test(p.code ?? ''))
			&& !parts.some((p) => /^[0#?]/.test(p.code ?? ''));
		if (dated)
			return date(v instanceof Date ? v :
				F.fromSerial(F.number(v)), parts);
		return numeric(F.number(v), format);
	},
});
})
