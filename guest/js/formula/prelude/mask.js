// A number by a section of a pattern: its digits fill 0, # and ?, what stands
// between these stays where it is.
(function(native, F) {
const isDigit = (c) => c === '0' || c === '#' || c === '?';
const empty = { __proto__: null, '0': '0', '#': '', '?': ' ' };

// Places from i on, one beside the other.
function run(parts, i, step, of) {
	const found = [];
	for (; i >= 0 && i < parts.length && parts[i].code !== undefined &&
		of(parts[i].code); i += step)
		found.push(i);
	return found;
}

// Places of a fraction's denominator: digits, or a number.
function below(parts, i) {
	const found = run(parts, i + 1, 1, isDigit);
	return found.length ? found :
		run(parts, i + 1, 1, (c) => /^\d$/.test(c));
}

// What the pieces of a section say of a number; `silent` are not written.
function mask(parts) {
	const m = { parts, whole: [], part: [], silent: new Set(), point: -1,
		exponent: -1, slash: -1, hundreds: 0 };
	const commas = [];
	const afterDigit = (i) => i > 0 && (isDigit(parts[i - 1].code) ||
		m.silent.has(i - 1));
	for (let i = 0; i < parts.length; i++) {
		const c = parts[i].code;
		if (c === ',' && afterDigit(i)) {
			m.silent.add(i);
			commas.push(i);
		} else if (c === '%') {
			m.hundreds++;
		} else if (c === undefined || m.exponent >= 0) {
			continue;
		} else if (isDigit(c)) {
			(m.point < 0 ? m.whole : m.part).push(i);
		} else if (c === '.' && m.point < 0) {
			m.point = i;
		} else if (/^e[+-]/i.test(c) && m.whole.length + m.part.length) {
			m.exponent = i;
		} else if (c === '/' && m.slash < 0 && m.point < 0 &&
			afterDigit(i) && below(parts, i).length) {
			m.slash = i;
		}
	}
	const places = [...m.whole, ...m.part];
	m.thousands = commas.filter((i) => !places.some((p) => p > i)).length;
	m.grouped = commas.some((i) => m.whole.some((p) => p > i));
	return m;
}

const written = (m, put) => m.parts.map((p, i) => put[i] ??
	(m.silent.has(i) ? '' : p.text ?? p.code)).join('');

// From the right; the first place takes what is left.
function fill(m, places, s, put, grouped) {
	let done = 0;
	for (let k = places.length - 1; k >= 0; k--) {
		const i = places[k], at = k ? Math.max(s.length - 1, 0) : 0;
		const mine = s.slice(at) || empty[m.parts[i].code];
		let out = '';
		for (let d = mine.length - 1; d >= 0; d--) {
			const comma = grouped && done && done % 3 === 0 &&
				mine[d] !== ' ';
			out = mine[d] + (comma ? ',' : '') + out;
			done++;
		}
		put[i] = out;
		s = s.slice(0, at);
	}
}

// Digits before and behind the point; of nothing before it, none.
function fixed(n, places) {
	const exact = Math.min(places, 15);
	n = F.helpers.ROUND(n, exact);
	const [whole, part = ''] = n < 1e21 ? n.toFixed(exact).split('.') :
		[BigInt(n).toString()];
	return [whole === '0' ? '' : whole, part.padEnd(places, '0')];
}

// The number before its power of ten, and that.
function scaled(n, m) {
	const step = Math.max(m.whole.length, 1);
	const power = n ? Number(n.toExponential(14).split('e')[1]) : 0;
	let low = Math.floor(power / step) * step, by;
	for (let k = 0; k < 2; k++) {
		by = F.tidy(low >= 0 ? n / 10 ** low : n * 10 ** -low);
		if (F.helpers.ROUND(by, Math.min(m.part.length, 15)) <
			10 ** step)
			break;
		low += step;
	}
	return [by, low];
}

function exponent(code, power) {
	const width = (code.slice(2).match(/0/g) ?? []).length;
	return code[0] + (power < 0 ? '-' : code[1] === '+' ? '+' : '') +
		String(Math.abs(power)).padStart(width, '0');
}

function putNumber(m, n, put) {
	if (m.exponent >= 0) {
		let power;
		[n, power] = scaled(n, m);
		put[m.exponent] = exponent(m.parts[m.exponent].code, power);
	}
	const [whole, part] = fixed(n, m.part.length);
	fill(m, m.whole, whole, put, m.grouped);
	if (m.point >= 0)
		put[m.point] = m.whole.length ? '.' : whole + '.';
	const codes = m.part.map((i) => m.parts[i].code);
	const least = codes.lastIndexOf('0') + 1;
	m.part.forEach((i, k) => {
		put[i] = k < least || /[1-9]/.test(part.slice(k)) ? part[k] :
			empty[codes[k]];
	});
	return whole + part;
}

// The fraction that is nearest to x, its denominator at most `most`.
function fractionNear(x, most) {
	let p0 = 0, q0 = 1, p1 = 1, q1 = 0, rest = x;
	for (let k = 0; k < 40; k++) {
		const a = Math.floor(rest);
		if (q0 + a * q1 > most)
			break;
		[p0, q0, p1, q1] = [p1, q1, p0 + a * p1, q0 + a * q1];
		if (rest - a < 1e-11)
			return [p1, q1];
		rest = 1 / (rest - a);
	}
	const k = Math.floor((most - q0) / q1), p = p0 + k * p1;
	const q = q0 + k * q1;
	return Math.abs(p1 / q1 - x) <= Math.abs(p / q - x) ? [p1, q1] : [p, q];
}

function putFraction(m, n, put) {
	const above = run(m.parts, m.slash - 1, -1, isDigit).reverse();
	const under = below(m.parts, m.slash);
	const before = m.whole.filter((i) => i < above[0]);
	const code = (i) => m.parts[i].code, open = isDigit(code(under[0]));
	let whole = before.length ? Math.floor(n) : 0, p, q;
	if (open) {
		[p, q] = fractionNear(F.tidy(n - whole),
			10 ** Math.min(under.length, 9) - 1);
	} else {
		q = Number(under.map(code).join(''));
		p = Math.floor(F.tidy(n - whole) * q + 0.5);
	}
	if (before.length && p === q) {
		whole++;
		p = 0;
	}
	fill(m, before, whole || !p ? String(whole) : '', put);
	if (before.length && p === 0) {
		for (const i of [...above, m.slash, ...under])
			put[i] = ' ';
		return String(whole);
	}
	fill(m, above, String(p), put);
	if (open) {
		const zeros = under.filter((i) => code(i) === '0').length;
		const room = under.filter((i) => code(i) !== '#').length;
		for (const i of under)
			put[i] = '';
		put[under[0]] = String(q).padStart(zeros, '0').padEnd(room);
	}
	return `${whole}${p}`;
}

// Of a number that is not negative: the text, and whether a digit of it is more
// than 0.
F.masked = (n, parts) => {
	const m = mask(parts), put = [];
	if (!m.whole.length && !m.part.length) {
		let some = false;
		parts.forEach((p, i) => {
			if (!/^(@|general)$/i.test(p.code ?? ''))
				return;
			put[i] = F.text(n);
			some = n !== 0;
		});
		return [written(m, put), some];
	}
	n = F.tidy(n * 100 ** m.hundreds / 1000 ** m.thousands);
	const told = (m.slash < 0 ? putNumber : putFraction)(m, n, put);
	return [written(m, put), /[1-9]/.test(told)];
};
})
