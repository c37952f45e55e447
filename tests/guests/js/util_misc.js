// node:util beyond inspect and format.
const util = require('util');
const eq = util.isDeepStrictEqual;
console.log(eq(1, 1), eq(NaN, NaN), eq(0, -0), eq([1, [2]], [1, [2]]), eq({ a: 1, b: 2 }, { b: 2, a: 1 }), eq({ a: 1 }, { a: '1' }), eq([1], { 0: 1 }));
console.log(eq(new Map([[1, { a: 1 }]]), new Map([[1, { a: 1 }]])), eq(new Set([{ a: 1 }]), new Set([{ a: 1 }])), eq(new Set([1, 2]), new Set([2, 1])), eq(new Date(1), new Date(1)), eq(/a/g, /a/i));
console.log(eq(new Uint8Array([1]), new Uint8Array([1])), eq(Object(1), Object(1)), eq(new Error('a'), new Error('a')), eq(new Error('a'), new Error('b')), eq([undefined], [,]), eq({ a: undefined }, {}));
const x = { n: 1 }; x.x = x; const y = { n: 1 }; y.x = y;
console.log(eq(x, y), eq(Symbol.for('a'), Symbol.for('a')), eq(() => {}, () => {}), eq(null, undefined));
const t = util.types;
console.log(t.isPromise(Promise.resolve()), t.isRegExp(/x/), t.isDate(new Date()), t.isMap(new Map()), t.isSet(new Map()), t.isProxy(new Proxy({}, {})), t.isUint8Array(Buffer.alloc(1)), t.isTypedArray([]), t.isAsyncFunction(async () => {}), t.isGeneratorFunction(function* () {}), t.isGeneratorObject((function* () {})()), t.isBoxedPrimitive(Object(1n)), t.isArgumentsObject((function() { return arguments; })()), t.isMapIterator(new Map().keys()), t.isDataView(new DataView(new ArrayBuffer(1))), t.isAnyArrayBuffer(new ArrayBuffer(1)), t.isSymbolObject(Object(Symbol())), t.isNumberObject(1));
const slow = (a, cb) => setTimeout(() => (a < 0 ? cb(new Error('neg')) : cb(null, a * 2)), 1);
const promised = util.promisify(slow);
promised(21).then((v) => console.log('promisified', v)).then(() => promised(-1)).catch((e) => console.log('rejected', e.message));
util.promisify(setTimeout)(2, 'late').then((v) => console.log('timer', v));
util.callbackify(async (v) => v + 1)(1, (err, v) => console.log('callbackified', err, v));
function Parent() {} Parent.prototype.hi = () => 'hi'; function Child() {} util.inherits(Child, Parent);
console.log(new Child().hi(), Child.super_ === Parent, new Child() instanceof Parent);
console.log(util.stripVTControlCharacters('\u001b[31mred\u001b[0m'));
console.log(util.inspect.custom, typeof util.TextEncoder, util.types === require('util/types'), util.isArray([]));
try { util.promisify(5); } catch (e) { console.log(e.code, e.message); }
try { util.callbackify('x'); } catch (e) { console.log(e.code, e.message); }
console.log(util.format('%s', util.inspect(new Map([['a', [1, 2]]]))));
console.log(util.toUSVString('a\ud800b'));
console.log(require('node:util') === util, Object.keys(util.inspect.styles).length, util.inspect.colors.red);
