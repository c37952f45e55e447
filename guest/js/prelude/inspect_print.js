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

