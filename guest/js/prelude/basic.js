(function(native, hooks, share) {
	globalThis.input = undefined;
	hooks.describe = (v) => String(v);
	globalThis.console = {
		log(...a) { native.write(1, a.join(" ") + "\n"); },
	};
})
