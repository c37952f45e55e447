// console as Node writes it.
(function(native, hooks, share) {
const { format, formatWithOptions, inspect, getStringWidth, K } = share;
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
function log(...args) {
	if (indent !== '' || !plain(1, args))
		emit(1, format(...args));
}

function warn(...args) {
	if (indent !== '' || !plain(2, args))
		emit(2, format(...args));
}

function pad(v) {
	return `${v}`.padStart(2, '0');
}

function formatTime(ms) {
	let hours = 0, minutes = 0, seconds = 0;

	if (ms >= 1000) {
		if (ms >= 60000) {
			if (ms >= 3600000) {
				hours = Math.floor(ms / 3600000);
				ms %= 3600000;
			}
			minutes = Math.floor(ms / 60000);
			ms %= 60000;
		}
		seconds = ms / 1000;
	}
	if (hours !== 0 || minutes !== 0) {
		const [s, rest] = seconds.toFixed(3).split('.');
		const res = hours !== 0 ? `${hours}:${pad(minutes)}` : minutes;
		return `${res}:${pad(s)}.${rest} ` +
			`(${hours !== 0 ? 'h:m' : ''}m:ss.mmm)`;
	}
	if (seconds !== 0)
		return `${seconds.toFixed(3)}s`;
	return `${Number(ms.toFixed(3))}ms`;
}

function timeLog(name, label, data) {
	const from = times.get(label);
	if (from === undefined) {
		warn(`Warning: No such label '${label}' for console.${name}()`);
		return false;
	}
	const took = formatTime(native.milliseconds() - from);
	log('%s: %s', label, took, ...data);
	return true;
}

// ---- tables ----

function renderRow(row, widths) {
	let out = '│ ';
	for (let i = 0; i < row.length; i++) {
		const cell = row[i];
		const needed = widths[i] - getStringWidth(cell);
		out += cell + ' '.repeat(needed);
		if (i !== row.length - 1)
			out += ' │ ';
	}
	return out + ' │';
}

function drawTable(head, columns) {
	const rows = [];
	const widths = head.map((h) => getStringWidth(h));
	const longest = columns.reduce((n, c) => Math.max(n, c.length), 0);

	for (let i = 0; i < head.length; i++) {
		for (let j = 0; j < longest; j++) {
			rows[j] ??= [];
			const cell = Object.hasOwn(columns[i], j) ?
				columns[i][j] : '';
			rows[j][i] = cell;
			widths[i] = Math.max(widths[i], getStringWidth(cell));
		}
	}
	const divider = widths.map((n) => '─'.repeat(n + 2));
	let out = `┌${divider.join('┬')}┐\n${renderRow(head, widths)}\n` +
		`├${divider.join('┼')}┤\n`;
	for (const row of rows)
		out += `${renderRow(row, widths)}\n`;
	return out + `└${divider.join('┴')}┘`;
}

function inspectCell(v) {
	const many = v !== null && typeof v === 'object' &&
		!Array.isArray(v) && kind(v) !== K.typed &&
		Object.keys(v).length > 2;
	return inspect(v, { maxArrayLength: 3, breakLength: Infinity,
		depth: many ? -1 : 0 });
}

function indices(n) {
	return Array.from({ length: n }, (_, i) => inspectCell(i));
}

function tableOfCollection(data) {
	const iterator = kind(data) === K.mapIterator ||
		kind(data) === K.setIterator;
	const [list, pairs] = iterator ? native.preview(data, true) :
		[native.entries(data), kind(data) === K.map];

	if (!pairs)
		return drawTable(['(iteration index)', 'Values'],
			[indices(list.length), list.map(inspectCell)]);
	const keys = [], values = [];
	for (let i = 0; i < list.length; i += 2) {
		keys.push(inspectCell(list[i]));
		values.push(inspectCell(list[i + 1]));
	}
	return drawTable(['(iteration index)', 'Key', 'Values'],
		[indices(keys.length), keys, values]);
}

function tableOfObject(data, properties) {
	const map = { __proto__: null };
	const rowKeys = Object.keys(data);
	const primitives = [];
	let hasPrimitives = false;

	for (let i = 0; i < rowKeys.length; i++) {
		const item = data[rowKeys[i]];
		const primitive = item === null ||
			(typeof item !== 'function' && typeof item !== 'object');
		if (properties === undefined && primitive) {
			hasPrimitives = true;
			primitives[i] = inspectCell(item);
			continue;
		}
		for (const key of properties || Object.keys(item)) {
			map[key] ??= [];
			const absent = (primitive && properties) ||
				!Object.hasOwn(item, key);
			map[key][i] = absent ? '' : inspectCell(item[key]);
		}
	}
	const keys = Object.keys(map), values = Object.values(map);
	if (hasPrimitives) {
		keys.push('Values');
		values.push(primitives);
	}
	return drawTable(['(index)', ...keys], [rowKeys, ...values]);
}

const console = {
	log,
	warn,
	debug(...args) {
		log(...args);
	},
	info(...args) {
		log(...args);
	},
	dirxml(...args) {
		log(...args);
	},
	error(...args) {
		warn(...args);
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
		const err = { name: 'Trace', message: format(...args) };
		Error.captureStackTrace(err, console.trace);
		warn(err.stack);
	},
	assert(condition, ...args) {
		if (condition)
			return;
		args[0] = `Assertion failed${args.length === 0 ? '' :
			`: ${args[0]}`}`;
		warn(...args);
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
			log(...data);
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
		const collection = k === K.map || k === K.set ||
			k === K.mapIterator || k === K.setIterator;
		emit(1, collection ? tableOfCollection(data) :
			tableOfObject(data, properties));
	},
};
Object.defineProperty(console, Symbol.toStringTag, {
	value: 'console', configurable: true,
});
Object.defineProperty(globalThis, 'console', {
	value: console, writable: true, configurable: true,
});
Object.assign(share, { console, warn, formatWithOptions });
})
