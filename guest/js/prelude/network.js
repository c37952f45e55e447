// There is no network here: what would use it says so when it is called, and
// typeof finds what it finds in Node.
(function(native, hooks, share) {
const { coded, define } = share;

share.noNetwork = 'there is no network in a sandbox; pass the data in as ' +
	'input, or grant a file that holds it';

const refusal = (name) => coded(TypeError, 'ERR_ACCESS_DENIED',
	`${name}: ${share.noNetwork}`);

async function fetch(input, init) {
	throw refusal('fetch');
}

class WebSocket extends EventTarget {
	constructor(url) {
		super();
		throw refusal('WebSocket');
	}
}
for (const [i, name] of ['CONNECTING', 'OPEN', 'CLOSING', 'CLOSED'].entries())
	define(WebSocket, name, i);

share.global('fetch', fetch);
share.global('WebSocket', WebSocket);
})
