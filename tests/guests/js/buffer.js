// Buffer and the encodings.
const b = Buffer.from('héllo wörld');
console.log(b, b.length, b.toString(), b.toString('hex'), b.toString('base64'), b.toString('base64url'), b.toString('latin1'), b.toString('ascii'));
console.log(Buffer.from('68656c6c6f', 'hex').toString(), Buffer.from('aGVsbG8=', 'base64').toString(), Buffer.from('aGVsbG8', 'base64url').toString(), Buffer.from('6g', 'hex'), Buffer.from('zz', 'hex'), Buffer.from('a GV\nsbG8', 'base64').toString());
console.log(Buffer.from([1, 2, 256, -1, 'x']), Buffer.from(new Uint8Array([9])), Buffer.from(new ArrayBuffer(2)), Buffer.from(Buffer.from('copy')), Buffer.from({ type: 'Buffer', data: [1, 2] }));
console.log(Buffer.alloc(3, 'ab'), Buffer.alloc(3, 7), Buffer.alloc(2).fill('x'), Buffer.allocUnsafe(2).length, Buffer.alloc(4).fill('ab', 1, 3));
console.log(Buffer.concat([Buffer.from('a'), Buffer.from('bc')]).toString(), Buffer.concat([Buffer.from('abc')], 2), Buffer.concat([]), Buffer.concat([Buffer.from('a')], 3));
console.log(Buffer.byteLength('é'), Buffer.byteLength('aGk=', 'base64'), Buffer.byteLength(new ArrayBuffer(5)), Buffer.isBuffer(b), Buffer.isBuffer(new Uint8Array(1)), Buffer.isEncoding('UTF-8'), Buffer.isEncoding('nope'));
console.log(b.slice(0, 3).toString(), b.subarray(-5).toString(), b.indexOf('l'), b.lastIndexOf('l'), b.includes('wör'), b.indexOf('zzz'), b.indexOf(0x6f), b.equals(Buffer.from('héllo wörld')), Buffer.compare(Buffer.from('a'), Buffer.from('b')));
console.log(JSON.stringify(Buffer.from('ab')), b.toString('utf8', 0, 3), [...Buffer.from('ab').entries()], Buffer.from('abc').reverse().toString());
const w = Buffer.alloc(24);
w.writeUInt8(255, 0); w.writeInt16BE(-2, 1); w.writeUInt32LE(0xdeadbeef, 3); w.writeDoubleBE(1.5, 7); w.writeFloatLE(0.5, 15); w.writeInt8(-1, 19);
console.log(w, w.readUInt8(0), w.readInt16BE(1), w.readUInt32LE(3).toString(16), w.readDoubleBE(7), w.readFloatLE(15), w.readInt8(19), w.readUint16LE(3));
console.log(w.write('hi', 20), w.toString('latin1', 20, 22), w.copy(Buffer.alloc(3), 0, 20), Buffer.from('ab').swap16());
console.log(Buffer.from('€').toString('hex'), Buffer.from('\ud800').toString('hex'), Buffer.from([0xff, 0xfe, 0x41]).toString(), Buffer.from([0xe2, 0x82]).toString(), Buffer.from('hi', 'utf16le'), Buffer.from('68006900', 'hex').toString('ucs2'));
for (const f of [() => Buffer.from(5), () => Buffer.from(null), () => Buffer.alloc('x'), () => Buffer.from('a', 'nope'), () => Buffer.alloc(1).readUInt8(1), () => Buffer.byteLength(5), () => Buffer.concat('x')]) { try { f(); } catch (e) { console.log(e.name, e.code, e.message); } }
console.log(require('buffer').Buffer === Buffer, Buffer.from('abc')[1], typeof Buffer.from('x').buffer, Buffer.from('a') instanceof Uint8Array, Object.prototype.toString.call(b));
console.log(atob('aGk='), btoa('hi'), new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61])), new TextDecoder('latin1').decode(new Uint8Array([0xe9])), new TextDecoder('utf-16le').decode(new Uint8Array([0x61, 0])), new TextEncoder().encode('é'), new TextEncoder().encodeInto('aé', new Uint8Array(2)));
try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0xff])); } catch (e) { console.log(e.name, e.code); }
try { new TextDecoder('nope'); } catch (e) { console.log(e.name, e.code, e.message); }
const d = new TextDecoder(); console.log(d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }) + '|' + d.decode(new Uint8Array([0xac]), { stream: true }) + '|' + d.decode());
for (const bytes of [[0xc0, 0x80], [0xe0, 0x80, 0x80], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x8e], [0xf4, 0x90, 0x80, 0x80], [0x61, 0xff, 0x62], [0xf0, 0x9f, 0x41]]) console.log(JSON.stringify(Buffer.from(bytes).toString()));
