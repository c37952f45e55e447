(() => {
	let text = "";
	for (let i = 0; i < 3000; i++)
		text += `person${i}@mail.example wrote on 2026-0${i % 9 + 1}-1${i % 10}; `;
	let n = 0;
	for (let k = 0; k < 3; k++) {
		n += text.replace(/([\w.]+)@([\w.]+)/g, "$2:$1").length;
		n += [...text.matchAll(/(\d{4})-(\d\d)-(\d\d)/g)].length;
	}
	return n;
})();
