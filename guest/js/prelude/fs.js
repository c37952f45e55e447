// node:fs, the synchronous half.
(function(native, hooks, share) {
const { argType, Buffer, checked, coded, outOfRange } = share;
const O = { READ: 1, WRITE: 2, CREATE: 4, EXCLUSIVE: 8, TRUNCATE: 16,
	APPEND: 32, DIRECTORY: 64 };
const constants = {
	F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4, O_RDONLY: 0, O_WRONLY: 1,
	O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024,
	O_DIRECTORY: 65536, O_SYNC: 1052672, S_IFMT: 61440, S_IFREG: 32768,
	S_IFDIR: 16384, S_IFLNK: 40960, COPYFILE_EXCL: 1,
};

const flagWords = {
	__proto__: null,
	'r': O.READ, 'rs': O.READ, 'r+': O.READ | O.WRITE,
	'w': O.WRITE | O.CREATE | O.TRUNCATE,
	'w+': O.READ | O.WRITE | O.CREATE | O.TRUNCATE,
	'a': O.WRITE | O.CREATE | O.APPEND,
	'a+': O.READ | O.WRITE | O.CREATE | O.APPEND,
};
flagWords.wx = flagWords.xw = flagWords.w | O.EXCLUSIVE;
flagWords['wx+'] = flagWords['xw+'] = flagWords['w+'] | O.EXCLUSIVE;
flagWords.ax = flagWords.xa = flagWords.a | O.EXCLUSIVE;
flagWords['ax+'] = flagWords['xa+'] = flagWords['a+'] | O.EXCLUSIVE;
flagWords.as = flagWords.sa = flagWords.a;
flagWords['rs+'] = flagWords['sr+'] = flagWords['r+'];

function flagBits(flags = 'r') {
	if (typeof flags === 'number') {
		const access = flags & 3;
		return (access === 1 ? 0 : O.READ) | (access ? O.WRITE : 0) |
			(flags & 64 ? O.CREATE : 0) |
			(flags & 128 ? O.EXCLUSIVE : 0) |
			(flags & 512 ? O.TRUNCATE : 0) |
			(flags & 1024 ? O.APPEND : 0);
	}
	const bits = flagWords[flags];
	if (bits === undefined)
		throw coded(TypeError, 'ERR_INVALID_ARG_VALUE',
			`The argument 'flags' is invalid. Received ` +
			share.inspect(flags));
	return bits;
}

// A path as text; URLs and buffers too.
function toPath(path, name = 'path') {
	if (typeof path !== 'string') {
		if (Buffer.isBuffer(path))
			path = path.toString();
		else if (path?.href?.startsWith?.('file:'))
			path = decodeURIComponent(path.pathname);
		else
			throw argType(name, 'of type string or an instance ' +
				'of Buffer or URL', path);
	}
	if (path.includes('\0'))
		throw coded(TypeError, 'ERR_INVALID_ARG_VALUE',
			`The argument '${name}' must be a string, Uint8Array, ` +
			'or URL without null bytes. Received ' +
			share.inspect(path));
	return path;
}

function needFd(fd) {
	if (typeof fd !== 'number')
		throw argType('fd', 'of type number', fd);
	if (!Number.isInteger(fd) || fd < 0 || fd > 2147483647)
		throw outOfRange('fd', '>= 0 && <= 2147483647', fd);
	return fd;
}

function options(o, defaults) {
	if (o === undefined || o === null || typeof o === 'function')
		return defaults;
	if (typeof o === 'string')
		return { ...defaults, encoding: o };
	if (typeof o !== 'object')
		throw argType('options', 'one of type string or object', o);
	return { ...defaults, ...o };
}

function openSync(path, flags, mode) {
	path = toPath(path);
	if (path === '/dev/stdin')
		return 0;
	return checked(native.open(path, flagBits(flags)), 'open', path);
}

function closeSync(fd) {
	checked(native.close(needFd(fd)), 'close');
}

function decode(bytes, name) {
	const b = share.wrapBuffer(bytes);
	return name === undefined || name === null || name === 'buffer' ? b :
		b.toString(name);
}

function checkEncoding(name) {
	if (name !== undefined && name !== null && name !== 'buffer' &&
	    !Buffer.isEncoding(name))
		throw coded(TypeError, 'ERR_INVALID_ARG_VALUE', 'The argument ' +
			`'encoding' is invalid encoding. Received ` +
			share.inspect(name));
}

function slurp(fd, name) {
	const text = name === 'utf8' || name === 'utf-8';
	let r = native.slurp(fd, text);
	if (r < 0) {
		const st = native.fstat(fd);
		if (typeof st === 'object' && st[0] === 3)
			r = -31; // whatever the host says: a directory
	}
	checked(r, 'read');
	return text ? r : decode(r, name);
}

function readFileSync(path, o) {
	o = options(o, { flag: 'r' });
	checkEncoding(o.encoding);
	if (Number.isInteger(path))
		return slurp(needFd(path), o.encoding);
	const fd = openSync(path, o.flag);
	try {
		return slurp(fd, o.encoding);
	} finally {
		native.close(fd);
	}
}

function writeBytes(fd, bytes) {
	for (let at = 0; at < bytes.length;) {
		const n = checked(native.pwrite(fd, bytes, at,
			bytes.length - at, -1), 'write');
		if (n === 0)
			throw share.fsError(29, 'write');
		at += n;
	}
}

function writeData(fd, data, name) {
	if (typeof data === 'string') {
		if (name === undefined || name === null || name === 'utf8' ||
		    name === 'utf-8')
			checked(native.writeText(fd, data), 'write');
		else
			writeBytes(fd, Buffer.from(data, name));
	} else if (ArrayBuffer.isView(data)) {
		writeBytes(fd, share.bytesOf(data));
	} else {
		throw argType('data', 'of type string or an instance of ' +
			'Buffer, TypedArray, or DataView', data);
	}
}

function writeFileSync(path, data, o) {
	o = options(o, { flag: 'w' });
	checkEncoding(o.encoding);
	if (Number.isInteger(path)) {
		writeData(needFd(path), data, o.encoding);
		return;
	}
	if (typeof data !== 'string' && !ArrayBuffer.isView(data))
		throw argType('data', 'of type string or an instance of ' +
			'Buffer, TypedArray, or DataView', data);
	const fd = openSync(path, o.flag);
	try {
		writeData(fd, data, o.encoding);
	} finally {
		native.close(fd);
	}
}

function appendFileSync(path, data, o) {
	writeFileSync(path, data, { ...options(o, {}), flag: 'a' });
}

function readSync(fd, buffer, offset, length, position) {
	needFd(fd);
	if (!ArrayBuffer.isView(buffer))
		throw argType('buffer', 'an instance of Buffer, TypedArray, ' +
			'or DataView', buffer);
	if (offset !== null && typeof offset === 'object')
		({ offset, length, position } = offset);
	offset ??= 0;
	length ??= buffer.byteLength - offset;
	if (length === 0)
		return 0;
	if (!(offset >= 0 && offset <= buffer.byteLength))
		throw outOfRange('offset', `>= 0 && <= ${buffer.byteLength}`,
			offset);
	if (!(length >= 0 && length <= buffer.byteLength - offset))
		throw outOfRange('length',
			`>= 0 && <= ${buffer.byteLength - offset}`, length);
	return checked(native.read(fd, buffer, offset, length,
		position === null || position === undefined ? -1 :
			Number(position)), 'read');
}

function writeSync(fd, data, offset, length, position) {
	needFd(fd);
	if (typeof data === 'string') {
		// writeSync(fd, text, position, encoding)
		const b = Buffer.from(data, length ?? 'utf8');
		return checked(native.pwrite(fd, b, 0, b.length,
			typeof offset === 'number' ? offset : -1), 'write');
	}
	if (!ArrayBuffer.isView(data))
		throw argType('buffer', 'of type string or an instance of ' +
			'Buffer, TypedArray, or DataView', data);
	if (offset !== null && typeof offset === 'object')
		({ offset, length, position } = offset);
	offset ??= 0;
	length ??= data.byteLength - offset;
	return checked(native.pwrite(fd, data, offset, length,
		typeof position === 'number' ? position : -1), 'write');
}

// ---- names and their attributes ----

const modes = { 3: 0o40755, 4: 0o100644, 7: 0o120777, 2: 0o20666,
	1: 0o60666, 5: 0o140666, 6: 0o140666 };

class Stats {
	constructor([type, size, atime, mtime, ctime, ino, nlink, dev]) {
		Object.assign(this, { dev, mode: modes[type] ?? 0, nlink,
			uid: 0, gid: 0, rdev: 0, blksize: 4096, ino, size,
			blocks: Math.ceil(size / 512), atimeMs: atime,
			mtimeMs: mtime, ctimeMs: ctime, birthtimeMs: ctime,
			atime: new Date(atime), mtime: new Date(mtime),
			ctime: new Date(ctime), birthtime: new Date(ctime) });
	}
}

class Dirent {
	#type;
	constructor(name, path, type) {
		this.name = name;
		this.parentPath = path;
		this.path = path;
		this.#type = type;
	}
	static type(d) {
		return d.#type;
	}
}
const direntType = Dirent.type;
delete Dirent.type;

for (const [name, type] of [['isFile', 4], ['isDirectory', 3],
	['isSymbolicLink', 7], ['isCharacterDevice', 2],
	['isBlockDevice', 1], ['isFIFO', -1], ['isSocket', 6]]) {
	share.define(Stats.prototype, name, function() {
		return (this.mode & constants.S_IFMT) ===
			((modes[type] ?? -1) & constants.S_IFMT);
	});
	share.define(Dirent.prototype, name, function() {
		return direntType(this) === type;
	});
}

function statOf(path, o, follow, name) {
	path = toPath(path);
	const r = native.stat(path, follow);
	if (r === -44 && o?.throwIfNoEntry === false)
		return undefined;
	return new Stats(checked(r, name, path));
}

const statSync = (path, o) => statOf(path, o, true, 'stat');
const lstatSync = (path, o) => statOf(path, o, false, 'lstat');
const fstatSync = (fd) => new Stats(checked(native.fstat(needFd(fd)),
	'fstat'));

function existsSync(path) {
	try {
		return typeof native.stat(toPath(path), true) === 'object';
	} catch {
		return false;
	}
}

function accessSync(path) {
	path = toPath(path);
	checked(native.stat(path, true), 'access', path);
}

function listInto(out, root, path, o) {
	const list = checked(native.list(path), 'scandir', path);
	const names = [];
	for (let i = 0; i < list.length; i += 2)
		names.push([list[i], list[i + 1]]);
	names.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
	for (const [name, type] of names) {
		const full = `${path === '/' ? '' : path}/${name}`;
		out.push(o.withFileTypes ? new Dirent(name, path, type) :
			full.slice(root.length + 1));
		if (o.recursive && type === 3)
			listInto(out, root, full, o);
	}
}

function readdirSync(path, o) {
	o = options(o, {});
	path = toPath(path);
	const root = path.length > 1 && path.endsWith('/') ?
		path.slice(0, -1) : path;
	const out = [];
	listInto(out, root === '/' ? '' : root, root, o);
	return out;
}

// Makes a directory and those above it; the first one made.
function mkdirs(at, path) {
	let r = native.mkdir(at), first;
	if (r === -44 && at !== '/') {
		first = mkdirs(share.modules.path.dirname(at), path);
		r = native.mkdir(at);
	}
	if (r >= 0)
		return first ?? at;
	const st = native.stat(at, true);
	if (typeof st !== 'object')
		throw share.fsError(-r, 'mkdir', path);
	if (st[0] !== 3)
		throw share.fsError(at === path ? 20 : 54, 'mkdir', path);
	return first;
}

function mkdirSync(path, o) {
	path = toPath(path);
	if (o?.recursive)
		return mkdirs(share.modules.path.resolve(path), path);
	checked(native.mkdir(path), 'mkdir', path);
	return undefined;
}

function rmdirSync(path) {
	path = toPath(path);
	checked(native.rmdir(path), 'rmdir', path);
}

function unlinkSync(path) {
	path = toPath(path);
	checked(native.unlink(path), 'unlink', path);
}

function rmSync(path, o = {}) {
	path = toPath(path);
	const st = native.stat(path, false);
	if (st === -44 && o?.force)
		return;
	checked(st, 'rm', path);
	if (st[0] !== 3) {
		unlinkSync(path);
		return;
	}
	if (!o?.recursive)
		throw coded(Error, 'ERR_FS_EISDIR', 'Path is a directory: rm ' +
			`returned EISDIR (is a directory) ${path}`);
	for (const e of readdirSync(path))
		rmSync(`${path}/${e}`, o);
	rmdirSync(path);
}

function renameSync(from, to) {
	from = toPath(from, 'oldPath');
	to = toPath(to, 'newPath');
	checked(native.rename(from, to), 'rename', from, to);
}

function copyFileSync(from, to, mode = 0) {
	from = toPath(from, 'src');
	to = toPath(to, 'dest');
	try {
		writeFileSync(to, readFileSync(from), {
			flag: mode & constants.COPYFILE_EXCL ? 'wx' : 'w',
		});
	} catch (err) {
		const number = share.errorNumber(err.code);
		throw number ? share.fsError(number, 'copyfile', from, to) : err;
	}
}

function readlinkSync(path) {
	path = toPath(path);
	return checked(native.readlink(path), 'readlink', path);
}

function realpathSync(path) {
	path = toPath(path);
	checked(native.stat(path, true), 'realpath', path);
	return share.modules.path.resolve(path);
}
realpathSync.native = realpathSync;

function ftruncateSync(fd, length = 0) {
	checked(native.truncate(needFd(fd), length), 'ftruncate');
}

function truncateSync(path, length = 0) {
	const fd = openSync(path, 'r+');
	try {
		ftruncateSync(fd, length);
	} finally {
		native.close(fd);
	}
}

function mkdtempSync(prefix) {
	const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
	const random = native.random(new Uint8Array(6));
	const path = toPath(prefix, 'prefix') +
		Array.from(random, (b) => letters[b % letters.length]).join('');
	mkdirSync(path);
	return path;
}

share.sync = {
	accessSync, appendFileSync, closeSync, copyFileSync, existsSync,
	fstatSync, ftruncateSync, lstatSync, mkdirSync, mkdtempSync, openSync,
	readdirSync, readFileSync, readlinkSync, readSync, realpathSync,
	renameSync, rmdirSync, rmSync, statSync, truncateSync, unlinkSync,
	writeFileSync, writeSync,
	fsyncSync: needFd, fdatasyncSync: needFd,
};
Object.assign(share, { constants, Dirent, Stats, fsOptions: options,
	toPath });
})
