// Maps, sets, iterators, promises, proxies, weak collections, generators.
console.log(new Map(), new Set());
console.log(new Map([['a', 1], ['b', { c: 2 }]]), new Set([1, 'two', { three: 3 }]));
console.log(new Map([[{ k: 1 }, new Map([[1, 2]])]]));
console.log(new Map([[1, new Set([1, 2])], [2, [1, 2, 3]]]));
console.log({ m: new Map([['x', { y: { z: { w: 1 } } }]]) });
console.log(Object.assign(new Map([[1, 2]]), { extra: true }), Object.assign(new Set(), { extra: 1 }));
console.log(new Map(Array.from({ length: 12 }, (_, i) => ['key' + i, i])));
console.log(new Set(Array.from({ length: 30 }, (_, i) => i)));
console.log(new Set(Array.from({ length: 120 }, (_, i) => i)).size, new Map(Array.from({ length: 105 }, (_, i) => [i, i])));
console.log(new Map([[1, 2]]).entries(), new Map([[1, 2]]).keys(), new Map([['a', 'b']]).values());
console.log(new Set([1, 2]).values(), new Set([5]).entries());
const it = new Map([[1, 2], [3, 4]]).entries();
it.next();
console.log(it);
console.log([1, 2][Symbol.iterator](), 'ab'[Symbol.iterator]());
console.log(new WeakMap(), new WeakSet());
console.log(Promise.resolve(1), Promise.resolve({ a: [1] }), new Promise(() => {}));
const rejected = Promise.reject(new Error('r').message);
rejected.catch(() => {});
console.log(rejected);
console.log((async () => 5)(), (async () => {})());
console.log(new Proxy({ a: 1 }, {}), new Proxy([1, 2], {}), new Proxy(function f() {}, {}));
console.log(require('util').inspect(new Proxy({ a: 1 }, { get: () => 5 }), { showProxy: true }));
console.log(new Proxy(new Proxy({ deep: 1 }, {}), {}));
function* gen() { yield 1; }
console.log(gen(), gen, Object.getPrototypeOf(gen));
async function* agen() {}
console.log(agen(), agen);
class MyMap extends Map {}
class MySet extends Set {}
console.log(new MyMap([[1, 2]]), new MySet([1]), new MyMap(), new MySet());
console.log([new Map([['a', 1]]), new Set(['b'])]);
console.log(new Map([['long key number one', 'long value number one'], ['long key number two', 'long value number two']]));
console.log(new Set(['a'.repeat(30), 'b'.repeat(30), 'c'.repeat(30)]));
console.log(new Map([[NaN, -0], [null, undefined], [Symbol('s'), 1n]]));
console.log(Object.setPrototypeOf(new Map([[1, 2]]), null), Object.setPrototypeOf(new Set([1]), null));
console.log(Object.setPrototypeOf([1, 2], null), Object.setPrototypeOf(new Date(0), null));
console.log(Object.setPrototypeOf(/x/, null), Object.setPrototypeOf(() => {}, null));
console.log(new URLSearchParamsLike());
function URLSearchParamsLike() { this.list = [['a', 'b']]; }
console.log(Object.fromEntries(new Map([['a', 1]])), Object.entries({ a: { b: 1 } }));
