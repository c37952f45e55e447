// node:readline over a stream.  A whole file is read line by line in C.
(function(native, hooks, share) {
const { argType, checked, EventEmitter } = share;
const done = { value: undefined, done: true };

// Lines of chunks that some other stream gives.
class Splitter {
	rest = '';
	push(text) {
		text = this.rest + text;
		// A return at the end may be half of a line ending.
		const held = text.endsWith('\r') ? '\r' : '';
		const parts = text.slice(0, text.length - held.length).split(/\r\n|[\n\r]/);
		this.rest = parts.pop() + held;
		return parts;
	}
}

class Interface extends EventEmitter {
	#reader; #paused = false; #started = false; #input;
	#queue = []; #ended = false; #wake; #iterated = false;
	constructor(input, output) {
		super();
		let o = input;
		if (!o || typeof o !== 'object')
			throw argType('input', 'of type object', input);
		if (!('input' in o))
			o = { input, output };
		if (!o.input || typeof o.input.on !== 'function')
			throw argType('options.input',
				'an instance of Stream', o.input);
		this.#input = o.input;
		this.output = o.output;
		this.terminal = false;
		this.line = '';
		this.closed = false;
		this.#input.once?.('error', (err) => this.#fail(err));
		native.immediate(() => this.#start());
	}
	get input() {
		return this.#input;
	}
	#fail(err) {
		this.#error = err;
		this.#ended = true;
		this.#wake?.();
		if (this.#reader !== undefined)
			this.close();
		if (!this.#iterated)
			this.emit('error', err);
	}
	#error;

	// Where lines come from: C for an untouched file, else 'data' events.
	#attach() {
		if (this.#reader !== undefined || this.#started)
			return;
		this.#started = true;
		const fd = this.#input instanceof share.modules.fs.ReadStream ?
			share.takeFile(this.#input) : undefined;
		if (fd !== undefined) {
			this.#reader = native.linesOpen(fd);
			return;
		}
		const splitter = new Splitter();
		const decoder = new TextDecoder();
		this.#input.on('data', (chunk) => {
			const text = typeof chunk === 'string' ? chunk :
				decoder.decode(chunk, { stream: true });
			this.#take(splitter.push(text));
		});
		this.#input.on('end', () => {
			const last = splitter.rest.replace(/\r$/, '');
			if (splitter.rest !== '')
				this.#take([last]);
			this.#ended = true;
			this.#wake?.();
			if (!this.#iterated)
				this.close();
		});
	}
	#take(lines) {
		if (this.#iterated || this.#paused) {
			this.#queue.push(...lines);
			this.#wake?.();
			return;
		}
		for (const line of lines)
			this.emit('line', line);
	}
	#start() {
		if (this.#iterated || this.closed || this.#ended)
			return;
		try {
			this.#attach();
		} catch (err) {
			this.#input.destroy?.(err);
			return;
		}
		this.#pump();
	}
	// Gives lines to listeners until there are none left or somebody
	// pauses.
	#pump() {
		while (this.#queue.length && !this.#paused && !this.closed)
			this.emit('line', this.#queue.shift());
		if (this.#reader === undefined)
			return;
		const reader = this.#reader, next = native.linesNext;
		while (!this.#paused && !this.closed) {
			const line = next(reader);
			if (line === undefined) {
				this.close();
				return;
			}
			if (typeof line === 'number')
				this.#fail(share.fsError(-line, 'read'));
			else
				this.emit('line', line);
		}
	}
	pause() {
		if (!this.#paused) {
			this.#paused = true;
			this.#input.pause?.();
			this.emit('pause');
		}
		return this;
	}
	resume() {
		if (this.#paused) {
			this.#paused = false;
			this.emit('resume');
			if (this.#reader === undefined)
				this.#input.resume?.();
			native.immediate(() => this.#pump());
		}
		return this;
	}
	close() {
		if (this.closed)
			return;
		this.closed = true;
		if (this.#reader !== undefined)
			native.linesClose(this.#reader);
		this.#reader = undefined;
		if (this.#input instanceof share.modules.fs.ReadStream)
			this.#input.destroy();
		else
			this.#input.pause?.();
		this.emit('close');
		this.#ended = true;
		this.#wake?.();
	}
	setPrompt(text) {
		this.promptText = text;
	}
	prompt() {
		this.output?.write(this.promptText ?? '> ');
	}
	write() {}
	question(query, o, callback) {
		if (typeof o === 'function')
			callback = o;
		this.output?.write(query);
		this.once('line', callback);
	}
	#nextOf() {
		if (this.#queue.length)
			return { value: this.#queue.shift(), done: false };
		if (this.#reader === undefined) {
			if (this.#error)
				throw this.#error;
			return this.#ended ? done : undefined;
		}
		const line = native.linesNext(this.#reader);
		if (line === undefined) {
			this.close();
			return done;
		}
		return { value: checked(line, 'read'), done: false };
	}
	[Symbol.asyncIterator]() {
		this.#iterated = true;
		this.#attach();
		if (this.#reader !== undefined)
			return this.#fileIterator();
		return {
			next: () => this.#wait(),
			return: () => {
				this.close();
				return Promise.resolve(done);
			},
			[Symbol.asyncIterator]() {
				return this;
			},
		};
	}
	// A closed reader gives no more lines.
	#fileIterator() {
		const next = native.linesIterate(this.#reader,
			() => this.close());
		return {
			next,
			return: () => {
				this.close();
				return Promise.resolve(done);
			},
			[Symbol.asyncIterator]() {
				return this;
			},
		};
	}
	async #wait() {
		for (;;) {
			const r = this.#nextOf();
			if (r !== undefined)
				return r;
			await new Promise((resolve) => this.#wake = resolve);
		}
	}
}

class PromisesInterface extends Interface {
	question(query) {
		return new Promise((resolve) => super.question(query, resolve));
	}
}

const promises = {
	Interface: PromisesInterface,
	createInterface: (input, output) =>
		new PromisesInterface(input, output),
};
share.modules.readline = {
	Interface, promises,
	createInterface: (input, output) => new Interface(input, output),
	clearLine: () => true, cursorTo: () => true, moveCursor: () => true,
	clearScreenDown: () => true, emitKeypressEvents() {},
};
share.modules['readline/promises'] = promises;
})
