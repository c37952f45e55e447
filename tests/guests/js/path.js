// node:path.
const path = require('node:path');
for (const p of ['', '.', '/', '//', 'a', '/a', 'a/', '/a/b.txt', 'a/b/../c', '../a', 'a.b.c', '.hidden', 'x/.hidden.txt', 'a//b///c/', './a/./b', '/../x', 'dir.ext/file', 'file.', '..', 'é/ü.js'])
	console.log(JSON.stringify(p), path.basename(p), path.dirname(p), path.extname(p), path.normalize(p), path.isAbsolute(p), JSON.stringify(path.parse(p)));
console.log(path.join('a', 'b', '..', 'c'), path.join(), path.join(''), path.join('/', 'x'), path.join('a', '', '/b/', './c'), path.join('..', '..', 'x'));
console.log(path.resolve('/a', 'b', '../c'), path.resolve('/a', '/b'), path.resolve('/'), path.resolve('/a/b', '..', '..', '..'));
console.log(path.relative('/a/b/c', '/a/d'), path.relative('/a', '/a/b'), path.relative('/a/b', '/a/b') === '', path.relative('/', '/x/y'), path.relative('/a/bc', '/a/b'));
console.log(path.format({ dir: '/x', base: 'y.z' }), path.format({ root: '/', name: 'n', ext: '.e' }), path.format({ dir: 'd', name: 'n', ext: 'e' }));
console.log(path.basename('/a/b.html', '.html'), path.basename('b.html', 'html'), path.basename('aaa', 'aaa'), path.basename('/x/', 'x'));
console.log(path.sep, path.delimiter, path.posix === path, require('path') === path, path.toNamespacedPath('/x'));
for (const bad of [null, 5, undefined, {}]) { try { path.basename(bad); } catch (e) { console.log(e.name, e.code, e.message); } }
try { path.join('a', 5); } catch (e) { console.log(e.message); }
