// Shapes of console.table.
const t = console.table;
t([]); t({}); t([[]]); t([[], [1]]); t([{}]); t([1, 2]); t([null]); t(['a', undefined, 3n, Symbol('s')]);
t([{ a: 1 }, { b: 2 }]); t([{ a: 1 }, 5]); t([5, { a: 1 }]); t({ x: 1, y: { z: 2 } }); t({ x: [1, 2, 3, 4], y: [[1], [2]] });
t([{ a: 1, b: 2 }], ['b', 'a']); t([{ a: 1 }], ['c']); t([{ a: 1 }], []); t([1, { a: 1 }], ['a']);
t(new Map()); t(new Set()); t(new Map([['k', 'v'], [{ a: 1 }, [1, 2]]])); t(new Set(['x', { a: { b: 1 } }]));
t(new Map([[1, 2]]).keys()); t(new Map([[1, 2]]).values()); t(new Map([[1, 2]]).entries()); t(new Set([3]).values()); t(new Set([3]).entries());
t([{ big: { a: 1, b: 2, c: 3 } }]); t([{ small: { a: 1, b: 2 } }]); t([[[1, 2, 3, 4, 5]]]); t([{ s: 'it\'s', n: null, u: undefined }]);
t([() => 1, function f() {}]); t([new Date(0), /x/]); t([{ '日本': '中文' }, { '日本': 'é' }]); t('text'); t(5); t(undefined); t(() => {});
t(new Uint8Array([1, 2])); t([[1, 2], [3, 4], [5, 6]]); t([{ a: -0 }, { a: 1.5 }]); t({ __proto__: null, a: { b: 1 } });
try { t([1], 'x'); } catch (e) { console.log(e.code, e.message); }
console.group(); t([[1]]); console.groupEnd();
