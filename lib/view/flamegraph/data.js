// SPDX-License-Identifier: BSD-2-Clause
// The tree of the profile, and trees made from it. Constant bytes: all data stands in <metadata>
// elements beside the script and only ever becomes text nodes and attribute values. Everything
// that walks the tree is a loop, since its depth is the profiled program's choice. The parts share
// one scope: see view/flamegraph.c for their order.
const SVG = 'http://www.w3.org/2000/svg', XHTML = 'http://www.w3.org/1999/xhtml';
const doc = document, script = doc.currentScript;
const root = script ? script.parentNode : doc.documentElement;
// Only a picture that is the document may use its URL, its keys and its printing.
const solo = root === doc.documentElement;
const BOX = 17, MIN_PX = .5, PAD = 4, MIN_LABEL = 22, TABLE_ROWS = 200;
const THIN = '\u2009', ELLIPSIS = '\u2026';
const started = performance.now();

// ---- data: see view/payload.h ----

function data(part) {
	const e = root.querySelector('metadata[class=sk-' + part + ']');
	return e ? e.textContent : '';
}

const meta = JSON.parse(data('meta'));
// Two sides: difference.js has what only their pictures do. Boxes stand between two bars.
const diff = meta.type === 'diff', ROW = diff ? 27 : 18, BAR = diff ? 3 : 0, TALL = BOX + 2 * BAR;
let wideAs = meta.widths || 0; // 0: what both sides need, 1 and 2: one of them
const names = [], kinds = [], modules = [];
data('names').split('\n').forEach(line => {
	const tab = line.indexOf('\t');
	kinds.push(line[0]);
	names.push(tab < 0 ? line.slice(1) : line.slice(1, tab));
	modules.push(tab < 0 ? '' : line.slice(tab + 1));
});

function vlqReader(text) {
	const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', digit = {};
	let at = 0;
	for (let i = 0; i < 64; i++)
		digit[alphabet.charCodeAt(i)] = i;
	return {
		more: () => at < text.length,
		get() {
			let n = 0, scale = 1, d;
			do {
				d = digit[text.charCodeAt(at++)];
				n += (d & 31) * scale;
				scale *= 32;
			} while (d > 31);
			return n;
		}
	};
}

// A node: id of its name, total, self (what it is as wide as), parent, kids, depth, index, index behind its subtree.
function readTree() {
	const r = vlqReader(data('tree').trim()), all = [], open = [];
	while (r.more()) {
		const head = r.get(), id = r.get();
		open.length -= Math.floor(head / (diff ? 4 : 2));
		const parent = open.length ? open[open.length - 1] : null;
		const node = {id: id, total: 0, self: !diff && head & 1 ? r.get() : 0, parent: parent, kids: [],
			depth: open.length, index: all.length, end: all.length + 1, box: null};
		if (diff)
			readSides(node, head, r);
		if (parent)
			parent.kids.push(node);
		all.push(node);
		open.push(node);
	}
	for (let i = all.length - 1; i >= 0; i--) {
		const node = all[i], parent = node.parent;
		if (diff)
			addSides(node);
		node.total += node.self;
		if (parent) {
			parent.total += node.total;
			parent.end = Math.max(parent.end, node.end);
		}
	}
	return all;
}

const all = readTree(), top = all[0];

// ---- other trees, made from the first one as far as they are looked at ----

// Nodes of a derived tree keep their sources and make kids when asked: up < 0: callers, else callees.
function derived(id, parent, up) {
	return {id: id, total: 0, self: 0, parent: parent, kids: null, depth: parent ? parent.depth + 1 : 0,
		up: up, sources: [], weights: [], box: null};
}

function kidsOf(node) {
	if (node.kids)
		return node.kids;
	const byId = new Map();
	function add(source, weight, i) {
		let kid = byId.get(source.id);
		if (!kid)
			byId.set(source.id, kid = derived(source.id, node, node.up));
		kid.sources.push(source);
		kid.weights.push(weight);
		kid.total += weight;
		if (!node.up)
			kid.self += source.self;
		if (diff)
			takeSides(kid, node.up ? node.of[i] : source);
	}
	node.sources.forEach((source, i) => {
		if (!node.up)
			source.kids.forEach(kid => add(kid, kid.total));
		else if (source.parent && source.parent.parent) // the root calls nobody
			add(source.parent, node.weights[i], i);
	});
	node.kids = Array.from(byId.values());
	node.kids.sort(node.up ? (a, b) => b.total - a.total : (a, b) => names[a.id] < names[b.id] ? -1 : 1);
	return node.kids;
}

// Places of a function that are not below another one of it: each sample once.
function outermost(id) {
	const found = [];
	for (let i = 0; i < all.length;) {
		if (all[i].id === id) {
			found.push(all[i]);
			i = all[i].end;
		} else {
			i++;
		}
	}
	return found;
}

function bottomUp() {
	const view = derived(top.id, null, true), byId = new Map();
	all.forEach(node => {
		if (!node.self)
			return;
		let kid = byId.get(node.id);
		if (!kid)
			byId.set(node.id, kid = derived(node.id, view, true));
		kid.sources.push(node);
		kid.weights.push(node.self);
		kid.total += node.self;
		if (diff)
			takeSides(kid, ownSides(node));
	});
	if (diff)
		takeSides(view, top);
	view.total = top.total;
	view.kids = Array.from(byId.values()).sort((a, b) => b.total - a.total);
	return view;
}

// '' the tree, 'i' bottom up, 'f' or 'c' and kind and name: focus on a function, its callers.
function makeView(word) {
	if (word === 'i')
		return bottomUp();
	const id = names.findIndex((name, i) => kinds[i] === word[1] && name === word.slice(2));
	if (id < 0 || (word[0] !== 'f' && word[0] !== 'c'))
		return null;
	const view = derived(id, null, word[0] === 'c');
	view.sources = outermost(id);
	view.weights = view.sources.map(node => node.total);
	view.sources.forEach(node => {
		view.total += node.total;
		view.self += node.self;
		if (diff)
			takeSides(view, node);
	});
	return view.sources.length ? view : null;
}

// Totals of every function, recursion counted once.
let functionTotals = null;
function totals() {
	if (functionTotals)
		return functionTotals;
	const open = [], seen = [];
	functionTotals = new Map();
	all.forEach(node => {
		while (open.length > node.depth)
			seen[open.pop()]--;
		let f = functionTotals.get(node.id);
		if (!f)
			functionTotals.set(node.id, f = {id: node.id, total: 0, self: 0, places: 0});
		f.places++;
		f.self += node.self;
		if (!seen[node.id])
			f.total += node.total;
		if (diff)
			addTotals(f, node, !seen[node.id]);
		seen[node.id] = (seen[node.id] || 0) + 1;
		open.push(node.id);
	});
	return functionTotals;
}
