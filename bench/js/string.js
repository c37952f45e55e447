(() => {
	let text = "";
	for (let i = 0; i < 200000; i++)
		text += String.fromCharCode(97 + (i * 31) % 26);
	let hash = 0;
	for (let i = 0; i < text.length; i++)
		hash = (Math.imul(hash, 33) + text.charCodeAt(i)) | 0;
	return [hash, text.split("q").length, text.slice(5, 90000).toUpperCase().length];
})();
