// console's other methods: standard output and standard error.
console.log('log'); console.info('info'); console.debug('debug');
console.error('error'); console.warn('warn %s', 'formatted');
console.group('group one'); console.log('inside'); console.group(); console.log({ a: 1, b: { c: 2 } }); console.log('two\nlines');
console.error('error inside'); console.groupEnd(); console.log('back'); console.groupEnd(); console.groupEnd(); console.log('outside');
console.groupCollapsed('collapsed'); console.info('x'); console.groupEnd();
console.count(); console.count(); console.count('label'); console.countReset(); console.count();
console.assert(true, 'not shown'); console.assert(false); console.assert(false, 'shown %s', 'arg'); console.assert(0, { a: 1 }); console.assert(false, 'obj', { b: 1 });
console.dir({ a: { b: { c: { d: 1 } } } }); console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 }); console.dir('str'); console.dir([1], { colors: true });
console.dirxml('dirxml', [1]);
console.table([[1, 2], [3, 4]]); console.table([{ a: 1, b: 'x' }, { a: 2, c: true }]); console.table([{ a: 1, b: 2 }], ['b']); console.table(['p', 'q']);
console.table(new Map([['k', 1], ['l', { z: 1 }]])); console.table(new Set([1, 'x'])); console.table({ r1: { c: 1 }, r2: { c: 2 } }); console.table(5); console.table('s'); console.table(null);
console.table([]); console.table([1, { a: 2 }]); console.table([{ name: '日本', n: 1 }]); console.table([[{ x: { y: 1 } }, [1, 2, 3, 4]]]); console.table([new Date(0)]);
console.table({ a: [1, 2], b: [3] }); console.table([undefined, null, 1n]); console.table(new Map([[1, 2]]).entries()); console.table([[]]); console.table([{ a: 'x'.repeat(10) }, { a: '' }]);
console.log(typeof console.time, typeof console.trace, Object.prototype.toString.call(console), typeof console.clear());
console.log(console.log === console.info, console.error === console.warn);
const { log } = console; log('detached');
[1, 2].forEach(console.log); ['a', 'b'].map(console.error);
process.stdout.write('written'); process.stdout.write('\n'); process.stderr.write('err written\n'); process.stdout.write(Buffer.from('bytes\n')); process.stdout.write(new Uint8Array([104, 105, 10]));
