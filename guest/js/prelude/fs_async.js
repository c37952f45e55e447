// node:fs, what is made of the synchronous half: callbacks, promises,
// streams.
(function(native, hooks, share) {
const { argType, Buffer, coded, constants, Dirent, EventEmitter, fsOptions,
	needFunction, Stats, sync } = share;

const fs = { constants, Dirent, Stats, ...sync };
for (const name of ['F_OK', 'R_OK', 'W_OK', 'X_OK'])
	fs[name] = constants[name];

// ---- callbacks ----

for (const [syncName, f] of Object.entries(sync)) {
	const name = syncName.slice(0, -4);
	fs[name] = function(...args) {
		const callback = args.length > 1 ? args.pop() : undefined;
		needFunction('cb', callback);
		let result, failure = null;
		try {
			result = f(...args);
		} catch (err) {
			if (err.syscall === undefined)
				throw err; // a wrong argument
			failure = err;
		}
		native.immediate(() => {
			if (failure)
				callback(failure);
			else if (result === undefined)
				callback(null);
			else
				callback(null, result, args[1]);
		});
	};
}
fs.exists = (path, callback) => {
	needFunction('cb', callback);
	const found = sync.existsSync(path);
	native.immediate(callback, found);
};
fs.exists[Symbol.for('nodejs.util.promisify.custom')] = (path) =>
	Promise.resolve(sync.existsSync(path));

// ---- promises ----

const later = (f) => new Promise((resolve, reject) => {
	native.immediate(() => {
		try {
			resolve(f());
		} catch (err) {
			reject(err);
		}
	});
});

class FileHandle extends EventEmitter {
	#fd;
	constructor(fd) {
		super();
		this.#fd = fd;
	}
	get fd() {
		return this.#fd;
	}
	close() {
		const fd = this.#fd;
		this.#fd = -1;
		return later(() => {
			sync.closeSync(fd);
			this.emit('close');
		});
	}
	read(buffer, offset, length, position) {
		if (!ArrayBuffer.isView(buffer))
			({ buffer = Buffer.alloc(16384), offset, length,
				position } = buffer ?? {});
		return later(() => ({ buffer, bytesRead: sync.readSync(this.#fd,
			buffer, offset, length, position) }));
	}
	write(buffer, ...rest) {
		return later(() => ({ buffer, bytesWritten: sync.writeSync(
			this.#fd, buffer, ...rest) }));
	}
	readFile(o) {
		return later(() => sync.readFileSync(this.#fd, o));
	}
	writeFile(data, o) {
		return later(() => sync.writeFileSync(this.#fd, data, o));
	}
	appendFile(data, o) {
		return this.writeFile(data, o);
	}
	stat() {
		return later(() => sync.fstatSync(this.#fd));
	}
	truncate(n) {
		return later(() => sync.ftruncateSync(this.#fd, n));
	}
	sync() {
		return Promise.resolve();
	}
	createReadStream(o) {
		return new ReadStream(undefined, { ...o, fd: this.#fd });
	}
	createWriteStream(o) {
		return new WriteStream(undefined, { ...o, fd: this.#fd });
	}
	readLines(o) {
		return share.modules.readline.createInterface({
			input: this.createReadStream(o), crlfDelay: Infinity });
	}
	[Symbol.asyncDispose ?? Symbol.for('asyncDispose')]() {
		return this.close();
	}
}

const promises = { constants };
for (const [syncName, f] of Object.entries(sync)) {
	const name = syncName.slice(0, -4);
	if (!['close', 'fstat', 'ftruncate', 'read', 'write', 'exists', 'fsync',
		'fdatasync'].includes(name))
		promises[name] = (...args) => later(() => f(...args));
}
promises.open = (...args) => later(() =>
	new FileHandle(sync.openSync(...args)));
for (const name of ['readFile', 'writeFile', 'appendFile']) {
	const byPath = promises[name];
	promises[name] = (path, ...rest) => (path instanceof FileHandle ?
		path[name](...rest) : byPath(path, ...rest));
}
fs.promises = promises;

// ---- streams ----

function at(n, name) {
	if (n !== undefined && (typeof n !== 'number' || n < 0))
		throw typeof n !== 'number' ? argType(name, 'of type number', n) :
			share.outOfRange(name, '>= 0', n);
	return n;
}

class ReadStream extends EventEmitter {
	#decoder; #left; #at; #flowing = false; #opened = false; #size;
	#scheduled = false;
	constructor(path, o) {
		super();
		o = fsOptions(o, {});
		this.path = path;
		this.fd = o.fd?.fd ?? o.fd ?? null;
		this.flags = o.flags ?? 'r';
		this.bytesRead = 0;
		this.destroyed = false;
		this.readable = true;
		this.readableEnded = false;
		this.start = at(o.start, 'start');
		this.end = at(o.end, 'end') ?? Infinity;
		this.autoClose = o.autoClose !== false;
		this.#size = o.highWaterMark ?? 65536;
		this.#at = this.start;
		this.#left = this.end - (this.start ?? 0) + 1;
		if (o.encoding)
			this.setEncoding(o.encoding);
		if (this.fd === null)
			share.toPath(path);
		native.tick(() => this.#tryOpen());
	}
	// For readline: the descriptor if nothing has been taken from it yet
	// and all of it is wanted as UTF-8.
	static take(s) {
		if (s.bytesRead || s.#flowing || s.start !== undefined ||
		    s.end !== Infinity || s.destroyed ||
		    s.listenerCount('data') || s.listenerCount('readable'))
			return undefined;
		s.#open();
		return s.fd;
	}
	#open() {
		if (this.#opened)
			return;
		this.#opened = true;
		this.fd ??= sync.openSync(this.path, this.flags);
		native.tick(() => {
			this.emit('open', this.fd);
			this.emit('ready');
		});
	}
	#tryOpen() {
		try {
			if (!this.destroyed)
				this.#open();
		} catch (err) {
			this.destroy(err);
		}
	}
	setEncoding(name) {
		share.encoding(name);
		this.#decoder = name === 'utf8' || name === 'utf-8' ?
			new TextDecoder('utf-8', { ignoreBOM: true }) :
			{ decode: (b) => (b ? b.toString(name) : '') };
		return this;
	}
	// The next chunk, or null at the end.
	#chunk() {
		this.#open();
		const n = Math.min(this.#size, this.#left);
		const b = Buffer.alloc(n);
		const got = n > 0 ? sync.readSync(this.fd, b, 0, n, this.#at) : 0;
		if (got === 0) {
			this.readableEnded = true;
			return this.#decoder?.decode() || null;
		}
		this.bytesRead += got;
		this.#left -= got;
		if (this.#at !== undefined)
			this.#at += got;
		const part = b.subarray(0, got);
		return this.#decoder ?
			this.#decoder.decode(part, { stream: true }) : part;
	}
	read() {
		if (this.readableEnded)
			return null;
		return this.#chunk();
	}
	on(name, listener) {
		super.on(name, listener);
		if (name === 'data')
			this.resume();
		if (name === 'readable')
			native.immediate(() => this.#readable());
		return this;
	}
	#readable() {
		while (!this.readableEnded && !this.destroyed)
			this.emit('readable');
		this.#finish();
	}
	pause() {
		this.#flowing = false;
		return this;
	}
	isPaused() {
		return !this.#flowing;
	}
	resume() {
		this.#flowing = true;
		this.#schedule();
		return this;
	}
	#schedule() {
		if (this.#scheduled || this.destroyed)
			return;
		this.#scheduled = true;
		native.immediate(() => {
			this.#scheduled = false;
			this.#step();
		});
	}
	#step() {
		if (!this.#flowing || this.destroyed || this.readableEnded)
			return;
		let chunk;
		try {
			chunk = this.#chunk();
		} catch (err) {
			this.destroy(err);
			return;
		}
		if (chunk !== null && chunk.length)
			this.emit('data', chunk);
		if (this.readableEnded)
			this.#finish();
		else
			this.#schedule();
	}
	#finish() {
		native.tick(() => {
			this.emit('end');
			if (this.autoClose)
				this.destroy();
		});
	}
	pipe(target) {
		this.on('data', (chunk) => target.write(chunk));
		if (target !== share.process.stdout &&
		    target !== share.process.stderr)
			this.on('end', () => target.end());
		return target;
	}
	destroy(err) {
		if (this.destroyed)
			return this;
		this.destroyed = true;
		this.readable = false;
		if (this.#opened && this.fd > 2)
			native.close(this.fd);
		native.tick(() => {
			if (err)
				this.emit('error', err);
			this.emit('close');
		});
		return this;
	}
	close(callback) {
		if (callback)
			this.once('close', callback);
		this.destroy();
	}
	async *[Symbol.asyncIterator]() {
		try {
			while (!this.readableEnded) {
				const chunk = this.#chunk();
				if (chunk !== null && chunk.length)
					yield chunk;
			}
		} finally {
			this.destroy();
		}
	}
}
share.takeFile = ReadStream.take;
delete ReadStream.take;

class WriteStream extends EventEmitter {
	#opened = false;
	constructor(path, o) {
		super();
		o = fsOptions(o, {});
		this.path = path;
		this.fd = o.fd?.fd ?? o.fd ?? null;
		this.flags = o.flags ?? 'w';
		this.encoding = o.encoding;
		this.bytesWritten = 0;
		this.destroyed = false;
		this.writable = true;
		this.writableEnded = false;
		this.writableFinished = false;
		if (this.fd === null)
			share.toPath(path);
		native.tick(() => this.#try(() => this.#open()));
	}
	#open() {
		if (this.#opened || this.destroyed)
			return;
		this.#opened = true;
		this.fd ??= sync.openSync(this.path, this.flags);
		native.tick(() => {
			this.emit('open', this.fd);
			this.emit('ready');
		});
	}
	#try(f) {
		try {
			f();
			return null;
		} catch (err) {
			this.destroy(err);
			return err;
		}
	}
	write(chunk, name, callback) {
		if (typeof name === 'function')
			[callback, name] = [name, undefined];
		if (typeof chunk !== 'string' && !ArrayBuffer.isView(chunk))
			throw argType('chunk', 'of type string or an instance ' +
				'of Buffer, TypedArray, or DataView', chunk);
		let err = null;
		if (this.writableEnded || this.destroyed) {
			err = coded(Error, 'ERR_STREAM_WRITE_AFTER_END',
				'write after end');
			native.tick(() => this.emit('error', err));
		} else {
			err = this.#try(() => this.#put(chunk, name));
		}
		if (callback)
			native.tick(callback, err);
		return err === null;
	}
	#put(chunk, name) {
		this.#open();
		const b = typeof chunk === 'string' ?
			Buffer.from(chunk, name ?? this.encoding) :
			share.bytesOf(chunk);
		sync.writeFileSync(this.fd, b);
		this.bytesWritten += b.length;
	}
	end(chunk, name, callback) {
		if (typeof chunk === 'function')
			[callback, chunk] = [chunk, undefined];
		if (typeof name === 'function')
			[callback, name] = [name, undefined];
		if (chunk !== undefined && chunk !== null)
			this.write(chunk, name);
		if (callback)
			this.once('finish', callback);
		this.writableEnded = true;
		this.#try(() => this.#open());
		native.immediate(() => {
			if (this.destroyed)
				return;
			this.writableFinished = true;
			this.emit('finish');
			this.destroy();
		});
		return this;
	}
	cork() {}
	uncork() {}
	destroy(err) {
		if (this.destroyed)
			return this;
		this.destroyed = true;
		this.writable = false;
		if (this.#opened && this.fd > 2)
			native.close(this.fd);
		native.tick(() => {
			if (err)
				this.emit('error', err);
			this.emit('close');
		});
		return this;
	}
	close(callback) {
		if (callback)
			this.once('close', callback);
		this.end();
	}
}

fs.createReadStream = (path, o) => new ReadStream(path, o);
fs.createWriteStream = (path, o) => new WriteStream(path, o);
fs.ReadStream = ReadStream;
fs.WriteStream = WriteStream;
for (const name of ['watch', 'watchFile', 'symlinkSync', 'linkSync',
	'chmodSync', 'chownSync', 'symlink', 'link', 'chmod', 'chown'])
	fs[name] = () => {
		throw coded(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM',
			`fs.${name}() is not available in a sandbox`);
	};
share.stdin = () => {
	const s = new ReadStream(undefined, { fd: 0 });
	s.isTTY = false;
	s.fd = 0;
	return s;
};
share.modules.fs = fs;
share.modules['fs/promises'] = promises;
})
