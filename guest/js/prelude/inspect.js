// util.inspect: what a value is and what is in it.  The result is laid out
// by inspect_layout.js.
(function(native, hooks, share) {
const { K } = share;
const { apply, descriptor, hasOwn, isBuiltin, isEnumerable, keys: names,
	mapGet, mapSet, ownKeys, parent, slice, symbols } = share.safe;
const { keyText } = share.words;
const { Group, lines, Pair, Property, render } = share.layout;
const { classOf, primitive, shapes, shownKind, title } = share.kinds;
const kindOf = native.kind;
const custom = Symbol.for('nodejs.util.inspect.custom');
const toStringTag = Symbol.toStringTag;
const RangeErrorClass = RangeError, ReferenceErrorClass = ReferenceError;
const MapClass = Map;

// ---- options ----

const defaults = Object.seal({
	showHidden: false, depth: 2, colors: false, customInspect: true,
	showProxy: false, maxArrayLength: 100, maxStringLength: 10000,
	breakLength: 80, compact: 3, sorted: false, getters: false,
	numericSeparator: false,
});
const optionNames = names(defaults);
const most = 1 << 20; // objects shown at most; then depth counts as used up
const deepest = 1000; // levels shown at most

const unstyled = (text) => text;
const unlimited = (n) => n === null ? Infinity : n < 0 ? 0 : n;

// Options as given by a program; what is missing is as usual.
function readOptions(given) {
	const o = { __proto__: null, stylize: unstyled };
	for (let i = 0; i < optionNames.length; i++)
		o[optionNames[i]] = defaults[optionNames[i]];
	if (given === undefined)
		return o;
	const own = names(given);
	for (let i = 0; i < own.length; i++)
		o[own[i]] = given[own[i]];
	return o;
}

function stateOf(options) {
	return {
		__proto__: null, options,
		stylize: options.colors && options.stylize === unstyled ?
			styled : options.stylize,
		showHidden: options.showHidden,
		limit: options.depth === null ? Infinity : options.depth,
		colors: options.colors,
		customInspect: options.customInspect,
		showProxy: options.showProxy,
		maxArrayLength: unlimited(options.maxArrayLength),
		maxStringLength: unlimited(options.maxStringLength),
		breakLength: options.breakLength,
		compact: options.compact,
		sorted: options.sorted,
		getters: options.getters,
		numericSeparator: options.numericSeparator,
		plainBuffers: false, // contents of buffers are not shown
		within: [], // the objects around this one
		refs: undefined, // Map of objects that contain themselves
		refCount: 0,
		entered: 0, // level of the object entered last
		left: most,
	};
}

// ---- what an object is ----

function isInstance(v, fn) {
	try {
		return v instanceof fn;
	} catch {
		return false;
	}
}

// The first constructor along the prototypes that v is an instance of.
function constructorName(v) {
	for (let o = v; o !== null; o = parent(o)) {
		const d = descriptor(o, 'constructor');
		if (d === undefined || !hasOwn(d, 'value') ||
		    typeof d.value !== 'function')
			continue;
		const { name } = d.value;
		if (name !== '' && isInstance(v, d.value))
			return `${name}`;
	}
	return undefined;
}

function nameOf(st, v, kind, level) {
	const name = constructorName(v);
	if (name !== undefined)
		return name;
	const proto = parent(v);
	if (proto === null)
		return null;
	const own = classOf(v, kind);
	if (level > st.limit)
		return `${own} <Complex prototype>`;
	const inner = nameOf(st, proto, kindOf(proto), level + 1);
	return `${own} <${inner ?? render(show(stateOf({ ...st.options,
		depth: -1, customInspect: false }), proto, 0), st, 0)}>`;
}

function tagOf(st, v) {
	const tag = v[toStringTag];
	if (typeof tag !== 'string' || tag === '')
		return '';
	return (st.showHidden ? hasOwn : isEnumerable)(v, toStringTag) ? '' : tag;
}

// What classes of the program keep in prototypes, except methods.
function addInherited(v, out) {
	const seen = { __proto__: null };
	let o = parent(v);
	for (let steps = 0; o !== null && steps < 3; steps++, o = parent(o)) {
		const maker = descriptor(o, 'constructor')?.value;
		if (typeof maker === 'function' && isBuiltin(maker.name))
			break;
		const keys = ownKeys(o);
		for (let i = 0; i < keys.length; i++) {
			const key = keys[i], d = descriptor(o, key);
			if (key !== 'constructor' && !hasOwn(v, key) &&
			    !seen[key] && typeof d?.value !== 'function')
				out[out.length] = { holder: o, key };
			seen[key] = true;
		}
	}
	return out;
}

// Names and symbols to show, or { holder, key } for what is inherited.
function keysOf(st, v, kind, name) {
	const list = kind === K.array || kind === K.typed || kind === K.string;
	if (st.showHidden) {
		const all = list ? native.namedKeys(v, false) : ownKeys(v);
		return name === null ? all : addInherited(v, all);
	}
	if (list)
		return native.namedKeys(v, true);
	const out = names(v), more = symbols(v);
	for (let i = 0; i < more.length; i++)
		if (isEnumerable(v, more[i]))
			out[out.length] = more[i];
	return out;
}

// ---- properties ----

function wantsGetter(st, d) {
	const { getters } = st, settable = d.set !== undefined;
	return getters === true || (getters === 'get' && !settable) ||
		(getters === 'set' && settable);
}

function accessor(st, d, self, level) {
	const special = (text) => st.stylize(text, 'special');
	if (d.get === undefined)
		return d.set === undefined ? st.stylize('undefined', 'undefined') :
			special('[Setter]');
	const label = d.set === undefined ? 'Getter' : 'Getter/Setter';
	if (!wantsGetter(st, d))
		return special(`[${label}]`);
	let shown;
	try {
		const v = apply(d.get, self, []);
		if (typeof v === 'object' && v !== null)
			return new Pair(special(`[${label}]`), ' ',
				show(st, v, level));
		shown = primitive(st, v);
	} catch (err) {
		shown = `<Inspection threw (${err?.message})>`;
	}
	return new Pair(special(`[${label}:`), ' ',
		new Pair(shown, '', special(']')));
}

function valueOf(st, v, d, self, level) {
	return d === undefined || hasOwn(d, 'value') ?
		show(st, d === undefined ? undefined : d.value, level) :
		accessor(st, d, self, level);
}

function element(st, v, key, level) {
	return valueOf(st, v, descriptor(v, key), v, level);
}

function property(st, v, key, level, list = false, self = v) {
	const d = descriptor(v, key) ??
		{ value: v[key], enumerable: true };
	const name = keyText(key, !d.enumerable, st.stylize);
	const value = valueOf(st, v, d, self, level);
	return list ? new Pair(name, ': ', value) : new Property(name, value);
}

// A binding of a module may not have its value yet.
function binding(st, v, key, level) {
	try {
		return property(st, v, key, level);
	} catch (err) {
		if (!isInstance(err, ReferenceErrorClass))
			throw err;
		return new Property(keyText(key, false, st.stylize),
			st.stylize('<uninitialized>', 'special'));
	}
}

// ---- objects ----

function fill(st, v, group, shape, level) {
	const { keys, list } = shape, { items } = group;
	const one = kindOf(v) === K.module ? binding : property;

	shape.fill?.(st, v, group, level);
	for (let i = 0; i < keys.length; i++) {
		const key = keys[i];
		items[items.length] = typeof key === 'object' ?
			property(st, key.holder, key.key, level, list, v) :
			one(st, v, key, level, list);
	}
	group.named = keys.length;
}

// Arrays of numbers alone are aligned to the right.
function isNumeric(v, count) {
	for (let i = 0; i < count; i++)
		if (typeof v[i] !== 'number' && typeof v[i] !== 'bigint')
			return false;
	return true;
}

function reference(st, v) {
	const n = st.refs === undefined ? undefined : mapGet(st.refs, v);
	return n === undefined ? '' : st.stylize(`<ref *${n}>`, 'special');
}

function within(st, v) {
	let i = st.within.length - 1;
	while (i >= 0 && st.within[i] !== v)
		i--;
	return i >= 0;
}

function circular(st, v) {
	st.refs ??= new MapClass();
	let n = mapGet(st.refs, v);
	if (n === undefined) {
		n = ++st.refCount;
		mapSet(st.refs, v, n);
	}
	return st.stylize(`[Circular *${n}]`, 'special');
}

function briefly(st, who, v, kind) {
	const text = slice(title(who, classOf(v, kind)), 0, -1);
	return st.stylize(who.name === null ? text : `[${text}]`, 'special');
}

function interrupted(st, who) {
	return st.stylize(`[${who.name ?? 'Object'}: Inspection interrupted ` +
		'prematurely. Maximum call stack size exceeded.]', 'special');
}

const isOverflow = (err) => isInstance(err, RangeErrorClass) &&
	err.message === 'Maximum call stack size exceeded';

function object(st, v, kind, level) {
	const who = { name: nameOf(st, v, kind, level), tag: tagOf(st, v) };
	kind = shownKind(v, kind, who.name);
	const shape = shapes[kind](st, v, who, keysOf(st, v, kind, who.name),
		level);
	if (shape.keys === undefined)
		return shape;
	if (level > st.limit || --st.left < 0)
		return briefly(st, who, v, kind);
	if (level >= deepest)
		return interrupted(st, who);
	const group = new Group(shape.open, shape.close);
	const depth = st.within.length;
	st.within[depth] = v;
	st.entered = level + 1;
	try {
		fill(st, v, group, shape, level + 1);
	} catch (err) {
		if (!isOverflow(err))
			throw err;
		return interrupted(st, who);
	} finally {
		st.within.length = depth;
	}
	group.base = shape.base ?? '';
	group.depth = st.entered - level - 1;
	group.ref = reference(st, v);
	if (shape.list) {
		group.list = true;
		group.more = group.items.length > st.maxArrayLength ? 1 : 0;
		group.numeric = group.items.length > 6 &&
			isNumeric(v, group.items.length);
	}
	return group;
}

// ---- values ----

function showProxy(st, v, level) {
	const pair = native.proxy(v, true);
	if (pair === null)
		return st.stylize('<Revoked Proxy>', 'special');
	if (level > st.limit)
		return st.stylize('Proxy [Array]', 'special');
	const group = new Group('Proxy [', ']');
	st.entered = level + 1;
	group.items = [show(st, pair[0], level + 1),
		show(st, pair[1], level + 1)];
	group.depth = st.entered - level - 1;
	group.list = true;
	return group;
}

function optionsFor(st, foreign) {
	const o = foreign ? { __proto__: null } : {};
	const own = names(st.options);
	for (let i = 0; i < own.length; i++)
		o[own[i]] = st.options[own[i]];
	o.stylize = st.stylize;
	return o;
}

// The finding of an object that says itself how it is shown, or undefined.
function customized(st, v, self, level) {
	const method = v[custom];
	if (typeof method !== 'function' || method === inspect)
		return undefined;
	const maker = v.constructor;
	if (maker && maker.prototype === v)
		return undefined;
	const { depth } = st.options;
	const result = apply(method, self, [
		depth === null ? null : depth - level,
		optionsFor(st, self !== v || !isInstance(self, Object)),
		inspect]);
	if (result === self)
		return undefined;
	return typeof result === 'string' ? lines(result) :
		show(st, result, level);
}

function show(st, v, level) {
	if (v === null || (typeof v !== 'object' && typeof v !== 'function'))
		return primitive(st, v);
	const self = v;
	let kind = kindOf(v);
	if (kind === K.proxy) {
		if (st.showProxy)
			return showProxy(st, v, level);
		v = native.proxy(v, false);
		if (v === null)
			return st.stylize('<Revoked Proxy>', 'special');
		kind = kindOf(v);
	}
	if (st.customInspect) {
		const finding = customized(st, v, self, level);
		if (finding !== undefined)
			return finding;
	}
	if (within(st, v))
		return circular(st, v);
	return object(st, v, kind, level);
}

function inspect(value, opts) {
	let options;
	if (opts === undefined && arguments.length < 3) {
		options = readOptions();
	} else if (typeof opts === 'object' && opts !== null) {
		options = readOptions(opts);
	} else {
		options = readOptions();
		if (typeof opts === 'boolean')
			options.showHidden = opts;
	}
	if (arguments.length > 2 && arguments[2] !== undefined)
		options.depth = arguments[2];
	if (arguments.length > 3 && arguments[3] !== undefined)
		options.colors = arguments[3];
	const st = stateOf(options);
	return render(show(st, value, 0), st, 0);
}

// ---- colors ----

const styles = { __proto__: null, special: 'cyan', number: 'yellow',
	bigint: 'yellow', boolean: 'yellow', undefined: 'grey', null: 'bold',
	string: 'green', symbol: 'green', date: 'magenta', regexp: 'red',
	module: 'underline' };
const colors = { __proto__: null, reset: [0, 0], bold: [1, 22], dim: [2, 22],
	italic: [3, 23], underline: [4, 24], blink: [5, 25], inverse: [7, 27],
	hidden: [8, 28], strikethrough: [9, 29], doubleunderline: [21, 24] };
const hues = ['Black', 'Red', 'Green', 'Yellow', 'Blue', 'Magenta', 'Cyan',
	'White'];
const small = (name) => name.toLowerCase();

for (let i = 0; i < 8; i++)
	colors[small(hues[i])] = [30 + i, 39];
for (let i = 0; i < 8; i++)
	colors[`bg${hues[i]}`] = [40 + i, 49];
colors.framed = [51, 54];
colors.overlined = [53, 55];
for (let i = 0; i < 8; i++)
	colors[i ? `${small(hues[i])}Bright` : 'gray'] = [90 + i, 39];
for (let i = 0; i < 8; i++)
	colors[i ? `bg${hues[i]}Bright` : 'bgGray'] = [100 + i, 49];
for (const [other, name] of [['grey', 'gray'], ['blackBright', 'gray'],
	['bgGrey', 'bgGray'], ['bgBlackBright', 'bgGray'], ['faint', 'dim'],
	['crossedout', 'strikethrough'], ['strikeThrough', 'strikethrough'],
	['crossedOut', 'strikethrough'], ['conceal', 'hidden'],
	['swapColors', 'inverse'], ['swapcolors', 'inverse'],
	['doubleUnderline', 'doubleunderline']])
	Object.defineProperty(colors, other, {
		get() {
			return this[name];
		},
		set(value) {
			this[name] = value;
		},
		configurable: true, enumerable: false,
	});

function styled(text, style) {
	const color = colors[styles[style]];
	return color === undefined ? text :
		`\x1b[${color[0]}m${text}\x1b[${color[1]}m`;
}

inspect.custom = custom;
Object.defineProperty(inspect, 'defaultOptions', {
	get: () => defaults,
	set(given) {
		if (given === null || typeof given !== 'object')
			throw share.argType('options', 'of type object', given);
		Object.assign(defaults, given);
	},
});
inspect.colors = colors;
inspect.styles = styles;

Object.assign(share, { element, inspect, property, show });
hooks.describe = (v) => inspect(v);
})
