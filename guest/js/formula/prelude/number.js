// Arithmetic.
(function(native, F) {
const { number, tidy } = F;
const { abs, floor, ceil, trunc, sign } = Math;

const checked = (n) => {
	if (n !== n || n === Infinity || n === -Infinity)
		F.num('the result is no number that can be had');
	return n;
};

// x rounded by `how` at that decimal: as the digits that one reads say, so that
// 1.005 rounds up.
function at(x, digits, how) {
	const d = F.integer(digits), a = abs(number(x));
	if (d > 15 || a === 0)
		return number(x);
	if (d < -300)
		return 0;
	const p = 10 ** abs(d);
	const n = how(tidy(d < 0 ? a / p : a * p));
	return sign(x) * (d < 0 ? n * p : tidy(n / p));
}

// To a multiple, up or down; the sign of both says which way is up.
function multiple(x, by, how) {
	x = number(x);
	by = number(by);
	if (x === 0)
		return 0;
	if (x > 0 && by < 0)
		F.num('a positive number has no negative multiple');
	return tidy(how(tidy(x / by)) * by);
}

F.add({
	ROUND: (x, digits = 0) => at(x, digits, (n) => floor(n + 0.5)),
	ROUNDUP: (x, digits = 0) => at(x, digits, ceil),
	ROUNDDOWN: (x, digits = 0) => at(x, digits, floor),
	TRUNC: (x, digits = 0) => at(x, digits, floor),
	INT: (x) => floor(number(x)),
	CEILING: (x, by = 1) => number(by) === 0 ? 0 : multiple(x, by, ceil),
	FLOOR: (x, by = 1) => number(by) === 0 ? (number(x) === 0 ? 0 :
		F.div('FLOOR to a multiple of 0')) : multiple(x, by, floor),
	MOD: (x, y) => {
		x = number(x);
		y = number(y);
		if (y === 0)
			F.div('MOD by 0');
		return tidy(x - y * floor(x / y));
	},
	QUOTIENT: (x, y) => number(y) === 0 ? F.div('QUOTIENT by 0') :
		trunc(number(x) / number(y)),
	ABS: (x) => abs(number(x)),
	SIGN: (x) => sign(number(x)),
	POWER: (x, y) => {
		x = number(x);
		y = number(y);
		if (x === 0 && y === 0)
			F.num('0 to the power of 0');
		if (x === 0 && y < 0)
			F.div('0 to a negative power');
		return checked(x ** y);
	},
	SQRT: (x) => number(x) < 0 ? F.num('the root of a negative number') :
		Math.sqrt(number(x)),
	LN: (x) => number(x) > 0 ? Math.log(number(x)) :
		F.num('the logarithm of what is not positive'),
	LOG: (x, base = 10) => {
		x = number(x);
		base = number(base);
		if (!(x > 0) || !(base > 0))
			F.num('the logarithm of what is not positive');
		if (base === 1)
			F.div('a logarithm to base 1');
		if (base === 10)
			return Math.log10(x);
		return base === 2 ? Math.log2(x) :
			tidy(Math.log(x) / Math.log(base));
	},
	LOG10: (x) => number(x) > 0 ? Math.log10(number(x)) :
		F.num('the logarithm of what is not positive'),
	EXP: (x) => checked(Math.exp(number(x))),
	PI: () => Math.PI,
});
})
