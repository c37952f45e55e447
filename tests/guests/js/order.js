// The order of ticks, promise jobs, timers and immediates.
const log = (x) => console.log(x);
setTimeout(() => log('timeout 0'), 0); setTimeout(() => log('timeout 1'), 1); setTimeout((a, b) => log(`args ${a} ${b}`), 2, 'x', 'y');
process.nextTick(() => log('tick 1')); Promise.resolve().then(() => { log('micro 1'); process.nextTick(() => log('tick from micro')); }).then(() => log('micro 2')); queueMicrotask(() => log('queued')); process.nextTick((v) => log(v), 'tick 2');
setTimeout(() => { log('A'); Promise.resolve().then(() => log('micro in A')); process.nextTick(() => log('tick in A')); }, 50); setTimeout(() => log('B'), 50);
setTimeout(() => setImmediate(() => log('immediate in timer')), 100);
const dead = setTimeout(() => log('never'), 1); clearTimeout(dead); const deadI = setImmediate(() => log('never')); clearImmediate(deadI); clearTimeout(undefined); clearTimeout(null); clearTimeout({});
(async () => { log('async start'); await null; log('after await'); await new Promise((r) => setTimeout(r, 150)); log('after sleep'); })();
setTimeout(() => log('unref never'), 100000).unref(); const t = setTimeout(() => {}, 1); console.log(typeof t, t.hasRef(), typeof t[Symbol.toPrimitive]());
try { setTimeout('x'); } catch (e) { log(`${e.code} ${e.message}`); } try { queueMicrotask(5); } catch (e) { log(`${e.code} ${e.message}`); }
log('sync end'); require('timers/promises').setTimeout(200, 'value').then(log); setTimeout(log, 250, 'late');
setTimeout(() => { setTimeout(() => log('nested 2'), 0); }, 300).ref(); Promise.all([1, Promise.resolve(2)]).then((v) => log(v)); Promise.allSettled([Promise.reject(3)]).then((v) => log(JSON.stringify(v))); Promise.race([new Promise(() => {}), Promise.resolve('won')]).then(log); Promise.any([Promise.reject(1), Promise.resolve('any')]).then(log);
(async function() { for await (const x of (async function* () { yield 'gen 1'; yield 'gen 2'; })()) log(x); })();
const late = Promise.reject(new Error('late')); setTimeout(() => {}, 0); late.catch((e) => log(`caught ${e.message}`)); Promise.resolve().finally(() => log('finally'));
setTimeout(() => { let n = 0; const i = setInterval(() => { log('interval'); if (++n === 3) clearInterval(i); }, 10); const r = setTimeout(() => log('refreshed'), 60); setTimeout(() => r.refresh(), 30); }, 350);
