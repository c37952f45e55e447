// How the inspector's findings are laid out.  A finding is a string or an
// object with render(st, indent) that gives its text for a place `indent`
// columns from the left; it decides about lines only then.
(function(native, hooks, share) {
const { indexOf, join, repeat, replaceAll,
	sort, split } = share.safe;
const { plain, quoted, width } = share.words;
const { min, max, floor, round, sqrt } = Math;
const gap = 2; // a comma and a space

function render(finding, st, indent) {
	return typeof finding === 'string' ? finding :
		finding.render(st, indent);
}

const printed = (st, s) => st.colors ? plain(s) : s;

// Text of several lines, moved to its place as it is.
class Lines {
	constructor(text) {
		this.text = text;
	}
	render(st, indent) {
		return indent === 0 ? this.text : replaceAll(this.text, '\n',
			`\n${repeat(' ', indent)}`);
	}
}

function lines(text) {
	return indexOf(text, '\n') < 0 ? text : new Lines(text);
}

// A string with line ends: split there if it is too long for its place.
class LongString {
	constructor(text, rest) {
		this.text = text;
		this.rest = rest;
	}
	render(st, indent) {
		const { text } = this;
		if (st.compact === true ||
		    text.length <= st.breakLength - indent - 4)
			return st.stylize(quoted(text), 'string') + this.rest;
		const parts = split(text, '\n');
		const last = parts.length - 1, out = [];
		for (let i = 0; i <= last; i++) {
			const part = i < last ? `${parts[i]}\n` : parts[i];
			if (part !== '')
				out[i] = st.stylize(quoted(part), 'string');
		}
		return join(out, ` +\n${repeat(' ', indent + 2)}`) + this.rest;
	}
}

function string(st, text, rest) {
	return text.length > 16 && indexOf(text, '\n') >= 0 ?
		new LongString(text, rest) :
		st.stylize(quoted(text), 'string') + rest;
}

// Two findings with a sign between: an entry of a Map, a getter's value.
class Pair {
	constructor(left, sign, right) {
		this.left = left;
		this.sign = sign;
		this.right = right;
	}
	render(st, indent) {
		return render(this.left, st, indent) + this.sign +
			render(this.right, st, indent);
	}
}

// "name: value" of an object; in compact form a wide value goes below it.
class Property {
	constructor(name, value) {
		this.name = name;
		this.value = value;
	}
	render(st, indent) {
		if (st.compact !== true)
			return `${this.name}: ${render(this.value, st, indent)}`;
		const value = render(this.value, st, indent + 1);
		const sign = width(printed(st, value)) > st.breakLength ?
			`\n${repeat(' ', indent + 1)}` : ' ';
		return `${this.name}:${sign}${value}`;
	}
}

// Columns of about the shape of a page, each as wide as its widest item, if
// at least three fit and no item is much wider than the others.
function columnCount(st, widths, all, indent) {
	const count = widths.length;
	let total = gap * count, widest = 0;

	for (let i = 0; i < count; i++) {
		total += widths[i];
		widest = max(widest, widths[i]);
	}
	const column = widest + gap;
	if (column * 3 + indent >= st.breakLength ||
	    (total / column <= 5 && widest > 6))
		return 1;
	const even = max(column - 3 - sqrt(column - total / all), 1);
	return min(round(sqrt(2.5 * even * count) / even),
		floor((st.breakLength - indent) / column),
		st.compact * 4, 15);
}

// Items of an array in columns; the same items if they do not suit.  `more`
// counts items at the end that stand for others and are left alone.
function inColumns(st, items, indent, group) {
	const widths = [], count = items.length - group.more;
	for (let i = 0; i < count; i++)
		widths[i] = width(printed(st, items[i]));
	const columns = columnCount(st, widths, items.length, indent);
	if (!(columns > 1))
		return items;
	const room = [];
	for (let i = 0; i < count; i++) {
		const at = i % columns;
		room[at] = max(room[at] ?? 0, widths[i] + gap);
	}
	const rows = [];
	for (let from = 0; from < count; from += columns) {
		const last = min(from + columns, count) - 1;
		let row = '';
		for (let i = from; i <= last; i++) {
			const fill = repeat(' ', room[i - from] - widths[i] - gap);
			const item = i < last ? `${items[i]}, ` : items[i];
			if (group.numeric)
				row += fill + item;
			else
				row += i < last ? item + fill : item;
		}
		rows[rows.length] = row;
	}
	for (let i = count; i < items.length; i++)
		rows[rows.length] = items[i];
	return rows;
}

// True if the items fit on one line beside `used` columns.
function fits(st, items, used, base) {
	let total = items.length + used;
	for (let i = 0; total <= st.breakLength && i < items.length; i++)
		total += printed(st, items[i]).length;
	return total <= st.breakLength && indexOf(base, '\n') < 0;
}

// Sorts the last `count` items as the program wants.
function sortItems(st, items, count) {
	const from = max(items.length - count, 0), tail = [];
	for (let i = from; i < items.length; i++)
		tail[i - from] = items[i];
	sort(tail, st.sorted === true ? undefined : st.sorted);
	for (let i = from; i < items.length; i++)
		items[i] = tail[i - from];
}

// Items between braces.
class Group {
	constructor(open, close) {
		this.open = open;
		this.close = close;
		this.base = ''; // what stands before the braces
		this.depth = 0; // levels down to the object entered last
		this.items = [];
		this.named = 0; // properties among the items, at the end
		this.list = false; // an array: may be shown in columns
		this.numeric = false;
		this.more = 0; // items at the end that stand for others
		this.ref = '';
	}
	render(st, indent) {
		const items = [], inner = indent + 2;
		let base = render(this.base, st, indent);

		for (let i = 0; i < this.items.length; i++)
			items[i] = render(this.items[i], st, inner);
		if (st.sorted)
			sortItems(st, items, this.list ? this.named : Infinity);
		if (st.compact === true)
			return this.#dense(st, indent, items, base);
		if (this.ref !== '')
			base = base === '' ? this.ref : `${this.ref} ${base}`;
		return this.#airy(st, indent, items, base);
	}
	#airy(st, indent, items, base) {
		const head = base === '' ? this.open : `${base} ${this.open}`;
		if (st.compact >= 1) {
			const rows = this.list && items.length > 6 ?
				inColumns(st, items, indent, this) : items;
			const used = items.length + indent + this.open.length +
				base.length + 10;
			if (rows === items && this.depth < st.compact &&
			    fits(st, items, used, base)) {
				const text = join(items, ', ');
				if (indexOf(text, '\n') < 0)
					return `${head} ${text} ${this.close}`;
			}
			items = rows;
		}
		const line = `\n${repeat(' ', indent)}`;
		return `${head}${line}  ${join(items, `,${line}  `)}${line}` +
			this.close;
	}
	#dense(st, indent, items, base) {
		const open = this.ref === '' ? this.open :
			`${this.ref} ${this.open}`;
		const head = base === '' ? open : `${open} ${base}`;
		if (fits(st, items, 0, base))
			return `${head} ${join(items, ', ')} ${this.close}`;
		const line = `\n${repeat(' ', indent)}  `;
		const first = base === '' && open.length === 1 ? ' ' : line;
		return `${head}${first}${join(items, `,${line}`)} ${this.close}`;
	}
}

share.layout = { __proto__: null, Group, Lines, lines, Pair, Property, render,
	string };
})
