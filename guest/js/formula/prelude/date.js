// Dates are UTC throughout: a sheet's dates have no zone.
(function(native, F) {
const { day, integer } = F;
const iso = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:?\d\d)?)?$/;

// A Date if the text is one as ISO 8601 writes it.
F.isoDate = (s) => {
	const m = iso.exec(s);
	if (!m)
		return undefined;
	const d = new Date(Date.UTC(m[1], m[2] - 1, m[3], m[4] ?? 0, m[5] ?? 0,
		m[6] ?? 0, Number(`0.${m[7] ?? 0}`) * 1000));
	if (m[1] < '0100')
		d.setUTCFullYear(m[1]);
	if (d.getUTCMonth() !== m[2] - 1 || d.getUTCDate() !== Number(m[3]) ||
	    m[4] > 23 || m[5] > 59 || m[6] > 59)
		return undefined;
	if (m[8] && m[8] !== 'Z') {
		const z = m[8].replace(':', '');
		const minutes = 60 * z.slice(1, 3) + Number(z.slice(3));
		return new Date(d.getTime() -
			(z[0] === '-' ? -1 : 1) * minutes * 60000);
	}
	return d;
};

function date(v) {
	if (v instanceof Date) {
		if (Number.isNaN(v.getTime()))
			F.value('this is no date');
		return v;
	}
	if (typeof v === 'string') {
		const d = F.isoDate(v.trim());
		if (d)
			return d;
		if (F.parse(v) === undefined)
			v = F.dayPart(v.trim()) ?? F.value(
				`${JSON.stringify(v.slice(0, 40))} is not a ` +
				'date; write it 2024-02-29');
	}
	const n = F.number(v);
	if (n < 0 || n > 2958466)
		F.num('this number is no date');
	return F.fromSerial(n);
}

const whole = (d) => new Date(Math.floor(d.getTime() / day) * day);
const made = (y, m, d) => {
	const t = new Date(0);
	t.setUTCFullYear(y, m, d);
	if (Number.isNaN(t.getTime()) || t.getUTCFullYear() < 0 ||
	    t.getUTCFullYear() > 9999)
		F.num('the date lies outside of the years 0 to 9999');
	return t;
};
const parts = (d) => [d.getUTCFullYear(), d.getUTCMonth(), d.getUTCDate()];
const length = (y, m) => made(y, m + 1, 0).getUTCDate();

// So many months on, at most to that month's last day.
function later(d, months) {
	const [y, m, n] = parts(whole(date(d)));
	const t = made(y, m + integer(months), 1);
	const last = length(t.getUTCFullYear(), t.getUTCMonth());
	t.setUTCDate(Math.min(n, last));
	return t;
}

function monthsBetween(a, b) {
	const [ya, ma, da] = parts(a), [yb, mb, db] = parts(b);
	return 12 * (yb - ya) + mb - ma - (db < da ? 1 : 0);
}

function difference(from, to, unit) {
	const a = whole(date(from)), b = whole(date(to));
	if (a > b)
		F.num('DATEDIF begins after it ends');
	const months = monthsBetween(a, b), [ya, ma, da] = parts(a);
	const [yb, mb, db] = parts(b);
	switch (F.text(unit).toUpperCase()) {
	case 'Y':
		return Math.floor(months / 12);
	case 'M':
		return months;
	case 'D':
		return (b - a) / day;
	case 'YM':
		return months % 12;
	case 'MD':
		return db >= da ? db - da :
			(b - made(yb, mb - 1, Math.min(da,
				length(yb, mb - 1)))) / day;
	case 'YD': {
		let t = made(yb, ma, da);
		if (t > b)
			t = made(yb - 1, ma, da);
		return (b - t) / day;
	}
	}
	return F.num('the unit of DATEDIF is Y, M, D, MD, YM or YD');
}

// Days from Monday to Friday, both ends counted, without the holidays.
function networkdays(from, to, holidays = null) {
	let a = whole(date(from)).getTime() / day;
	let b = whole(date(to)).getTime() / day;
	const sign = a > b ? -1 : 1;
	if (sign < 0)
		[a, b] = [b, a];
	const weekday = (n) => ((n + 3) % 7 + 7) % 7; // Monday: 0
	const weeks = Math.floor((b - a + 1) / 7);
	let n = 5 * weeks;
	for (let d = a + 7 * weeks; d <= b; d++)
		n += weekday(d) < 5;
	const off = new Set();
	for (const v of F.flat([holidays]))
		if (!F.blank(v))
			off.add(whole(date(v)).getTime() / day);
	for (const d of off)
		n -= d >= a && d <= b && weekday(d) < 5;
	return sign * n;
}

const now = () => new Date(native.now() ??
	F.value('there is no time: the policy has `clock: none`'));

F.add({
	DATE: (y, m, d) => {
		y = integer(y);
		if (y >= 0 && y < 1900)
			y += 1900;
		if (y < 0 || y > 9999)
			F.num('the year lies outside of 0 to 9999');
		return made(y, integer(m) - 1, integer(d));
	},
	DATEVALUE: (s) => F.serial(whole(date(F.text(s)))),
	TODAY: () => whole(now()),
	NOW: now,
	YEAR: (d) => date(d).getUTCFullYear(),
	MONTH: (d) => date(d).getUTCMonth() + 1,
	DAY: (d) => date(d).getUTCDate(),
	HOUR: (d) => date(d).getUTCHours(),
	MINUTE: (d) => date(d).getUTCMinutes(),
	SECOND: (d) => date(d).getUTCSeconds(),
	DAYS: (to, from) => (whole(date(to)) - whole(date(from))) / day,
	WEEKDAY: (d, type = 1) => {
		const n = date(d).getUTCDay(); // Sunday: 0
		switch (integer(type)) {
		case 1:
			return n + 1;
		case 2:
			return (n + 6) % 7 + 1;
		case 3:
			return (n + 6) % 7;
		}
		return F.num('the type of WEEKDAY is 1, 2 or 3');
	},
	DATEDIF: difference,
	EDATE: later,
	EOMONTH: (d, months) => {
		const [y, m] = parts(later(d, months));
		return made(y, m + 1, 0);
	},
	NETWORKDAYS: networkdays,
});
})
