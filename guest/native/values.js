/* Values on their way out and in, as docs/guide/result.md has them: a part of
 * bootstrap.js. */

/* A class of the program's own may have any methods, and so may a prototype of
 * the language's: what is carried is looked at by what it is. */
const {stringify} = JSON;
const {types} = util;
const {getTime, toISOString} = Date.prototype;
const entriesOf = Map.prototype.entries;
const membersOf = Set.prototype.values;
const DEEP = 200;
/* Tags that the language has no value for: they go out as they came. */
const held = new WeakMap();

/* All of these are texts of JSON. */
const tag = (kind, value) => value === undefined
	? `{"$redoma":"${kind}"}` : `{"$redoma":"${kind}","value":${value}}`;
const list = (texts) => `[${texts.join()}]`;

function carryNumber(v) {
	if (Number.isNaN(v))
		return tag('nan');
	if (!Number.isFinite(v))
		return tag(v > 0 ? 'inf' : '-inf');
	return Object.is(v, -0) ? tag('-0') : `${v}`;
}

/* JSON is UTF-8: half of a surrogate pair is U+FFFD. */
function whole(s) {
	return /[\ud800-\udfff]/.test(s) ? Buffer.from(s).toString() : s;
}

const carryString = (s) => stringify(whole(s));

function refuse(at, what) {
	throw new TypeError(`the value cannot be carried: ${at} ${what}`);
}

function carryList(v, at, above) {
	const out = [];
	for (let i = 0; i < v.length; i++)
		out.push(carry(v[i], at, i, above));
	return list(out);
}

function carryMap(v, at, above) {
	const out = [];
	const all = entriesOf.call(v);
	for (let e = all.next(); !e.done; e = all.next())
		out.push(list([carry(e.value[0], `${at} key`, null, above),
			       carry(e.value[1], at, null, above)]));
	return tag('map', list(out));
}

function carrySet(v, at, above) {
	const out = [];
	const all = membersOf.call(v);
	for (let e = all.next(); !e.done; e = all.next())
		out.push(carry(e.value, at, null, above));
	return tag('set', list(out));
}

function carryFields(v, at, above) {
	const out = new Map();
	for (const k of Object.keys(v)) {
		const name = carryString(k);
		if (out.has(name))
			refuse(at, 'has two keys that are the same in UTF-8');
		out.set(name, carry(v[k], at, k, above));
	}
	const text = `{${[...out].map(([k, x]) => `${k}:${x}`).join()}}`;
	return out.has('"$redoma"') ? tag('object', text) : text;
}

function carryBytes(v) {
	const bytes = ArrayBuffer.isView(v)
		? Buffer.from(v.buffer, v.byteOffset, v.byteLength)
		: Buffer.from(v);
	return tag('bytes', `"${bytes.toString('base64')}"`);
}

function carryDate(v) {
	return tag('date', `"${Number.isNaN(getTime.call(v))
		? '' : toISOString.call(v)}"`);
}

/* Those of the language, whatever a toJSON says of them; or undefined. */
function carryBuiltIn(v, at, above) {
	if (types.isMap(v))
		return carryMap(v, at, above);
	if (types.isSet(v))
		return carrySet(v, at, above);
	if (types.isDate(v))
		return carryDate(v);
	if (types.isAnyArrayBuffer(v) || types.isUint8Array(v) ||
	    types.isUint8ClampedArray(v) || types.isDataView(v))
		return carryBytes(v);
	return types.isTypedArray(v) ? carryList(v, at, above) : held.get(v);
}

function carryError(v) {
	return `{"name":${carryString(String(v.name))},` +
		`"message":${carryString(String(v.message))}}`;
}

function carryOther(v, at, above) {
	if (types.isPromise(v))
		refuse(at, 'is a promise');
	if (types.isWeakMap(v) || types.isWeakSet(v))
		refuse(at, 'is a weak collection');
	if (types.isBoxedPrimitive(v))
		return carry(unbox(v), at, null, above);
	if (types.isNativeError(v) || v instanceof Error)
		return carryError(v);
	return Array.isArray(v) ? carryList(v, at, above)
				: carryFields(v, at, above);
}

function unbox(v) {
	for (const kind of [Number, String, Boolean, BigInt, Symbol])
		if (types[`is${kind.name}Object`](v))
			return kind.prototype.valueOf.call(v);
	return v;
}

function carryObject(v, at, key, above) {
	const here = around(v, at, above);
	const text = carryBuiltIn(v, at, here);
	if (text !== undefined)
		return text;
	if (typeof v.toJSON !== 'function')
		return carryOther(v, at, here);
	const other = v.toJSON(key === null ? '' : `${key}`);
	if (typeof other !== 'object' || other === null)
		return carry(other, at);
	const inside = around(other, at, above);
	return carryBuiltIn(other, at, inside) ??
		carryOther(other, at, inside);
}

function around(v, at, above) {
	if (above.length > DEEP || above.includes(v))
		refuse(at, 'contains itself or is nested too deeply');
	return [...above, v];
}

/* Where it stands: at, and there at key. */
function carry(v, at = 'value', key = null, above = []) {
	switch (typeof v) {
	case 'undefined':
		return tag('undefined');
	case 'boolean':
		return `${v}`;
	case 'string':
		return carryString(v);
	case 'number':
		return carryNumber(v);
	case 'bigint':
		return tag('bigint', `"${v}"`);
	case 'object':
		return v === null ? 'null'
				  : carryObject(v, place(at, key), key, above);
	default:
		return refuse(place(at, key), `is a ${typeof v}`);
	}
}

function place(at, key) {
	return key === null ? at
		: typeof key === 'number' ? `${at}[${key}]` : `${at}.${key}`;
}

/* How the text of a tag is spelt, and no other way (docs/guide/result.md); the
 * same in guest/py/carry.py and guest/js/spell.c. */
const CLOCK = '(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{3}|\\.\\d{6})?';
const ZONE = '[+-](?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d{6})?)?';
const SPELT = {
	'bigint': /^(?:0|-?[1-9]\d*)$/,
	'bytes': /^[A-Za-z0-9+/]*={0,2}$/,
	'decimal':
		/^-?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|Infinity|s?NaN\d*)$/,
	'date': new RegExp('^(?:|((?:\\d{4}|[+-]\\d{6})-\\d\\d-\\d\\d)' +
		`(?:T${CLOCK}(?:Z|${ZONE})?)?)$`),
	'time': new RegExp(`^${CLOCK}(?:${ZONE})?$`),
	'duration': /^-?PT\d+(?:\.\d{1,6})?S$/,
};
const BAD = Symbol('what is no value of its kind');

function reviveBytes(text) {
	const b = Buffer.from(text, 'base64');
	return b.toString('base64') === text ? new Uint8Array(b) : BAD;
}

/* No other day in the place of one that there is not. */
function reviveDate(text) {
	const day = SPELT.date.exec(text)[1];
	const v = new Date(text);
	const same = day === undefined || new Date(`${day}T00:00:00Z`)
		.toJSON()?.startsWith(day);
	return same && (!text || !Number.isNaN(v.getTime())) ? v : BAD;
}

function hold(kind, value) {
	const v = Object.freeze({$redoma: kind, value: Object.freeze(value)});
	const text = typeof value === 'string' ? carryString(value)
					       : list(value.map(carryNumber));
	held.set(v, tag(kind, text));
	return v;
}

function reviveComplex(v) {
	const both = v.map(revive);
	return both.length === 2 && both.every((x) => typeof x === 'number')
		? hold('complex', both) : BAD;
}

const isPair = (v) => Array.isArray(v) && v.length === 2;
const NOTHING = {'nan': NaN, 'inf': Infinity, '-inf': -Infinity, '-0': -0,
		 'undefined': undefined};
const OF_TEXT = {
	'bigint': (v) => BigInt(v), 'bytes': reviveBytes, 'date': reviveDate,
	'decimal': (v) => hold('decimal', v), 'time': (v) => hold('time', v),
	'duration': (v) => hold('duration', v),
};
const OF_LIST = {
	'map': (v) => v.every(isPair)
		? new Map(v.map(([k, x]) => [revive(k), revive(x)])) : BAD,
	'set': (v) => new Set(v.map(revive)), 'tuple': (v) => v.map(revive),
	'complex': reviveComplex,
};

function ofTag(kind, v, alone) {
	if (alone)
		return Object.hasOwn(NOTHING, kind) ? NOTHING[kind] : BAD;
	if (typeof v === 'string')
		return Object.hasOwn(OF_TEXT, kind) && SPELT[kind].test(v)
			? OF_TEXT[kind](v) : BAD;
	if (Array.isArray(v))
		return Object.hasOwn(OF_LIST, kind) ? OF_LIST[kind](v) : BAD;
	return kind === 'object' && v !== null && typeof v === 'object'
		? reviveFields(v) : BAD;
}

/* A tag has nothing beside its value. */
function reviveTag(tag) {
	const alone = !Object.hasOwn(tag, 'value');
	const v = Object.keys(tag).length === (alone ? 1 : 2)
		? ofTag(tag.$redoma, tag.value, alone) : BAD;
	if (v !== BAD)
		return v;
	const kind = tag.$redoma.slice(0, 40);
	throw new TypeError(`input: the $redoma tag '${kind}' cannot be ` +
		`read: ${typeof tag.value === 'string'
			? `'${tag.value.slice(0, 80)}' is no ${kind}`
			: 'it is unknown, or its value is of another type'}`);
}

function reviveFields(v) {
	const out = {};
	for (const k of Object.keys(v))
		Object.defineProperty(out, k, {value: revive(v[k]),
			enumerable: true, writable: true, configurable: true});
	return out;
}

function revive(v) {
	if (Array.isArray(v))
		return v.map(revive);
	if (v === null || typeof v !== 'object')
		return v;
	return Object.hasOwn(v, '$redoma') && typeof v.$redoma === 'string'
		? reviveTag(v) : reviveFields(v);
}
