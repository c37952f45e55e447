// util.format and console's placeholders.
const { format, formatWithOptions } = require('util');
const p = (...a) => console.log(format(...a));
p(); p(''); p('a', 'b'); p('%'); p('%%'); p('%s'); p('%s', 'x'); p('%s %s', 'x'); p('%s', 'x', 'y', { z: 1 });
p('%s', 1, '%s'); p('%s', -0); p('%s', 10n); p('%s', Symbol('a')); p('%s', null); p('%s', undefined); p('%s', true);
p('%s', {}); p('%s', { a: { b: { c: 1 } } }); p('%s', [1, [2, [3]]]); p('%s', () => 1); p('%s', class A {});
p('%s', new Date(0)); p('%s', new Error('e').message); p('%s', { toString() { return 'own'; } });
class K { toString() { return 'class own'; } }
p('%s', new K()); p('%s', Object.create(null)); p('%s', new (class Foo extends K {})());
p('%s', { [Symbol.toPrimitive]() { return 'prim'; } });
p('%d', 42); p('%d', '42'); p('%d', 'x'); p('%d', 1.5); p('%d', -0); p('%d', 10n); p('%d', {}); p('%d', Symbol('a')); p('%d', null); p('%d', undefined); p('%d', '');
p('%i', 42.9); p('%i', '42.9px'); p('%i', 'x'); p('%i', 10n); p('%i', Symbol('a')); p('%i', -0.5);
p('%f', 42); p('%f', '1.5x'); p('%f', 'x'); p('%f', Symbol('a')); p('%f', -0);
p('%j', { a: [1, 'x'] }); p('%j', 'x'); p('%j', undefined); p('%j', () => {}); p('%j', null);
const c = {}; c.c = c;
p('%j', c);
p('%o', [1, 2]); p('%o', { f() {} }); p('%O', { a: { b: { c: { d: 1 } } } }); p('%O', 'x'); p('%o', 'x');
p('%c styled %c', 'color: red', ''); p('%x', 1); p('%a %b', 1); p('100%', 1); p('%%s', 1); p('%s%%%s', 'a', 'b'); p('% s', 1); p('%s', 'a%sb', 'c');
p(1, 2, 3); p(1, '%s', 2); p({ a: 1 }, 'x'); p([1], [2]); p(null, undefined); p('x', null); p('a\nb', ['a\nb']);
p('%s:%s', 'foo', 'bar', 'baz'); p('%s', 'multi', 'arg', 1, { o: 1 }); p('%d%%', 50); p('%s', [1, 2, 3]); p('%s', new Map([[1, 2]])); p('%s', new Set([1]));
p('%O', new Map([[1, { a: { b: { c: 1 } } }]])); p('%s', [new Date(0)]); p('%s', Object('s')); p('%s', Object(1)); p('%d', Object(2)); p('%d', '0x10'); p('%i', '0x10'); p('%d', ' 12 ');
console.log('%s is %d years', 'Bob', 42, 'extra'); console.log('%o', 1); console.log('%', 1); console.log('%s', '%s', 'x'); console.log('a%', 'b');
console.log(formatWithOptions({ compact: true }, '%O', { a: { b: 1 } }), formatWithOptions({ colors: true }, '%s %O', 'x', 1));
console.log('no args %s'); console.log('%5d', 1); console.log('%s', ''); console.log(''); console.log(); console.log(' ', '', ' ');
