// node:util.
(function(native, hooks, share) {
const { coded, format, formatWithOptions, inspect, K, needFunction } = share;
const kind = native.kind;
const kCustom = Symbol.for('nodejs.util.promisify.custom');

function promisify(original) {
	needFunction('original', original);
	if (original[kCustom])
		return original[kCustom];
	function fn(...args) {
		return new Promise((resolve, reject) => {
			Reflect.apply(original, this, [...args, (err, value) => {
				if (err)
					reject(err);
				else
					resolve(value);
			}]);
		});
	}
	Object.setPrototypeOf(fn, Object.getPrototypeOf(original));
	share.define(fn, kCustom, fn);
	return Object.defineProperties(fn,
		Object.getOwnPropertyDescriptors(original));
}
promisify.custom = kCustom;

function callbackify(original) {
	needFunction('original', original);
	return function(...args) {
		const callback = args.pop();
		needFunction('last argument', callback);
		Reflect.apply(original, this, args).then(
			(value) => native.tick(callback, null, value),
			(err) => native.tick(callback, err));
	};
}

function inherits(constructor, parent) {
	needFunction('ctor', constructor);
	needFunction('superCtor', parent);
	share.define(constructor, 'super_', parent);
	Object.setPrototypeOf(constructor.prototype, parent.prototype);
}

function deprecate(fn, message, code) {
	let warned = false;
	return function(...args) {
		if (!warned)
			share.warn(`(node) ${code ? `[${code}] ` : ''}` +
				`DeprecationWarning: ${message}`);
		warned = true;
		return new.target ? Reflect.construct(fn, args, new.target) :
			Reflect.apply(fn, this, args);
	};
}

// ---- isDeepStrictEqual ----

function sameKeys(a, b) {
	const own = (o) => Reflect.ownKeys(o).filter((k) =>
		Object.prototype.propertyIsEnumerable.call(o, k));
	const ka = own(a), kb = own(b);
	return ka.length === kb.length &&
		ka.every((k) => Object.prototype.propertyIsEnumerable.call(b, k)) ?
		ka : null;
}

function equalSets(a, b, seen) {
	const left = [];
	for (const v of native.entries(b))
		if (!Set.prototype.has.call(a, v))
			left.push(v);
	for (const v of native.entries(a)) {
		if (Set.prototype.has.call(b, v))
			continue;
		const at = left.findIndex((w) => equal(v, w, seen));
		if (at < 0)
			return false;
		left.splice(at, 1);
	}
	return true;
}

function equalMaps(a, b, seen) {
	const list = native.entries(a), left = [];
	const other = native.entries(b);
	for (let i = 0; i < other.length; i += 2)
		left.push([other[i], other[i + 1]]);
	for (let i = 0; i < list.length; i += 2) {
		const at = left.findIndex(([k, v]) => equal(list[i], k, seen) &&
			equal(list[i + 1], v, seen));
		if (at < 0)
			return false;
		left.splice(at, 1);
	}
	return true;
}

function equalInside(a, b, k, seen) {
	switch (k) {
	case K.date:
	case K.number:
	case K.string:
	case K.boolean:
	case K.bigint:
	case K.symbol:
		return Object.is(native.primitive(a), native.primitive(b));
	case K.regexp:
		return a.source === b.source && a.flags === b.flags &&
			a.lastIndex === b.lastIndex;
	case K.error:
		return a.name === b.name && a.message === b.message &&
			equal(a.cause, b.cause, seen) &&
			equal(a.errors, b.errors, seen);
	case K.map:
		return native.size(a) === native.size(b) &&
			equalMaps(a, b, seen);
	case K.set:
		return native.size(a) === native.size(b) &&
			equalSets(a, b, seen);
	case K.array:
		return a.length === b.length;
	case K.buffer:
	case K.dataview:
	case K.typed: {
		const x = share.bytesOf(a), y = share.bytesOf(b);
		return x.length === y.length && x.every((c, i) => c === y[i]);
	}
	case K.weakmap:
	case K.weakset:
	case K.promise:
		return false;
	default:
		return true;
	}
}

function equal(a, b, seen) {
	if (Object.is(a, b))
		return true;
	if (typeof a !== 'object' || typeof b !== 'object' || a === null ||
	    b === null)
		return false;
	const k = kind(a);
	if (k !== kind(b) ||
	    Object.getPrototypeOf(a) !== Object.getPrototypeOf(b))
		return false;
	for (const [x, y] of seen)
		if (x === a && y === b)
			return true;
	seen.push([a, b]);
	try {
		if (!equalInside(a, b, k, seen))
			return false;
		if (k === K.typed)
			return true;
		const keys = sameKeys(a, b);
		return keys !== null && keys.every((key) =>
			equal(a[key], b[key], seen));
	} finally {
		seen.pop();
	}
}

const isDeepStrictEqual = (a, b) => equal(a, b, []);

// ---- types ----

const typed = (name) => (v) => kind(v) === K.typed &&
	Object.prototype.toString.call(v) === `[object ${name}]`;
const types = {
	isArrayBuffer: (v) => kind(v) === K.buffer,
	isAnyArrayBuffer: (v) => kind(v) === K.buffer ||
		kind(v) === K.sharedBuffer,
	isSharedArrayBuffer: (v) => kind(v) === K.sharedBuffer,
	isArrayBufferView: (v) => ArrayBuffer.isView(v),
	isArgumentsObject: (v) => kind(v) === K.arguments,
	isAsyncFunction: (v) => typeof v === 'function' &&
		(native.functionKind(v) & 2) !== 0,
	isGeneratorFunction: (v) => typeof v === 'function' &&
		(native.functionKind(v) & 1) !== 0,
	isGeneratorObject: (v) => kind(v) === K.generator,
	isBigIntObject: (v) => kind(v) === K.bigint,
	isBooleanObject: (v) => kind(v) === K.boolean,
	isNumberObject: (v) => kind(v) === K.number,
	isStringObject: (v) => kind(v) === K.string,
	isSymbolObject: (v) => kind(v) === K.symbol,
	isBoxedPrimitive: (v) => kind(v) >= K.number && kind(v) <= K.bigint,
	isDataView: (v) => kind(v) === K.dataview,
	isDate: (v) => kind(v) === K.date,
	isMap: (v) => kind(v) === K.map,
	isMapIterator: (v) => kind(v) === K.mapIterator,
	isModuleNamespaceObject: (v) => kind(v) === K.module,
	isNativeError: (v) => kind(v) === K.error,
	isPromise: (v) => kind(v) === K.promise,
	isProxy: (v) => kind(v) === K.proxy,
	isRegExp: (v) => kind(v) === K.regexp,
	isSet: (v) => kind(v) === K.set,
	isSetIterator: (v) => kind(v) === K.setIterator,
	isTypedArray: (v) => kind(v) === K.typed,
	isWeakMap: (v) => kind(v) === K.weakmap,
	isWeakSet: (v) => kind(v) === K.weakset,
	isExternal: () => false,
};
for (const name of ['Uint8Array', 'Uint8ClampedArray', 'Uint16Array',
	'Uint32Array', 'Int8Array', 'Int16Array', 'Int32Array',
	'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array'])
	types[`is${name}`] = typed(name);

function styleText(style, text) {
	for (const name of [style].flat()) {
		const codes = inspect.colors[name];
		if (codes === undefined)
			throw coded(TypeError, 'ERR_INVALID_ARG_VALUE',
				`The argument 'format' must be one of: ` +
				`${Object.keys(inspect.colors).map((k) =>
					`'${k}'`).join(', ')}. Received ` +
				`${inspect(name)}`);
		text = `\u001b[${codes[0]}m${text}\u001b[${codes[1]}m`;
	}
	return text;
}

share.modules.util = {
	callbackify, deprecate, format, formatWithOptions, inherits, inspect,
	isDeepStrictEqual, promisify, styleText, types,
	stripVTControlCharacters: share.stripVTControlCharacters,
	TextDecoder, TextEncoder,
	debuglog: () => Object.assign(() => {}, { enabled: false }),
	isArray: Array.isArray,
	toUSVString: (s) => `${s}`.toWellFormed(),
};
share.modules.util.debug = share.modules.util.debuglog;
share.modules['util/types'] = types;
})
