// The caller's tools, made only in a run that was granted some.
(function(native, hooks, share) {
const P = Promise, E = Error;

// The words of a failure, put on the error that was made where the tool was
// called: its stack leads there.
function failure(err, tool, name, message) {
	share.define(err, 'tool', tool);
	share.define(err, 'name', name);
	return share.define(err, 'message', message);
}

function make(name) {
	const f = { [name]: (args = {}) => new P((resolve, reject) => {
		if (typeof args !== 'object' || args === null ||
		    share.safe.isArray(args))
			throw new TypeError(`tools.${name} takes one object: ` +
				'its arguments by name');
		const err = new E();
		native.toolCall(name, args, (failed, a, b) => failed ?
			reject(failure(err, name, a, b)) : resolve(a));
	}) };
	return f[name];
}

// A name that was not granted is called all the same: the caller of this run
// learns of it, and the program is told.
const handler = {
	get(table, name) {
		if (typeof name === 'symbol' || name in table ||
		    name === 'then' || name === 'toJSON' ||
		    name === 'constructor')
			return table[name];
		return make(name);
	},
};

hooks.tools = (names) => {
	const table = { __proto__: null };
	for (const name of names)
		table[name] = make(name);
	share.global('tools', new Proxy(table, handler));
};
})
