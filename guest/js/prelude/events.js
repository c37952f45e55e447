// node:events.
(function(native, hooks, share) {
const { coded, inspect, needFunction } = share;
const kErrorMonitor = Symbol('events.errorMonitor');
const kCapture = Symbol.for('nodejs.rejection');

function listenersOf(emitter, type) {
	const l = emitter._events?.[type];
	return l === undefined ? [] : typeof l === 'function' ? [l] : l;
}

class EventEmitter {
	constructor() {
		EventEmitter.init.call(this);
	}

	static init() {
		if (this._events === undefined ||
		    this._events === Object.getPrototypeOf(this)._events) {
			this._events = { __proto__: null };
			this._eventsCount = 0;
		}
		this._maxListeners ??= undefined;
	}

	setMaxListeners(n) {
		this._maxListeners = n;
		return this;
	}

	getMaxListeners() {
		return this._maxListeners ?? EventEmitter.defaultMaxListeners;
	}

	emit(type, ...args) {
		if (type === 'error')
			emitMonitor(this, args);
		const handler = this._events?.[type];
		if (handler === undefined) {
			if (type === 'error')
				throwUnhandled(args[0]);
			return false;
		}
		if (typeof handler === 'function') {
			if (args.length === 1)
				handler.call(this, args[0]);
			else
				Reflect.apply(handler, this, args);
		} else {
			for (const f of handler.slice())
				Reflect.apply(f, this, args);
		}
		return true;
	}

	addListener(type, listener) {
		return add(this, type, listener, false);
	}

	prependListener(type, listener) {
		return add(this, type, listener, true);
	}

	once(type, listener) {
		needFunction('listener', listener);
		return this.on(type, wrapOnce(this, type, listener));
	}

	prependOnceListener(type, listener) {
		needFunction('listener', listener);
		return this.prependListener(type,
			wrapOnce(this, type, listener));
	}

	removeListener(type, listener) {
		needFunction('listener', listener);
		const list = listenersOf(this, type);
		let at = list.length - 1;
		while (at >= 0 && list[at] !== listener &&
		       list[at].listener !== listener)
			at--;
		if (at < 0)
			return this;
		const left = list.filter((_, i) => i !== at);
		setList(this, type, left);
		if (this._events.removeListener !== undefined)
			this.emit('removeListener', type,
				list[at].listener ?? listener);
		return this;
	}

	removeAllListeners(type) {
		if (this._events === undefined)
			return this;
		if (type === undefined) {
			this._events = { __proto__: null };
			this._eventsCount = 0;
		} else {
			setList(this, type, []);
		}
		return this;
	}

	listeners(type) {
		return listenersOf(this, type).map((f) => f.listener ?? f);
	}

	rawListeners(type) {
		return listenersOf(this, type).slice();
	}

	listenerCount(type, listener) {
		const list = listenersOf(this, type);
		if (listener === undefined)
			return list.length;
		return list.filter((f) => f === listener ||
			f.listener === listener).length;
	}

	eventNames() {
		return this._eventsCount > 0 ? Reflect.ownKeys(this._events) :
			[];
	}
}

function setList(emitter, type, list) {
	if (list.length === 0) {
		if (emitter._events[type] !== undefined)
			emitter._eventsCount--;
		delete emitter._events[type];
	} else {
		emitter._events[type] = list.length === 1 ? list[0] : list;
	}
}

function add(emitter, type, listener, first) {
	needFunction('listener', listener);
	EventEmitter.init.call(emitter);
	if (emitter._events.newListener !== undefined)
		emitter.emit('newListener', type, listener.listener ?? listener);
	const list = listenersOf(emitter, type);
	if (list.length === 0)
		emitter._eventsCount++;
	setList(emitter, type, first ? [listener, ...list] :
		[...list, listener]);
	return emitter;
}

function wrapOnce(emitter, type, listener) {
	const wrapped = function(...args) {
		emitter.removeListener(type, wrapped);
		return Reflect.apply(listener, emitter, args);
	};
	wrapped.listener = listener;
	return wrapped;
}

function emitMonitor(emitter, args) {
	if (emitter._events?.[kErrorMonitor] !== undefined)
		emitter.emit(kErrorMonitor, ...args);
}

function throwUnhandled(err) {
	if (err instanceof Error)
		throw err;
	const e = coded(Error, 'ERR_UNHANDLED_ERROR', 'Unhandled error. (' +
		`${typeof err === 'string' ? `'${err}'` : inspect(err)})`);
	e.context = err;
	throw e;
}

EventEmitter.prototype.on = EventEmitter.prototype.addListener;
EventEmitter.prototype.off = EventEmitter.prototype.removeListener;
for (const [name, value] of [['_events', undefined], ['_eventsCount', 0],
	['_maxListeners', undefined]])
	share.define(EventEmitter.prototype, name, value);
EventEmitter.EventEmitter = EventEmitter;
EventEmitter.defaultMaxListeners = 10;
EventEmitter.errorMonitor = kErrorMonitor;
EventEmitter.captureRejectionSymbol = kCapture;
EventEmitter.listenerCount = (emitter, type) => emitter.listenerCount(type);
EventEmitter.getEventListeners = (emitter, type) => emitter.listeners(type);

EventEmitter.once = (emitter, type) => new Promise((resolve, reject) => {
	const onError = (err) => {
		emitter.removeListener(type, onEvent);
		reject(err);
	};
	const onEvent = (...args) => {
		emitter.removeListener('error', onError);
		resolve(args);
	};
	emitter.once(type, onEvent);
	if (type !== 'error')
		emitter.once('error', onError);
});

EventEmitter.on = (emitter, type) => {
	const ready = [], waiting = [];
	let failed;
	emitter.on(type, (...args) => {
		if (waiting.length)
			waiting.shift().resolve({ value: args, done: false });
		else
			ready.push(args);
	});
	emitter.on('error', (err) => {
		failed = { err };
		waiting.shift()?.reject(err);
	});
	return {
		next() {
			if (ready.length)
				return Promise.resolve({ value: ready.shift(),
					done: false });
			if (failed)
				return Promise.reject(failed.err);
			return new Promise((resolve, reject) =>
				waiting.push({ resolve, reject }));
		},
		return() {
			emitter.removeAllListeners(type);
			return Promise.resolve({ value: undefined, done: true });
		},
		[Symbol.asyncIterator]() {
			return this;
		},
	};
};

share.EventEmitter = EventEmitter;
share.modules.events = EventEmitter;

// ---- EventTarget, AbortController ----

class Event {
	#type;
	constructor(type, options) {
		this.#type = `${type}`;
		this.cancelable = Boolean(options?.cancelable);
		this.defaultPrevented = false;
		this.target = null;
	}
	get type() {
		return this.#type;
	}
	preventDefault() {
		this.defaultPrevented = this.cancelable;
	}
}

class EventTarget {
	#listeners = new Map();
	addEventListener(type, listener, options) {
		const list = this.#listeners.get(type) ?? [];
		if (!list.some((l) => l.listener === listener))
			list.push({ listener, once: Boolean(options?.once) });
		this.#listeners.set(type, list);
	}
	removeEventListener(type, listener) {
		const list = this.#listeners.get(type) ?? [];
		this.#listeners.set(type,
			list.filter((l) => l.listener !== listener));
	}
	dispatchEvent(event) {
		event.target = this;
		for (const l of (this.#listeners.get(event.type) ?? []).slice()) {
			if (l.once)
				this.removeEventListener(event.type, l.listener);
			if (typeof l.listener === 'function')
				l.listener.call(this, event);
			else
				l.listener.handleEvent(event);
		}
		return !event.defaultPrevented;
	}
}

class AbortSignal extends EventTarget {
	#aborted = false;
	#reason;
	onabort = null;
	get aborted() {
		return this.#aborted;
	}
	get reason() {
		return this.#reason;
	}
	throwIfAborted() {
		if (this.#aborted)
			throw this.#reason;
	}
	static fire(signal, reason) {
		if (signal.#aborted)
			return;
		signal.#aborted = true;
		signal.#reason = reason ?? new DOMException(
			'This operation was aborted', 'AbortError');
		const event = new Event('abort');
		signal.onabort?.(event);
		signal.dispatchEvent(event);
	}
	static abort(reason) {
		const signal = new AbortSignal();
		fire(signal, reason);
		return signal;
	}
	static timeout(ms) {
		const signal = new AbortSignal();
		native.refTimer(native.timer(() => fire(signal, new DOMException(
			'The operation was aborted due to timeout',
			'TimeoutError')), ms, false), false);
		return signal;
	}
}
const fire = AbortSignal.fire;
delete AbortSignal.fire;

class AbortController {
	signal = new AbortSignal();
	abort(reason) {
		fire(this.signal, reason);
	}
}

for (const c of [Event, EventTarget, AbortSignal, AbortController])
	share.global(c.name, c);
})
