// Errors: their stack, with the class named in its first line.
(function(native, hooks, share) {
const { K } = share;
const { endsWith, errorText, exec, indexOf, isArray, isPrototypeOf,
	join, slice, split, startsWith } = share.safe;
const { shapes, title } = share.kinds;
const { lines } = share.layout;
const base = Error.prototype;

const isError = (v) => native.kind(v) === K.error || isPrototypeOf(base, v);

function stackOf(err) {
	const { stack } = err;
	if (!stack)
		return errorText(err);
	// A DOMException's has frames alone.
	return startsWith(`${stack}`, '    at ') ?
		`${errorText(err)}\n${stack}` : `${stack}`;
}

function indexOfKey(keys, key) {
	let at = keys.length - 1;
	while (at >= 0 && keys[at] !== key)
		at--;
	return at;
}

// Keys to show: not what the stack says already, but cause and errors too.
function keysToShow(st, err, keys, stack) {
	const out = [];
	for (let i = 0; i < keys.length; i++) {
		const key = keys[i];
		const told = !st.showHidden && (key === 'name' ||
			key === 'message' || key === 'stack') &&
			typeof err[key] === 'string' &&
			indexOf(stack, err[key]) >= 0;
		if (!told)
			out[out.length] = key;
	}
	if ('cause' in err && indexOfKey(out, 'cause') < 0)
		out[out.length] = 'cause';
	if (isArray(err.errors) && indexOfKey(out, 'errors') < 0)
		out[out.length] = 'errors';
	return out;
}

// The stack begins with err.name; the class is put there if it is another.
function nameClass(stack, who, name) {
	let length = name.length;
	if (who.name !== null) {
		const after = stack[length];
		if (!endsWith(name, 'Error') || !startsWith(stack, name) ||
		    (after !== undefined && after !== ':' && after !== '\n'))
			return stack;
	}
	let usual = 'Error';
	if (who.name === null) {
		const m = exec(/^([A-Z][a-z_ A-Z0-9[\]()-]+)(?::|\n\s+at)/,
			stack) ?? exec(/^([a-z_A-Z0-9-]*Error)$/, stack);
		usual = m?.[1] ?? '';
		length = usual.length;
		usual ||= 'Error';
	}
	const full = slice(title(who, usual), 0, -1);
	const rest = slice(stack, length);
	if (full === name)
		return stack;
	if (indexOf(full, name) < 0)
		return `${full} [${name}]${rest}`;
	return length === 0 ? `${full}: ${stack}` : full + rest;
}

// The longest run of frames that both have: [where it begins in a, length].
function commonRun(a, b) {
	let from = 0, longest = 0;
	for (let i = 0; i < a.length - longest; i++) {
		for (let j = 0; j < b.length - longest; j++) {
			let n = 0;
			while (i + n < a.length && j + n < b.length &&
			       a[i + n] === b[j + n])
				n++;
			if (n > longest) {
				longest = n;
				from = i;
			}
		}
	}
	return { from, longest };
}

function framesOf(stack) {
	const at = indexOf(stack, '\n    at');
	return at < 0 ? [] : split(slice(stack, at + 1), '\n');
}

// Frames that the cause has as well are shown there.
function shorten(st, err, frames) {
	const cause = 'cause' in err ? err.cause : undefined;
	if (typeof cause !== 'object' || cause === null || !isError(cause))
		return frames;
	const { from, longest } = commonRun(frames, framesOf(stackOf(cause)));
	if (longest <= 3)
		return frames;
	const out = [];
	for (let i = 0; i < frames.length; i++) {
		if (i === from + 1)
			out[out.length] = st.stylize(`    ... ${longest - 2} ` +
				'lines matching cause stack trace ...',
				'undefined');
		if (i <= from || i >= from + longest - 1)
			out[out.length] = frames[i];
	}
	return out;
}

function errorShape(st, err, who, keys) {
	const name = err.name === undefined || err.name === null ? 'Error' :
		`${err.name}`;
	const raw = stackOf(err), shown = keysToShow(st, err, keys, raw);
	const stack = nameClass(raw, who, name);
	const message = err.message ? indexOf(stack, err.message) : -1;
	const after = message < 0 ? 0 : message + err.message.length;
	const at = indexOf(stack, '\n    at', after);
	const text = at < 0 ? `[${stack}]` : `${slice(stack, 0, at)}\n` +
		join(shorten(st, err, split(slice(stack, at + 1), '\n')), '\n');
	return shown.length === 0 ? lines(text) :
		{ base: lines(text), open: '{', close: '}', keys: shown };
}

shapes[K.error] = errorShape;
share.isError = isError;
})
