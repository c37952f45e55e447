// require and import.
(function(native, hooks, share) {
const { coded, modules, needString } = share;
const path = modules.path;

const network = ['dgram', 'dns', 'http', 'http2', 'https', 'net', 'tls',
	'undici'];
const absent = ['async_hooks', 'child_process', 'cluster',
	'diagnostics_channel', 'domain', 'inspector', 'module', 'repl',
	'sqlite', 'test', 'trace_events', 'tty', 'v8', 'vm', 'wasi',
	'worker_threads'];
const later = ['assert', 'crypto', 'os', 'punycode', 'querystring', 'stream',
	'string_decoder', 'url', 'zlib'];

const available = () => Object.keys(modules).filter((k) =>
	!k.includes('/')).sort().join(', ');

function notFound(name, code) {
	const bare = name.replace(/^node:/, '');
	const head = bare.split('/')[0];
	if (network.includes(head))
		return coded(Error, code, `'${name}' is not available: ` +
			`${share.noNetwork}; available modules are ` +
			available());
	if (absent.includes(head))
		return coded(Error, code, `'${name}' is not available in a ` +
			`sandbox: available modules are ${available()}`);
	if (later.includes(head) || name.startsWith('node:'))
		return coded(Error, code, `module '${name}' is not part of ` +
			`this runtime: available modules are ${available()}`);
	if (/^[./]/.test(name))
		return coded(Error, code, `Cannot find module '${name}': no ` +
			'such file in a granted directory');
	return coded(Error, code, `Cannot find package '${name}': packages ` +
		'cannot be installed in a sandbox; available modules are ' +
		available());
}

function builtin(name) {
	return modules[name.startsWith('node:') ? name.slice(5) : name];
}

function isFile(name) {
	const st = native.stat(name, true);
	return typeof st === 'object' && st[0] === 4;
}

// The file that a relative name means, seen from a file.
function locate(name, from, endings) {
	const dir = from.startsWith('/') ? path.dirname(from) : '/';
	const full = path.resolve(dir, name);
	for (const ending of endings)
		if (isFile(full + ending))
			return full + ending;
	return undefined;
}

// A script often ends in a statement whose value is an object of ours, such
// as rl.on(...) or setTimeout(...): that is no result.
hooks.isRuntime = (v) => v instanceof share.EventEmitter ||
	v instanceof share.Timeout || v instanceof EventTarget;

// ---- import ----

hooks.resolve = (base, name) => {
	if (builtin(name) !== undefined)
		return name.startsWith('node:') ? name : `node:${name}`;
	const file = /^\.{0,2}\//.test(name) ? locate(name, base, ['']) :
		undefined;
	if (file === undefined)
		throw notFound(name, 'ERR_MODULE_NOT_FOUND');
	return file;
};

// The exports of a built-in module, or the source of a file.
hooks.load = (name) => {
	if (name.startsWith('node:'))
		return builtin(name);
	const text = share.sync.readFileSync(name, 'utf8');
	return name.endsWith('.json') ? { default: JSON.parse(text) } : text;
};

// ---- require ----

const cache = { __proto__: null };

function parseJson(text, file) {
	try {
		return JSON.parse(text);
	} catch (err) {
		err.message = `${file}: ${err.message}`;
		throw err;
	}
}

function makeRequire(from) {
	function resolve(name) {
		needString('id', name);
		if (builtin(name) !== undefined)
			return name;
		const file = /^\.{0,2}\/|^\.{1,2}$/.test(name) ?
			locate(name, from, ['', '.js', '.json', '.cjs',
				'/index.js']) : undefined;
		if (file === undefined)
			throw notFound(name, 'MODULE_NOT_FOUND');
		return file;
	}
	function require(name) {
		const file = resolve(name);
		return builtin(file) ?? loadFile(file);
	}
	require.resolve = resolve;
	require.cache = cache;
	require.main = mainModule;
	return require;
}

function loadFile(file) {
	if (cache[file])
		return cache[file].exports;
	const text = share.sync.readFileSync(file, 'utf8');
	const module = { id: file, filename: file, loaded: false, exports: {},
		children: [], paths: [] };
	cache[file] = module;
	try {
		if (file.endsWith('.json')) {
			module.exports = parseJson(text, file);
		} else {
			const fn = native.compileBody(text, file, 'exports, ' +
				'require, module, __filename, __dirname');
			Reflect.apply(fn, module.exports, [module.exports,
				makeRequire(file), module, file,
				path.dirname(file)]);
		}
	} catch (err) {
		delete cache[file];
		throw err;
	}
	module.loaded = true;
	return module.exports;
}

const mainModule = { id: '.', loaded: false, exports: {}, children: [],
	paths: [] };
Object.defineProperty(mainModule, 'filename', {
	get: () => `/${native.scriptName()}`, enumerable: true,
});
share.global('require', makeRequire('/'));
share.global('module', mainModule);
share.global('exports', mainModule.exports);
for (const [name, get] of [['__filename', () => `/${native.scriptName()}`],
	['__dirname', () => '/']])
	Object.defineProperty(globalThis, name, {
		get,
		set(value) {
			share.global(name, value);
		},
		configurable: true,
	});
})
