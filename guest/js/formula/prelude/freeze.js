// The last: helpers become names of the realm, and all that can be reached is
// frozen, so that a row cannot change what another one finds.
(function(native, F) {
const define = (name, value) => Object.defineProperty(globalThis, name, {
	value, writable: false, configurable: false, enumerable: false,
});
for (const table of [F.helpers, F.inner])
	for (const name of Object.keys(table))
		define(name, table[name]);
for (const name of Object.keys(F.inner))
	F.helpers[name] = F.inner[name];

// What these setters take is no property: no freezing keeps it.
for (const name of ['stackTraceLimit', 'prepareStackTrace'])
	delete Error[name];

const seen = new Set();
const todo = [globalThis, F.helpers, F.failure, F.Failure,
	function*() {}, (function*() {})(), async function() {},
	async function*() {}, (async function*() {})(), () => {}, /x/,
	[][Symbol.iterator](), ''[Symbol.iterator](), 'x'.matchAll(/x/g),
	new Map()[Symbol.iterator](), new Set()[Symbol.iterator](),
	[].values().map((x) => x), Iterator.from({ next() { } }),
	Iterator.concat?.([])];
for (const root of todo) {
	const list = [root];
	while (list.length) {
		const o = list.pop();
		if ((typeof o !== 'object' && typeof o !== 'function') ||
		    o === null || seen.has(o))
			continue;
		seen.add(o);
		list.push(Object.getPrototypeOf(o));
		for (const key of Reflect.ownKeys(o)) {
			const d = Object.getOwnPropertyDescriptor(o, key);
			list.push(d.value, d.get, d.set);
		}
	}
}
for (const o of seen)
	Object.freeze(o);
})
