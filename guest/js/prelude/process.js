// process.
(function(native, hooks, share) {
const { argType, coded, EventEmitter } = share;
const process = Object.create(EventEmitter.prototype);
EventEmitter.init.call(process);

// Node checks that an exit code is an integer or a string of one.
function exitCode(v) {
	if (v === undefined || v === null)
		return undefined;
	const n = typeof v === 'string' && v !== '' ? Number(v) : v;
	if (typeof n !== 'number' || (typeof v === 'string' && isNaN(n)))
		throw argType('code', 'of type number', v);
	if (!Number.isInteger(n))
		throw share.outOfRange('code', 'an integer', v);
	return n;
}

let code;
let env, argv;
const lazy = (name, get, set) => Object.defineProperty(process, name, {
	get, set, enumerable: true, configurable: true,
});

// Environment variables are always text.
lazy('env', () => env ??= new Proxy(native.env(), {
	set(target, key, value) {
		target[key] = `${value}`;
		return true;
	},
}), (v) => env = v);
// Arguments begin with the program's name, as in C; Node puts itself first.
function makeArgv() {
	const [name = native.scriptName(), ...rest] = native.args();
	return ['/usr/bin/node', name.startsWith('/') ? name : `/${name}`,
		...rest];
}
lazy('argv', () => argv ??= makeArgv(), (v) => argv = v);
lazy('argv0', () => 'node');
lazy('exitCode', () => code, (v) => {
	code = exitCode(v);
	native.exitCode(code ?? 0);
});
lazy('title', () => 'node', () => {});

function hrtime(since) {
	const ns = native.monotonic();
	let s = Number(ns / 1000000000n), n = Number(ns % 1000000000n);
	if (since !== undefined) {
		s -= since[0];
		n -= since[1];
		if (n < 0) {
			s -= 1;
			n += 1e9;
		}
	}
	return [s, n];
}
hrtime.bigint = () => native.monotonic();

function memoryUsage() {
	const n = native.memory();
	return { rss: n, heapTotal: n, heapUsed: n, external: 0,
		arrayBuffers: 0 };
}
memoryUsage.rss = () => native.memory();

class Stream extends EventEmitter {
	constructor(fd) {
		super();
		this.fd = fd;
		this.writable = true;
		this.isTTY = false;
		this.columns = undefined;
	}
	write(chunk, encoding, callback) {
		if (typeof encoding === 'function')
			[callback, encoding] = [encoding, undefined];
		if (typeof chunk === 'string') {
			native.write(this.fd, encoding === undefined ||
				encoding === 'utf8' ? chunk :
				share.Buffer.from(chunk, encoding));
		} else if (ArrayBuffer.isView(chunk)) {
			native.write(this.fd, chunk);
		} else {
			throw argType('chunk', 'of type string or an instance ' +
				'of Buffer, TypedArray, or DataView', chunk);
		}
		if (typeof callback === 'function')
			native.tick(callback, null);
		return true;
	}
	end(chunk, encoding, callback) {
		if (chunk !== undefined && typeof chunk !== 'function')
			this.write(chunk, encoding, callback);
		return this;
	}
	cork() {}
	uncork() {}
	hasColors() {
		return false;
	}
	getColorDepth() {
		return 1;
	}
}
const streams = [];
for (const [name, fd] of [['stdout', 1], ['stderr', 2]])
	lazy(name, () => streams[fd] ??= new Stream(fd));
lazy('stdin', () => streams[0] ??= share.stdin());

Object.assign(process, {
	arch: 'wasm32',
	platform: 'linux',
	version: 'v20.20.2',
	versions: { node: '20.20.2', quickjs: native.engine },
	release: { name: 'node' },
	pid: 1,
	ppid: 0,
	execPath: '/usr/bin/node',
	execArgv: [],
	features: {},
	config: { variables: {} },
	exit(v) {
		const n = v === undefined ? code : exitCode(v);
		native.exit(n ?? 0);
	},
	reallyExit: (n) => native.exit(n),
	abort: () => native.exit(134),
	cwd: () => '/',
	chdir(dir) {
		throw coded(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM',
			'process.chdir() is not available in a sandbox; ' +
			'use absolute paths');
	},
	umask: () => 0o22,
	uptime: () => performance.now() / 1000,
	hrtime,
	memoryUsage,
	cpuUsage: () => ({ user: Math.round(performance.now() * 1000),
		system: 0 }),
	nextTick(callback, ...args) {
		share.needFunction('callback', callback);
		native.tick(callback, ...args);
	},
	emitWarning(warning, type = 'Warning') {
		const name = typeof type === 'object' ? type.type : type;
		share.warn(`(node:1) ${warning instanceof Error ? warning :
			`${name ?? 'Warning'}: ${warning}`}`);
	},
	kill() {
		throw coded(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM',
			'process.kill() is not available in a sandbox: there ' +
			'is no other process');
	},
	getuid: () => 65534,
	geteuid: () => 65534,
	getgid: () => 65534,
	getegid: () => 65534,
	binding(name) {
		throw new Error(`No such module: ${name}`);
	},
});
Object.defineProperty(process, Symbol.toStringTag, {
	value: 'process', configurable: true,
});

share.process = process;
share.global('process', process);
share.modules.process = process;
})
