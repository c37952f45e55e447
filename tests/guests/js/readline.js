// node:readline over files.
const fs = require('fs'), readline = require('readline'), path = require('path');
const f = path.join(process.argv[2], 'lines'), other = path.join(process.argv[2], 'other');
const lines = async (text, o) => { fs.writeFileSync(f, text); const out = []; for await (const l of readline.createInterface({ input: fs.createReadStream(f, o), crlfDelay: Infinity })) out.push(l); return out; };
(async () => {
	for (const text of ['', '\n', 'a', 'a\n', 'a\nb', 'a\nb\n', 'a\r\nb\r\n', '\n\n\n', 'a\rb', 'é\n日本\n🎉', 'x'.repeat(70000) + '\ny', 'a\u2028b\u2029c', 'a\r\n\r\nb', 'last\r', '\r\n', 'nul\0in\nside']) { const l = await lines(text); console.log(l.length, l.map((x) => (x.length > 20 ? x.length : x))); }
	let big = ''; for (let i = 0; i < 20000; i++) big += `row ${i},${i * 2}\n`; fs.writeFileSync(other, big);
	let sum = 0, n = 0; for await (const l of readline.createInterface({ input: fs.createReadStream(other) })) { n++; sum += Number(l.split(',')[1]); } console.log(n, sum);
	await new Promise((r) => { const rl = readline.createInterface({ input: fs.createReadStream(other) }); let c = 0; rl.on('line', (l) => { if (++c === 3) console.log('third', l); }).on('close', () => { console.log('closed', c); r(); }); });
	let k = 0; for await (const l of readline.createInterface({ input: fs.createReadStream(other) })) if (++k === 5) { console.log('break at', l); break; }
	console.log(await lines('one\ntwo', { encoding: 'utf8' })); const h = await fs.promises.open(f); for await (const l of h.readLines()) console.log('handle', l);
	try { for await (const l of readline.createInterface({ input: fs.createReadStream(f + '.none') })) console.log(l); } catch (e) { console.log('error', e.code); }
	await new Promise((r) => { const rl = readline.createInterface({ input: fs.createReadStream(f) }); rl.once('line', (l) => { console.log('first', l); rl.pause(); setTimeout(() => { console.log('resuming'); rl.resume(); }, 5); }); rl.on('line', (l) => console.log('line', l)); rl.on('close', r); });
	try { readline.createInterface({}); } catch (e) { console.log(e.name); } const { EventEmitter } = require('events'); const s = new EventEmitter(); s.resume = s.pause = () => {}; const rl = readline.createInterface({ input: s }); rl.on('line', (l) => console.log('emitted', l)); rl.on('close', () => console.log('close')); setTimeout(() => { s.emit('data', 'par'); s.emit('data', 'tial\nnext\r'); s.emit('data', '\nend'); s.emit('end'); }, 5);
	console.log(fs.readFileSync(other, 'utf8').split('\n').length, typeof require('readline/promises').createInterface);
})();
