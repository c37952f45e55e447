// One attack by a script, with every control on.  `input` says which, and what
// of the host it is not to touch.  It says the outcome as one line: "SUCCESS",
// "stopped CODE", or "tried" where only the host can know; what it reads it
// prints.
const fs = require('node:fs');
const SHOWN = '/shown', OUT = '/out';

const code = e => e instanceof Error ? String(e.code ?? e.name) : 'odd';

// The first that can be read is printed; else why the first could not be.
const readAny = paths => {
	let why;
	for (const p of paths)
		try {
			const text = String(fs.readFileSync(p));
			console.log('read: ' + text.slice(0, 200));
			return 'SUCCESS';
		} catch (e) {
			why ??= code(e);
		}
	return 'stopped ' + why;
};

// The first that does not throw has worked.
const doAny = list => {
	let why;
	for (const f of list)
		try {
			f();
			return 'SUCCESS';
		} catch (e) {
			why ??= code(e);
		}
	return 'stopped ' + why;
};

const attacks = {
	read_secret: s => readAny([s.secret, 'file://' + s.secret,
		'/proc/self/root' + s.secret, s.secret + '/',
		Buffer.from(s.secret), '/.' + s.secret]),
	read_proc: () => readAny(['/proc/self/environ', '/proc/self/maps',
		'/proc/1/cmdline', '/proc/self/fd/0', '/dev/fd/3', '/etc/passwd']),
	climb_dots: s => readAny(['/shown/../secret', '../secret', '/../secret',
		'/shown/x/../../secret', '/shown/in.txt/../../secret',
		'/shown/./../secret', '/shown/..%2fsecret', '/shown\\..\\secret',
		'/shown/../../../../../../..' + s.secret, '/shown/..\0/secret']),
	follow_links: () => readAny([SHOWN + '/link-out', SHOWN + '/link-abs',
		SHOWN + '/link-up/secret', SHOWN + '/link-out/']),
	read_socket: () => readAny([SHOWN + '/socket', SHOWN + '/fifo']),
	write_granted: () => doAny([
		() => fs.writeFileSync(SHOWN + '/in.txt', 'x'),
		() => fs.appendFileSync(SHOWN + '/in.txt', 'x'),
		() => fs.unlinkSync(SHOWN + '/in.txt'),
		() => fs.renameSync(SHOWN + '/in.txt', SHOWN + '/moved'),
		() => fs.writeFileSync(SHOWN + '/new.txt', 'x'),
		() => fs.writeFileSync(OUT + '/../new.txt', 'x'),
	]),
	link_output: s => {
		try {
			fs.symlinkSync(s.secret, OUT + '/link');
			return readAny([OUT + '/link']);
		} catch (e) {
			return 'stopped ' + code(e);
		}
	},
	read_environ: () => {
		console.log('read: ' + JSON.stringify([process.env,
			process.argv, process.title, process.execPath,
			process.cwd()]));
		return 'tried';
	},
	load_modules: async () => {
		for (const m of ['child_process', 'net', 'http', 'dgram', 'vm',
			'worker_threads', 'cluster', 'inspector', 'std', 'os',
			'bjson'])
			for (const n of [m, 'node:' + m, 'qjs:' + m]) {
				try { require(n); return 'SUCCESS'; } catch {}
				try { await import(n); return 'SUCCESS'; } catch {}
			}
		return 'stopped MODULE_NOT_FOUND';
	},
	find_globals: () => {
		const found = ['std', 'os', 'bjson', 'loadFile', 'evalFile',
			'Deno', 'Bun', 'WebAssembly', '__loadScript'].filter(
			n => typeof globalThis[n] !== 'undefined');
		return found.length ? 'SUCCESS ' + found : 'stopped undefined';
	},
	// What escapes from sandboxes inside one realm are made of.
	climb_constructors: () => {
		let e;
		try { fs.readFileSync('/nope'); } catch (x) { e = x; }
		for (const o of [e, fs.readFileSync, process, console.log, {}]) {
			const g = o.constructor.constructor('return this')();
			if (g !== globalThis)
				return 'SUCCESS another global object';
			if (g.process?.mainModule || g.process?.dlopen)
				return 'SUCCESS a process of the host';
		}
		return 'stopped own_realm';
	},
	bind_process: () => doAny(['binding', '_linkedBinding', 'dlopen',
		'kill', 'setuid', '_kill'].map(f => () => process[f]('fs'))),
	dial: async s => {
		for (const make of [
			() => fetch(`http://127.0.0.1:${s.tcp}/`),
			() => new WebSocket(`ws://127.0.0.1:${s.tcp}/`),
			() => new XMLHttpRequest(),
			() => new EventSource(`http://127.0.0.1:${s.tcp}/`)])
			try { await make(); return 'SUCCESS'; } catch {}
		return 'stopped no_network';
	},
	hold_memory: () => {
		const all = [];
		try {
			for (let i = 0; i < 1024; i++)
				all.push(new Uint8Array(1 << 20).fill(i));
		} catch (e) {
			const held = all.length;
			all.length = 0;
			return held < 64 ? 'stopped ' + code(e) : 'SUCCESS';
		}
		return 'SUCCESS';
	},
	spin: () => { for (;;); },
	spin_promises: async () => { for (;;) await null; },
	spin_pattern: () => {
		/^(a+)+$/.test('a'.repeat(60) + 'b');
		return 'SUCCESS';
	},
	wait_for_ever: () => new Promise(() => setInterval(() => {}, 1e9)),
	recurse: () => {
		const f = n => f(n + 1) + 1;
		try {
			return 'SUCCESS ' + f(0);
		} catch (e) {
			return 'stopped ' + code(e);
		}
	},
	flood: () => {
		const line = 'x'.repeat(65536);
		for (let i = 0; i < 1024; i++)
			console.log(line);
		return 'SUCCESS';
	},
	forge: () => {
		console.log('{"id":"r_0","status":"ok","exit_code":0}');
		process.stdout.write('\0\x01\0\0{"status":"ok"}\n');
		const e = new Error('{"status":"ok"}');
		e.name = 'ok';
		throw e;
	},
	pollute: () => {
		for (const p of [Object.prototype, Array.prototype,
			String.prototype])
			p.toJSON = () => ({ status: 'ok' });
		JSON.stringify = () => '{"status":"ok"}';
		throw new Error('still an error');
	},
};

const run = attacks[input.name];
if (!run)
	throw new Error('no attack ' + input.name);
console.log('\n' + await run(input));
