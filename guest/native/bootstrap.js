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

/* ---- values ---- */

/* A class of the program's own may have any methods. */
const {getTime, toISOString} = Date.prototype;
/* Tags that the language has no value for: they go out as they came. */
const held = new WeakSet();

const tag = (kind, value) => value === undefined ? {$redoma: kind}
						 : {$redoma: kind, value};

function carryNumber(v) {
	if (Number.isNaN(v))
		return tag('nan');
	if (!Number.isFinite(v))
		return tag(v > 0 ? 'inf' : '-inf');
	return Object.is(v, -0) ? tag('-0') : v;
}

/* JSON is UTF-8: half of a surrogate pair is U+FFFD. */
function whole(s) {
	return /[\ud800-\udfff]/.test(s) ? Buffer.from(s).toString() : s;
}

function refuse(at, what) {
	throw new TypeError(`the value cannot be carried: ${at} ${what}`);
}

function carryParts(v, at, above) {
	if (Array.isArray(v))
		return v.map((x, i) => carry(x, `${at}[${i}]`, above));
	if (v instanceof Map)
		return tag('map', [...v].map(([k, x]) => [
			carry(k, `${at} key`, above), carry(x, at, above)]));
	if (v instanceof Set)
		return tag('set', [...v].map((x) => carry(x, at, above)));
	if (v instanceof Error)
		return {name: whole(String(v.name)),
			message: whole(String(v.message))};
	const out = {};
	for (const k of Object.keys(v))
		Object.defineProperty(out, whole(k), {
			value: carry(v[k], `${at}.${k}`, above),
			enumerable: true, configurable: true});
	return Object.hasOwn(out, '$redoma') ? tag('object', out) : out;
}

function carryObject(v, at, above) {
	if (typeof v.toJSON === 'function' && !(v instanceof Date) &&
	    !Buffer.isBuffer(v))
		return carry(v.toJSON(), at, above);
	if (held.has(v))
		return tag(v.$redoma, carry(v.value));
	if (v instanceof Date)
		return tag('date', Number.isNaN(getTime.call(v))
			? '' : toISOString.call(v));
	if (ArrayBuffer.isView(v) || v instanceof ArrayBuffer) {
		const bytes = ArrayBuffer.isView(v)
			? Buffer.from(v.buffer, v.byteOffset, v.byteLength)
			: Buffer.from(v);
		return tag('bytes', bytes.toString('base64'));
	}
	if (above.includes(v) || above.length > 200)
		refuse(at, 'contains itself or is nested too deeply');
	return carryParts(v, at, [...above, v]);
}

function carry(v, at = 'value', above = []) {
	switch (typeof v) {
	case 'undefined':
		return tag('undefined');
	case 'boolean':
		return v;
	case 'string':
		return whole(v);
	case 'number':
		return carryNumber(v);
	case 'bigint':
		return tag('bigint', String(v));
	case 'object':
		return v === null ? null : carryObject(v, at, above);
	default:
		return refuse(at, `is a ${typeof v}`);
	}
}

/* How the text of a tag is spelt, and no other way (docs/guide/result.md); the
 * same in guest/py/carry.py and guest/js/spell.c. */
const CLOCK = '(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{3}|\\.\\d{6})?';
const ZONE = '[+-](?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d{6})?)?';
const SPELT = {
	'bigint': /^(?:0|-?[1-9]\d*)$/,
	'bytes': /^[A-Za-z0-9+/]*={0,2}$/,
	'decimal':
		/^-?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|Infinity|s?NaN\d*)$/,
	'date': new RegExp('^(?:|((?:\\d{4}|[+-]\\d{6})-\\d\\d-\\d\\d)' +
		`(?:T${CLOCK}(?:Z|${ZONE})?)?)$`),
	'time': new RegExp(`^${CLOCK}(?:${ZONE})?$`),
	'duration': /^-?PT\d+(?:\.\d{1,6})?S$/,
};
const BAD = Symbol('what is no value of its kind');

function reviveBytes(text) {
	const b = Buffer.from(text, 'base64');
	return b.toString('base64') === text ? new Uint8Array(b) : BAD;
}

/* No other day in the place of one that there is not. */
function reviveDate(text) {
	const day = SPELT.date.exec(text)[1];
	const v = new Date(text);
	const same = day === undefined || new Date(`${day}T00:00:00Z`)
		.toJSON()?.startsWith(day);
	return same && (!text || !Number.isNaN(v.getTime())) ? v : BAD;
}

function hold(kind, value) {
	const v = Object.freeze({$redoma: kind, value: Object.freeze(value)});
	held.add(v);
	return v;
}

function reviveComplex(v) {
	const both = v.map(revive);
	return both.length === 2 && both.every((x) => typeof x === 'number')
		? hold('complex', both) : BAD;
}

const isPair = (v) => Array.isArray(v) && v.length === 2;
const NOTHING = {'nan': NaN, 'inf': Infinity, '-inf': -Infinity, '-0': -0,
		 'undefined': undefined};
const OF_TEXT = {
	'bigint': (v) => BigInt(v), 'bytes': reviveBytes, 'date': reviveDate,
	'decimal': (v) => hold('decimal', v), 'time': (v) => hold('time', v),
	'duration': (v) => hold('duration', v),
};
const OF_LIST = {
	'map': (v) => v.every(isPair)
		? new Map(v.map(([k, x]) => [revive(k), revive(x)])) : BAD,
	'set': (v) => new Set(v.map(revive)), 'tuple': (v) => v.map(revive),
	'complex': reviveComplex,
};

function ofTag(kind, v, alone) {
	if (alone)
		return Object.hasOwn(NOTHING, kind) ? NOTHING[kind] : BAD;
	if (typeof v === 'string')
		return Object.hasOwn(OF_TEXT, kind) && SPELT[kind].test(v)
			? OF_TEXT[kind](v) : BAD;
	if (Array.isArray(v))
		return Object.hasOwn(OF_LIST, kind) ? OF_LIST[kind](v) : BAD;
	return kind === 'object' && v !== null && typeof v === 'object'
		? reviveFields(v) : BAD;
}

/* A tag has nothing beside its value. */
function reviveTag(tag) {
	const alone = !Object.hasOwn(tag, 'value');
	const v = Object.keys(tag).length === (alone ? 1 : 2)
		? ofTag(tag.$redoma, tag.value, alone) : BAD;
	if (v !== BAD)
		return v;
	const kind = tag.$redoma.slice(0, 40);
	throw new TypeError(`input: the $redoma tag '${kind}' cannot be ` +
		`read: ${typeof tag.value === 'string'
			? `'${tag.value.slice(0, 80)}' is no ${kind}`
			: 'it is unknown, or its value is of another type'}`);
}

function reviveFields(v) {
	const out = {};
	for (const k of Object.keys(v))
		Object.defineProperty(out, k, {value: revive(v[k]),
			enumerable: true, writable: true, configurable: true});
	return out;
}

function revive(v) {
	if (Array.isArray(v))
		return v.map(revive);
	if (v === null || typeof v !== 'object')
		return v;
	return Object.hasOwn(v, '$redoma') && typeof v.$redoma === 'string'
		? reviveTag(v) : reviveFields(v);
}

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
		const json = JSON.stringify(carry(args, 'arguments'));
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

async function runModule(request) {
	const m = await import(moduleUrl(request.source));
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
		stack: stack.join('\n'), line: line || 0, column: column || 0});
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
			current.value = JSON.stringify(carry(v));
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
	JSON.stringify(carry([1, 'a', {b: null}, 1n, new Map([[1, 2]])]));
	for (const source of ['1+1', 'await 1; 2', 'null.x']) {
		const request = unpack(pack([[1, source], [2, 'warm.js'],
			[3, '[1]'], [4, 'warm.js'], [5, 'A=1']]));
		setGlobals(request);
		try {
			const v = await execute(request);
			lastWords(0, [message(VALUE,
					      JSON.stringify(carry(v)))]);
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
