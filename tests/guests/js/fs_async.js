// node:fs: callbacks, promises, streams.
const fs = require('fs'), fsp = require('fs/promises'), path = require('path');
const dir = process.argv[2], f = (p) => path.join(dir, p);
const cb = (g) => new Promise((r) => g((err, v) => { console.log('callback', err && err.code, v); r(); }));
async function main() {
	await fsp.writeFile(f('p'), 'promised'); console.log(await fsp.readFile(f('p'), 'utf8'), await fsp.readdir(dir), (await fsp.stat(f('p'))).size);
	await fsp.readFile(f('none')).catch((e) => console.log(e.code, e.syscall)); await fsp.appendFile(f('p'), '!'); await fsp.rename(f('p'), f('q')); await fsp.copyFile(f('q'), f('r')); await fsp.mkdir(f('d')); await fsp.rm(f('d'), { recursive: true }); await fsp.unlink(f('r')); await fsp.access(f('q')); await fsp.access(f('none')).catch((e) => console.log(e.code));
	const h = await fsp.open(f('h'), 'w+'); await h.write('handle'); console.log((await h.stat()).size, typeof h.fd); const { bytesRead, buffer } = await h.read(Buffer.alloc(3), 0, 3, 0); console.log(bytesRead, buffer.toString()); await h.close();
	await cb((r) => fs.readFile(f('q'), 'utf8', r)); await cb((r) => fs.readFile(f('none'), r)); await cb((r) => fs.writeFile(f('w'), 'x', r)); await cb((r) => fs.stat(f('none'), r)); await cb((r) => fs.mkdir(f('m'), r)); await cb((r) => fs.readdir(f('m'), r)); await cb((r) => fs.unlink(f('w'), r)); await new Promise((r) => fs.exists(f('q'), (x) => { console.log('exists', x); r(); }));
	const w = fs.createWriteStream(f('s')); w.write('first '); w.write(Buffer.from('second ')); await new Promise((r) => w.end('third', r)); console.log(fs.readFileSync(f('s'), 'utf8'), w.bytesWritten);
	let all = ''; for await (const c of fs.createReadStream(f('s'), 'utf8')) all += c; console.log(all); for await (const c of fs.createReadStream(f('s'), { start: 2, end: 8 })) console.log(c); const chunks = []; for await (const c of fs.createReadStream(f('s'), { highWaterMark: 5, encoding: 'utf8' })) chunks.push(c); console.log(chunks);
	await new Promise((r) => fs.createReadStream(f('s')).setEncoding('utf8').on('data', (c) => console.log('data', c)).on('end', () => console.log('end')).on('close', () => { console.log('close'); r(); }));
	await new Promise((r) => fs.createReadStream(f('none')).on('error', (e) => { console.log('stream error', e.code, e.syscall); r(); }).on('data', () => {})); await new Promise((r) => fs.createReadStream(f('s')).pipe(fs.createWriteStream(f('t'))).on('finish', r)); console.log(fs.readFileSync(f('t'), 'utf8'));
	try { for await (const c of fs.createReadStream(f('none'))) console.log(c); } catch (e) { console.log('iterator', e.code); } try { fs.readFile(f('q')); } catch (e) { console.log(e.code, e.message); } await new Promise((r) => fs.createWriteStream(f('no/dir')).on('error', (e) => { console.log(e.code); r(); }));
	const a = fs.createWriteStream(f('s'), { flags: 'a' }); a.end('!'); await new Promise((r) => a.on('finish', r)); console.log(fs.readFileSync(f('s'), 'utf8'), fs.promises === fsp, require('node:fs') === fs);
}
main().then(() => console.log('done'));
