// See inspect.js.
const ansi = new RegExp(
	'[\\u001B\\u009B][[\\]()#;?]*' +
	'(?:(?:(?:(?:;[-a-zA-Z\\d\\/\\#&.:=?%@~_]+)*' +
	'|[a-zA-Z\\d]+(?:;[-a-zA-Z\\d\\/\\#&.:=?%@~_]*)*)?' +
	'(?:\\u0007|\\u001B\\u005C|\\u009C))' +
	'|(?:(?:\\d{1,4}(?:;\\d{0,4})*)?' +
	'[\\dA-PR-TZcf-nq-uy=><~]))', 'g',
);

function isFullWidthCodePoint(code) {
	return code >= 0x1100 && (code <= 0x115f || code === 0x2329 ||
		code === 0x232a || (code >= 0x2e80 && code <= 0x3247 &&
		code !== 0x303f) || (code >= 0x3250 && code <= 0x4dbf) ||
		(code >= 0x4e00 && code <= 0xa4c6) ||
		(code >= 0xa960 && code <= 0xa97c) ||
		(code >= 0xac00 && code <= 0xd7a3) ||
		(code >= 0xf900 && code <= 0xfaff) ||
		(code >= 0xfe10 && code <= 0xfe19) ||
		(code >= 0xfe30 && code <= 0xfe6b) ||
		(code >= 0xff01 && code <= 0xff60) ||
		(code >= 0xffe0 && code <= 0xffe6) ||
		(code >= 0x1b000 && code <= 0x1b001) ||
		(code >= 0x1f200 && code <= 0x1f251) ||
		(code >= 0x1f300 && code <= 0x1f64f) ||
		(code >= 0x1f680 && code <= 0x1f6ff) ||
		(code >= 0x1f900 && code <= 0x1f9ff) ||
		(code >= 0x20000 && code <= 0x3fffd));
}

// Columns that a text takes on a terminal.
function getStringWidth(str, removeControlChars = true) {
	let width = 0;
	if (removeControlChars)
		str = stripVTControlCharacters(str);
	for (let i = 0; i < str.length; i++) {
		const code = str.charCodeAt(i);
		if (code >= 127)
			return width + wideWidth(str.slice(i).normalize('NFC'));
		width += code >= 32 ? 1 : 0;
	}
	return width;
}

function wideWidth(str) {
	let width = 0;
	for (const char of str) {
		const code = char.codePointAt(0);
		if (isFullWidthCodePoint(code))
			width += 2;
		else if (!isZeroWidthCodePoint(code))
			width++;
	}
	return width;
}

function hasBuiltInToString(value) {
	// Prevent triggering proxy traps.
	const getFullProxy = false;
	const proxyTarget = getProxyDetails(value, getFullProxy);
	if (proxyTarget !== undefined) {
		if (proxyTarget === null) {
			return true;
		}
		value = proxyTarget;
	}

	let hasOwnToString = hasOwn;
	let hasOwnToPrimitive = hasOwn;

	// Count objects without `toString` and `Symbol.toPrimitive` function as built-in.
	if (typeof value.toString !== 'function') {
		if (typeof value[Symbol.toPrimitive] !== 'function') {
			return true;
		} else if (hasOwn(value, Symbol.toPrimitive)) {
			return false;
		}
		hasOwnToString = returnFalse;
	} else if (hasOwn(value, 'toString')) {
		return false;
	} else if (typeof value[Symbol.toPrimitive] !== 'function') {
		hasOwnToPrimitive = returnFalse;
	} else if (hasOwn(value, Symbol.toPrimitive)) {
		return false;
	}

	// Find the object that has the `toString` property or `Symbol.toPrimitive` property
	// as own property in the prototype chain.
	let pointer = value;
	do {
		pointer = Object.getPrototypeOf(pointer);
	} while (!hasOwnToString(pointer, 'toString') &&
		!hasOwnToPrimitive(pointer, Symbol.toPrimitive));

	// Check closer if the object is a built-in.
	const descriptor = Object.getOwnPropertyDescriptor(pointer, 'constructor');
	return descriptor !== undefined &&
		typeof descriptor.value === 'function' &&
		builtInObjects.has(descriptor.value.name);
}

function returnFalse() {
	return false;
}

function tryStringify(arg) {
	try {
		return JSON.stringify(arg);
	} catch (err) {
		if (err instanceof TypeError && /circular/.test(err.message))
			return '[Circular]';
		throw err;
	}
}

function format(...args) {
	return formatWithOptionsInternal(undefined, args);
}

function formatWithOptions(inspectOptions, ...args) {
	return formatWithOptionsInternal(inspectOptions, args);
}

function formatNumberNoColor(number, options) {
	return formatNumber(
		stylizeNoColor,
		number,
		options?.numericSeparator ?? inspectDefaultOptions.numericSeparator,
	);
}

function formatBigIntNoColor(bigint, options) {
	return formatBigInt(
		stylizeNoColor,
		bigint,
		options?.numericSeparator ?? inspectDefaultOptions.numericSeparator,
	);
}

function formatWithOptionsInternal(inspectOptions, args) {
	const first = args[0];
	let a = 0;
	let str = '';
	let join = '';

	if (typeof first === 'string') {
		if (args.length === 1) {
			return first;
		}
		let tempStr;
		let lastPos = 0;

		for (let i = 0; i < first.length - 1; i++) {
			if (first.charCodeAt(i) === 37) { // '%'
				const nextChar = first.charCodeAt(++i);
				if (a + 1 !== args.length) {
					switch (nextChar) {
						case 115: { // 's'
							const tempArg = args[++a];
							if (typeof tempArg === 'number') {
								tempStr = formatNumberNoColor(tempArg, inspectOptions);
							} else if (typeof tempArg === 'bigint') {
								tempStr = formatBigIntNoColor(tempArg, inspectOptions);
							} else if (typeof tempArg !== 'object' ||
												 tempArg === null ||
												 !hasBuiltInToString(tempArg)) {
								tempStr = String(tempArg);
							} else {
								tempStr = inspect(tempArg, {
									...inspectOptions,
									compact: 3,
									colors: false,
									depth: 0,
								});
							}
							break;
						}
						case 106: // 'j'
							tempStr = tryStringify(args[++a]);
							break;
						case 100: { // 'd'
							const tempNum = args[++a];
							if (typeof tempNum === 'bigint') {
								tempStr = formatBigIntNoColor(tempNum, inspectOptions);
							} else if (typeof tempNum === 'symbol') {
								tempStr = 'NaN';
							} else {
								tempStr = formatNumberNoColor(Number(tempNum), inspectOptions);
							}
							break;
						}
						case 79: // 'O'
							tempStr = inspect(args[++a], inspectOptions);
							break;
						case 111: // 'o'
							tempStr = inspect(args[++a], {
								...inspectOptions,
								showHidden: true,
								showProxy: true,
								depth: 4,
							});
							break;
						case 105: { // 'i'
							const tempInteger = args[++a];
							if (typeof tempInteger === 'bigint') {
								tempStr = formatBigIntNoColor(tempInteger, inspectOptions);
							} else if (typeof tempInteger === 'symbol') {
								tempStr = 'NaN';
							} else {
								tempStr = formatNumberNoColor(
									Number.parseInt(tempInteger), inspectOptions);
							}
							break;
						}
						case 102: { // 'f'
							const tempFloat = args[++a];
							if (typeof tempFloat === 'symbol') {
								tempStr = 'NaN';
							} else {
								tempStr = formatNumberNoColor(
									Number.parseFloat(tempFloat), inspectOptions);
							}
							break;
						}
						case 99: // 'c'
							a += 1;
							tempStr = '';
							break;
						case 37: // '%'
							str += first.slice(lastPos, i);
							lastPos = i + 1;
							continue;
						default: // Any other character is not a correct placeholder
							continue;
					}
					if (lastPos !== i - 1) {
						str += first.slice(lastPos, i - 1);
					}
					str += tempStr;
					lastPos = i + 1;
				} else if (nextChar === 37) {
					str += first.slice(lastPos, i);
					lastPos = i + 1;
				}
			}
		}
		if (lastPos !== 0) {
			a++;
			join = ' ';
			if (lastPos < first.length) {
				str += first.slice(lastPos);
			}
		}
	}

	while (a < args.length) {
		const value = args[a];
		str += join;
		str += typeof value !== 'string' ? inspect(value, inspectOptions) : value;
		join = ' ';
		a++;
	}
	return str;
}

function isZeroWidthCodePoint(code) {
	return code <= 0x1F || // C0 control codes
		(code >= 0x7F && code <= 0x9F) || // C1 control codes
		(code >= 0x300 && code <= 0x36F) || // Combining Diacritical Marks
		(code >= 0x200B && code <= 0x200F) || // Modifying Invisible Characters
		// Combining Diacritical Marks for Symbols
		(code >= 0x20D0 && code <= 0x20FF) ||
		(code >= 0xFE00 && code <= 0xFE0F) || // Variation Selectors
		(code >= 0xFE20 && code <= 0xFE2F) || // Combining Half Marks
		(code >= 0xE0100 && code <= 0xE01EF); // Variation Selectors
}

function stripVTControlCharacters(str) {

	return str.replace(ansi, '');
}

Object.assign(share, { inspect, format, formatWithOptions, getStringWidth,
	stripVTControlCharacters, inspectDefaultOptions, previewEntries });
hooks.describe = (v) => inspect(v);
})
