// structuredClone.
const src = { n: 1, s: 'x', d: new Date(5), r: /a/gi, m: new Map([[1, { a: 1 }]]), st: new Set([1, [2]]), u8: new Uint8Array([1, 2]), ab: new ArrayBuffer(2), big: 5n, nul: null, u: undefined, arr: [1, , 3], e: new RangeError('m'), b: Object(true) };
src.self = src;
const c = structuredClone(src);
console.log(c.self === c, c !== src, c.d instanceof Date, c.m.get(1), c.st, c.u8, c.ab, c.arr, c.e instanceof RangeError, c.e.message, c.big, c.r, c.b, Object.keys(c).join());
for (const bad of [() => {}, Symbol('s'), { f() {} }, new WeakMap(), Promise.resolve()]) { try { structuredClone(bad); console.log('no error'); } catch (e) { console.log(e.name, e.code, e.constructor.name); } }
class K { constructor() { this.a = 1; } get g() { return 1; } }
console.log(structuredClone(new K()), structuredClone(new K()) instanceof K, structuredClone([1, [2]]), structuredClone('s'), structuredClone({ get x() { return 7; } }), structuredClone(NaN), structuredClone(-0));
const shared = { z: 1 }, two = structuredClone([shared, shared]); console.log(two[0] === two[1], structuredClone(new DataView(new ArrayBuffer(3))).byteLength, structuredClone(new Float64Array([1.5])));
try { structuredClone(); } catch (e) { console.log(e.name, e.code); }
