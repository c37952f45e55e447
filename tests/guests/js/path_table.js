// Every function of node:path over pairs of odd paths.
const path = require('path');
const odd = ['', '.',
	'..', '/', '//', '///', 'a', '/a', 'a/', 'a/b', '/a/b', 'a//b', '/a/b/', '/a/b.c', 'b.c', '.b', '.b.c', '..b', '...', '..a.', 'a.', 'a..', 'a.b.', './a', '../a', '../../a', '/..', '//..', '///..', '//../', '//..a', '/../a', 'a/..', 'a/../..', 'a/./b', 'a/b/../../c', '//a', '//a//', '///a', 'a/.b', 'a/..', '/.', '/..//', '. ', '..c', 'a/b/c.tar.gz', '.x/', 'x/.y.z/', '/ab', '/abc', '/a/bc', '/a/b/c/d', 'a\\b', 'é.ü', '.../x', '/...', './', '../', './/', '..//', '/./', 'a/./', 'a/../', './..', './.././'];
const run = (f, ...a) => { try { return JSON.stringify(path[f](...a)); } catch (e) { return `${e.code} ${e.message}`; } };
for (const s of odd) {
	for (const f of ['normalize', 'isAbsolute', 'dirname', 'basename', 'extname', 'parse', 'toNamespacedPath', 'join'])
		console.log(f, JSON.stringify(s), run(f, s));
	for (const t of odd.slice(0, 40))
		console.log(JSON.stringify([s, t]), run('join', s, t), run('resolve', '/q', s, t), run('relative', `/${s}`, `/${t}`), run('basename', s, t), run('format', { dir: s, base: t }));
}
for (const bad of [null, undefined, 5, {}, [], true, () => 1])
	for (const f of ['normalize', 'isAbsolute', 'dirname', 'basename', 'extname', 'parse', 'resolve', 'join', 'relative', 'format'])
		console.log(f, run(f, bad).replace(/ Received (function|an instance|type).*/, ''), run(f, 'a', bad).replace(/ Received (function|an instance|type).*/, ''));
