// What the other files share: errors with codes, the table of modules.
(function(native, hooks, share) {
globalThis.global = globalThis;
globalThis.input = undefined;
share.modules = { __proto__: null };

// An error class whose instances carry a code, named as Node names them.
function coded(Base, code, message) {
	const err = new Base(message);
	Object.defineProperty(err, 'code', {
		value: code, enumerable: true, writable: true,
		configurable: true,
	});
	const name = err.name;
	Object.defineProperty(err, 'name', {
		value: `${name} [${code}]`, enumerable: false, writable: true,
		configurable: true,
	});
	err.stack; // fixes "Name [CODE]: message" in the stack
	delete err.name;
	return err;
}

function received(v) {
	if (v === undefined || v === null)
		return ` Received ${v}`;
	if (typeof v === 'function')
		return ` Received function ${v.name}`;
	if (typeof v === 'object') {
		if (v.constructor?.name)
			return ` Received an instance of ${v.constructor.name}`;
		return ` Received ${share.inspect(v, { depth: -1 })}`;
	}
	let text = share.inspect(v, { colors: false });
	if (text.length > 28)
		text = `${text.slice(0, 25)}...`;
	return ` Received type ${typeof v} (${text})`;
}

share.coded = coded;
share.argType = (name, expected, v) => {
	const what = name.includes('.') ? 'property' : 'argument';
	return coded(TypeError, 'ERR_INVALID_ARG_TYPE',
		`The "${name}" ${what} must be ${expected}.${received(v)}`);
};
share.outOfRange = (name, range, v) => coded(RangeError, 'ERR_OUT_OF_RANGE',
	`The value of "${name}" is out of range. It must be ${range}. ` +
	`Received ${v}`);
share.needFunction = (name, v) => {
	if (typeof v !== 'function')
		throw share.argType(name, 'of type function', v);
};
share.needString = (name, v) => {
	if (typeof v !== 'string')
		throw share.argType(name, 'of type string', v);
};
share.define = (o, name, value) => Object.defineProperty(o, name, {
	value, writable: true, configurable: true, enumerable: false,
});
// On the global object: not enumerable, as in Node.
share.global = (name, value) => share.define(globalThis, name, value);
})
