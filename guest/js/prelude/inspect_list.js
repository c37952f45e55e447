// See inspect.js.
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
