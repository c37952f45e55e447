// Errors.  Frames differ between programs, so only what is around them shows.
const util = require('util');
const show = (e) => console.log(util.inspect(e).replace(/\n +at .*/g, '\n    at …').replace(/(\n    at …)+/g, '\n    at …'));
show(new Error('plain'));
show(new TypeError('typed'));
show(new Error(''));
show(new Error('multi\nline'));
show(Object.assign(new Error('with props'), { code: 'E_X', detail: { a: 1 } }));
show(new Error('outer', { cause: 'text cause' }));
show(new Error('outer', { cause: undefined }));
class MyError extends Error { constructor(m) { super(m); this.name = 'MyError'; } }
show(new MyError('mine'));
class Unnamed extends Error {}
show(new Unnamed('unnamed'));
class Coded extends Error { constructor(m) { super(m); this.code = 'C1'; } get name() { return 'CodedName'; } }
show(new Coded('coded'));
const noStack = new Error('no stack');
noStack.stack = undefined;
show(noStack);
const ownStack = new Error('own');
ownStack.stack = 'Custom stack text';
show(ownStack);
const renamed = new Error('renamed');
renamed.name = 'Renamed';
show(renamed);
const changed = new Error('before');
changed.message = 'after';
show(changed);
console.log([new RangeError('in array')].map((e) => `${e}`), String(new Error('x')), `${new TypeError()}`);
console.log({ e: new Error('in object').message });
console.log(Object.prototype.toString.call(new Error('x')), new Error('x') instanceof Error);
try { null.x; } catch (e) { console.log(e.name, e instanceof TypeError, e.constructor === TypeError); }
try { undefinedVariable; } catch (e) { console.log(e.name, e.message); }
try { JSON.parse('{bad'); } catch (e) { console.log(e.name); }
try { new Array(-1); } catch (e) { console.log(e.name); }
try { (1).toFixed(101); } catch (e) { console.log(e.name); }
try { BigInt('x'); } catch (e) { console.log(e.name); }
try { decodeURIComponent('%'); } catch (e) { console.log(e.name); }
try { throw Object.assign(new Error('m'), { name: 'X' }); } catch (e) { console.log(`${e}`); }
console.log(new Error('s').stack.split('\n')[0], typeof new Error('s').stack);
console.log(/^ {4}at /.test(new Error('s').stack.split('\n')[1]));
const agg = new AggregateError([new Error('one')], 'many');
console.log(agg.message, agg.errors.length, agg.name);
console.log(Object.keys(new Error('x')), Object.getOwnPropertyNames(new Error('x')).includes('message'));
const holder = {};
Error.captureStackTrace(holder);
console.log(typeof holder.stack, holder.stack.split('\n')[0]);
console.log(new Error('a', { cause: new Error('b') }).cause.message);
console.log(util.types.isNativeError(new Error('x')), util.types.isNativeError({ __proto__: Error.prototype }));
console.log(new DOMException('dom', 'AbortError').name, new DOMException('dom').message);
