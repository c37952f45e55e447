// Conditions.  IF, IFS, SWITCH, AND, OR, IFERROR and IFNA are rewritten so that
// they evaluate no more than they need; under these names stand what that makes
// use of, and functions for who passes one on.
(function(native, F) {
const { Failure, truth } = F;

const cells = (v) => F.isList(v) && !(v instanceof Failure);
// Of a list every cell that has a truth counts.
function every(v, want) {
	let any = false;
	for (const cell of F.flat(v)) {
		if (cell instanceof Failure)
			throw cell;
		if (typeof cell !== 'boolean' && typeof cell !== 'number')
			continue;
		any = true;
		if (truth(cell) !== want)
			return false;
	}
	return any || F.value('no cell of the list is true or false');
}
const all = (v) => cells(v) ? every(v, true) : truth(v);
const some = (v) => cells(v) ? !every(v, false) : truth(v);
const none = () => F.na('no condition was true, and no case was equal');
const settled = (v) => {
	if (v instanceof Failure)
		throw v;
	if (typeof v === 'number' && !Number.isFinite(v))
		F.number(v);
	return v;
};
const caught = (f, other) => {
	let v;
	try {
		v = settled(f());
	} catch {
		return other();
	}
	return v;
};
const caughtNa = (f, other) => {
	try {
		return settled(f());
	} catch (e) {
		if (e instanceof Failure && e.code === '#N/A')
			return other();
		throw e;
	}
};

F.inner = {
	__proto__: null,
	$T: truth, $A: all, $O: some, $N: none, $Q: F.equal, $E: caught,
	$EN: caughtNa,
};

F.add({
	IF: (c, a, b = false) => truth(c) ? a : b,
	IFS: (...args) => {
		for (let i = 0; i + 1 < args.length; i += 2)
			if (truth(args[i]))
				return args[i + 1];
		return none();
	},
	SWITCH: (v, ...args) => {
		let i = 0;
		for (; i + 1 < args.length; i += 2)
			if (F.equal(v, args[i]))
				return args[i + 1];
		return i < args.length ? args[i] : none();
	},
	IFERROR: (v, other = null) => caught(() => v, () => other),
	IFNA: (v, other = null) => caughtNa(() => v, () => other),
	AND: (...args) => args.every(all),
	OR: (...args) => args.some(some),
	XOR: (...args) => args.reduce((n, v) => n !== some(v), false),
	NOT: (v) => !truth(v),
	TRUE: () => true,
	FALSE: () => false,
	NA: () => F.na('NA()'),
	ISBLANK: (v) => F.blank(v),
	ISNUMBER: (v) => typeof v === 'number' || typeof v === 'bigint' ||
		v instanceof Date,
	ISTEXT: (v) => typeof v === 'string',
	ISLOGICAL: (v) => typeof v === 'boolean',
});
})
