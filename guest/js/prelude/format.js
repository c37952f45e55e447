// util.format: a text with placeholders, then the other arguments.
(function(native, hooks, share) {
const { descriptor, hasOwn, indexOf, isBuiltin, parent, slice } = share.safe;
const { bigNumeral, numeral } = share.words;
const { inspect, K } = share;
const { stringify } = JSON;
const toPrimitive = Symbol.toPrimitive;
const toNumber = Number, toInteger = parseInt, toFloat = parseFloat;

// True if the program, not the language, says how the object becomes text.
function hasOwnText(v) {
	if (native.kind(v) === K.proxy)
		v = native.proxy(v, false);
	for (let o = v; o !== null; o = parent(o)) {
		if (!hasOwn(o, 'toString') && !hasOwn(o, toPrimitive))
			continue;
		const maker = descriptor(o, 'constructor')?.value;
		return o === v || typeof maker !== 'function' ||
			!isBuiltin(maker.name);
	}
	return false;
}

function asString(v, options) {
	if (typeof v === 'number')
		return numeral(v, false);
	if (typeof v === 'bigint')
		return bigNumeral(v, false);
	if (typeof v === 'object' && v !== null && !hasOwnText(v))
		return inspect(v, { ...options, depth: 0, colors: false,
			compact: 3 });
	return String(v);
}
const String = ''.constructor;

function asNumber(v, convert) {
	if (typeof v === 'symbol')
		return 'NaN';
	if (typeof v === 'bigint' && convert !== toFloat)
		return bigNumeral(v, false);
	return numeral(convert(v), false);
}

const cycle = {};
cycle.cycle = cycle;
let cycleMessage;
try {
	stringify(cycle);
} catch (err) {
	cycleMessage = firstLine(err.message);
}

function firstLine(text) {
	const end = indexOf(text, '\n');
	return end < 0 ? text : slice(text, 0, end);
}

function asJson(v) {
	try {
		return `${stringify(v)}`;
	} catch (err) {
		if (firstLine(`${err?.message}`) !== cycleMessage)
			throw err;
		return '[Circular]';
	}
}

const placeholders = {
	__proto__: null,
	s: asString,
	d: (v) => asNumber(v, toNumber),
	i: (v) => asNumber(v, toInteger),
	f: (v) => asNumber(v, toFloat),
	j: asJson,
	o: (v, options) => inspect(v, { ...options, showHidden: true,
		showProxy: true, depth: 4 }),
	O: (v, options) => inspect(v, options),
	c: () => '',
};

function compose(options, args) {
	const first = args[0];
	let out = '', next = 0;

	if (typeof first === 'string') {
		if (args.length === 1)
			return first;
		let from = 0, at;
		next = 1;
		while ((at = indexOf(first, '%', from)) >= 0 &&
		       at + 1 < first.length) {
			const letter = first[at + 1];
			const fn = placeholders[letter];
			out += slice(first, from, at);
			from = at + 2;
			if (letter === '%')
				out += '%';
			else if (fn === undefined || next >= args.length)
				out += `%${letter}`;
			else
				out += fn(args[next++], options);
		}
		out += slice(first, from);
	}
	for (; next < args.length; next++) {
		const v = args[next];
		out += (next > 0 ? ' ' : '') + (typeof v === 'string' ? v :
			inspect(v, { compact: 3, colors: false, depth: 2,
				...options }));
	}
	return out;
}

function format(...args) {
	return compose(undefined, args);
}

function formatWithOptions(inspectOptions, ...args) {
	if (typeof inspectOptions !== 'object' || inspectOptions === null)
		throw share.argType('inspectOptions', 'of type object',
			inspectOptions);
	return compose(inspectOptions, args);
}

Object.assign(share, { compose, format, formatWithOptions });
})
