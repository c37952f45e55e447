'use strict';
/* The payload's side of a native JavaScript run.
 *
 * Started by redoma-init inside the jail, before a run comes: loads what runs
 * use, warms up, and waits on descriptor 3.  Messages are a header of two u32
 * (kind, length; little endian) and the body; see docs/design/native.md. */
const fs = require('node:fs');
const net = require('node:net');
const path = require('node:path');
const util = require('node:util');
const vm = require('node:vm');
const Module = require('node:module');

const READY = 1, RUN = 2, VALUE = 3, ERROR = 4, EXIT = 5, CALL = 6;
const PARTS = {1: 'source', 2: 'name', 3: 'input', 4: 'argv', 5: 'env',
	       6: 'tools'};
const IN_FLIGHT = 7;
const CHANNEL = 3;

const HEADER = 8;
const PIECE = 65536;

/* One message; most come whole. */
function receive() {
	let all = Buffer.alloc(PIECE);
	let want = HEADER;
	let have = 0;
	while (have < want) {
		const got = fs.readSync(CHANNEL, all, have, all.length - have,
					null);
		if (!got)
			process.reallyExit(0); // the jail is gone
		have += got;
		if (want === HEADER && have >= HEADER)
			want += all.readUInt32LE(4);
		if (want > all.length)
			all = Buffer.concat([all], want);
	}
	return {kind: all.readUInt32LE(0), body: all.subarray(HEADER, want)};
}

function message(kind, text = '') {
	const body = Buffer.isBuffer(text) ? text : Buffer.from(text);
	const head = Buffer.alloc(HEADER);
	head.writeUInt32LE(kind, 0);
	head.writeUInt32LE(body.length, 4);
	return Buffer.concat([head, body]);
}

const idle = new Int32Array(new SharedArrayBuffer(4));

/* A channel that is listened to does not block. */
function send(all) {
	let at = 0;
	while (at < all.length) {
		try {
			at += fs.writeSync(CHANNEL, all, at);
		} catch (e) {
			if (e.code !== 'EAGAIN')
				throw e;
			Atomics.wait(idle, 0, 0, 1);
		}
	}
}

function unpack(body) {
	const request = {argv: [], env: [], tools: [], source: '',
			 name: 'agent.js', input: null, inFlight: 1};
	let at = 4;
	for (let n = body.readUInt32LE(0); n > 0; n--) {
		const kind = body.readUInt32LE(at);
		const key = PARTS[kind];
		const length = body.readUInt32LE(at + 4);
		const text = body.toString('utf8', at + 8, at + 8 + length);
		if (kind === IN_FLIGHT)
			request.inFlight = body.readUInt32LE(at + 8);
		at += 8 + length;
		if (Array.isArray(request[key]))
			request[key].push(text);
		else if (key)
			request[key] = text;
	}
	return request;
}

/* ---- values: guest/native/values.js is put here ---- */

/* ---- tools ---- */

const TEXT_MAX = 1 << 20; // of one call
const NAME_MAX = 256;

const calls = {last: 0, inFlight: 1, sent: new Map(), unsent: [],
	       socket: null};

/* The words of a failure, put on the error that was made where the tool was
 * called: its stack leads there. */
function failure(call, name, message) {
	const stack = String(call.error.stack).split('\n').slice(1)
		.filter(isTheirs);
	const fields = {tool: call.tool, name, message,
			stack: [`${name}: ${message}`, ...stack].join('\n')};
	for (const [k, value] of Object.entries(fields))
		Object.defineProperty(call.error, k, {value, writable: true,
			configurable: true});
	return call.error;
}

/* Why a call cannot be sent; or undefined. */
function flaw(call) {
	if (call.text.length > TEXT_MAX)
		return 'the arguments of one call are over 1 MiB: grant a ' +
			'file, or call it for a part at a time';
	return call.text.indexOf(0) > NAME_MAX
		? 'the tool cannot be called here' : undefined;
}

/* As many as may be under way; the run goes on while one is. */
function sendMore() {
	while (calls.unsent.length && calls.sent.size < calls.inFlight) {
		const call = calls.unsent.shift();
		const why = flaw(call);
		if (why) {
			call.reject(failure(call, 'ToolError', why));
			continue;
		}
		const number = Buffer.alloc(4);
		number.writeUInt32LE(++calls.last);
		calls.sent.set(calls.last, call);
		send(message(CALL, Buffer.concat([number, call.text])));
	}
	if (calls.sent.size)
		calls.socket.ref();
	else
		calls.socket.unref();
}

function settle(body) {
	const number = body.readUInt32LE(0);
	const call = calls.sent.get(number);
	calls.sent.delete(number);
	if (body[4]) {
		const end = body.indexOf(0, 5);
		call.reject(failure(call, body.toString('utf8', 5, end),
				    body.toString('utf8', end + 1)));
		return;
	}
	try {
		call.resolve(revive(JSON.parse(body.toString('utf8', 5))));
	} catch {
		call.reject(failure(call, 'ToolError', 'the tool\'s answer ' +
			'cannot be read: it is nested too deeply, or has a ' +
			'$redoma tag that is unknown'));
	}
}

/* Answers as they come, in pieces of any size. */
function listen() {
	let kept = [];
	let have = 0;
	let want = HEADER;
	calls.socket = new net.Socket({fd: CHANNEL, allowHalfOpen: true});
	calls.socket.on('data', (piece) => {
		kept.push(piece);
		have += piece.length;
		while (have >= want) {
			const all = kept.length > 1 ? Buffer.concat(kept)
						    : kept[0];
			const end = HEADER + all.readUInt32LE(4);
			kept = [all];
			want = end;
			if (have < end)
				break;
			kept = [all.subarray(end)];
			have -= end;
			want = HEADER;
			settle(all.subarray(HEADER, end));
		}
		sendMore();
	});
	calls.socket.unref();
}

function makeTool(tool) {
	const f = {[tool]: (args = {}) => new Promise((resolve, reject) => {
		if (typeof args !== 'object' || args === null ||
		    Array.isArray(args))
			throw new TypeError(`tools.${tool} takes one object: ` +
				'its arguments by name');
		const error = new Error();
		Error.captureStackTrace(error, f[tool]);
		const json = carry(args, 'arguments');
		calls.unsent.push({tool, error, resolve, reject,
				   text: Buffer.from(`${tool}\0${json}`)});
		sendMore();
	})};
	return f[tool];
}

/* A name that was not granted is called all the same: the caller of this run
 * learns of it, and the program is told. */
const handler = {
	get(table, name) {
		if (typeof name === 'symbol' || name in table ||
		    name === 'then' || name === 'toJSON' ||
		    name === 'constructor')
			return table[name];
		return makeTool(name);
	},
};

function setTools(request) {
	const table = Object.create(null);
	if (!request.tools.length)
		return;
	for (const name of request.tools)
		table[name] = makeTool(name);
	Object.defineProperty(globalThis, 'tools', {
		value: new Proxy(table, handler), writable: true,
		configurable: true});
	calls.inFlight = request.inFlight;
	listen();
}

/* ---- a run ---- */

const OPEN = '(async (input) => {';

function compileBody(source, name) {
	return vm.runInThisContext(`${OPEN}${source}\n})`,
				   {filename: name, columnOffset: -OPEN.length});
}

function compiles(source) {
	try {
		compileBody(source, 'x.js');
		return true;
	} catch {
		return false;
	}
}

/* A script with `await`: the longest end of it that is an expression, so that
 * what it stands on is complete without it, is its value.  The engine's own
 * parser decides. */
function returnLast(source) {
	const text = source.replace(/[\s;]+$/, '');
	let best = source;
	let tries = 64;
	for (let at = text.length; at >= 0 && tries--;) {
		at = Math.max(text.lastIndexOf('\n', at - 1),
			      text.lastIndexOf(';', at - 1));
		const head = text.slice(0, at + 1);
		const candidate = `${head} return (${text.slice(at + 1)}\n)`;
		if (text.slice(at + 1).trim() && compiles(head) &&
		    compiles(candidate))
			best = candidate;
		if (at < 0)
			break;
	}
	return best;
}

const SHAPES = [
	// A script: its last expression is the value.
	(source, name) => {
		const script = new vm.Script(source, {filename: name,
			importModuleDynamically:
				vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER});
		return () => script.runInThisContext();
	},
	// `await` at top level, or a function body.
	(source, name) => {
		const body = /\bawait\b/.test(source) && !/^\s*return\b/m
			.test(source) ? returnLast(source) : source;
		const f = compileBody(body, name);
		return () => f(globalThis.input);
	},
];

/* What the engine's parser says of a module that it reads as a script. */
function isOfModule(e) {
	return /import statement outside|'import\.meta'|token 'export'/
		.test(e.message);
}

const MODULE = 'data:text/javascript;base64,';

function moduleUrl(source) {
	return MODULE + Buffer.from(source).toString('base64');
}

/* What the source is no program for; nothing of it ran. */
const invalid = new WeakSet();

/* What a module throws has a frame of it in its stack. */
function neverBegan(e) {
	return e instanceof SyntaxError &&
		!/^ +at .*data:text\/javascript;base64,/m.test(String(e.stack));
}

async function load(source) {
	try {
		return await import(moduleUrl(source));
	} catch (e) {
		if (neverBegan(e))
			invalid.add(e);
		throw e;
	}
}

async function runModule(request) {
	const m = await load(request.source);
	return typeof m.default === 'function'
		? m.default(globalThis.input, globalThis.tools) : m.default;
}

function prepare(request) {
	let first;
	for (const shape of SHAPES) {
		try {
			return shape(request.source, request.name);
		} catch (e) {
			if (!(e instanceof SyntaxError))
				throw e;
			if (isOfModule(e))
				return () => runModule(request);
			first ??= e;
		}
	}
	invalid.add(first);
	throw first;
}

async function execute(request) {
	globalThis.input = request.input === null
		? undefined : revive(JSON.parse(request.input));
	return prepare(request)();
}

/* A module has its source as its name. */
function renamed(text, name) {
	return whole(text.replace(/data:text\/javascript;base64,[\w+/=]*/g,
				  () => name));
}

/* A line of a stack that is none of ours or of node's. */
function isTheirs(line) {
	return !line.includes(__filename) && !/\(node:|at node:/.test(line);
}

function told(e, name) {
	const isError = util.types.isNativeError(e);
	const stack = isError
		? renamed(String(e.stack), name).split('\n').filter(isTheirs)
		: [];
	const places = stack.filter((l) => l.includes(name + ':'))
		.map((l) => l.slice(l.lastIndexOf(name + ':') + name.length + 1)
			.split(':').map((n) => parseInt(n, 10)));
	const [line, column] = places.find((p) => p.length > 1) ?? places[0] ??
			       [0, 0];
	return JSON.stringify({
		name: isError ? whole(String(e.name)) : 'Error',
		message: isError ? renamed(String(e.message), name)
				 : whole(util.inspect(e)),
		stack: stack.join('\n'), line: line || 0, column: column || 0,
		invalid: isError && invalid.has(e)});
}

/* Nothing comes after it. */
function lastWords(code, before) {
	const body = Buffer.alloc(4);
	body.writeUInt32LE(code & 0xff, 0);
	return Buffer.concat([...before, message(EXIT, body)]);
}

function end(code, ...before) {
	send(lastWords(code, before));
	process.reallyExit(code & 0xff);
}

/* The run there is: {request, value, failed}. */
let current = null;

function report(e) {
	if (!current.failed)
		send(message(ERROR, told(e, current.request.name)));
	current.failed ??= e ?? new Error('threw ' + e);
}

/* Registered before a run comes, for that takes a while. */
function watchEnd() {
	process.on('uncaughtException', (e) => {
		if (!current) {
			fs.writeSync(2, String(e?.stack));
			process.reallyExit(70);
		}
		report(e);
		end(1);
	});
	process.on('exit', (code) => {
		if (!current)
			process.reallyExit(70);
		const {value, failed} = current;
		if (!failed && !code && value !== undefined)
			end(code, message(VALUE, value));
		end(code);
	});
}

/* After the value: whatever still waits (timers, promises) has its time, as in
 * node itself. */
async function run(request) {
	current = {request, value: undefined, failed: null};
	try {
		const v = await execute(request);
		if (v !== undefined)
			current.value = carry(v);
	} catch (e) {
		report(e);
		process.exitCode = 1;
	}
}

function pack(parts) {
	const count = Buffer.alloc(4);
	count.writeUInt32LE(parts.length, 0);
	return Buffer.concat([count, ...parts.map(([tag, text]) =>
		message(tag, text))]);
}

/* Runs of our own, by the same way: what a run needs is loaded, compiled and
 * written to before it comes. */
async function warmUp() {
	carry([1, 'a', {b: null}, 1n, new Map([[1, 2]])]);
	for (const source of ['1+1', 'await 1; 2', 'null.x']) {
		const request = unpack(pack([[1, source], [2, 'warm.js'],
			[3, '[1]'], [4, 'warm.js'], [5, 'A=1']]));
		setGlobals(request);
		try {
			const v = await execute(request);
			lastWords(0, [message(VALUE, carry(v))]);
		} catch (e) {
			message(ERROR, told(e, request.name));
		}
	}
	util.format('%s %o', 'a', {a: 1});
	delete globalThis.input;
	delete process.env.A;
}

const require_ = Module.createRequire('/');

function setGlobals(request) {
	globalThis.require = require_;
	process.argv = [process.execPath, request.name,
			...request.argv.slice(1)];
	for (const k of Object.keys(process.env))
		delete process.env[k];
	for (const entry of request.env) {
		const at = entry.indexOf('=');
		process.env[entry.slice(0, at)] = entry.slice(at + 1);
	}
}

/* A flood waits for its reader, and meets the limit of its output.  Else what a
 * full pipe does not take would be kept in memory, all of it for as long as the
 * source does not return to the event loop. */
function waitForReader() {
	for (const stream of [process.stdout, process.stderr])
		stream._handle.setBlocking(true);
}

async function main() {
	watchEnd();
	waitForReader();
	await warmUp();
	void path;
	send(message(READY));
	const {kind, body} = receive();
	if (kind !== RUN)
		process.reallyExit(70);
	const request = unpack(body);
	setGlobals(request);
	setTools(request);
	run(request);
}

main();
