// SPDX-License-Identifier: BSD-2-Clause
// What a picture of two sides has beyond that of one. A node has a and b, rates of its total on
// either side, sa and sb of its self; 1 is all of the first side. Colour is evidence, as in
// view/difference.c: a function's, in the direction of the change.
// ---- data ----

function readSides(node, head, r) {
	node.sa = head & 1 ? r.get() / (meta.exposure[0] || 1) : 0;
	node.sb = head & 2 ? r.get() / (meta.exposure[1] || 1) : 0;
	node.a = node.b = 0;
}

function ownWidth(node) {
	return wideAs === 1 ? node.sa : wideAs === 2 ? node.sb : Math.max(node.sa, node.sb);
}

function addSides(node) {
	node.a += node.sa;
	node.b += node.sb;
	node.self = ownWidth(node);
	if (node.parent) {
		node.parent.a += node.a;
		node.parent.b += node.b;
	}
}

// Of trees made from the first one: sources' sums. of: what each source brought.
function takeSides(node, from) {
	if (!node.of) {
		node.of = [];
		node.a = node.b = node.sa = node.sb = 0;
	}
	node.of.push(from);
	node.a += from.a;
	node.b += from.b;
	if (!node.up) {
		node.sa += from.sa;
		node.sb += from.sb;
	}
}

function ownSides(node) {
	return {a: node.sa, b: node.sb};
}

function addTotals(f, node, outer) {
	if (!f.places || f.a === undefined)
		f.a = f.b = f.sa = f.sb = 0;
	f.sa += node.sa;
	f.sb += node.sb;
	if (outer) {
		f.a += node.a;
		f.b += node.b;
	}
}

// id -> [that it grew, that it shrank] of the total, of the self; missing: not tested
const chances = [[], []];
(function readEvidence() {
	const r = vlqReader(data('evidence').trim()), m = vlqReader(data('marks').trim());
	let id = 0, node = 0;
	while (r.more()) {
		id += r.get();
		const which = r.get();
		for (let i = 0; i < 2; i++) {
			if (which & 1 << i)
				chances[i][id] = [r.get() / 1e6, r.get() / 1e6];
		}
	}
	while (m.more()) {
		node += m.get();
		all[node].mark = m.get();
	}
})();

// ---- what is known ----

const MOVED = 1, INSERTED_AFTER = 2, INSERTED_BEFORE = 4, MIN_COLOURED = .0005;
let colourAll = !!meta.all;

// null: not tested
function chanceOf(id, change, which) {
	const chance = chances[which || 0][id];
	return chance ? chance[change < 0 ? 1 : 0] : null;
}

function isSure(node) {
	const chance = chanceOf(node.id, node.b - node.a);
	return chance !== null && chance <= meta.alpha + 1e-12;
}

function changeClass(node) {
	const change = node.b - node.a, part = Math.abs(change) / meta.full;
	if (node.mark & MOVED)
		return 'dv';
	if (!(colourAll && Math.abs(change) >= MIN_COLOURED) && !isSure(node))
		return 'dx';
	return (change < 0 ? 'dm' : 'dp') + (part < .08 ? 1 : part < .3 ? 2 : part < .65 ? 3 : 4);
}

function changeSign(node) {
	if (node.mark)
		return node.mark & MOVED ? '\u21c4 ' : '\u21b3 ';
	return node.a && !node.b ? '\u00d7 ' : node.b && !node.a ? '+ ' : '';
}

let sorted = null;
function changes() {
	if (view !== top)
		return [];
	return sorted || (sorted = all.filter(node => kinds[node.id] !== 'd' && !(node.mark & MOVED) && isSure(node))
		.sort((x, y) => Math.abs(y.b - y.a) - Math.abs(x.b - x.a) || x.index - y.index));
}

// ---- how it is written, as view/number.c does ----

function rate(x) {
	const pct = 100 * x;
	if (!(pct > 0))
		return '0' + THIN + '%';
	if (Math.abs(pct - 100) < 1e-7)
		return '100' + THIN + '%';
	const text = pct > 100 ? Math.max(100.1, pct).toFixed(1) : pct >= 10 ? Math.min(99.9, pct).toFixed(1) :
		pct >= .1 ? pct.toFixed(2) : pct < .0005 ? '<0.001' : pct.toFixed(3);
	return text + THIN + '%';
}

function points(change) {
	const n = 100 * Math.abs(change);
	return (n < .005 ? '\u00b10' : (change < 0 ? '\u2212' : '+') + n.toFixed(n < 9.95 ? 2 : 1)) + THIN + 'pts';
}

function chanceText(chance) {
	return chance === null || meta.untested ? '\u2013' : chance < .001 ? '<0.001' : chance.toFixed(3);
}

function evidence(node) {
	const chance = chanceOf(node.id, node.b - node.a);
	if (meta.untested && chance !== null)
		return isSure(node) ? 'beyond sampling error' : 'within sampling error';
	return chance === null ? 'not tested' : (isSure(node) ? 'evidence: p ' : 'could be chance: p ') + chanceText(chance);
}

function changeLabel(node, room) {
	const sign = changeSign(node), change = node.b - node.a;
	const told = !(node.mark & MOVED) && (isSure(node) || (meta.untested && Math.abs(change) >= meta.least));
	let text = told ? '  ' + points(change) : '', left = room - textWidth(sign);
	if (textWidth(text) + 60 > room)
		text = '';
	const name = fit(node.id, left - textWidth(text));
	return name ? sign + name + text : left >= 0 ? sign.trim() : '';
}

function changeNumbers(node) {
	return node.group ? '' : meta.sides[0] + ' ' + rate(node.a) + '   ' + meta.sides[1] + ' ' + rate(node.b) + '   ' +
		points(node.b - node.a) + '   ' + evidence(node);
}

function changeAbout(node) {
	if (node.group)
		return '';
	const only = 'a frame that only ';
	const fact = node.mark & MOVED ? 'moved: a neighbour on this way changed by as much the other way (inlined, renamed)' :
		node.mark & INSERTED_AFTER ? only + meta.sides[1] + ' has on this way' :
			node.mark & INSERTED_BEFORE ? only + meta.sides[0] + ' has on this way' :
				!node.a ? 'new' : !node.b ? 'gone' : '';
	return (fact ? ' \u00b7 ' + fact : '') + ' \u00b7 ' + evidence(node);
}

function changeDetails(node) {
	if (node.group)
		return [];
	const f = totals().get(node.id);
	const row = (what, a, b, which) => [what, rate(a), rate(b), points(b - a), which === undefined ? '' : chanceText(chanceOf(node.id, b - a, which))];
	const list = [['', meta.sides[0], meta.sides[1], 'change', 'p'], row('total', node.a, node.b, f.places > 1 ? undefined : 0)];
	if (!node.up)
		list.push(row('self', node.sa, node.sb, f.places > 1 ? undefined : 1));
	if (f.places > 1)
		list.push(row('function, ' + count(f.places) + ' places', f.a, f.b, 0), row('its self', f.sa, f.sb, 1));
	return list;
}

function changeShares(a, b, focus) {
	return meta.sides[0] + ' ' + rate(focus.a ? a / focus.a : 0) + ', ' + meta.sides[1] + ' ' + rate(focus.b ? b / focus.b : 0);
}

function changeColumns() {
	const size = (a, b) => Math.abs(b - a);
	return [
		{head: meta.sides[0], key: f => f.a, text: f => rate(f.a)},
		{head: meta.sides[1], key: f => f.b, text: f => rate(f.b)},
		{head: '\u0394 total', key: f => size(f.a, f.b), text: f => points(f.b - f.a)},
		{head: '\u0394 self', key: f => size(f.sa, f.sb), text: f => points(f.sb - f.sa)},
		{head: 'p', key: f => chanceOf(f.id, f.b - f.a) === null ? -2 : -chanceOf(f.id, f.b - f.a), text: f => chanceText(chanceOf(f.id, f.b - f.a))}];
}

// ---- drawing ----

function drawSides(box, y, w, into, over) {
	const node = box.node, scale = width / ((zoomed || view).total || 1), end = box.w > 4 ? 1 : 0;
	// A caller of the zoom is drawn as wide as the zoom, its bars by the same rule.
	const bar = (x, cls, at) => x && (into[cls] || (into[cls] = [])).push(rect(box.x, at, Math.min(w, x * scale - end), BAR));
	bar(node.a, 'ba', y);
	bar(node.b, 'bb', y + BAR + BOX);
	const cls = node.mark & MOVED ? 'mm' : node.a && !node.b ? 'hh' : '';
	if (cls)
		(over[cls] || (over[cls] = [])).push(rect(box.x, y + BAR, w, BOX));
}

function sample(children, size) {
	return svg('svg', {viewBox: '0 0 ' + (size || 26) + ' 14', class: size ? 'step' : 'sample', 'aria-hidden': 'true'},
		children.map(c => svg('rect', {class: c[0], x: 0, y: c[1], width: c[3] || size || 26, height: c[2]})));
}

function changeLegend() {
	const full = +(meta.full * 100).toFixed(2), side = meta.sides[1];
	const steps = ['dm4', 'dm3', 'dm2', 'dm1', 'dx', 'dp1', 'dp2', 'dp3', 'dp4'];
	const entry = (children, text, title) => html('span', {title: title}, [children ? sample(children) : null, text]);
	return html('div', {class: 'legend scale', role: 'group', 'aria-label': 'Colours'}, [
		html('span', {title: 'The scale is fixed: ' + full + ' points of all have the full colour'}, ['less ' + side + ' \u2212' + full + ' pts'].concat(
			steps.map(cls => sample([[cls, 0, 14]], 20)), ['+' + full + ' pts more ' + side])),
		entry([['dx', 0, 14]], colourAll ? 'no change' : meta.untested ? 'within sampling error' : 'no evidence', 'What could be chance, or was not tested, is grey (e: all changes)'),
		entry([['ba', 0, 4, 18], ['bb', 10, 4]], 'upper bar ' + meta.sides[0] + ', lower ' + side, 'Bars are as long as the shares'),
		entry([['dp2', 0, 10], ['bb', 10, 4]], '+ new', 'Only ' + side + ' has it'),
		entry([['ba', 0, 4], ['dm2', 4, 10], ['hh', 4, 10]], '\u00d7 gone', 'Only ' + meta.sides[0] + ' has it'),
		entry([['dv', 0, 14], ['mm', 0, 14]], '\u21c4 moved', 'Inlined, taken out or renamed: a neighbour changed by as much the other way'),
		entry(null, '\u21b3 inserted', 'A frame that one side has more on this way')]);
}

// ---- what input does ----

let widthsList;
function widthsSelect() {
	widthsList = html('select', {'aria-label': 'Widths', title: 'Widths: room for both sides, or one side alone (w)',
		change: () => setWidths(+widthsList.value, true)},
	['Widths: both', 'Widths: ' + meta.sides[0], 'Widths: ' + meta.sides[1]].map((text, i) => html('option', {value: i, text: text})));
	widthsList.value = wideAs;
	return widthsList;
}

function setWidths(to, loud) {
	wideAs = to === 1 || to === 2 ? to : 0;
	widthsList.value = wideAs;
	for (let i = all.length - 1; i >= 0; i--)
		all[i].total = 0;
	for (let i = all.length - 1; i >= 0; i--) {
		const node = all[i];
		node.self = ownWidth(node);
		node.total += node.self;
		if (node.parent)
			node.parent.total += node.total;
	}
	functionTotals = null;
	const path = zoomed && !viewWord ? zoomed : null;
	if (viewWord)
		setView(viewWord, true); // made anew from the new widths
	zoomed = path;
	while (zoomed && (!zoomed.total || zoomed.group))
		zoomed = zoomed.parent;
	if (zoomed === view)
		zoomed = null;
	if (loud) {
		draw();
		save(true);
	}
}

function toggleAll() {
	colourAll = !colourAll;
	app.querySelector('.scale').replaceWith(changeLegend());
	paint();
	drawTable();
}

const changeActions = {w: () => setWidths((wideAs + 1) % 3, true), e: toggleAll};
const changeHelp = [['n, N', 'without a search: next and previous change with evidence'], ['w', 'widths: both sides, one, the other'],
	['e', 'colour what has evidence, or all changes']];

function changeColours() {
	return 'Orange is more ' + meta.sides[1] + ', blue is less, on a fixed scale of points of all; grey could be chance or was not tested. ' +
		'A box is as wide as both sides need; its bars are as long as the shares. The evidence of a frame is that of its function.';
}
