// node:events.
const EventEmitter = require('events');
const e = new EventEmitter();
e.on('x', (...a) => console.log('on', a)); e.once('x', (a) => console.log('once', a)); e.prependListener('x', () => console.log('first'));
console.log(e.emit('x', 1, 2), e.emit('x', 3), e.emit('none'), e.listenerCount('x'), e.eventNames());
const f = () => console.log('f'); e.on('y', f).addListener('y', f); e.off('y', f); e.emit('y'); e.removeAllListeners('y'); console.log(e.emit('y'));
try { e.emit('error', new Error('boom')); } catch (err) { console.log(err.message); }
try { e.emit('error', 'text'); } catch (err) { console.log(err.code, err.message); }
e.on('error', (err) => console.log('handled', err)); e.emit('error', 'now');
e.on('newListener', (name) => console.log('new', name)); e.on('z', f); e.on('removeListener', (name) => console.log('removed', name)); e.off('z', f);
class Mine extends EventEmitter { go() { this.emit('go', this instanceof Mine); } }
new Mine().on('go', (ok) => console.log('go', ok)).go();
console.log(EventEmitter.EventEmitter === EventEmitter, EventEmitter.defaultMaxListeners, new EventEmitter().getMaxListeners(), typeof EventEmitter.once);
EventEmitter.once(e, 'later').then((v) => console.log('later', v)); setTimeout(() => e.emit('later', 1, 2), 1);
try { e.on('q', 5); } catch (err) { console.log(err.code, err.message); }
const order = new EventEmitter(); order.on('a', () => { console.log(1); order.on('a', () => console.log('added')); }); order.on('a', () => console.log(2)); order.emit('a'); order.emit('a');
e.once('w', () => {}); console.log(e.rawListeners('w').length, e.listeners('w').length, e.listenerCount('w'));
