// console as Node writes it.
(function(native, hooks, share) {
const { compose, inspect, K } = share;
const { width } = share.words;
const kind = native.kind;
const write = native.write;
const plain = native.plainLine;
const counts = new Map();
const times = new Map();
let indent = '';

function emit(stream, text) {
	if (indent !== '') {
		if (text.includes('\n'))
			text = text.replace(/\n/g, `\n${indent}`);
		text = indent + text;
	}
	write(stream, text + '\n');
}

// plainLine writes a line of strings and numbers at once, in C.
function line(stream, args) {
	if (indent !== '' || !plain(stream, args))
		emit(stream, compose(undefined, args));
}

function log(...args) {
	line(1, args);
}

function warn(...args) {
	line(2, args);
}

// "1:02:03.456 (h:mm:ss.mmm)", "2:03.456 (m:ss.mmm)", "3.456s" or "4.567ms".
function duration(ms) {
	if (ms < 1000)
		return `${Number(ms.toFixed(3))}ms`;
	const minutes = Math.floor(ms / 60000);
	const seconds = (ms / 1000 - minutes * 60).toFixed(3);
	if (minutes === 0)
		return `${seconds}s`;
	const tail = seconds.padStart(6, '0'), hours = Math.floor(minutes / 60);
	return hours === 0 ? `${minutes}:${tail} (m:ss.mmm)` :
		`${hours}:${`${minutes % 60}`.padStart(2, '0')}:${tail} ` +
			'(h:mm:ss.mmm)';
}

function timeLog(name, label, data) {
	const from = times.get(label);
	if (from === undefined) {
		warn(`Warning: No such label '${label}' for console.${name}()`);
		return false;
	}
	const took = duration(native.milliseconds() - from);
	log('%s: %s', label, took, ...data);
	return true;
}

// ---- tables ----

// A table is a list of columns, each [heading, cells]; a cell may be missing.
function drawTable(columns) {
	let height = 0;
	for (const [, cells] of columns)
		height = Math.max(height, cells.length);
	const shown = columns.map(([heading, cells]) => {
		const all = [heading];
		for (let i = 0; i < height; i++)
			all[i + 1] = cells[i] ?? '';
		const room = all.reduce((n, s) => Math.max(n, width(s)), 0);
		return { rule: '─'.repeat(room + 2),
			lines: all.map((s) => ` ${s}${
				' '.repeat(room - width(s))} `) };
	});
	const across = (left, middle, right, part) =>
		left + shown.map(part).join(middle) + right;
	const out = [across('┌', '┬', '┐', (c) => c.rule)];
	for (let i = 0; i <= height; i++) {
		out.push(across('│', '│', '│', (c) => c.lines[i]));
		if (i === 0)
			out.push(across('├', '┼', '┤', (c) => c.rule));
	}
	out.push(across('└', '┴', '┘', (c) => c.rule));
	return out.join('\n');
}

// What a cell shows: one level, or only the class if there is much inside.
function cell(v) {
	const large = v !== null && typeof v === 'object' &&
		!Array.isArray(v) && kind(v) !== K.typed &&
		Object.keys(v).length > 2;
	return inspect(v, { maxArrayLength: 3, breakLength: Infinity,
		depth: large ? -1 : 0 });
}

const isCollection = (k) => k === K.map || k === K.set ||
	k === K.mapIterator || k === K.setIterator;

function collectionColumns(data, k) {
	const [list, paired] = k === K.map || k === K.set ?
		[native.entries(data), true] : native.preview(data, true);
	const pairs = paired && (k === K.map || k === K.mapIterator);
	const step = pairs ? 2 : 1;
	const index = [], keys = [], values = [];

	for (let i = 0; i < list.length; i += step) {
		index.push(`${i / step}`);
		keys.push(cell(list[i]));
		values.push(cell(list[i + step - 1]));
	}
	const first = ['(iteration index)', index];
	return pairs ? [first, ['Key', keys], ['Values', values]] :
		[first, ['Values', values]];
}

// A column for each property of any row, and one for rows that have none.
function objectColumns(data, wanted) {
	const index = Object.keys(data), columns = { __proto__: null };
	const values = [];

	index.forEach((name, row) => {
		const v = data[name];
		const hasRows = typeof v === 'function' ||
			(typeof v === 'object' && v !== null);
		if (!hasRows && wanted === undefined)
			values[row] = cell(v);
		const keys = wanted ?? (hasRows ? Object.keys(v) : []);
		for (const key of keys) {
			columns[key] ??= [];
			if (hasRows && Object.hasOwn(v, key))
				columns[key][row] = cell(v[key]);
		}
	});
	const out = [['(index)', index], ...Object.entries(columns)];
	if (values.length > 0)
		out.push(['Values', values]);
	return out;
}

const console = {
	log,
	warn,
	debug(...args) {
		line(1, args);
	},
	info(...args) {
		line(1, args);
	},
	dirxml(...args) {
		line(1, args);
	},
	error(...args) {
		line(2, args);
	},
	groupCollapsed(...data) {
		console.group(...data);
	},
	dir(object, options) {
		emit(1, inspect(object, { customInspect: false, ...options }));
	},
	time(label = 'default') {
		label = `${label}`;
		if (times.has(label)) {
			warn(`Warning: Label '${label}' already exists for ` +
				'console.time()');
			return;
		}
		times.set(label, native.milliseconds());
	},
	timeEnd(label = 'default') {
		label = `${label}`;
		if (timeLog('timeEnd', label, []))
			times.delete(label);
	},
	timeLog(label = 'default', ...data) {
		timeLog('timeLog', `${label}`, data);
	},
	trace(...args) {
		const err = { name: 'Trace', message: compose(undefined, args) };
		Error.captureStackTrace(err, console.trace);
		warn(err.stack);
	},
	assert(condition, ...args) {
		if (condition)
			return;
		args[0] = `Assertion failed${args.length === 0 ? '' :
			`: ${args[0]}`}`;
		line(2, args);
	},
	clear() {},
	count(label = 'default') {
		label = `${label}`;
		const n = (counts.get(label) ?? 0) + 1;
		counts.set(label, n);
		log(`${label}: ${n}`);
	},
	countReset(label = 'default') {
		if (!counts.delete(`${label}`))
			warn(`Warning: Count for '${label}' does not exist`);
	},
	group(...data) {
		if (data.length > 0)
			line(1, data);
		indent += '  ';
	},
	groupEnd() {
		indent = indent.slice(0, -2);
	},
	table(data, properties) {
		if (properties !== undefined && !Array.isArray(properties))
			throw share.argType('properties', 'an instance of Array',
				properties);
		if (data === null || typeof data !== 'object') {
			log(data);
			return;
		}
		const k = kind(data);
		emit(1, drawTable(isCollection(k) ? collectionColumns(data, k) :
			objectColumns(data, properties)));
	},
};
Object.defineProperty(console, Symbol.toStringTag, {
	value: 'console', configurable: true,
});
Object.defineProperty(globalThis, 'console', {
	value: console, writable: true, configurable: true,
});
Object.assign(share, { console, warn });
})
