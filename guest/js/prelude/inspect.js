// Adapted from Node.js v20, lib/internal/util/inspect.js.  Copyright Node.js
// contributors, MIT licence: see LICENSE.node in this directory.  inspect.js,
// inspect_value.js, inspect_print.js, inspect_list.js and inspect_format.js
// are one function.
(function(native, hooks, share) {
const kind = native.kind;
const { Error, Function, Map, Object, RegExp, Set, Symbol } = globalThis;
const hasOwn = Object.hasOwn;
const isEnumerable = (o, k) => propertyIsEnumerable.call(o, k);
const propertyIsEnumerable = Object.prototype.propertyIsEnumerable;
const errorToString = (e) => Error.prototype.toString.call(e);
const padStart = (s, n, c) => s.padStart(n, c);
const padEnd = (s, n, c) => s.padEnd(n, c);
const join = (a, s) => a.join(s);
const dateToISO = Date.prototype.toISOString;
const dateISO = (d) => dateToISO.call(d);
const typedProto = Object.getPrototypeOf(Uint8Array.prototype);
const typedTag = Object.getOwnPropertyDescriptor(
	typedProto, Symbol.toStringTag).get;
const typedName = (v) => typedTag.call(v);
const typedSize = Object.getOwnPropertyDescriptor(typedProto, 'length').get;
const typedLength = (v) => typedSize.call(v);

// Numbers of enum quick_kind.
const K = {
	array: 1, error: 2, number: 3, string: 4, boolean: 5, symbol: 6,
	bigint: 7, arguments: 8, date: 9, module: 10, function: 11, regexp: 12,
	buffer: 13, sharedBuffer: 14, typed: 15, dataview: 16, map: 17,
	set: 18, weakmap: 19, weakset: 20, mapIterator: 21, setIterator: 22,
	generator: 23, proxy: 24, promise: 25, weakref: 26,
};
share.K = K;
const isSet = (v) => kind(v) === K.set;
const isMap = (v) => kind(v) === K.map;
const isTypedArray = (v) => kind(v) === K.typed;
const isMapIterator = (v) => kind(v) === K.mapIterator;
const isSetIterator = (v) => kind(v) === K.setIterator;
const isArgumentsObject = (v) => kind(v) === K.arguments;
const isRegExp = (v) => kind(v) === K.regexp;
const isDate = (v) => kind(v) === K.date;
const isError = (v) => kind(v) === K.error || v instanceof Error;
const isArrayBuffer = (v) => kind(v) === K.buffer;
const isAnyArrayBuffer = (v) => isArrayBuffer(v) ||
	kind(v) === K.sharedBuffer;
const isDataView = (v) => kind(v) === K.dataview;
const isPromise = (v) => kind(v) === K.promise;
const isWeakSet = (v) => kind(v) === K.weakset;
const isWeakMap = (v) => kind(v) === K.weakmap;
const isModuleNamespaceObject = (v) => kind(v) === K.module;
const isNumberObject = (v) => kind(v) === K.number;
const isStringObject = (v) => kind(v) === K.string;
const isBooleanObject = (v) => kind(v) === K.boolean;
const isBigIntObject = (v) => kind(v) === K.bigint;
const isBoxedPrimitive = (v) => {
	const k = kind(v);
	return k >= K.number && k <= K.bigint;
};
const isGeneratorFunction = (v) => (native.functionKind(v) & 1) !== 0;
const isAsyncFunction = (v) => (native.functionKind(v) & 2) !== 0;
const isStackOverflowError = (e) => e instanceof RangeError &&
	e.message === 'Maximum call stack size exceeded';
const getProxyDetails = native.proxy;
const getPromiseDetails = native.promise;
const previewEntries = native.preview;
const getOwnNonIndexProperties = native.namedKeys;
const ALL_PROPERTIES = 0;
const ONLY_ENUMERABLE = 1;
const kPending = 0;
const kRejected = 2;
const kObjectType = 0;
const kArrayType = 1;
const kArrayExtrasType = 2;
const kWeak = 0;
const kIterator = 1;
const kMapEntries = 2;
const kMinLineLength = 16;
const customInspectSymbol = Symbol.for('nodejs.util.inspect.custom');
const builtInObjects = new Set(Object.getOwnPropertyNames(globalThis)
	.filter((e) => /^[A-Z][a-zA-Z0-9]+$/.test(e)));

// What V8 calls an object whose constructors are gone.
function internalGetConstructorName(v) {
	switch (kind(v)) {
	case K.array: return 'Array';
	case K.error: return 'Error';
	case K.function: return 'Function';
	case K.map: return 'Map';
	case K.set: return 'Set';
	case K.date: return 'Date';
	case K.regexp: return 'RegExp';
	case K.promise: return 'Promise';
	case K.weakmap: return 'WeakMap';
	case K.weakset: return 'WeakSet';
	case K.buffer: return 'ArrayBuffer';
	case K.dataview: return 'DataView';
	case K.typed: return typedName(v);
	case K.number: return 'Number';
	case K.string: return 'String';
	case K.boolean: return 'Boolean';
	case K.symbol: return 'Symbol';
	case K.bigint: return 'BigInt';
	default: return 'Object';
	}
}

function hexText(bytes, n) {
	let s = '';
	for (let i = 0; i < n; i++)
		s += (i ? ' ' : '') + bytes[i].toString(16).padStart(2, '0');
	return s;
}

const inspectDefaultOptions = Object.seal({
	showHidden: false,
	depth: 2,
	colors: false,
	customInspect: true,
	showProxy: false,
	maxArrayLength: 100,
	maxStringLength: 10000,
	breakLength: 80,
	compact: 3,
	sorted: false,
	getters: false,
	numericSeparator: false,
});

const strEscapeSequencesRegExp = /[\x00-\x1f\x27\x5c\x7f-\x9f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const strEscapeSequencesReplacer = /[\x00-\x1f\x27\x5c\x7f-\x9f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const strEscapeSequencesRegExpSingle = /[\x00-\x1f\x5c\x7f-\x9f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const strEscapeSequencesReplacerSingle = /[\x00-\x1f\x5c\x7f-\x9f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const keyStrRegExp = /^[a-zA-Z_][a-zA-Z_0-9]*$/;
const numberRegExp = /^(0|[1-9][0-9]*)$/;


const meta = [
	'\\x00', '\\x01', '\\x02', '\\x03', '\\x04', '\\x05', '\\x06', '\\x07', // x07
	'\\b', '\\t', '\\n', '\\x0B', '\\f', '\\r', '\\x0E', '\\x0F',           // x0F
	'\\x10', '\\x11', '\\x12', '\\x13', '\\x14', '\\x15', '\\x16', '\\x17', // x17
	'\\x18', '\\x19', '\\x1A', '\\x1B', '\\x1C', '\\x1D', '\\x1E', '\\x1F', // x1F
	'', '', '', '', '', '', '', "\\'", '', '', '', '', '', '', '', '',      // x2F
	'', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '',         // x3F
	'', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '',         // x4F
	'', '', '', '', '', '', '', '', '', '', '', '', '\\\\', '', '', '',     // x5F
	'', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '',         // x6F
	'', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '\\x7F',    // x7F
	'\\x80', '\\x81', '\\x82', '\\x83', '\\x84', '\\x85', '\\x86', '\\x87', // x87
	'\\x88', '\\x89', '\\x8A', '\\x8B', '\\x8C', '\\x8D', '\\x8E', '\\x8F', // x8F
	'\\x90', '\\x91', '\\x92', '\\x93', '\\x94', '\\x95', '\\x96', '\\x97', // x97
	'\\x98', '\\x99', '\\x9A', '\\x9B', '\\x9C', '\\x9D', '\\x9E', '\\x9F', // x9F
];

function inspect(value, opts) {
	// Default options
	const ctx = {
		budget: {},
		indentationLvl: 0,
		seen: [],
		currentDepth: 0,
		stylize: stylizeNoColor,
		...inspectDefaultOptions,
	};
	if (arguments.length > 1) {
		// Legacy...
		if (arguments.length > 2) {
			if (arguments[2] !== undefined) {
				ctx.depth = arguments[2];
			}
			if (arguments.length > 3 && arguments[3] !== undefined) {
				ctx.colors = arguments[3];
			}
		}
		// Set user-specified options
		if (typeof opts === 'boolean') {
			ctx.showHidden = opts;
		} else if (opts) {
			const optKeys = Object.keys(opts);
			for (let i = 0; i < optKeys.length; ++i) {
				const key = optKeys[i];
				if (
					hasOwn(inspectDefaultOptions, key) ||
					key === 'stylize') {
					ctx[key] = opts[key];
				} else if (ctx.userOptions === undefined) {
					// This is required to pass through the actual user input.
					ctx.userOptions = opts;
				}
			}
		}
	}
	if (ctx.colors) ctx.stylize = stylizeWithColor;
	if (ctx.maxArrayLength === null) ctx.maxArrayLength = Infinity;
	if (ctx.maxStringLength === null) ctx.maxStringLength = Infinity;
	return formatValue(ctx, value, 0);
}
inspect.custom = customInspectSymbol;
Object.defineProperty(inspect, 'defaultOptions', {
	get() {
		return inspectDefaultOptions;
	},
	set(options) {
		Object.assign(inspectDefaultOptions, options);
	},
});

const defaultFG = 39;
const defaultBG = 49;
inspect.colors = {
	__proto__: null,
	reset: [0, 0],
	bold: [1, 22],
	dim: [2, 22], // Alias: faint
	italic: [3, 23],
	underline: [4, 24],
	blink: [5, 25],
	// Swap foreground and background colors
	inverse: [7, 27], // Alias: swapcolors, swapColors
	hidden: [8, 28], // Alias: conceal
	strikethrough: [9, 29], // Alias: strikeThrough, crossedout, crossedOut
	doubleunderline: [21, 24], // Alias: doubleUnderline
	black: [30, defaultFG],
	red: [31, defaultFG],
	green: [32, defaultFG],
	yellow: [33, defaultFG],
	blue: [34, defaultFG],
	magenta: [35, defaultFG],
	cyan: [36, defaultFG],
	white: [37, defaultFG],
	bgBlack: [40, defaultBG],
	bgRed: [41, defaultBG],
	bgGreen: [42, defaultBG],
	bgYellow: [43, defaultBG],
	bgBlue: [44, defaultBG],
	bgMagenta: [45, defaultBG],
	bgCyan: [46, defaultBG],
	bgWhite: [47, defaultBG],
	framed: [51, 54],
	overlined: [53, 55],
	gray: [90, defaultFG], // Alias: grey, blackBright
	redBright: [91, defaultFG],
	greenBright: [92, defaultFG],
	yellowBright: [93, defaultFG],
	blueBright: [94, defaultFG],
	magentaBright: [95, defaultFG],
	cyanBright: [96, defaultFG],
	whiteBright: [97, defaultFG],
	bgGray: [100, defaultBG], // Alias: bgGrey, bgBlackBright
	bgRedBright: [101, defaultBG],
	bgGreenBright: [102, defaultBG],
	bgYellowBright: [103, defaultBG],
	bgBlueBright: [104, defaultBG],
	bgMagentaBright: [105, defaultBG],
	bgCyanBright: [106, defaultBG],
	bgWhiteBright: [107, defaultBG],
};

function defineColorAlias(target, alias) {
	Object.defineProperty(inspect.colors, alias, {
		__proto__: null,
		get() {
			return this[target];
		},
		set(value) {
			this[target] = value;
		},
		configurable: true,
		enumerable: false,
	});
}

defineColorAlias('gray', 'grey');
defineColorAlias('gray', 'blackBright');
defineColorAlias('bgGray', 'bgGrey');
defineColorAlias('bgGray', 'bgBlackBright');
defineColorAlias('dim', 'faint');
defineColorAlias('strikethrough', 'crossedout');
defineColorAlias('strikethrough', 'strikeThrough');
defineColorAlias('strikethrough', 'crossedOut');
defineColorAlias('hidden', 'conceal');
defineColorAlias('inverse', 'swapColors');
defineColorAlias('inverse', 'swapcolors');
defineColorAlias('doubleunderline', 'doubleUnderline');

inspect.styles = Object.assign({ __proto__: null }, {
	special: 'cyan',
	number: 'yellow',
	bigint: 'yellow',
	boolean: 'yellow',
	undefined: 'grey',
	null: 'bold',
	string: 'green',
	symbol: 'green',
	date: 'magenta',
	// "name": intentionally not styling
	regexp: 'red',
	module: 'underline',
});

function addQuotes(str, quotes) {
	if (quotes === -1) {
		return `"${str}"`;
	}
	if (quotes === -2) {
		return `\`${str}\``;
	}
	return `'${str}'`;
}

function escapeFn(str) {
	const charCode = str.charCodeAt();
	return meta.length > charCode ? meta[charCode] : `\\u${charCode.toString(16)}`;
}

function strEscape(str) {
	let escapeTest = strEscapeSequencesRegExp;
	let escapeReplace = strEscapeSequencesReplacer;
	let singleQuote = 39;

	// Check for double quotes. If not present, do not escape single quotes and
	// instead wrap the text in double quotes. If double quotes exist, check for
	// backticks. If they do not exist, use those as fallback instead of the
	// double quotes.
	if (str.includes("'")) {
		// This invalidates the charCode and therefore can not be matched for
		// anymore.
		if (!str.includes('"')) {
			singleQuote = -1;
		} else if (!str.includes('`') &&
							 !str.includes('${')) {
			singleQuote = -2;
		}
		if (singleQuote !== 39) {
			escapeTest = strEscapeSequencesRegExpSingle;
			escapeReplace = strEscapeSequencesReplacerSingle;
		}
	}

	// Some magic numbers that worked out fine while benchmarking with v8 6.0
	if (str.length < 5000 && escapeTest.exec(str) === null)
		return addQuotes(str, singleQuote);
	if (str.length > 100) {
		str = str.replace(escapeReplace, escapeFn);
		return addQuotes(str, singleQuote);
	}

	let result = '';
	let last = 0;
	for (let i = 0; i < str.length; i++) {
		const point = str.charCodeAt(i);
		if (point === singleQuote ||
				point === 92 ||
				point < 32 ||
				(point > 126 && point < 160)) {
			if (last === i) {
				result += meta[point];
			} else {
				result += `${str.slice(last, i)}${meta[point]}`;
			}
			last = i + 1;
		} else if (point >= 0xd800 && point <= 0xdfff) {
			if (point <= 0xdbff && i + 1 < str.length) {
				const point = str.charCodeAt(i + 1);
				if (point >= 0xdc00 && point <= 0xdfff) {
					i++;
					continue;
				}
			}
			result += `${str.slice(last, i)}\\u${point.toString(16)}`;
			last = i + 1;
		}
	}

	if (last !== str.length) {
		result += str.slice(last);
	}
	return addQuotes(result, singleQuote);
}

function stylizeNoColor(str) {
	return str;
}

function stylizeWithColor(str, styleType) {
	const style = inspect.styles[styleType];
	if (style !== undefined) {
		const color = inspect.colors[style];
		if (color !== undefined)
			return `\u001b[${color[0]}m${str}\u001b[${color[1]}m`;
	}
	return str;
}

function getEmptyFormatArray() {
	return [];
}

function isInstanceof(object, proto) {
	try {
		return object instanceof proto;
	} catch {
		return false;
	}
}

