// node:path, as on POSIX systems.
(function(native, hooks, share) {
const { charCodeAt, endsWith, isArray, join: joined, slice, split } = share.safe;
const { needString } = share;
const slash = 47, dot = 46;

// The parts of a path with '.', '..' and empty parts resolved.  Above a root
// is the root; above a relative path are the '..' that are left.
function resolved(path, rooted) {
	const parts = split(path, '/'), out = [];
	let up = 0; // leading '..' in out
	for (let i = 0; i < parts.length; i++) {
		const part = parts[i];
		if (part === '' || part === '.')
			continue;
		if (part !== '..')
			out[out.length] = part;
		else if (out.length > up)
			out.length--;
		else if (!rooted)
			out[up++] = part;
	}
	return joined(out, '/');
}

const isRooted = (path) => charCodeAt(path, 0) === slash;

function resolve(...args) {
	let path = '';
	for (let i = args.length - 1; i >= 0 && !isRooted(path); i--) {
		needString(`paths[${i}]`, args[i]);
		if (args[i] !== '')
			path = `${args[i]}/${path}`;
	}
	return `/${resolved(path, true)}`; // the working directory is the root
}

function normalize(path) {
	needString('path', path);
	const rooted = isRooted(path), inner = resolved(path, rooted);
	const end = inner !== '' && endsWith(path, '/') ? '/' : '';
	if (inner !== '' || rooted)
		return `${rooted ? '/' : ''}${inner}${end}`;
	return path !== '' && endsWith(path, '/') ? './' : '.';
}

function isAbsolute(path) {
	needString('path', path);
	return isRooted(path);
}

function join(...args) {
	const parts = [];
	for (let i = 0; i < args.length; i++) {
		needString('path', args[i]);
		if (args[i] !== '')
			parts[parts.length] = args[i];
	}
	return normalize(joined(parts, '/'));
}

function relative(from, to) {
	needString('from', from);
	needString('to', to);
	const a = split(slice(resolve(from), 1), '/');
	const b = split(slice(resolve(to), 1), '/');
	let same = 0;
	while (same < a.length && same < b.length && a[same] === b[same])
		same++;
	const out = [];
	for (let i = same; i < a.length; i++)
		if (a[i] !== '')
			out[out.length] = '..';
	for (let i = same; i < b.length; i++)
		if (b[i] !== '')
			out[out.length] = b[i];
	return joined(out, '/');
}

// Where the last part begins and ends, slashes after it left out.
function lastPart(path) {
	let end = path.length;
	while (end > 0 && charCodeAt(path, end - 1) === slash)
		end--;
	let start = end;
	while (start > 0 && charCodeAt(path, start - 1) !== slash)
		start--;
	return { start, end };
}

function dirname(path) {
	needString('path', path);
	let { start } = lastPart(path);
	if (start === 0)
		return isRooted(path) ? '/' : '.';
	start--; // one slash goes; more stay, as in Node
	if (start === 0)
		return '/';
	return start === 1 && isRooted(path) ? '//' : slice(path, 0, start);
}

function basename(path, suffix) {
	if (suffix !== undefined)
		needString('suffix', suffix);
	needString('path', path);
	const { start, end } = lastPart(path);
	const base = slice(path, start, end);
	if (suffix && path === suffix)
		return '';
	// Node keeps the slashes at the end in this case.
	if (suffix && suffix !== base && endsWith(suffix, base) &&
	    suffix.length <= path.length)
		return slice(path, start);
	return suffix !== undefined && base !== suffix &&
		endsWith(base, suffix) ?
		slice(base, 0, base.length - suffix.length) : base;
}

// Where the extension of a last part begins; its length if there is none.
function extensionAt(base) {
	let at = base.length - 1;
	while (at > 0 && charCodeAt(base, at) !== dot)
		at--;
	return at <= 0 || base === '..' ? base.length : at;
}

function extname(path) {
	const base = basename(path);
	return slice(base, extensionAt(base));
}

function format(pathObject) {
	if (pathObject === null || typeof pathObject !== 'object' ||
	    isArray(pathObject))
		throw share.argType('pathObject', 'of type object', pathObject);
	const { dir, root, base, name, ext } = pathObject;
	const before = dir || root;
	const dotted = ext && ext[0] !== '.' ? `.${ext}` : ext || '';
	const last = base || `${name || ''}${dotted}`;
	if (!before)
		return last;
	return before === root ? `${before}${last}` : `${before}/${last}`;
}

function parse(path) {
	needString('path', path);
	const { start, end } = lastPart(path);
	const root = isRooted(path) ? '/' : '';
	const base = slice(path, start, end);
	// '/..' has an extension in Node, '..' and '/a/..' have none.
	const at = base === '..' && root !== '' && start === 1 ? 1 :
		extensionAt(base);
	const dir = start > 1 ? slice(path, 0, start - 1) : root;
	return { root, dir, base, ext: slice(base, at), name: slice(base, 0, at) };
}

const path = {
	resolve, normalize, isAbsolute, join, relative,
	toNamespacedPath: (path) => path,
	dirname, basename, extname, format, parse, sep: '/', delimiter: ':',
	win32: null, posix: null,
};
path.posix = path;
share.modules.path = path;
share.modules['path/posix'] = path;
})
