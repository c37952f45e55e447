// See inspect.js.
const remainingText = (n) => `... ${n} more item${n > 1 ? 's' : ''}`;

function identicalSequenceRange(a, b) {
	for (let i = 0; i < a.length - 3; i++) {
		// Find the first entry of b that matches the current entry of a.
		const pos = b.indexOf(a[i]);
		if (pos !== -1) {
			const rest = b.length - pos;
			if (rest > 3) {
				let len = 1;
				const maxLen = Math.min(a.length - i, rest);
				// Count the number of consecutive entries.
				while (maxLen > len && a[i + len] === b[pos + len]) {
					len++;
				}
				if (len > 3) {
					return { len, offset: i };
				}
			}
		}
	}

	return { len: 0, offset: 0 };
}

function getStackString(error) {
	return error.stack ? String(error.stack) : errorToString(error);
}

function getStackFrames(ctx, err, stack) {
	const frames = stack.split('\n');

	let cause;
	try {
		({ cause } = err);
	} catch {
		// If 'cause' is a getter that throws, ignore it.
	}

	// Remove stack frames identical to frames in cause.
	if (cause != null && isError(cause)) {
		const causeStack = getStackString(cause);
		const causeStackStart = causeStack.indexOf('\n    at');
		if (causeStackStart !== -1) {
			const causeFrames = (causeStack.slice(causeStackStart + 1)).split('\n');
			const { len, offset } = identicalSequenceRange(frames, causeFrames);
			if (len > 0) {
				const skipped = len - 2;
				const msg = `    ... ${skipped} lines matching cause stack trace ...`;
				frames.splice(offset + 1, skipped, ctx.stylize(msg, 'undefined'));
			}
		}
	}
	return frames;
}

function improveStack(stack, constructor, name, tag) {
	// A stack trace may contain arbitrary data. Only manipulate the output
	// for "regular errors" (errors that "look normal") for now.
	let len = name.length;

	if (constructor === null ||
			(name.endsWith('Error') &&
			stack.startsWith(name) &&
			(stack.length === len || stack[len] === ':' || stack[len] === '\n'))) {
		let fallback = 'Error';
		if (constructor === null) {
			const start = (/^([A-Z][a-z_ A-Z0-9[\]()-]+)(?::|\n {4}at)/).exec(stack) ||
			(/^([a-z_A-Z0-9-]*Error)$/).exec(stack);
			fallback = (start && start[1]) || '';
			len = fallback.length;
			fallback = fallback || 'Error';
		}
		const prefix = (getPrefix(constructor, tag, fallback)).slice(0, -1);
		if (name !== prefix) {
			if (prefix.includes(name)) {
				if (len === 0) {
					stack = `${prefix}: ${stack}`;
				} else {
					stack = `${prefix}${stack.slice(len)}`;
				}
			} else {
				stack = `${prefix} [${name}]${stack.slice(len)}`;
			}
		}
	}
	return stack;
}

function removeDuplicateErrorKeys(ctx, keys, err, stack) {
	if (!ctx.showHidden && keys.length !== 0) {
		for (const name of ['name', 'message', 'stack']) {
			const index = keys.indexOf(name);
			// Only hide the property in case it's part of the original stack
			if (index !== -1 && stack.includes(err[name])) {
				keys.splice(index, 1);
			}
		}
	}
}

function formatError(err, constructor, tag, ctx, keys) {
	const name = err.name != null ? String(err.name) : 'Error';
	let stack = getStackString(err);

	removeDuplicateErrorKeys(ctx, keys, err, stack);

	if ('cause' in err &&
			(keys.length === 0 || !keys.includes('cause'))) {
		keys.push('cause');
	}

	// Print errors aggregated into AggregateError
	if (Array.isArray(err.errors) &&
			(keys.length === 0 || !keys.includes('errors'))) {
		keys.push('errors');
	}

	stack = improveStack(stack, constructor, name, tag);

	// Ignore the error message if it's contained in the stack.
	let pos = (err.message && stack.indexOf(err.message)) || -1;
	if (pos !== -1)
		pos += err.message.length;
	// Wrap the error in brackets in case it has no stack trace.
	const stackStart = stack.indexOf('\n    at', pos);
	if (stackStart === -1) {
		stack = `[${stack}]`;
	} else {
		let newStack = stack.slice(0, stackStart);
		const stackFramePart = stack.slice(stackStart + 1);
		const lines = getStackFrames(ctx, err, stackFramePart);
			newStack += `\n${lines.join('\n')}`;
		stack = newStack;
	}
	// The message and the stack have to be indented as well!
	if (ctx.indentationLvl !== 0) {
		const indentation = (' ').repeat(ctx.indentationLvl);
		stack = stack.replaceAll('\n', `\n${indentation}`);
	}
	return stack;
}

function groupArrayElements(ctx, output, value) {
	let totalLength = 0;
	let maxLength = 0;
	let i = 0;
	let outputLength = output.length;
	if (ctx.maxArrayLength < output.length) {
		// This makes sure the "... n more items" part is not taken into account.
		outputLength--;
	}
	const separatorSpace = 2; // Add 1 for the space and 1 for the separator.
	const dataLen = new Array(outputLength);
	// Calculate the total length of all output entries and the individual max
	// entries length of all output entries. We have to remove colors first,
	// otherwise the length would not be calculated properly.
	for (; i < outputLength; i++) {
		const len = getStringWidth(output[i], ctx.colors);
		dataLen[i] = len;
		totalLength += len + separatorSpace;
		if (maxLength < len)
			maxLength = len;
	}
	// Add two to `maxLength` as we add a single whitespace character plus a comma
	// in-between two entries.
	const actualMax = maxLength + separatorSpace;
	// Check if at least three entries fit next to each other and prevent grouping
	// of arrays that contains entries of very different length (i.e., if a single
	// entry is longer than 1/5 of all other entries combined). Otherwise the
	// space in-between small entries would be enormous.
	if (actualMax * 3 + ctx.indentationLvl < ctx.breakLength &&
			(totalLength / actualMax > 5 || maxLength <= 6)) {

		const approxCharHeights = 2.5;
		const averageBias = Math.sqrt(actualMax - totalLength / output.length);
		const biasedMax = Math.max(actualMax - 3 - averageBias, 1);
		// Dynamically check how many columns seem possible.
		const columns = Math.min(
			// Ideally a square should be drawn. We expect a character to be about 2.5
			// times as high as wide. This is the area formula to calculate a square
			// which contains n rectangles of size `actualMax * approxCharHeights`.
			// Divide that by `actualMax` to receive the correct number of columns.
			// The added bias increases the columns for short entries.
			Math.round(
				Math.sqrt(
					approxCharHeights * biasedMax * outputLength,
				) / biasedMax,
			),
			// Do not exceed the breakLength.
			Math.floor((ctx.breakLength - ctx.indentationLvl) / actualMax),
			// Limit array grouping for small `compact` modes as the user requested
			// minimal grouping.
			ctx.compact * 4,
			// Limit the columns to a maximum of fifteen.
			15,
		);
		// Return with the original output if no grouping should happen.
		if (columns <= 1) {
			return output;
		}
		const tmp = [];
		const maxLineLength = [];
		for (let i = 0; i < columns; i++) {
			let lineMaxLength = 0;
			for (let j = i; j < output.length; j += columns) {
				if (dataLen[j] > lineMaxLength)
					lineMaxLength = dataLen[j];
			}
			lineMaxLength += separatorSpace;
			maxLineLength[i] = lineMaxLength;
		}
		let order = padStart;
		if (value !== undefined) {
			for (let i = 0; i < output.length; i++) {
				if (typeof value[i] !== 'number' && typeof value[i] !== 'bigint') {
					order = padEnd;
					break;
				}
			}
		}
		// Each iteration creates a single line of grouped entries.
		for (let i = 0; i < outputLength; i += columns) {
			// The last lines may contain less entries than columns.
			const max = Math.min(i + columns, outputLength);
			let str = '';
			let j = i;
			for (; j < max - 1; j++) {
				// Calculate extra color padding in case it's active. This has to be
				// done line by line as some lines might contain more colors than
				// others.
				const padding = maxLineLength[j - i] + output[j].length - dataLen[j];
				str += order(`${output[j]}, `, padding, ' ');
			}
			if (order === padStart) {
				const padding = maxLineLength[j - i] +
												output[j].length -
												dataLen[j] -
												separatorSpace;
				str += output[j].padStart(padding, ' ');
			} else {
				str += output[j];
			}
			tmp.push(str);
		}
		if (ctx.maxArrayLength < output.length) {
			tmp.push(output[outputLength]);
		}
		output = tmp;
	}
	return output;
}

function handleMaxCallStackSize(ctx, err, constructorName, indentationLvl) {
	ctx.seen.pop();
	ctx.indentationLvl = indentationLvl;
	return ctx.stylize(
		`[${constructorName}: Inspection interrupted ` +
			'prematurely. Maximum call stack size exceeded.]',
		'special',
	);
}

function addNumericSeparator(integerString) {
	let result = '';
	let i = integerString.length;
	const start = integerString[0] === '-' ? 1 : 0;
	for (; i >= start + 4; i -= 3) {
		result = `_${integerString.slice(i - 3, i)}${result}`;
	}
	return i === integerString.length ?
		integerString :
		`${integerString.slice(0, i)}${result}`;
}

function addNumericSeparatorEnd(integerString) {
	let result = '';
	let i = 0;
	for (; i < integerString.length - 3; i += 3) {
		result += `${integerString.slice(i, i + 3)}_`;
	}
	return i === 0 ?
		integerString :
		`${result}${integerString.slice(i)}`;
}

function formatNumber(fn, number, numericSeparator) {
	if (!numericSeparator) {
		// Format -0 as '-0'. Checking `number === -0` won't distinguish 0 from -0.
		if (Object.is(number, -0)) {
			return fn('-0', 'number');
		}
		return fn(`${number}`, 'number');
	}

	const numberString = String(number);
	const integer = Math.trunc(number);

	if (integer === number) {
		if (!Number.isFinite(number) || numberString.includes('e')) {
			return fn(numberString, 'number');
		}
		return fn(addNumericSeparator(numberString), 'number');
	}
	if (Number.isNaN(number)) {
		return fn(numberString, 'number');
	}

	const decimalIndex = numberString.indexOf('.');
	const integerPart = numberString.slice(0, decimalIndex);
	const fractionalPart = numberString.slice(decimalIndex + 1);

	return fn(`${
		addNumericSeparator(integerPart)
	}.${
		addNumericSeparatorEnd(fractionalPart)
	}`, 'number');
}

function formatBigInt(fn, bigint, numericSeparator) {
	const string = String(bigint);
	if (!numericSeparator) {
		return fn(`${string}n`, 'bigint');
	}
	return fn(`${addNumericSeparator(string)}n`, 'bigint');
}

function formatPrimitive(fn, value, ctx) {
	if (typeof value === 'string') {
		let trailer = '';
		if (value.length > ctx.maxStringLength) {
			const remaining = value.length - ctx.maxStringLength;
			value = value.slice(0, ctx.maxStringLength);
			trailer = `... ${remaining} more character${remaining > 1 ? 's' : ''}`;
		}
		if (ctx.compact !== true &&
				// We do not support handling unicode characters width with
				// the readline getStringWidth function as there are
				// performance implications.
				value.length > kMinLineLength &&
				value.length > ctx.breakLength - ctx.indentationLvl - 4) {
			const gap = ' '.repeat(ctx.indentationLvl + 2);
			return value.split(/(?<=\n)/)
				.map((line) => fn(strEscape(line), 'string'))
				.join(` +\n${gap}`) + trailer;
		}
		return fn(strEscape(value), 'string') + trailer;
	}
	if (typeof value === 'number')
		return formatNumber(fn, value, ctx.numericSeparator);
	if (typeof value === 'bigint')
		return formatBigInt(fn, value, ctx.numericSeparator);
	if (typeof value === 'boolean')
		return fn(`${value}`, 'boolean');
	if (typeof value === 'undefined')
		return fn('undefined', 'undefined');
	// es6 symbol primitive
	return fn(value.toString(), 'symbol');
}

function formatNamespaceObject(keys, ctx, value, recurseTimes) {
	const output = new Array(keys.length);
	for (let i = 0; i < keys.length; i++) {
		try {
			output[i] = formatProperty(ctx, value, recurseTimes, keys[i],
																 kObjectType);
		} catch {
			// Use the existing functionality. This makes sure the indentation and
			// line breaks are always correct. Otherwise it is very difficult to keep
			// this aligned, even though this is a hacky way of dealing with this.
			const tmp = { [keys[i]]: '' };
			output[i] = formatProperty(ctx, tmp, recurseTimes, keys[i], kObjectType);
			const pos = output[i].lastIndexOf(' ');
			// We have to find the last whitespace and have to replace that value as
			// it will be visualized as a regular string.
			output[i] = output[i].slice(0, pos + 1) +
									ctx.stylize('<uninitialized>', 'special');
		}
	}
	// Reset the keys to an empty array. This prevents duplicated inspection.
	keys.length = 0;
	return output;
}

function formatSpecialArray(ctx, value, recurseTimes, maxLength, output, i) {
	const keys = Object.keys(value);
	let index = i;
	for (; i < keys.length && output.length < maxLength; i++) {
		const key = keys[i];
		const tmp = +key;
		// Arrays can only have up to 2^32 - 1 entries
		if (tmp > 2 ** 32 - 2) {
			break;
		}
		if (`${index}` !== key) {
			if (numberRegExp.exec(key) === null) {
				break;
			}
			const emptyItems = tmp - index;
			const ending = emptyItems > 1 ? 's' : '';
			const message = `<${emptyItems} empty item${ending}>`;
			output.push(ctx.stylize(message, 'undefined'));
			index = tmp;
			if (output.length === maxLength) {
				break;
			}
		}
		output.push(formatProperty(ctx, value, recurseTimes, key, kArrayType));
		index++;
	}
	const remaining = value.length - index;
	if (output.length !== maxLength) {
		if (remaining > 0) {
			const ending = remaining > 1 ? 's' : '';
			const message = `<${remaining} empty item${ending}>`;
			output.push(ctx.stylize(message, 'undefined'));
		}
	} else if (remaining > 0) {
		output.push(remainingText(remaining));
	}
	return output;
}

function formatArrayBuffer(ctx, value) {
	let buffer;
	try {
		buffer = new Uint8Array(value);
	} catch {
		return [ctx.stylize('(detached)', 'special')];
	}
	let str = hexText(buffer, Math.min(ctx.maxArrayLength, buffer.length));
	const remaining = buffer.length - ctx.maxArrayLength;
	if (remaining > 0)
		str += ` ... ${remaining} more byte${remaining > 1 ? 's' : ''}`;
	return [`${ctx.stylize('[Uint8Contents]', 'special')}: <${str}>`];
}

function formatArray(ctx, value, recurseTimes) {
	const valLen = value.length;
	const len = Math.min(Math.max(0, ctx.maxArrayLength), valLen);

	const remaining = valLen - len;
	const output = [];
	for (let i = 0; i < len; i++) {
		// Special handle sparse arrays.
		if (!hasOwn(value, i)) {
			return formatSpecialArray(ctx, value, recurseTimes, len, output, i);
		}
		output.push(formatProperty(ctx, value, recurseTimes, i, kArrayType));
	}
	if (remaining > 0) {
		output.push(remainingText(remaining));
	}
	return output;
}

function formatTypedArray(value, length, ctx, ignored, recurseTimes) {
	const maxLength = Math.min(Math.max(0, ctx.maxArrayLength), length);
	const remaining = value.length - maxLength;
	const output = new Array(maxLength);
	const elementFormatter = value.length > 0 && typeof value[0] === 'number' ?
		formatNumber :
		formatBigInt;
	for (let i = 0; i < maxLength; ++i) {
		output[i] = elementFormatter(ctx.stylize, value[i], ctx.numericSeparator);
	}
	if (remaining > 0) {
		output[maxLength] = remainingText(remaining);
	}
	if (ctx.showHidden) {
		// .buffer goes last, it's not a primitive like the others.
		// All besides `BYTES_PER_ELEMENT` are actually getters.
		ctx.indentationLvl += 2;
		for (const key of [
			'BYTES_PER_ELEMENT',
			'length',
			'byteLength',
			'byteOffset',
			'buffer',
		]) {
			const str = formatValue(ctx, value[key], recurseTimes, true);
			output.push(`[${key}]: ${str}`);
		}
		ctx.indentationLvl -= 2;
	}
	return output;
}

function formatSet(ctx, value, recurseTimes) {
	const length = native.size(value);
	const maxLength = Math.min(Math.max(0, ctx.maxArrayLength), length);
	const remaining = length - maxLength;
	const output = [];
	ctx.indentationLvl += 2;
	let i = 0;
	for (const v of native.entries(value)) {
		if (i >= maxLength) break;
		output.push(formatValue(ctx, v, recurseTimes));
		i++;
	}
	if (remaining > 0) {
		output.push(remainingText(remaining));
	}
	ctx.indentationLvl -= 2;
	return output;
}

function formatMap(ctx, value, recurseTimes) {
	const length = native.size(value);
	const maxLength = Math.min(Math.max(0, ctx.maxArrayLength), length);
	const remaining = length - maxLength;
	const entries = native.entries(value);
	const output = [];
	ctx.indentationLvl += 2;
	for (let i = 0; i < maxLength; i++) {
		const key = formatValue(ctx, entries[2 * i], recurseTimes);
		const v = formatValue(ctx, entries[2 * i + 1], recurseTimes);
		output.push(`${key} => ${v}`);
	}
	if (remaining > 0) {
		output.push(remainingText(remaining));
	}
	ctx.indentationLvl -= 2;
	return output;
}

function formatSetIterInner(ctx, recurseTimes, entries, state) {
	const maxArrayLength = Math.max(ctx.maxArrayLength, 0);
	const maxLength = Math.min(maxArrayLength, entries.length);
	const output = new Array(maxLength);
	ctx.indentationLvl += 2;
	for (let i = 0; i < maxLength; i++) {
		output[i] = formatValue(ctx, entries[i], recurseTimes);
	}
	ctx.indentationLvl -= 2;
	if (state === kWeak && !ctx.sorted) {
		// Sort all entries to have a halfway reliable output (if more entries than
		// retrieved ones exist, we can not reliably return the same output) if the
		// output is not sorted anyway.
		output.sort();
	}
	const remaining = entries.length - maxLength;
	if (remaining > 0) {
		output.push(remainingText(remaining));
	}
	return output;
}

function formatMapIterInner(ctx, recurseTimes, entries, state) {
	const maxArrayLength = Math.max(ctx.maxArrayLength, 0);
	// Entries exist as [key1, val1, key2, val2, ...]
	const len = entries.length / 2;
	const remaining = len - maxArrayLength;
	const maxLength = Math.min(maxArrayLength, len);
	const output = new Array(maxLength);
	let i = 0;
	ctx.indentationLvl += 2;
	if (state === kWeak) {
		for (; i < maxLength; i++) {
			const pos = i * 2;
			output[i] =
				`${formatValue(ctx, entries[pos], recurseTimes)} => ${formatValue(ctx, entries[pos + 1], recurseTimes)}`;
		}
		// Sort all entries to have a halfway reliable output (if more entries than
		// retrieved ones exist, we can not reliably return the same output) if the
		// output is not sorted anyway.
		if (!ctx.sorted)
			output.sort();
	} else {
		for (; i < maxLength; i++) {
			const pos = i * 2;
			const res = [
				formatValue(ctx, entries[pos], recurseTimes),
				formatValue(ctx, entries[pos + 1], recurseTimes),
			];
			output[i] = reduceToSingleString(
				ctx, res, '', ['[', ']'], kArrayExtrasType, recurseTimes);
		}
	}
	ctx.indentationLvl -= 2;
	if (remaining > 0) {
		output.push(remainingText(remaining));
	}
	return output;
}

function formatWeakCollection(ctx) {
	return [ctx.stylize('<items unknown>', 'special')];
}

function formatWeakSet(ctx, value, recurseTimes) {
	const entries = previewEntries(value);
	return formatSetIterInner(ctx, recurseTimes, entries, kWeak);
}

function formatWeakMap(ctx, value, recurseTimes) {
	const entries = previewEntries(value);
	return formatMapIterInner(ctx, recurseTimes, entries, kWeak);
}

function formatIterator(braces, ctx, value, recurseTimes) {
	const { 0: entries, 1: isKeyValue } = previewEntries(value, true);
	if (isKeyValue) {
		// Mark entry iterators as such.
		braces[0] = (braces[0]).replace(/ Iterator] {$/, ' Entries] {');
		return formatMapIterInner(ctx, recurseTimes, entries, kMapEntries);
	}

	return formatSetIterInner(ctx, recurseTimes, entries, kIterator);
}

function formatPromise(ctx, value, recurseTimes) {
	let output;
	const { 0: state, 1: result } = getPromiseDetails(value);
	if (state === kPending) {
		output = [ctx.stylize('<pending>', 'special')];
	} else {
		ctx.indentationLvl += 2;
		const str = formatValue(ctx, result, recurseTimes);
		ctx.indentationLvl -= 2;
		output = [
			state === kRejected ?
				`${ctx.stylize('<rejected>', 'special')} ${str}` :
				str,
		];
	}
	return output;
}

function formatProperty(ctx, value, recurseTimes, key, type, desc,
												original = value) {
	let name, str;
	let extra = ' ';
	desc = desc || Object.getOwnPropertyDescriptor(value, key) ||
		{ value: value[key], enumerable: true };
	if (desc.value !== undefined) {
		const diff = (ctx.compact !== true || type !== kObjectType) ? 2 : 3;
		ctx.indentationLvl += diff;
		str = formatValue(ctx, desc.value, recurseTimes);
		if (diff === 3 && ctx.breakLength < getStringWidth(str, ctx.colors)) {
			extra = `\n${(' ').repeat(ctx.indentationLvl)}`;
		}
		ctx.indentationLvl -= diff;
	} else if (desc.get !== undefined) {
		const label = desc.set !== undefined ? 'Getter/Setter' : 'Getter';
		const s = ctx.stylize;
		const sp = 'special';
		if (ctx.getters && (ctx.getters === true ||
					(ctx.getters === 'get' && desc.set === undefined) ||
					(ctx.getters === 'set' && desc.set !== undefined))) {
			try {
				const tmp = desc.get.call(original);
				ctx.indentationLvl += 2;
				if (tmp === null) {
					str = `${s(`[${label}:`, sp)} ${s('null', 'null')}${s(']', sp)}`;
				} else if (typeof tmp === 'object') {
					str = `${s(`[${label}]`, sp)} ${formatValue(ctx, tmp, recurseTimes)}`;
				} else {
					const primitive = formatPrimitive(s, tmp, ctx);
					str = `${s(`[${label}:`, sp)} ${primitive}${s(']', sp)}`;
				}
				ctx.indentationLvl -= 2;
			} catch (err) {
				const message = `<Inspection threw (${err.message})>`;
				str = `${s(`[${label}:`, sp)} ${message}${s(']', sp)}`;
			}
		} else {
			str = ctx.stylize(`[${label}]`, sp);
		}
	} else if (desc.set !== undefined) {
		str = ctx.stylize('[Setter]', 'special');
	} else {
		str = ctx.stylize('undefined', 'undefined');
	}
	if (type === kArrayType) {
		return str;
	}
	if (typeof key === 'symbol') {
		const tmp = (key.toString()).replace(strEscapeSequencesReplacer, escapeFn);
		name = `[${ctx.stylize(tmp, 'symbol')}]`;
	} else if (key === '__proto__') {
		name = "['__proto__']";
	} else if (desc.enumerable === false) {
		const tmp = key.replace(strEscapeSequencesReplacer, escapeFn);
		name = `[${tmp}]`;
	} else if (keyStrRegExp.exec(key) !== null) {
		name = ctx.stylize(key, 'name');
	} else {
		name = ctx.stylize(strEscape(key), 'string');
	}
	return `${name}:${extra}${str}`;
}

function isBelowBreakLength(ctx, output, start, base) {
	// Each entry is separated by at least a comma. Thus, we start with a total
	// length of at least `output.length`. In addition, some cases have a
	// whitespace in-between each other that is added to the total as well.
	let totalLength = output.length + start;
	if (totalLength + output.length > ctx.breakLength)
		return false;
	for (let i = 0; i < output.length; i++) {
		if (ctx.colors) {
			totalLength += stripVTControlCharacters(output[i]).length;
		} else {
			totalLength += output[i].length;
		}
		if (totalLength > ctx.breakLength) {
			return false;
		}
	}
	// Do not line up properties on the same line if `base` contains line breaks.
	return base === '' || !base.includes('\n');
}

function reduceToSingleString(
	ctx, output, base, braces, extrasType, recurseTimes, value) {
	if (ctx.compact !== true) {
		if (typeof ctx.compact === 'number' && ctx.compact >= 1) {
			// Memorize the original output length. In case the output is grouped,
			// prevent lining up the entries on a single line.
			const entries = output.length;
			// Group array elements together if the array contains at least six
			// separate entries.
			if (extrasType === kArrayExtrasType && entries > 6) {
				output = groupArrayElements(ctx, output, value);
			}
			// `ctx.currentDepth` is set to the most inner depth of the currently
			// inspected object part while `recurseTimes` is the actual current depth
			// that is inspected.
			//
			// Example:
			//
			// const a = { first: [ 1, 2, 3 ], second: { inner: [ 1, 2, 3 ] } }
			//
			// The deepest depth of `a` is 2 (a.second.inner) and `a.first` has a max
			// depth of 1.
			//
			// Consolidate all entries of the local most inner depth up to
			// `ctx.compact`, as long as the properties are smaller than
			// `ctx.breakLength`.
			if (ctx.currentDepth - recurseTimes < ctx.compact &&
					entries === output.length) {
				// Line up all entries on a single line in case the entries do not
				// exceed `breakLength`. Add 10 as constant to start next to all other
				// factors that may reduce `breakLength`.
				const start = output.length + ctx.indentationLvl +
											braces[0].length + base.length + 10;
				if (isBelowBreakLength(ctx, output, start, base)) {
					const joinedOutput = join(output, ', ');
					if (!joinedOutput.includes('\n')) {
						return `${base ? `${base} ` : ''}${braces[0]} ${joinedOutput}` +
							` ${braces[1]}`;
					}
				}
			}
		}
		// Line up each entry on an individual line.
		const indentation = `\n${(' ').repeat(ctx.indentationLvl)}`;
		return `${base ? `${base} ` : ''}${braces[0]}${indentation}  ` +
			`${join(output, `,${indentation}  `)}${indentation}${braces[1]}`;
	}
	// Line up all entries on a single line in case the entries do not exceed
	// `breakLength`.
	if (isBelowBreakLength(ctx, output, 0, base)) {
		return `${braces[0]}${base ? ` ${base}` : ''} ${join(output, ', ')} ` +
			braces[1];
	}
	const indentation = (' ').repeat(ctx.indentationLvl);
	// If the opening "brace" is too large, like in the case of "Set {",
	// we need to force the first item to be on the next line or the
	// items will not line up correctly.
	const ln = base === '' && braces[0].length === 1 ?
		' ' : `${base ? ` ${base}` : ''}\n${indentation}  `;
	// Line up each entry on an individual line.
	return `${braces[0]}${ln}${join(output, `,\n${indentation}  `)} ${braces[1]}`;
}
