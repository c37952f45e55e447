// process.
console.log(typeof process.argv[0], process.argv[1].split('/').pop(), process.argv.length, process.argv.slice(3), process.platform, typeof process.pid, process.version.slice(0, 4), typeof process.versions.node, Object.prototype.toString.call(process));
console.log(typeof process.env, process.env.NOPE, 'NOPE' in process.env, typeof process.cwd(), typeof process.uptime(), Array.isArray(process.hrtime()), typeof process.hrtime.bigint(), process.hrtime.bigint() <= process.hrtime.bigint(), typeof process.memoryUsage().heapUsed, process.exitCode);
process.env.ADDED = 5; console.log(process.env.ADDED, typeof process.env.ADDED); delete process.env.ADDED; console.log(process.env.ADDED);
process.on('never', () => {}); process.once('x', (v) => console.log('event', v)); process.emit('x', 1); console.log(require('process') === process, process.stdout.isTTY === true, process.stdout.fd, process.stderr.fd, typeof process.stdin.on);
process.stdout.write('a', () => console.log('written callback')); process.stdout.write('b\n', 'utf8'); console.log(process.stdout.write(''), typeof process.nextTick, typeof process.emitWarning, typeof process.title);
try { process.stdout.write(5); } catch (e) { console.log(e.code); } try { process.nextTick(5); } catch (e) { console.log(e.code); } try { process.exitCode = 'x'; } catch (e) { console.log(e.code); }
process.exitCode = 3; console.log(process.exitCode); process.exitCode = undefined;
try { setTimeout(() => console.log('never'), 1000); console.log('before exit'); process.exit(0); } finally { console.log('no finally after exit'); }
