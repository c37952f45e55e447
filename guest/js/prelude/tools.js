// The caller's tools, made only in a run that was granted some.
(function(native, hooks, share) {
const P = Promise, E = Error;

// An error that is made where the tool is called: its stack leads there.
class ToolError extends E {
	constructor(tool) {
		super('');
		share.define(this, 'tool', tool);
	}
}
share.define(ToolError.prototype, 'name', 'ToolError');

// C settles a call: with a value, or with the words of a failure.
function settle(resolve, reject, err, failed, a, b) {
	if (!failed)
		return resolve(a);
	share.define(err, 'name', a);
	share.define(err, 'message', b);
	reject(err);
}

function make(name) {
	const f = { [name]: (args = {}) => new P((resolve, reject) => {
		if (typeof args !== 'object' || args === null ||
		    share.safe.isArray(args))
			throw new TypeError(`tools.${name} takes one object: ` +
				'its arguments by name');
		const err = new ToolError(name);
		native.toolCall(name, args, (failed, a, b) =>
			settle(resolve, reject, err, failed, a, b));
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
