// Errors of node:fs as Node words them.
(function(native, hooks, share) {
// WASI number: [code, errno on Linux, text].
const table = {
	__proto__: null,
	1: ['E2BIG', 7, 'argument list too long'],
	2: ['EACCES', 13, 'permission denied: not granted to this run'],
	6: ['EAGAIN', 11, 'resource temporarily unavailable'],
	8: ['EBADF', 9, 'bad file descriptor'],
	10: ['EBUSY', 16, 'resource busy or locked'],
	19: ['EDQUOT', 122, 'disk quota exceeded'],
	20: ['EEXIST', 17, 'file already exists'],
	22: ['EFBIG', 27, 'file too large'],
	25: ['EILSEQ', 84, 'illegal byte sequence'],
	27: ['EINTR', 4, 'interrupted system call'],
	28: ['EINVAL', 22, 'invalid argument'],
	29: ['EIO', 5, 'i/o error'],
	31: ['EISDIR', 21, 'illegal operation on a directory'],
	32: ['ELOOP', 40, 'too many symbolic links encountered'],
	33: ['EMFILE', 24, 'too many open files'],
	34: ['EMLINK', 31, 'too many links'],
	37: ['ENAMETOOLONG', 36, 'name too long'],
	41: ['ENFILE', 23, 'file table overflow'],
	44: ['ENOENT', 2, 'no such file or directory'],
	48: ['ENOMEM', 12, 'not enough memory'],
	51: ['ENOSPC', 28, 'no space left on device'],
	52: ['ENOSYS', 38, 'function not implemented'],
	54: ['ENOTDIR', 20, 'not a directory'],
	55: ['ENOTEMPTY', 39, 'directory not empty'],
	58: ['ENOTSUP', 95, 'operation not supported on socket'],
	60: ['ENXIO', 6, 'no such device or address'],
	61: ['EOVERFLOW', 75, 'value too large for defined data type'],
	63: ['EPERM', 1, 'operation not permitted'],
	64: ['EPIPE', 32, 'broken pipe'],
	69: ['EROFS', 30, 'read-only file system'],
	70: ['ESPIPE', 29, 'invalid seek'],
	73: ['ETIMEDOUT', 110, 'connection timed out'],
	74: ['ETXTBSY', 26, 'text file is busy'],
	75: ['EXDEV', 18, 'cross-device link not permitted'],
	76: ['EACCES', 13, 'permission denied: not granted to this run'],
};

function fsError(number, syscall, path, dest) {
	const [code, errno, text] = table[number] ??
		['UNKNOWN', 4094, `unknown error ${number}`];
	let message = `${code}: ${text}, ${syscall}`;
	if (path !== undefined)
		message += ` '${path}'`;
	if (dest !== undefined)
		message += ` -> '${dest}'`;
	const err = new Error(message);
	err.errno = -errno;
	err.code = code;
	err.syscall = syscall;
	if (path !== undefined)
		err.path = path;
	if (dest !== undefined)
		err.dest = dest;
	return err;
}

// The result of a native call, or its error thrown.
share.checked = (r, syscall, path, dest) => {
	if (typeof r === 'number' && r < 0)
		throw fsError(-r, syscall, path, dest);
	return r;
};
share.errorNumber = (code) => Number(Object.keys(table).find((n) =>
	table[n][0] === code));
share.fsError = fsError;
hooks.readError = (r) => fsError(-r, 'read');
})
