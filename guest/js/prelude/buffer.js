// Buffer.
(function(native, hooks, share) {
const { argType, coded, encoding, K, outOfRange } = share;
const kind = native.kind;
const inspectCustom = Symbol.for('nodejs.util.inspect.custom');

// The shared start of every Buffer: no argument checks.
class FastBuffer extends Uint8Array {}

function Buffer(value, encodingOrOffset, length) {
	if (typeof value === 'number')
		return Buffer.alloc(value);
	return Buffer.from(value, encodingOrOffset, length);
}
Object.setPrototypeOf(Buffer, Uint8Array);
Buffer.prototype = FastBuffer.prototype;
share.define(Buffer.prototype, 'constructor', Buffer);
Buffer.poolSize = 8192;
share.Buffer = Buffer;

function wrap(arrayBuffer, offset, length) {
	return new FastBuffer(arrayBuffer, offset, length);
}
share.wrapBuffer = wrap;

function fromString(text, name) {
	return wrap(native.encode(text, encoding(name)));
}

function fromObject(v) {
	if (kind(v) === K.buffer || kind(v) === K.sharedBuffer)
		return null;
	if (v.type === 'Buffer' && Array.isArray(v.data))
		return copyOf(v.data);
	if (v.length !== undefined || kind(v) === K.typed)
		return typeof v.length === 'number' ? copyOf(v) : copyOf([]);
	return undefined;
}

function copyOf(list) {
	const b = new FastBuffer(list.length);
	for (let i = 0; i < list.length; i++)
		b[i] = list[i];
	return b;
}

Buffer.from = function from(value, encodingOrOffset, length) {
	if (typeof value === 'string')
		return fromString(value, encodingOrOffset);
	if (typeof value === 'object' && value !== null) {
		const b = fromObject(value);
		if (b === null)
			return wrap(value, encodingOrOffset, length);
		if (b !== undefined)
			return b;
		const primitive = value.valueOf?.();
		if (primitive !== undefined && primitive !== null &&
		    primitive !== value && typeof primitive !== 'function')
			return Buffer.from(primitive, encodingOrOffset, length);
		if (typeof value[Symbol.toPrimitive] === 'function')
			return Buffer.from(
				value[Symbol.toPrimitive]('string'),
				encodingOrOffset);
	}
	throw coded(TypeError, 'ERR_INVALID_ARG_TYPE', 'The first argument ' +
		'must be of type string or an instance of Buffer, ' +
		'ArrayBuffer, or Array or an Array-like Object.' +
		argType('x', 'x', value).message.slice(
			'The "x" argument must be x.'.length));
};

function checkSize(size) {
	if (typeof size !== 'number')
		throw argType('size', 'of type number', size);
	if (!(size >= 0 && size <= 2 ** 31 - 1))
		throw outOfRange('size', '>= 0 && <= 2147483647', size);
}

Buffer.alloc = function alloc(size, fill, name) {
	checkSize(size);
	const b = new FastBuffer(size);
	return fill === undefined || fill === 0 ? b : b.fill(fill, name);
};
Buffer.allocUnsafe = Buffer.allocUnsafeSlow = (size) => Buffer.alloc(size);
Buffer.isBuffer = (v) => v instanceof Buffer;
Buffer.isEncoding = (name) => typeof name === 'string' && name !== '' &&
	share.encodings[name.toLowerCase()] !== undefined;

Buffer.byteLength = function byteLength(value, name) {
	if (typeof value !== 'string') {
		if (kind(value) >= K.buffer && kind(value) <= K.dataview)
			return value.byteLength;
		throw argType('string', 'of type string or an instance of ' +
			'Buffer or ArrayBuffer', value);
	}
	return native.encode(value, encoding(name)).byteLength;
};

Buffer.concat = function concat(list, length) {
	if (!Array.isArray(list))
		throw argType('list', 'an instance of Array', list);
	length ??= list.reduce((n, b) => n + b.length, 0);
	const out = Buffer.alloc(length);
	let at = 0;
	for (const b of list) {
		if (at + b.length > length) {
			out.set(b.subarray(0, length - at), at);
			break;
		}
		out.set(b, at);
		at += b.length;
	}
	return out;
};

Buffer.compare = function compare(a, b) {
	const n = Math.min(a.length, b.length);
	for (let i = 0; i < n; i++)
		if (a[i] !== b[i])
			return a[i] < b[i] ? -1 : 1;
	return Math.sign(a.length - b.length);
};

function find(buffer, value, from, name, last) {
	if (typeof from === 'string') {
		name = from;
		from = undefined;
	}
	if (typeof value === 'number')
		value = [value & 255];
	else if (typeof value === 'string')
		value = fromString(value, name);
	const top = buffer.length - value.length;
	let at = from === undefined ? (last ? top : 0) : Math.trunc(from) || 0;
	if (at < 0)
		at = last ? buffer.length + at : Math.max(0, buffer.length + at);
	at = last ? Math.min(at, top) : at;
	for (; last ? at >= 0 : at <= top; at += last ? -1 : 1) {
		let k = 0;
		while (k < value.length && buffer[at + k] === value[k])
			k++;
		if (k === value.length)
			return at;
	}
	return -1;
}

// name -> [bytes, DataView method, little-endian]
const numbers = [['UInt8', 1, 'Uint8'], ['Int8', 1, 'Int8']];
for (const [suffix, little] of [['LE', true], ['BE', false]]) {
	numbers.push([`UInt16${suffix}`, 2, 'Uint16', little],
		[`Int16${suffix}`, 2, 'Int16', little],
		[`UInt32${suffix}`, 4, 'Uint32', little],
		[`Int32${suffix}`, 4, 'Int32', little],
		[`Float${suffix}`, 4, 'Float32', little],
		[`Double${suffix}`, 8, 'Float64', little],
		[`BigInt64${suffix}`, 8, 'BigInt64', little],
		[`BigUInt64${suffix}`, 8, 'BigUint64', little]);
}

function view(b, offset, bytes) {
	if (typeof offset !== 'number')
		throw argType('offset', 'of type number', offset);
	if (!Number.isInteger(offset) || offset < 0 ||
	    offset + bytes > b.length)
		throw outOfRange('offset', `>= 0 and <= ${b.length - bytes}`,
			offset);
	return new DataView(b.buffer, b.byteOffset, b.byteLength);
}

for (const [name, bytes, method, little] of numbers) {
	const read = function(offset = 0) {
		return view(this, offset, bytes)[`get${method}`](offset, little);
	};
	const write = function(value, offset = 0) {
		view(this, offset, bytes)[`set${method}`](offset, value, little);
		return offset + bytes;
	};
	for (const n of new Set([name, name.replace('UInt', 'Uint')])) {
		share.define(Buffer.prototype, `read${n}`, read);
		share.define(Buffer.prototype, `write${n}`, write);
	}
}

const methods = {
	toString(name, start = 0, end = this.length) {
		if (arguments.length === 0)
			return native.decode(this, 0);
		return native.decode(this.subarray(Math.max(0, start),
			Math.max(0, end)), encoding(name));
	},
	toJSON() {
		return { type: 'Buffer', data: Array.from(this) };
	},
	equals(other) {
		return Buffer.compare(this, other) === 0;
	},
	compare(other) {
		return Buffer.compare(this, other);
	},
	copy(target, at = 0, start = 0, end = this.length) {
		const part = this.subarray(start, end).subarray(0,
			Math.max(0, target.length - at));
		target.set(part, at);
		return part.length;
	},
	write(text, offset = 0, length, name) {
		if (typeof offset === 'string')
			[name, offset] = [offset, 0];
		else if (typeof length === 'string')
			[name, length] = [length, undefined];
		const b = fromString(text, name);
		const n = Math.min(b.length, length ?? Infinity,
			this.length - offset);
		this.set(b.subarray(0, n), offset);
		return n;
	},
	fill(value, start = 0, end = this.length, name) {
		if (typeof start === 'string')
			[name, start] = [start, 0];
		if (typeof value === 'string')
			value = fromString(value, name);
		if (typeof value === 'number' || typeof value === 'boolean')
			return Uint8Array.prototype.fill.call(this, value & 255,
				start, end);
		for (let i = start; i < end && value.length; i++)
			this[i] = value[(i - start) % value.length];
		return this;
	},
	slice(start, end) {
		return this.subarray(start, end);
	},
	subarray(start, end) {
		const part = Uint8Array.prototype.subarray.call(this, start, end);
		return Object.setPrototypeOf(part, FastBuffer.prototype);
	},
	indexOf(value, from, name) {
		return find(this, value, from, name, false);
	},
	lastIndexOf(value, from, name) {
		return find(this, value, from, name, true);
	},
	includes(value, from, name) {
		return find(this, value, from, name, false) !== -1;
	},
	swap16() {
		for (let i = 0; i + 1 < this.length; i += 2)
			[this[i], this[i + 1]] = [this[i + 1], this[i]];
		return this;
	},
	[inspectCustom](depth, ctx, inspect) {
		const max = Math.min(50, this.length);
		let text = native.decode(this.subarray(0, max), 3)
			.replace(/(..)(?=.)/g, '$1 ');
		if (this.length > max)
			text += ` ... ${this.length - max} more byte` +
				(this.length - max > 1 ? 's' : '');
		return `<Buffer ${text}>`;
	},
};
for (const key of Reflect.ownKeys(methods))
	share.define(Buffer.prototype, key, methods[key]);
Object.defineProperty(Buffer.prototype, 'parent', {
	get() {
		return this.buffer;
	}, configurable: true,
});

share.global('Buffer', Buffer);
share.modules.buffer = { Buffer, atob, btoa, kMaxLength: 2 ** 31 - 1,
	constants: { MAX_LENGTH: 2 ** 31 - 1, MAX_STRING_LENGTH: 2 ** 30 - 1 },
	isUtf8: (v) => native.isUtf8(share.bytesOf(v)) };
})
