// SPDX-License-Identifier: BSD-2-Clause
// Numbers and names as the picture writes them.
// ---- numbers, as view/number.c writes them ----

function share(part, whole) {
	if (!whole || !part)
		return '0' + THIN + '%';
	if (part >= whole)
		return '100' + THIN + '%';
	const pct = 100 * part / whole;
	const text = pct >= 10 ? Math.min(pct, 99.9).toFixed(1) : pct >= .1 ? pct.toFixed(2) : pct < .0005 ? '<0.001' : pct.toFixed(3);
	return text + THIN + '%';
}

function count(n) {
	return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

function time(ns) {
	const units = [[1e9, 's'], [1e6, 'ms'], [1e3, '\u00b5s'], [1, 'ns']];
	const unit = units.find(u => ns >= u[0]) || units[3], n = ns / unit[0];
	const text = n >= 100 ? count(n) : Number.isInteger(+n.toFixed(2)) ? n.toFixed(0) : n.toFixed(n >= 10 ? 1 : 2);
	return text + ' ' + unit[1];
}

function value(n) {
	return meta.unit === 'ns' ? time(n) : count(n) + ' ' + meta.unit;
}

// ---- names that fit: see view/label.c ----

const canvas = doc.createElementNS(XHTML, 'canvas').getContext('2d');
canvas.font = '12px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",Arial,sans-serif';
const widths = new Map(); // a character is measured once: layout for each label is what makes others slow

function charWidth(c) {
	let w = widths.get(c);
	if (w === undefined)
		widths.set(c, w = canvas.measureText(c).width);
	return w;
}

function textWidth(text) {
	let w = 0;
	for (const c of text)
		w += charWidth(c);
	return w;
}

// "io.netty.X$Y.m" of "void io.netty.X$Y.m(int)", "Lio/netty/X$Y;::m", "io/netty/X$Y.m"; '' if none.
function javaName(name, kind) {
	const paren = name.indexOf('(');
	let s = name;
	if (paren >= 0) {
		if (name[paren + 1] === '*')
			return ''; // Go
		s = s.slice(0, paren);
		s = s.slice(s.lastIndexOf(' ') + 1);
	}
	const at = Math.max(s.lastIndexOf('.'), s.lastIndexOf('::'));
	if (at < 1 || / /.test(s))
		return '';
	let owner = s.slice(0, at);
	const method = s.slice(s[at] === ':' ? at + 2 : at + 1), known = kind === 'j' || kind === 'i';
	if (owner[0] === 'L' && owner.endsWith(';'))
		owner = owner.slice(1, -1);
	else if (s[at] === '.' && owner.endsWith(':')) // folded text: "io/netty/X:.m"
		owner = owner.slice(0, -1);
	else if (!known && s[at] === ':' && !/[./]/.test(owner))
		return ''; // C++
	owner = owner.replace(/[/+]\d.*$/, '').replace(/\//g, '.'); // no address of a hidden class
	if (!/^[\w$<>\u0080-\uffff-]+$/.test(method) || /^\d/.test(method))
		return '';
	if (!/^[\w$.\u0080-\uffff-]+$/.test(owner) || /^\.|\.\.|\.$/.test(owner))
		return '';
	if (!known && !/(^|\.)[A-Z$][^.]*$/.test(owner))
		return '';
	return owner + '.' + method;
}

// What stands between brackets goes, "operator<", "->" and "(anonymous namespace)" stay.
function strip(name, open, close) {
	let out = '', depth = 0;
	for (let i = 0; i < name.length; i++) {
		const c = name[i];
		if (c === open && !name.slice(Math.max(0, i - 8), i).endsWith('operator') &&
			!name.startsWith('(anonymous', i))
			depth++;
		else if (c === close && depth > 0 && name[i - 1] !== '-')
			depth--;
		else if (!depth)
			out += c;
	}
	return depth ? name : out;
}

// Each form is shorter than the one before; the last one is cut when even that is too wide.
function makeForms(name, kind) {
	const generated = kind === 'j' || kind === 'l' || kind === 'i';
	const found = generated && /^(?:py::([^:]+):|[A-Z][A-Za-z]*:(?!:)[*~+^]*(.*) )/.exec(name);
	if (name.length > 1024)
		return [name];
	if (found)
		return [name, found[1] || found[2] || name];
	const java = generated ? javaName(name, kind) : '';
	if (java) {
		const words = java.split('.'), n = words.length;
		return [java, words.map((w, i) => i < n - 2 ? w[0] : w).join('.'), words.slice(-2).join('.'), words[n - 1]];
	}
	if (kind === 'c' || (kind !== 'k' && name.includes('::'))) {
		const bare = (name[0] === '<' ? name : strip(name, '(', ')').replace(/ const$/, '') || name).replace(/::h[0-9a-f]{16}$/, '');
		const plain = strip(bare, '<', '>').replace(/^::/, '').replace(/^.* (?=\S*$)/, '') || bare;
		const words = plain.split('::');
		return [name, bare, plain, words.slice(-2).join('::'), words[words.length - 1]].filter(Boolean);
	}
	if (kind !== 'k' && name.includes('/'))
		return [name, name.slice(name.lastIndexOf('/') + 1) || name];
	return [name];
}

const forms = [], formWidths = [];
function formsOf(id) {
	return forms[id] || (forms[id] = makeForms(names[id], kinds[id]));
}

function fit(id, room) {
	const list = formsOf(id), w = formWidths[id] || (formWidths[id] = list.map(textWidth));
	for (let i = 0; i < list.length; i++) {
		if (w[i] <= room)
			return list[i];
	}
	let cut = '', letters = 0, left = room - charWidth(ELLIPSIS);
	for (const c of list[list.length - 1]) {
		left -= charWidth(c);
		if (left < 0)
			break;
		cut += c;
		letters++;
	}
	return letters >= 3 ? cut + ELLIPSIS : '';
}

// "Class.method" and what stands before it.
function shortName(id) {
	const list = formsOf(id);
	return list[Math.max(0, list.length - 2)];
}

function owner(id) {
	const full = formsOf(id)[0], at = full.lastIndexOf(shortName(id));
	if (modules[id])
		return modules[id];
	return at > 0 ? full.slice(0, at).replace(/(\.|::)$/, '') : '';
}

function nameOf(node) {
	return node.group ? count(node.frames) + ' narrow frames' : names[node.id];
}

function kindOf(node) {
	return node.group ? '' : meta.kinds[kinds[node.id]] || '';
}

// FNV-1a over UTF-16 units.
function fnv(text, h) {
	for (let i = 0; i < text.length; i++)
		h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	return h;
}

const classes = [];
function classOf(id) {
	if (classes[id])
		return classes[id];
	if (kinds[id] === 'd')
		return classes[id] = 'kd0';
	let text = names[id];
	const paren = text.indexOf('(');
	if (paren > 0)
		text = text.slice(0, paren);
	const scope = Math.max(text.lastIndexOf('.'), text.lastIndexOf('::'), text.lastIndexOf('/'));
	if (scope > 0)
		text = text.slice(0, scope);
	const h = fnv(modules[id] || text, 2166136261 | 0);
	return classes[id] = 'k' + kinds[id] + ((h ^ h >>> 15) & 3);
}
