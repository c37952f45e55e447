// The built-in functions as they were before any program ran: what a program
// does to a prototype must not change how its values are shown.
(function(native, hooks, share) {
const { call, bind } = Function.prototype;
const uncurry = bind.bind(call);
const { getOwnPropertyDescriptor: descriptor, getPrototypeOf: parent,
	ownKeys } = Reflect;
const { is, keys, getOwnPropertySymbols: symbols } = Object;
const getter = (o, name) => uncurry(descriptor(o, name).get);
const exec = uncurry(RegExp.prototype.exec);
const text = String.prototype, list = Array.prototype;
const typed = parent(Uint8Array.prototype);
const isEnumerable = uncurry(Object.prototype.propertyIsEnumerable);

// True if the pattern, which is not global, is found.
const found = (pattern, s) => exec(pattern, s) !== null;

const names = { __proto__: null };
for (const name of Object.getOwnPropertyNames(globalThis))
	if (found(/^[A-Z]/, name))
		names[name] = true;

share.safe = {
	__proto__: null,
	apply: Reflect.apply, descriptor, parent, ownKeys, is, keys, symbols,
	isEnumerable, exec, found,
	hasOwn: Object.hasOwn,
	isArray: Array.isArray,
	isPrototypeOf: uncurry(Object.prototype.isPrototypeOf),
	join: uncurry(list.join),
	sort: uncurry(list.sort),
	slice: uncurry(text.slice),
	split: uncurry(text.split),
	repeat: uncurry(text.repeat),
	indexOf: uncurry(text.indexOf),
	startsWith: uncurry(text.startsWith),
	endsWith: uncurry(text.endsWith),
	charCodeAt: uncurry(text.charCodeAt),
	codePointAt: uncurry(text.codePointAt),
	normalize: uncurry(text.normalize),
	toUpperCase: uncurry(text.toUpperCase),
	padStart: uncurry(text.padStart),
	symbolText: uncurry(Symbol.prototype.toString),
	errorText: uncurry(Error.prototype.toString),
	numberText: uncurry(Number.prototype.toString),
	dateIso: uncurry(Date.prototype.toISOString),
	regexpSource: getter(RegExp.prototype, 'source'),
	regexpFlags: getter(RegExp.prototype, 'flags'),
	typedLength: getter(typed, 'length'),
	typedName: getter(typed, Symbol.toStringTag),
	bufferLength: getter(ArrayBuffer.prototype, 'byteLength'),
	sharedLength: typeof SharedArrayBuffer === 'undefined' ? undefined :
		getter(SharedArrayBuffer.prototype, 'byteLength'),
	mapGet: uncurry(Map.prototype.get),
	mapSet: uncurry(Map.prototype.set),
	// Joined occurrences: replace without patterns such as "$&".
	replaceAll: (s, what, by) => share.safe.join(
		share.safe.split(s, what), by),
	// A class of the language or of this runtime, by name.
	isBuiltin: (name) => names[name] === true,
};

// Kinds of value, in the order of enum quick_kind.
const kinds = ['plain', 'array', 'error', 'number', 'string', 'boolean',
	'symbol', 'bigint', 'arguments', 'date', 'module', 'function', 'regexp',
	'buffer', 'sharedBuffer', 'typed', 'dataview', 'map', 'set', 'weakmap',
	'weakset', 'mapIterator', 'setIterator', 'generator', 'proxy',
	'promise', 'weakref'];
share.K = { __proto__: null };
for (let i = 0; i < kinds.length; i++)
	share.K[kinds[i]] = i;
})
