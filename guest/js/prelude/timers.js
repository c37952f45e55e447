// Timers, microtasks, ticks.
(function(native, hooks, share) {
const { needFunction } = share;

class Timeout {
	#id; #ref = true; #again;
	constructor(id, again) {
		this.#id = id;
		this.#again = again;
	}
	ref() {
		this.#ref = true;
		native.refTimer(this.#id, true);
		return this;
	}
	unref() {
		this.#ref = false;
		native.refTimer(this.#id, false);
		return this;
	}
	hasRef() {
		return this.#ref;
	}
	refresh() {
		native.clearTimer(this.#id);
		this.#id = this.#again();
		return this;
	}
	close() {
		native.clearTimer(this.#id);
		return this;
	}
	[Symbol.toPrimitive]() {
		return this.#id;
	}
	static id(t) {
		return typeof t === 'object' && t !== null && #id in t ?
			t.#id : Number(t);
	}
}
const idOf = Timeout.id;
delete Timeout.id;

share.Timeout = Timeout;

class Immediate extends Timeout {}

function start(fn, ms, repeat, args) {
	const again = () => native.timer(fn, Number(ms), repeat, ...args);
	return new Timeout(again(), again);
}

function setTimeout(callback, delay, ...args) {
	needFunction('callback', callback);
	return start(callback, delay, false, args);
}

function setInterval(callback, delay, ...args) {
	needFunction('callback', callback);
	return start(callback, delay, true, args);
}

function setImmediate(callback, ...args) {
	needFunction('callback', callback);
	return new Immediate(native.immediate(callback, ...args));
}

function clearTimeout(timer) {
	if (timer === undefined || timer === null)
		return;
	const id = idOf(timer);
	if (id >= 1)
		native.clearTimer(id);
}
const clearInterval = (timer) => clearTimeout(timer);
const clearImmediate = (timer) => clearTimeout(timer);

function queueMicrotask(callback) {
	needFunction('callback', callback);
	native.microtask(callback);
}

const wait = (ms, value) => new Promise((resolve) => {
	native.timer(() => resolve(value), Number(ms), false);
});
async function* every(ms, value) {
	for (;;) {
		await wait(ms);
		yield value;
	}
}
const promises = {
	setTimeout: wait,
	setImmediate: (value) => new Promise((resolve) => {
		native.immediate(() => resolve(value));
	}),
	setInterval: every,
	scheduler: { wait, yield: () => promises.setImmediate() },
};
const timers = { setTimeout, setInterval, setImmediate, clearTimeout,
	clearInterval, clearImmediate };

for (const [name, f] of Object.entries(timers))
	globalThis[name] = f;
globalThis.queueMicrotask = queueMicrotask;
setTimeout[Symbol.for('nodejs.util.promisify.custom')] = wait;
setImmediate[Symbol.for('nodejs.util.promisify.custom')] =
	promises.setImmediate;
share.modules.timers = { ...timers, promises };
share.modules['timers/promises'] = promises;
})
