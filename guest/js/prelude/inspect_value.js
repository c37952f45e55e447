// See inspect.js.
function getConstructorName(obj, ctx, recurseTimes, protoProps) {
	let firstProto;
	const tmp = obj;
	while (obj) {
		if ((obj === Object.prototype && tmp instanceof Object) ||
				(obj === Function.prototype && tmp instanceof Function)) {
			if (protoProps !== undefined && firstProto !== obj) {
				addPrototypeProperties(
					ctx, tmp, firstProto || tmp, recurseTimes, protoProps);
			}
			return obj === Object.prototype ? 'Object' : 'Function';
		}
		const descriptor = Object.getOwnPropertyDescriptor(obj, 'constructor');
		if (descriptor !== undefined &&
				typeof descriptor.value === 'function' &&
				descriptor.value.name !== '' &&
				isInstanceof(tmp, descriptor.value)) {
			if (protoProps !== undefined &&
				 (firstProto !== obj ||
				 !builtInObjects.has(descriptor.value.name))) {
				addPrototypeProperties(
					ctx, tmp, firstProto || tmp, recurseTimes, protoProps);
			}
			return String(descriptor.value.name);
		}

		obj = Object.getPrototypeOf(obj);
		if (firstProto === undefined) {
			firstProto = obj;
		}
	}

	if (firstProto === null) {
		return null;
	}

	const res = internalGetConstructorName(tmp);

	if (recurseTimes > ctx.depth && ctx.depth !== null) {
		return `${res} <Complex prototype>`;
	}

	const protoConstr = getConstructorName(
		firstProto, ctx, recurseTimes + 1, protoProps);

	if (protoConstr === null) {
		return `${res} <${inspect(firstProto, {
			...ctx,
			customInspect: false,
			depth: -1,
		})}>`;
	}

	return `${res} <${protoConstr}>`;
}

function addPrototypeProperties(ctx, main, obj, recurseTimes, output) {
	let depth = 0;
	let keys;
	let keySet;
	do {
		if (depth !== 0 || main === obj) {
			obj = Object.getPrototypeOf(obj);
			// Stop as soon as a null prototype is encountered.
			if (obj === null) {
				return;
			}
			// Stop as soon as a built-in object type is detected.
			const descriptor = Object.getOwnPropertyDescriptor(obj, 'constructor');
			if (descriptor !== undefined &&
					typeof descriptor.value === 'function' &&
					builtInObjects.has(descriptor.value.name)) {
				return;
			}
		}

		if (depth === 0) {
			keySet = new Set();
		} else {
			keys.forEach((key) => keySet.add(key));
		}
		// Get all own property names and symbols.
		keys = Reflect.ownKeys(obj);
		ctx.seen.push(main);
		for (const key of keys) {
			// Ignore the `constructor` property and keys that exist on layers above.
			if (key === 'constructor' ||
					hasOwn(main, key) ||
					(depth !== 0 && keySet.has(key))) {
				continue;
			}
			const desc = Object.getOwnPropertyDescriptor(obj, key);
			if (typeof desc.value === 'function') {
				continue;
			}
			const value = formatProperty(
				ctx, obj, recurseTimes, key, kObjectType, desc, main);
			if (ctx.colors) {
				// Faint!
				output.push(`\u001b[2m${value}\u001b[22m`);
			} else {
				output.push(value);
			}
		}
		ctx.seen.pop();
	// Limit the inspection to up to three prototype layers. Using `recurseTimes`
	// is not a good choice here, because it's as if the properties are declared
	// on the current object from the users perspective.
	} while (++depth !== 3);
}

function getPrefix(constructor, tag, fallback, size = '') {
	if (constructor === null) {
		if (tag !== '' && fallback !== tag) {
			return `[${fallback}${size}: null prototype] [${tag}] `;
		}
		return `[${fallback}${size}: null prototype] `;
	}

	if (tag !== '' && constructor !== tag) {
		return `${constructor}${size} [${tag}] `;
	}
	return `${constructor}${size} `;
}

function getKeys(value, showHidden) {
	let keys;
	const symbols = Object.getOwnPropertySymbols(value);
	if (showHidden) {
		keys = Object.getOwnPropertyNames(value);
		if (symbols.length !== 0)
			keys.push(...symbols);
	} else {
		// This might throw if `value` is a Module Namespace Object from an
		// unevaluated module, but we don't want to perform the actual type
		// check because it's expensive.
		try {
			keys = Object.keys(value);
		} catch {
			keys = Object.getOwnPropertyNames(value);
		}
		if (symbols.length !== 0) {
			const filter = (key) => isEnumerable(value, key);
			keys.push(...symbols.filter(filter));
		}
	}
	return keys;
}

function getCtxStyle(value, constructor, tag) {
	let fallback = '';
	if (constructor === null) {
		fallback = internalGetConstructorName(value);
		if (fallback === tag) {
			fallback = 'Object';
		}
	}
	return getPrefix(constructor, tag, fallback);
}

function formatProxy(ctx, proxy, recurseTimes) {
	if (recurseTimes > ctx.depth && ctx.depth !== null) {
		return ctx.stylize('Proxy [Array]', 'special');
	}
	recurseTimes += 1;
	ctx.indentationLvl += 2;
	const res = [
		formatValue(ctx, proxy[0], recurseTimes),
		formatValue(ctx, proxy[1], recurseTimes),
	];
	ctx.indentationLvl -= 2;
	return reduceToSingleString(
		ctx, res, '', ['Proxy [', ']'], kArrayExtrasType, recurseTimes);
}

function formatValue(ctx, value, recurseTimes, typedArray) {
	// Primitive types cannot have properties.
	if (typeof value !== 'object' &&
			typeof value !== 'function') {
		return formatPrimitive(ctx.stylize, value, ctx);
	}
	if (value === null) {
		return ctx.stylize('null', 'null');
	}

	// Memorize the context for custom inspection on proxies.
	const context = value;
	// Always check for proxies to prevent side effects and to prevent triggering
	// any proxy handlers.
	const proxy = getProxyDetails(value, !!ctx.showProxy);
	if (proxy !== undefined) {
		if (proxy === null || proxy[0] === null) {
			return ctx.stylize('<Revoked Proxy>', 'special');
		}
		if (ctx.showProxy) {
			return formatProxy(ctx, proxy, recurseTimes);
		}
		value = proxy;
	}

	// Provide a hook for user-specified inspect functions.
	// Check that value is an object with an inspect function on it.
	if (ctx.customInspect) {
		const maybeCustom = value[customInspectSymbol];
		if (typeof maybeCustom === 'function' &&
				// Filter out the util module, its inspect function is special.
				maybeCustom !== inspect &&
				// Also filter out any prototype objects using the circular check.
				!(value.constructor && value.constructor.prototype === value)) {
			// This makes sure the recurseTimes are reported as before while using
			// a counter internally.
			const depth = ctx.depth === null ? null : ctx.depth - recurseTimes;
			const isCrossContext =
				proxy !== undefined || !(context instanceof Object);
			const ret = maybeCustom.call(context, depth, getUserOptions(ctx, isCrossContext), inspect);
			// If the custom inspection method returned `this`, don't go into
			// infinite recursion.
			if (ret !== context) {
				if (typeof ret !== 'string') {
					return formatValue(ctx, ret, recurseTimes);
				}
				return ret.replaceAll('\n', `\n${(' ').repeat(ctx.indentationLvl)}`);
			}
		}
	}

	// Using an array here is actually better for the average case than using
	// a Set. `seen` will only check for the depth and will never grow too large.
	if (ctx.seen.includes(value)) {
		let index = 1;
		if (ctx.circular === undefined) {
			ctx.circular = new Map();
			ctx.circular.set(value, index);
		} else {
			index = ctx.circular.get(value);
			if (index === undefined) {
				index = ctx.circular.size + 1;
				ctx.circular.set(value, index);
			}
		}
		return ctx.stylize(`[Circular *${index}]`, 'special');
	}

	return formatRaw(ctx, value, recurseTimes, typedArray);
}

function formatRaw(ctx, value, recurseTimes, typedArray) {
	let keys;
	let protoProps;
	if (ctx.showHidden && (recurseTimes <= ctx.depth || ctx.depth === null)) {
		protoProps = [];
	}

	const constructor = getConstructorName(value, ctx, recurseTimes, protoProps);
	// Reset the variable to check for this later on.
	if (protoProps !== undefined && protoProps.length === 0) {
		protoProps = undefined;
	}

	let tag = value[Symbol.toStringTag];
	// Only list the tag in case it's non-enumerable / not an own property.
	// Otherwise we'd print this twice.
	if (typeof tag !== 'string' ||
			(tag !== '' &&
			(ctx.showHidden ? hasOwn : isEnumerable)(
				value, Symbol.toStringTag,
			))) {
		tag = '';
	}
	let base = '';
	let formatter = getEmptyFormatArray;
	let braces;
	let noIterator = true;
	let i = 0;
	const filter = ctx.showHidden ? ALL_PROPERTIES : ONLY_ENUMERABLE;

	let extrasType = kObjectType;

	// Iterators and the rest are split to reduce checks.
	// We have to check all values in case the constructor is set to null.
	// Otherwise it would not possible to identify all types properly.
	if (Symbol.iterator in value || constructor === null) {
		noIterator = false;
		if (Array.isArray(value)) {
			// Only set the constructor for non ordinary ("Array [...]") arrays.
			const prefix = (constructor !== 'Array' || tag !== '') ?
				getPrefix(constructor, tag, 'Array', `(${value.length})`) :
				'';
			keys = getOwnNonIndexProperties(value, filter);
			braces = [`${prefix}[`, ']'];
			if (value.length === 0 && keys.length === 0 && protoProps === undefined)
				return `${braces[0]}]`;
			extrasType = kArrayExtrasType;
			formatter = formatArray;
		} else if (isSet(value)) {
			const size = native.size(value);
			const prefix = getPrefix(constructor, tag, 'Set', `(${size})`);
			keys = getKeys(value, ctx.showHidden);
			formatter = formatSet;
			if (size === 0 && keys.length === 0 && protoProps === undefined)
				return `${prefix}{}`;
			braces = [`${prefix}{`, '}'];
		} else if (isMap(value)) {
			const size = native.size(value);
			const prefix = getPrefix(constructor, tag, 'Map', `(${size})`);
			keys = getKeys(value, ctx.showHidden);
			formatter = formatMap;
			if (size === 0 && keys.length === 0 && protoProps === undefined)
				return `${prefix}{}`;
			braces = [`${prefix}{`, '}'];
		} else if (isTypedArray(value)) {
			keys = getOwnNonIndexProperties(value, filter);
			let bound = value;
			let fallback = '';
			if (constructor === null) {
				fallback = typedName(value);
				// Reconstruct the array information.
				bound = new globalThis[fallback](value);
			}
			const size = typedLength(value);
			const prefix = getPrefix(constructor, tag, fallback, `(${size})`);
			braces = [`${prefix}[`, ']'];
			if (value.length === 0 && keys.length === 0 && !ctx.showHidden)
				return `${braces[0]}]`;
			// Special handle the value. The original value is required below. The
			// bound function is required to reconstruct missing information.
			formatter = formatTypedArray.bind(null, bound, size);
			extrasType = kArrayExtrasType;
		} else if (isMapIterator(value)) {
			keys = getKeys(value, ctx.showHidden);
			braces = getIteratorBraces('Map', tag);
			// Add braces to the formatter parameters.
			formatter = formatIterator.bind(null, braces);
		} else if (isSetIterator(value)) {
			keys = getKeys(value, ctx.showHidden);
			braces = getIteratorBraces('Set', tag);
			// Add braces to the formatter parameters.
			formatter = formatIterator.bind(null, braces);
		} else {
			noIterator = true;
		}
	}
	if (noIterator) {
		keys = getKeys(value, ctx.showHidden);
		braces = ['{', '}'];
		if (typeof value === 'function') {
			base = getFunctionBase(value, constructor, tag);
			if (keys.length === 0 && protoProps === undefined)
				return ctx.stylize(base, 'special');
		} else if (constructor === 'Object') {
			if (isArgumentsObject(value)) {
				braces[0] = '[Arguments] {';
			} else if (tag !== '') {
				braces[0] = `${getPrefix(constructor, tag, 'Object')}{`;
			}
			if (keys.length === 0 && protoProps === undefined) {
				return `${braces[0]}}`;
			}
		} else if (isRegExp(value)) {
			// Make RegExps say that they are RegExps
			base = (constructor !== null ? value : new RegExp(value)).toString();
			const prefix = getPrefix(constructor, tag, 'RegExp');
			if (prefix !== 'RegExp ')
				base = `${prefix}${base}`;
			if ((keys.length === 0 && protoProps === undefined) ||
					(recurseTimes > ctx.depth && ctx.depth !== null)) {
				return ctx.stylize(base, 'regexp');
			}
		} else if (isDate(value)) {
			// Make dates with properties first say the date
			base = Number.isNaN(value.time) ?
				value.toString() :
				dateISO(value);
			const prefix = getPrefix(constructor, tag, 'Date');
			if (prefix !== 'Date ')
				base = `${prefix}${base}`;
			if (keys.length === 0 && protoProps === undefined) {
				return ctx.stylize(base, 'date');
			}
		} else if (isError(value)) {
			base = formatError(value, constructor, tag, ctx, keys);
			if (keys.length === 0 && protoProps === undefined)
				return base;
		} else if (isAnyArrayBuffer(value)) {
			// Fast path for ArrayBuffer and SharedArrayBuffer.
			// Can't do the same for DataView because it has a non-primitive
			// .buffer property that we need to recurse for.
			const arrayType = isArrayBuffer(value) ? 'ArrayBuffer' :
				'SharedArrayBuffer';
			const prefix = getPrefix(constructor, tag, arrayType);
			if (typedArray === undefined) {
				formatter = formatArrayBuffer;
			} else if (keys.length === 0 && protoProps === undefined) {
				return prefix +
							`{ byteLength: ${formatNumber(ctx.stylize, value.byteLength, false)} }`;
			}
			braces[0] = `${prefix}{`;
			keys.unshift('byteLength');
		} else if (isDataView(value)) {
			braces[0] = `${getPrefix(constructor, tag, 'DataView')}{`;
			// .buffer goes last, it's not a primitive like the others.
			keys.unshift('byteLength', 'byteOffset', 'buffer');
		} else if (isPromise(value)) {
			braces[0] = `${getPrefix(constructor, tag, 'Promise')}{`;
			formatter = formatPromise;
		} else if (isWeakSet(value)) {
			braces[0] = `${getPrefix(constructor, tag, 'WeakSet')}{`;
			formatter = ctx.showHidden ? formatWeakSet : formatWeakCollection;
		} else if (isWeakMap(value)) {
			braces[0] = `${getPrefix(constructor, tag, 'WeakMap')}{`;
			formatter = ctx.showHidden ? formatWeakMap : formatWeakCollection;
		} else if (isModuleNamespaceObject(value)) {
			braces[0] = `${getPrefix(constructor, tag, 'Module')}{`;
			// Special handle keys for namespace objects.
			formatter = formatNamespaceObject.bind(null, keys);
		} else if (isBoxedPrimitive(value)) {
			base = getBoxedBase(value, ctx, keys, constructor, tag);
			if (keys.length === 0 && protoProps === undefined) {
				return base;
			}
		} else {
			if (keys.length === 0 && protoProps === undefined) {
				return `${getCtxStyle(value, constructor, tag)}{}`;
			}
			braces[0] = `${getCtxStyle(value, constructor, tag)}{`;
		}
	}

	if (recurseTimes > ctx.depth && ctx.depth !== null) {
		let constructorName = (getCtxStyle(value, constructor, tag)).slice(0, -1);
		if (constructor !== null)
			constructorName = `[${constructorName}]`;
		return ctx.stylize(constructorName, 'special');
	}
	recurseTimes += 1;

	ctx.seen.push(value);
	ctx.currentDepth = recurseTimes;
	let output;
	const indentationLvl = ctx.indentationLvl;
	try {
		output = formatter(ctx, value, recurseTimes);
		for (i = 0; i < keys.length; i++) {
			output.push(formatProperty(ctx, value, recurseTimes, keys[i], extrasType));
		}
		if (protoProps !== undefined) {
			output.push(...protoProps);
		}
	} catch (err) {
		if (!isStackOverflowError(err)) throw err;
		const constructorName = (getCtxStyle(value, constructor, tag)).slice(0, -1);
		return handleMaxCallStackSize(ctx, err, constructorName, indentationLvl);
	}
	if (ctx.circular !== undefined) {
		const index = ctx.circular.get(value);
		if (index !== undefined) {
			const reference = ctx.stylize(`<ref *${index}>`, 'special');
			// Add reference always to the very beginning of the output.
			if (ctx.compact !== true) {
				base = base === '' ? reference : `${reference} ${base}`;
			} else {
				braces[0] = `${reference} ${braces[0]}`;
			}
		}
	}
	ctx.seen.pop();

	if (ctx.sorted) {
		const comparator = ctx.sorted === true ? undefined : ctx.sorted;
		if (extrasType === kObjectType) {
			output.sort(comparator);
		} else if (keys.length > 1) {
			const sorted = (output.slice(output.length - keys.length)).sort(comparator);
			output.splice(output.length - keys.length, keys.length, ...sorted);
		}
	}

	const res = reduceToSingleString(
		ctx, output, base, braces, extrasType, recurseTimes, value);
	const budget = ctx.budget[ctx.indentationLvl] || 0;
	const newLength = budget + res.length;
	ctx.budget[ctx.indentationLvl] = newLength;
	// If any indentationLvl exceeds this limit, limit further inspecting to the
	// minimum. Otherwise the recursive algorithm might continue inspecting the
	// object even though the maximum string size (~2 ** 28 on 32 bit systems and
	// ~2 ** 30 on 64 bit systems) exceeded. The actual output is not limited at
	// exactly 2 ** 27 but a bit higher. This depends on the object shape.
	// This limit also makes sure that huge objects don't block the event loop
	// significantly.
	if (newLength > 2 ** 27) {
		ctx.depth = -1;
	}
	return res;
}

function getIteratorBraces(type, tag) {
	if (tag !== `${type} Iterator`) {
		if (tag !== '')
			tag += '] [';
		tag += `${type} Iterator`;
	}
	return [`[${tag}] {`, '}'];
}

function getBoxedBase(value, ctx, keys, constructor, tag) {
	let type;
	if (isNumberObject(value)) {
		
		type = 'Number';
	} else if (isStringObject(value)) {
		
		type = 'String';
		// For boxed Strings, we have to remove the 0-n indexed entries,
		// since they just noisy up the output and are redundant
		// Make boxed primitive Strings look like such
		keys.splice(0, value.length);
	} else if (isBooleanObject(value)) {
		
		type = 'Boolean';
	} else if (isBigIntObject(value)) {
		
		type = 'BigInt';
	} else {
		
		type = 'Symbol';
	}
	let base = `[${type}`;
	if (type !== constructor) {
		if (constructor === null) {
			base += ' (null prototype)';
		} else {
			base += ` (${constructor})`;
		}
	}
	base += `: ${formatPrimitive(stylizeNoColor, native.primitive(value), ctx)}]`;
	if (tag !== '' && tag !== constructor) {
		base += ` [${tag}]`;
	}
	if (keys.length !== 0 || ctx.stylize === stylizeNoColor)
		return base;
	return ctx.stylize(base, type.toLowerCase());
}

function getClassBase(value, constructor, tag) {
	const hasName = hasOwn(value, 'name');
	const name = (hasName && value.name) || '(anonymous)';
	let base = `class ${name}`;
	if (constructor !== 'Function' && constructor !== null) {
		base += ` [${constructor}]`;
	}
	if (tag !== '' && constructor !== tag) {
		base += ` [${tag}]`;
	}
	if (constructor !== null) {
		const superName = Object.getPrototypeOf(value).name;
		if (superName) {
			base += ` extends ${superName}`;
		}
	} else {
		base += ' extends [null prototype]';
	}
	return `[${base}]`;
}

function getFunctionBase(value, constructor, tag) {
	if (native.isClass(value))
		return getClassBase(value, constructor, tag);
	let type = 'Function';
	if (isGeneratorFunction(value)) {
		type = `Generator${type}`;
	}
	if (isAsyncFunction(value)) {
		type = `Async${type}`;
	}
	let base = `[${type}`;
	if (constructor === null) {
		base += ' (null prototype)';
	}
	if (value.name === '') {
		base += ' (anonymous)';
	} else {
		base += `: ${value.name}`;
	}
	base += ']';
	if (constructor !== type && constructor !== null) {
		base += ` ${constructor}`;
	}
	if (tag !== '' && constructor !== tag) {
		base += ` [${tag}]`;
	}
	return base;
}

function getUserOptions(ctx, isCrossContext) {
	const ret = {
		stylize: ctx.stylize,
		showHidden: ctx.showHidden,
		depth: ctx.depth,
		colors: ctx.colors,
		customInspect: ctx.customInspect,
		showProxy: ctx.showProxy,
		maxArrayLength: ctx.maxArrayLength,
		maxStringLength: ctx.maxStringLength,
		breakLength: ctx.breakLength,
		compact: ctx.compact,
		sorted: ctx.sorted,
		getters: ctx.getters,
		numericSeparator: ctx.numericSeparator,
		...ctx.userOptions,
	};

	// Typically, the target value will be an instance of `Object`. If that is
	// *not* the case, the object may come from another vm.Context, and we want
	// to avoid passing it objects from this Context in that case, so we remove
	// the prototype from the returned object itself + the `stylize()` function,
	// and remove all other non-primitives, including non-primitive user options.
	if (isCrossContext) {
		Object.setPrototypeOf(ret, null);
		for (const key of Object.keys(ret)) {
			if ((typeof ret[key] === 'object' || typeof ret[key] === 'function') &&
					ret[key] !== null) {
				delete ret[key];
			}
		}
		ret.stylize = Object.setPrototypeOf((value, flavour) => {
			let stylized;
			try {
				stylized = `${ctx.stylize(value, flavour)}`;
			} catch {
				// Continue regardless of error.
			}

			if (typeof stylized !== 'string') return value;
			// `stylized` is a string as it should be, which is safe to pass along.
			return stylized;
		}, null);
	}

	return ret;
}
