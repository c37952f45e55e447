// What each kind of object looks like: a shape for each, made without running
// code of the program where the language allows that.
//
// A shape is finished text, or { open, close, base, keys, fill, list }: braces,
// what stands before them, named properties to show and a function that adds
// what is no property.  `who` is { name, tag }: the constructor's name (null if
// there is none) and Symbol.toStringTag.
(function(native, hooks, share) {
const { K } = share;
const { bufferLength, dateIso, hasOwn, is, keys: enumerable, numberText,
	padStart, parent, regexpFlags, regexpSource, sharedLength, slice,
	symbolText, typedLength, typedName } = share.safe;
const { bigNumeral, numeral, quoted } = share.words;
const { Pair } = share.layout;
const { min } = Math;

// "Name(size) [Tag] ", what stands before the braces.
function title(who, usual, size = '') {
	const { name, tag } = who;
	if (name === null)
		return `[${usual}${size}: null prototype] ` +
			(tag !== '' && tag !== usual ? `[${tag}] ` : '');
	return `${name}${size} ${tag !== '' && tag !== name ? `[${tag}] ` : ''}`;
}

function primitive(st, v) {
	switch (typeof v) {
	case 'string': {
		const over = v.length - st.maxStringLength;
		const rest = over > 0 ? `... ${over} more character` +
			(over > 1 ? 's' : '') : '';
		return share.layout.string(st, over > 0 ?
			slice(v, 0, st.maxStringLength) : v, rest);
	}
	case 'number':
		return st.stylize(numeral(v, st.numericSeparator), 'number');
	case 'bigint':
		return st.stylize(bigNumeral(v, st.numericSeparator), 'bigint');
	case 'symbol':
		return st.stylize(symbolText(v), 'symbol');
	default:
		return st.stylize(`${v}`, v === null ? 'null' : typeof v);
	}
}

const add = (items, item) => items[items.length] = item;

function addMore(items, count, what = 'item') {
	if (count > 0)
		add(items, more(count, what));
}

function more(count, what) {
	return `... ${count} more ${what}${count > 1 ? 's' : ''}`;
}

// ---- lists ----

function addHole(st, items, count) {
	add(items, st.stylize(`<${count} empty item${count > 1 ? 's' : ''}>`,
		'undefined'));
}

// From a hole on: only indices that exist are looked at.
function fillSparse(st, v, group, level, from) {
	const { items } = group, names = enumerable(v);
	let next = from;
	for (let i = from; i < names.length &&
	     items.length < st.maxArrayLength; i++) {
		const index = +names[i];
		if (!(index < v.length) || `${index}` !== names[i])
			break;
		if (index > next) {
			addHole(st, items, index - next);
			next = index;
			if (items.length >= st.maxArrayLength)
				break;
		}
		add(items, share.element(st, v, names[i], level));
		next++;
	}
	const left = v.length - next;
	if (left > 0 && items.length < st.maxArrayLength)
		addHole(st, items, left);
	else
		addMore(items, left);
}

function fillArray(st, v, group, level) {
	const { items } = group, shown = min(st.maxArrayLength, v.length);
	for (let i = 0; i < shown; i++) {
		if (!hasOwn(v, i)) {
			fillSparse(st, v, group, level, i);
			return;
		}
		add(items, share.element(st, v, i, level));
	}
	addMore(items, v.length - shown);
}

function arrayShape(st, v, who, keys) {
	const open = who.name === 'Array' && who.tag === '' ? '[' :
		`${title(who, 'Array', `(${v.length})`)}[`;
	if (v.length === 0 && keys.length === 0)
		return `${open}]`;
	return { open, close: ']', keys, fill: fillArray, list: true };
}

const typedFacts = ['BYTES_PER_ELEMENT', 'length', 'byteLength', 'byteOffset',
	'buffer'];

function fillTyped(st, v, group, level) {
	const { items } = group, length = typedLength(v);
	const shown = min(st.maxArrayLength, length);
	for (let i = 0; i < shown; i++)
		add(items, primitive(st, v[i]));
	addMore(items, length - shown);
	if (!st.showHidden)
		return;
	st.plainBuffers = true;
	for (let i = 0; i < typedFacts.length; i++)
		add(items, new Pair(`[${typedFacts[i]}]`, ': ',
			share.show(st, v[typedFacts[i]], level)));
	st.plainBuffers = false;
}

function typedShape(st, v, who, keys) {
	const length = typedLength(v);
	const open = `${title(who, typedName(v), `(${length})`)}[`;
	if (length === 0 && keys.length === 0 && !st.showHidden)
		return `${open}]`;
	return { open, close: ']', keys, fill: fillTyped, list: true };
}

// ---- collections ----

const isMap = (v) => native.kind(v) === K.map;

function fillCollection(st, v, group, level) {
	fillEntries(st, native.entries(v), isMap(v) ? 2 : 1, group, level);
}

function fillEntries(st, list, step, group, level) {
	const { items } = group, count = list.length / step;
	const shown = min(st.maxArrayLength, count);
	for (let i = 0; i < shown; i++) {
		const first = share.show(st, list[i * step], level);
		add(items, step === 1 ? first : new Pair(first, ' => ',
			share.show(st, list[i * step + 1], level)));
	}
	addMore(items, count - shown);
}

function collectionShape(st, v, who, keys) {
	const size = native.size(v);
	const open = `${title(who, isMap(v) ? 'Map' : 'Set', `(${size})`)}{`;
	return size === 0 && keys.length === 0 ? `${open}}` :
		{ open, close: '}', keys, fill: fillCollection };
}

function weakShape(st, v, who, keys) {
	const usual = native.kind(v) === K.weakmap ? 'WeakMap' : 'WeakSet';
	return { open: `${title(who, usual)}{`, close: '}', keys,
		fill(st, v, group) {
			add(group.items, st.stylize('<items unknown>',
				'special'));
		} };
}

// What is left in an iterator: keys, values, or pairs shown as arrays.
function iteratorShape(st, v, who, keys) {
	const what = native.kind(v) === K.mapIterator ? 'Map' : 'Set';
	const left = native.preview(v, true), list = left[0];
	const word = `${what} Iterator`;
	let { tag } = who;
	if (tag !== word)
		tag = tag === '' ? word : `${tag}] [${word}`;
	if (!left[1])
		return { open: `[${tag}] {`, close: '}', keys,
			fill: (st, v, group, level) =>
				fillEntries(st, list, 1, group, level) };
	return { open: `[${what} Entries] {`, close: '}', keys,
		fill: (st, v, group, level) =>
			fillPairs(st, list, group, level) };
}

function fillPairs(st, list, group, level) {
	const count = list.length / 2, shown = min(st.maxArrayLength, count);
	for (let i = 0; i < shown; i++) {
		const pair = new share.layout.Group('[', ']');
		pair.items = [share.show(st, list[2 * i], level),
			share.show(st, list[2 * i + 1], level)];
		pair.depth = st.entered - level + 1;
		add(group.items, pair);
	}
	addMore(group.items, count - shown);
}

// ---- bytes ----

const Bytes = Uint8Array;

function lengthOf(v) {
	return native.kind(v) === K.buffer ? bufferLength(v) : sharedLength(v);
}

function contents(st, v) {
	const length = lengthOf(v), shown = min(st.maxArrayLength, length);
	let out = '', bytes;
	try {
		bytes = new Bytes(v, 0, shown);
	} catch {
		return st.stylize('(detached)', 'special');
	}
	for (let i = 0; i < shown; i++)
		out += (i ? ' ' : '') + padStart(numberText(bytes[i], 16), 2,
			'0');
	if (length > shown)
		out += ` ${more(length - shown, 'byte')}`;
	return `${st.stylize('[Uint8Contents]', 'special')}: <${out}>`;
}

function fillBuffer(st, v, group, level) {
	add(group.items, contents(st, v));
	fillFacts(st, v, group, level, ['byteLength']);
}

function bufferShape(st, v, who, keys) {
	const usual = native.kind(v) === K.buffer ? 'ArrayBuffer' :
		'SharedArrayBuffer';
	const open = `${title(who, usual)}{`;
	if (st.plainBuffers)
		return `${open} byteLength: ${primitive(st, lengthOf(v))} }`;
	return { open, close: '}', keys, fill: fillBuffer };
}

// Properties that the prototype has and that are shown as if they were own.
function fillFacts(st, v, group, level, names) {
	for (let i = 0; i < names.length; i++)
		add(group.items, share.property(st, v, names[i], level));
}

function dataViewShape(st, v, who, keys) {
	return { open: `${title(who, 'DataView')}{`, close: '}', keys,
		fill: (st, v, group, level) => fillFacts(st, v, group, level,
			['byteLength', 'byteOffset', 'buffer']) };
}

// ---- one value inside ----

function fillPromise(st, v, group, level) {
	const promise = native.promise(v), state = promise[0];
	if (state === 0) {
		add(group.items, st.stylize('<pending>', 'special'));
		return;
	}
	const shown = share.show(st, promise[1], level);
	add(group.items, state === 2 ? new Pair(st.stylize('<rejected>',
		'special'), ' ', shown) : shown);
}

function promiseShape(st, v, who, keys) {
	return { open: `${title(who, 'Promise')}{`, close: '}', keys,
		fill: fillPromise };
}

const boxes = { __proto__: null, number: 'Number', string: 'String',
	boolean: 'Boolean', bigint: 'BigInt', symbol: 'Symbol' };

function boxShape(st, v, who, keys) {
	const inner = native.primitive(v), usual = boxes[typeof inner];
	let base = `[${usual}`;
	if (who.name === null)
		base += ' (null prototype)';
	else if (who.name !== usual)
		base += ` (${who.name})`;
	base += `: ${boxText(st, inner)}]`;
	if (who.tag !== '' && who.tag !== who.name)
		base += ` [${who.tag}]`;
	return based(st, base, typeof inner, keys);
}

function boxText(st, v) {
	return typeof v === 'string' ? quoted(v) : typeof v === 'symbol' ?
		symbolText(v) : typeof v === 'bigint' ? bigNumeral(v, st.numericSeparator) :
		typeof v === 'number' ? numeral(v, st.numericSeparator) : `${v}`;
}

// Text alone, or before the braces of properties.
function based(st, text, style, keys) {
	return keys.length === 0 ? st.stylize(text, style) :
		{ base: text, open: '{', close: '}', keys };
}

function dateShape(st, v, who, keys) {
	const time = native.primitive(v);
	const text = is(time, NaN) ? 'Invalid Date' : dateIso(v);
	const before = title(who, 'Date');
	return based(st, before === 'Date ' ? text : before + text, 'date', keys);
}

const none = [];

function regexpShape(st, v, who, keys, level) {
	const before = title(who, 'RegExp');
	const text = `/${regexpSource(v)}/${regexpFlags(v)}`;
	return based(st, before === 'RegExp ' ? text : before + text, 'regexp',
		level > st.limit ? none : keys);
}

// ---- functions ----

const functionTypes = ['Function', 'GeneratorFunction', 'AsyncFunction',
	'AsyncGeneratorFunction'];

function functionShape(st, v, who, keys) {
	const { name, tag } = who;
	if (native.isClass(v))
		return based(st, classText(v, who), 'special', keys);
	const type = functionTypes[native.functionKind(v)];
	const own = v.name;
	let base = `[${type}${name === null ? ' (null prototype)' : ''}` +
		`${own === '' ? ' (anonymous)' : `: ${own}`}]`;
	if (name !== type && name !== null)
		base += ` ${name}`;
	if (tag !== '' && tag !== name)
		base += ` [${tag}]`;
	return based(st, base, 'special', keys);
}

function classText(v, who) {
	const { name, tag } = who;
	let text = `class ${(hasOwn(v, 'name') && v.name) || '(anonymous)'}`;
	if (name !== 'Function' && name !== null)
		text += ` [${name}]`;
	if (tag !== '' && tag !== name)
		text += ` [${tag}]`;
	if (name === null)
		return `[${text} extends [null prototype]]`;
	const base = parent(v)?.name;
	return `[${text}${base ? ` extends ${base}` : ''}]`;
}

// ---- the rest ----

function plainShape(st, v, who, keys) {
	const open = who.name === 'Object' && who.tag === '' ? '{' :
		`${title(who, classes[native.kind(v)])}{`;
	return keys.length === 0 ? `${open}}` : { open, close: '}', keys };
}

function argumentsShape(st, v, who, keys) {
	const open = who.name === null ? `${title(who, 'Arguments')}{` :
		'[Arguments] {';
	return keys.length === 0 ? `${open}}` : { open, close: '}', keys };
}

function generatorShape(st, v, who, keys) {
	const open = `${title(who, 'Generator')}{`;
	return keys.length === 0 ? `${open}}` : { open, close: '}', keys };
}

function moduleShape(st, v, who, keys) {
	return { open: `[${who.tag === '' ? 'Module' : who.tag}` +
		`: null prototype] {`, close: '}', keys };
}

const shapes = [];
const put = (shape, kinds) => {
	for (let i = 0; i < kinds.length; i++)
		shapes[kinds[i]] = shape;
};
put(plainShape, [K.plain, K.proxy, K.weakref]);
put(arrayShape, [K.array]);
put(boxShape, [K.number, K.string, K.boolean, K.symbol, K.bigint]);
put(argumentsShape, [K.arguments]);
put(dateShape, [K.date]);
put(moduleShape, [K.module]);
put(functionShape, [K.function]);
put(regexpShape, [K.regexp]);
put(bufferShape, [K.buffer, K.sharedBuffer]);
put(typedShape, [K.typed]);
put(dataViewShape, [K.dataview]);
put(collectionShape, [K.map, K.set]);
put(weakShape, [K.weakmap, K.weakset]);
put(iteratorShape, [K.mapIterator, K.setIterator]);
put(generatorShape, [K.generator]);
put(promiseShape, [K.promise]);

// The kind that v is shown as: an object that lost its class's methods, or
// says that it is but an Object, is shown as a plain one.
const iterable = Symbol.iterator;

function shownKind(v, kind, name) {
	switch (kind) {
	case K.array:
	case K.map:
	case K.set:
	case K.typed:
	case K.mapIterator:
	case K.setIterator:
		return name === null || v[iterable] ? kind : K.plain;
	case K.arguments:
	case K.function:
	case K.module:
		return kind;
	default:
		return name === 'Object' ? K.plain :
			kind === K.plain && share.isError(v) ? K.error : kind;
	}
}

const classes = ['Object', 'Array', 'Error', 'Number', 'String', 'Boolean',
	'Symbol', 'BigInt', 'Arguments', 'Date', 'Module', 'Function', 'RegExp',
	'ArrayBuffer', 'SharedArrayBuffer', '', 'DataView', 'Map', 'Set',
	'WeakMap', 'WeakSet', 'MapIterator', 'SetIterator', 'Generator',
	'Object', 'Promise', 'WeakRef'];

share.kinds = { __proto__: null, primitive, shapes, shownKind, title,
	// The name of the class that made the object, whatever its prototype.
	classOf: (v, kind) => kind === K.typed ? typedName(v) :
		classes[kind] };
})
