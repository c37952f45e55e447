// TextEncoder, TextDecoder, atob, btoa, structuredClone, performance, crypto.
(function(native, hooks, share) {
const { coded, K } = share;
const kind = native.kind;

const encodings = {
	__proto__: null, 'utf8': 0, 'utf-8': 0, 'latin1': 1, 'binary': 1,
	'ascii': 2, 'hex': 3, 'base64': 4, 'base64url': 5, 'ucs2': 6,
	'ucs-2': 6, 'utf16le': 6, 'utf-16le': 6,
};
share.encodings = encodings;
// Number of an encoding; an error of Node's kind for an unknown one.
share.encoding = (name = 'utf8') => {
	const n = encodings[`${name}`.toLowerCase()];
	if (n === undefined)
		throw coded(TypeError, 'ERR_UNKNOWN_ENCODING',
			`Unknown encoding: ${name}`);
	return n;
};

class TextEncoder {
	get encoding() {
		return 'utf-8';
	}
	encode(text = '') {
		return new Uint8Array(native.encode(`${text}`, 0));
	}
	encodeInto(text, target) {
		let read = 0, written = 0;
		for (const c of text) {
			const b = new Uint8Array(native.encode(c, 0));
			if (written + b.length > target.length)
				break;
			target.set(b, written);
			written += b.length;
			read += c.length;
		}
		return { read, written };
	}
}

const labels = {
	__proto__: null, 'utf-8': 'utf-8', 'utf8': 'utf-8',
	'unicode-1-1-utf-8': 'utf-8', 'latin1': 'windows-1252',
	'iso-8859-1': 'windows-1252', 'ascii': 'windows-1252',
	'us-ascii': 'windows-1252', 'windows-1252': 'windows-1252',
	'utf-16le': 'utf-16le', 'utf-16': 'utf-16le', 'ucs-2': 'utf-16le',
};
const high1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

class TextDecoder {
	#encoding; #fatal; #ignoreBOM; #left = new Uint8Array(0); #begun = false;
	constructor(label = 'utf-8', options = {}) {
		this.#encoding = labels[`${label}`.trim().toLowerCase()];
		if (this.#encoding === undefined)
			throw coded(RangeError, 'ERR_ENCODING_NOT_SUPPORTED',
				`The "${label}" encoding is not supported`);
		this.#fatal = Boolean(options?.fatal);
		this.#ignoreBOM = Boolean(options?.ignoreBOM);
	}
	get encoding() {
		return this.#encoding;
	}
	get fatal() {
		return this.#fatal;
	}
	get ignoreBOM() {
		return this.#ignoreBOM;
	}
	decode(input = new Uint8Array(0), options = {}) {
		let bytes = share.bytesOf(input);
		if (this.#left.length) {
			const all = new Uint8Array(
				this.#left.length + bytes.length);
			all.set(this.#left);
			all.set(bytes, this.#left.length);
			bytes = all;
		}
		const tail = options?.stream ? this.#tail(bytes) : 0;
		this.#left = bytes.slice(bytes.length - tail);
		let text = this.#decode(bytes.subarray(0, bytes.length - tail));
		if (!this.#begun && !this.#ignoreBOM && text[0] === '\ufeff')
			text = text.slice(1);
		this.#begun = Boolean(options?.stream) &&
			(this.#begun || text.length > 0);
		return text;
	}
	#tail(bytes) {
		if (this.#encoding === 'utf-16le')
			return bytes.length & 1;
		return this.#encoding === 'utf-8' ? native.utf8Tail(bytes) : 0;
	}
	#decode(bytes) {
		if (this.#encoding === 'utf-8') {
			if (this.#fatal && !native.isUtf8(bytes))
				throw coded(TypeError,
					'ERR_ENCODING_INVALID_ENCODED_DATA',
					'The encoded data was not valid for ' +
					'encoding utf-8');
			return native.decode(bytes, 0);
		}
		if (this.#encoding === 'utf-16le')
			return native.decode(bytes, 6);
		return native.decode(bytes, 1).replace(/[\x80-\x9f]/g,
			(c) => high1252[c.charCodeAt(0) - 128]);
	}
}

// The bytes of an ArrayBuffer or a view, without a copy.
share.bytesOf = (v) => {
	switch (kind(v)) {
	case K.buffer:
	case K.sharedBuffer:
		return new Uint8Array(v);
	case K.typed:
	case K.dataview:
		return new Uint8Array(v.buffer, v.byteOffset, v.byteLength);
	default:
		throw share.argType('input', 'an instance of ArrayBuffer or ' +
			'ArrayBufferView', v);
	}
};

// ---- structuredClone ----

function cloneError(what) {
	return new DOMException(`${what} could not be cloned.`,
		'DataCloneError');
}

const errors = { __proto__: null, Error, EvalError, RangeError,
	ReferenceError, SyntaxError, TypeError, URIError };

function cloneFresh(v) {
	switch (kind(v)) {
	case K.array:
		return new Array(v.length);
	case K.date:
		return new Date(native.primitive(v));
	case K.regexp:
		return new RegExp(v.source, v.flags);
	case K.map:
		return new Map();
	case K.set:
		return new Set();
	case K.buffer:
		return v.slice(0);
	case K.number:
	case K.string:
	case K.boolean:
	case K.bigint:
		return Object(native.primitive(v));
	case K.error: {
		const e = new (errors[v.name] ?? Error)(v.message);
		Object.defineProperty(e, 'stack', { value: v.stack,
			writable: true, configurable: true });
		return e;
	}
	case 0:
	case K.arguments:
		return {};
	case K.proxy:
		throw cloneError('#<Object>');
	case K.function:
		throw cloneError(String(v));
	default:
		throw cloneError(`#<${v.constructor?.name ?? 'Object'}>`);
	}
}

function cloneView(v, seen) {
	const buffer = clone(v.buffer, seen);
	const length = kind(v) === K.dataview ? v.byteLength : v.length;
	const Type = kind(v) === K.dataview ? DataView :
		globalThis[v[Symbol.toStringTag]];
	return new Type(buffer, v.byteOffset, length);
}

function clone(v, seen) {
	if (typeof v === 'symbol')
		throw cloneError(String(v));
	if (typeof v === 'function')
		throw cloneError(String(v));
	if (typeof v !== 'object' || v === null)
		return v;
	if (seen.has(v))
		return seen.get(v);
	const k = kind(v);
	if (k === K.typed || k === K.dataview) {
		const view = cloneView(v, seen);
		seen.set(v, view);
		return view;
	}
	const out = cloneFresh(v);
	seen.set(v, out);
	if (k === K.map) {
		const list = native.entries(v);
		for (let i = 0; i < list.length; i += 2)
			out.set(clone(list[i], seen), clone(list[i + 1], seen));
	} else if (k === K.set) {
		for (const e of native.entries(v))
			out.add(clone(e, seen));
	} else if (k === 0 || k === K.array || k === K.arguments) {
		for (const key of Object.keys(v))
			out[key] = clone(v[key], seen);
	} else if (k === K.error && Object.hasOwn(v, 'cause')) {
		share.define(out, 'cause', clone(v.cause, seen));
	}
	return out;
}

function structuredClone(value, options) {
	if (arguments.length === 0)
		throw coded(TypeError, 'ERR_MISSING_ARGS',
			'The "value" argument must be specified');
	return clone(value, new Map());
}

// ---- performance, crypto ----

let origin;
function now() {
	const t = native.milliseconds();
	origin ??= t;
	return t - origin;
}
const performance = {
	now,
	get timeOrigin() {
		return Date.now() - now();
	},
	mark() {},
	measure() {},
	toJSON() {
		return { timeOrigin: this.timeOrigin };
	},
};

function getRandomValues(array) {
	if (kind(array) !== K.typed)
		throw share.argType('typedArray',
			'an instance of an integer TypedArray', array);
	if (array.byteLength > 65536)
		throw new DOMException('The requested length exceeds 65,536 ' +
			'bytes', 'QuotaExceededError');
	return native.random(array);
}

function randomUUID() {
	const b = native.random(new Uint8Array(16));
	b[6] = (b[6] & 15) | 64;
	b[8] = (b[8] & 63) | 128;
	const h = native.decode(b, 3);
	return `${h.slice(0, 8)}-${h.slice(8, 12)}-${h.slice(12, 16)}-` +
		`${h.slice(16, 20)}-${h.slice(20)}`;
}

share.global('TextEncoder', TextEncoder);
share.global('TextDecoder', TextDecoder);
share.global('performance', performance);
share.global('crypto', { getRandomValues, randomUUID });
globalThis.structuredClone = structuredClone;
share.modules.perf_hooks = { performance };
})
