// Classes, functions, prototypes, tags, custom inspection.
const util = require('util');
class A {}
class B extends A { constructor() { super(); this.x = 1; } }
class C { #secret = 1; shown = 2; static s = 3; get g() { return 1; } }
console.log(A, B, C, class {}, class extends A {});
console.log(new A(), new B(), new C(), new (class {})(), new (class extends A {})());
console.log([A, B], { A });
console.log(function() {}, function named() {}, () => {}, async () => {}, function* g() {}, async function* ag() {}, async function af() {});
console.log(Object.assign(function fn() {}, { prop: 1 }), Object.assign(() => {}, { a: { b: 1 } }));
console.log(Map, Array, Object, Function, Promise, Symbol, Date);
console.log(Math.max, [].push, console.log.name);
console.log((function() {}).bind(null), (function bound() {}).bind(null));
class T { get [Symbol.toStringTag]() { return 'Tag'; } }
console.log(new T(), Object.assign(new T(), { a: 1 }));
class Arr extends Array { get [Symbol.toStringTag]() { return 'Special'; } }
console.log(Arr.from([1]));
function Old(x) { this.x = x; }
Old.prototype.method = function() {};
console.log(new Old(5), Old);
function Sub() {}
util.inherits(Sub, Old);
console.log(new Sub());
const noName = Object.create({ constructor: function() {} });
console.log(Object.create(A.prototype), Object.create(Object.create(null)));
console.log(A.prototype, B.prototype, Object.prototype, Array.prototype, Function.prototype);
console.log({ [util.inspect.custom]() { return 'CUSTOM'; } });
console.log({ [util.inspect.custom](depth, options) { return { depth, type: typeof options.stylize }; } });
console.log([{ [util.inspect.custom]() { return 'in\narray'; } }]);
console.log({ a: { [util.inspect.custom](d) { return `depth ${d}`; } } });
class Money { constructor(n) { this.n = n; } [util.inspect.custom]() { return `Money<${this.n}>`; } }
console.log(new Money(5), [new Money(6)], { m: new Money(7) });
console.log({ inspect() { return 'not used'; } });
class Deep { constructor(d) { if (d) this.next = new Deep(d - 1); } }
console.log(new Deep(5));
console.log(util.inspect(new Deep(5), { depth: 5 }));
console.log(util.inspect(new Deep(5), { depth: null }));
console.log(util.inspect(new Deep(2), { depth: 0 }), util.inspect({ a: {} }, { depth: -1 }), util.inspect([1], { depth: -1 }));
console.log(Object.defineProperty(function() {}, 'name', { value: 'renamed' }));
console.log(Object.defineProperty(class X {}, 'name', { value: 'Y' }));
class Node1 { constructor(v) { this.value = v; this.children = []; } add(c) { this.children.push(c); c.parent = this; return this; } }
console.log(new Node1('root').add(new Node1('leaf')));
console.log(new (class Foo extends Map { extra = 1; })([[1, 2]]));
console.log(new (class extends Error { name = 'E'; })('m').message);
console.log(Symbol, Object.assign(Object.create({ a: 1 }), { b: 2 }));
class Getter { constructor() { Object.defineProperty(this, 'v', { get() { return 5; }, enumerable: true }); } }
console.log(new Getter(), util.inspect(new Getter(), { getters: true }));
console.log(Object.setPrototypeOf({ a: 1 }, A.prototype));
