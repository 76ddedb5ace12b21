// SPDX-License-Identifier: BSD-2-Clause
// Boxes: where they are, how they are drawn, what is said of them; the table.
// ---- layout ----

// rows[depth]: boxes {node, x, w, row, caller}, sorted by x. A group stands for adjacent narrow
// siblings; it is a node too, so that one can zoom into it.
let rows = [], width = 1000, narrow = 0;

function group(parent, kids, total) {
	const frames = kids.reduce((sum, kid) => sum + (kid.end ? kid.end - kid.index : 1), 0);
	return {group: true, frames: frames, total: total, self: 0, parent: parent, kids: kids, depth: parent.depth + 1, box: null};
}

function place(node, row, x, w, caller) {
	const box = {node: node, x: x, w: w, row: row, caller: caller};
	node.box = box;
	(rows[row] || (rows[row] = [])).push(box);
	return box;
}

function layout() {
	const focus = zoomed || view, callers = [];
	rows = [];
	narrow = 0;
	for (let node = focus.parent; node; node = node.parent)
		callers.push(node);
	callers.reverse().forEach((node, row) => place(node, row, 0, width, true));
	const scale = width / (focus.total || 1), todo = [place(focus, callers.length, 0, width, false)];
	while (todo.length) {
		const box = todo.pop(), kids = kidsOf(box.node);
		// A group of thousands is shown in blocks, each of which can be zoomed into again.
		const most = box.node.group ? width / 32 : Infinity;
		let x = box.x + (diff ? box.node.self * scale : 0), waiting = [], waitingTotal = 0;
		const flush = () => {
			const w = waitingTotal * scale;
			if (w >= MIN_PX)
				place(waiting.length > 1 ? group(box.node, waiting, waitingTotal) : waiting[0], box.row + 1, x - w, w, false);
			waiting.forEach(kid => narrow += kid.end ? kid.end - kid.index : 1);
			waiting = [];
			waitingTotal = 0;
		};
		kids.forEach(kid => {
			const w = kid.total * scale;
			if (!w)
				return;
			if (w < MIN_PX) {
				if ((waitingTotal + kid.total) * scale > most)
					flush();
				waiting.push(kid);
				waitingTotal += kid.total;
			} else {
				flush();
				todo.push(place(kid, box.row + 1, x, w, false));
			}
			x += w;
		});
		flush();
	}
	rows.forEach(row => row.sort((a, b) => a.x - b.x));
}

function boxOf(node) {
	const box = node.box;
	return box && rows[box.row] && rows[box.row].includes(box) ? box : null;
}

function yOf(row) {
	return (flame ? rows.length - 1 - row : row) * ROW;
}

// ---- drawing: one path a colour, only labels are elements ----

let printing = false;
const pool = []; // label elements, used again

function rect(x, y, w, h) {
	w = Math.max(.4, w).toFixed(1);
	return 'M' + x.toFixed(1) + ' ' + y + 'h' + w + 'v' + h + 'h-' + w + 'z';
}

function setPaths(layer, byClass) {
	let i = 0;
	for (const cls in byClass) {
		const p = layer.childNodes[i++] || layer.appendChild(svg('path'));
		p.setAttribute('class', cls);
		p.setAttribute('d', byClass[cls].join(''));
	}
	while (layer.childNodes.length > i)
		layer.lastChild.remove();
}

function labelOf(box) {
	const node = box.node;
	if (!node.group)
		return diff ? changeLabel(node, box.w - 2 * PAD) : fit(node.id, box.w - 2 * PAD);
	return box.w > 110 ? nameOf(node) : box.w > 44 ? ELLIPSIS + ' ' + count(node.frames) : '';
}

function setLabel(i, box, text, cls) {
	const t = pool[i] || (pool[i] = layers.labels.appendChild(svg('text')));
	t.setAttribute('x', (box.x + PAD).toFixed(1));
	t.setAttribute('y', yOf(box.row) + BAR + 12.5);
	t.setAttribute('class', cls);
	if (t.textContent !== text)
		t.textContent = text;
}

function paint() {
	const from = scroll.scrollTop - ROW * 6, to = scroll.scrollTop + scroll.clientHeight + ROW * 6;
	const frames = {}, dim = {}, callers = {}, over = {}, marks = [];
	let labels = 0;
	graph.setAttribute('width', width);
	graph.setAttribute('height', rows.length * ROW);
	rows.forEach((row, r) => {
		const y = yOf(r);
		if (!printing && (y < from || y > to))
			return;
		row.forEach(box => {
			const node = box.node, w = box.w > 4 ? box.w - 1 : box.w > 1 ? box.w - .3 : box.w;
			const hit = match && !node.group && match[node.id], dimmed = match && !hit;
			const cls = node.group ? 'kd0' : diff ? changeClass(node) : classOf(node.id), into = box.caller ? callers : dimmed ? dim : frames;
			(into[cls] || (into[cls] = [])).push(rect(box.x, y + BAR, w, BOX));
			if (diff && !node.group)
				drawSides(box, y, w, into, into === frames ? over : {});
			if (hit && box.w >= 1)
				marks.push(rect(box.x, y + BAR + BOX - 3, w, 3));
			const text = box.w >= MIN_LABEL ? labelOf(box) : '';
			if (text)
				setLabel(labels++, box, text, dimmed || cls === 'kd0' ? 'dimmed' : box.caller ? 'caller' : cls === 'dx' ? 'lx' : '');
		});
	});
	for (let i = labels; i < pool.length; i++)
		pool[i].textContent = '';
	setPaths(layers.frames, frames);
	setPaths(layers.dim, dim);
	setPaths(layers.callers, callers);
	setPaths(layers.over, over);
	layers.match.setAttribute('d', marks.join(''));
}

function outline(layer, box) {
	layer.setAttribute('d', box ? rect(box.x + .5, yOf(box.row) + .5, Math.max(1, box.w - 2), TALL - 1) : '');
}

function draw() {
	const size = root.getBoundingClientRect(), side = size.width >= 1500;
	if (tableOpen === null)
		tableOpen = side || (size.width >= 700 && size.height >= 760);
	main.className = side ? 'main side' : 'main below';
	panel.style.display = tableOpen ? '' : 'none';
	tableButton.setAttribute('aria-pressed', String(tableOpen));
	flipButton.setAttribute('aria-pressed', String(flame));
	const style = getComputedStyle(scroll);
	width = Math.max(200, scroll.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight));
	layout();
	paint();
	drawPath();
	countMatches();
	outline(layers.cursor, cursor && boxOf(cursor));
	outline(layers.hover, null);
	describe(cursor || zoomed || view);
}

function viewName(word) {
	return word === 'i' ? 'Callers, bottom up' : !word ? 'Call tree' :
		(word[0] === 'c' ? 'Callers of ' : 'Focus on ') + shortName(view.id).slice(0, 40);
}

function drawPath() {
	const nodes = [], keep = width < 640 ? 2 : 5;
	path.textContent = '';
	for (let node = zoomed || view; node; node = node.parent)
		nodes.push(node);
	nodes.reverse().forEach((node, i) => {
		if (i > 0 && i < nodes.length - keep) {
			if (i === 1)
				path.appendChild(html('span', {text: '\u203a ' + ELLIPSIS}));
			return;
		}
		if (i)
			path.appendChild(html('span', {text: '\u203a', 'aria-hidden': 'true'}));
		path.appendChild(html('button', {type: 'button', title: nameOf(node), 'aria-current': i === nodes.length - 1 ? 'true' : null,
			text: i === 0 && viewWord ? viewName(viewWord) : node.group || i === 0 ? nameOf(node) : shortName(node.id), click: () => zoom(i ? node : null)}));
	});
	if (viewWord)
		path.appendChild(button('\u2715 back to the call tree', 'Back to the call tree', () => setView('')));
	else if (!zoomed)
		path.appendChild(html('span', {class: 'hint', text: !top.total ? (meta.quality.rows[1] || ['', 'no samples'])[1] :
			count(all.length) + ' frames, ' + count(names.length) + ' functions' +
			(narrow ? '; ' + count(narrow) + ' narrower than half a pixel' : '')}));
}

// ---- details ----

function details(node) {
	if (diff)
		return changeDetails(node);
	const list = [['total', share(node.total, top.total), value(node.total)]];
	const f = !node.group && totals().get(node.id);
	if (!node.up && !node.group)
		list.push(['self', share(node.self, top.total), value(node.self)]);
	if (node.parent)
		list.push([node.up ? 'of its callee' : 'of its caller', share(node.total, node.parent.total), '']);
	if (zoomed && node !== zoomed)
		list.push(['of the zoom', share(node.total, zoomed.total), '']);
	if (f && f.places > 1)
		list.push(['function, ' + count(f.places) + ' places', share(f.total, top.total), value(f.total)]);
	return list;
}

function describe(node) {
	statusName.textContent = nameOf(node);
	statusName.title = nameOf(node);
	statusNumbers.textContent = diff ? changeNumbers(node) : share(node.total, top.total) + '   ' + value(node.total) +
		(node.up || node.group ? '' : '   self ' + share(node.self, top.total));
}

function hideTip() {
	tip.style.display = 'none';
}

function showTip(node, x, y) {
	const about = node.group ? 'too narrow to draw one by one; click to see them' :
		kindOf(node) + (modules[node.id] ? ' \u00b7 ' + modules[node.id] : '') + (diff ? changeAbout(node) : '');
	tip.textContent = '';
	tip.appendChild(html('b', {text: nameOf(node)}));
	tip.appendChild(html('span', {text: about}));
	tip.appendChild(html('table', {}, details(node).map(cells => html('tr', {}, cells.map(text => html('td', {text: text}))))));
	tip.style.display = 'block';
	keepInside(tip, x + 14, y + 16, x - 10, y - 12);
}

// At (x, y), or ending at (x2, y2) where the page ends before it does.
function keepInside(e, x, y, x2, y2) {
	const size = e.getBoundingClientRect(), page = root.getBoundingClientRect();
	if (x + size.width > page.width - 8)
		x = Math.max(8, Math.min(x2, page.width - 8) - size.width);
	if (y + size.height > page.height - 8)
		y = Math.max(8, Math.min(y2, page.height - 8) - size.height);
	e.style.left = x + 'px';
	e.style.top = y + 'px';
}

function boxAt(event) {
	const r = graph.getBoundingClientRect(), x = event.clientX - r.left;
	let row = Math.floor((event.clientY - r.top) / ROW);
	if (flame)
		row = rows.length - 1 - row;
	const boxes = rows[row] || [];
	let low = 0, high = boxes.length - 1;
	while (low <= high) {
		const middle = (low + high) >> 1, box = boxes[middle];
		if (x < box.x)
			high = middle - 1;
		else if (x >= box.x + Math.max(box.w, 1))
			low = middle + 1;
		else
			return box;
	}
	return null;
}

function inPage(event) {
	const page = root.getBoundingClientRect();
	return [event.clientX - page.left, event.clientY - page.top];
}

function hover(event) {
	const box = boxAt(event);
	outline(layers.hover, box);
	if (!box)
		return hideTip();
	describe(box.node);
	showTip(box.node, ...inPage(event));
}

function unhover() {
	hideTip();
	outline(layers.hover, null);
	describe(cursor || zoomed || view);
}

// ---- table ----

function regexOf(name) {
	return '/^' + name.replace(/[.*+?^${}()|[\]\\\/]/g, '\\$&') + '$/';
}

const columns = diff ? changeColumns() : [
	{head: 'Self', key: f => f.self, text: f => share(f.self, top.total)},
	{head: 'Total', key: f => f.total, text: f => share(f.total, top.total)}];

function tableRow(f) {
	const go = () => {
		search(regexOf(names[f.id]));
		hitIndex = -1;
		step(1);
	};
	return html('tr', {tabindex: '0', title: names[f.id], click: go, keydown: e => e.key === 'Enter' && go()},
		columns.map(column => html('td', {text: column.text(f)})).concat([html('td', {},
			[swatch(diff ? changeClass(f) : classOf(f.id)), diff ? changeSign(f) : '', shortName(f.id), html('span', {text: owner(f.id)})])]));
}

function drawTable() {
	const list = Array.from(totals().values()).filter(f => f.id !== top.id && kinds[f.id] !== 'd');
	const keys = [columns[sortBy]].concat(columns).map(column => column.key);
	list.sort((a, b) => keys.reduce((order, key) => order || key(b) - key(a), 0));
	panel.textContent = '';
	const heads = columns.map((column, i) => {
		const sort = () => {
			sortBy = i;
			drawTable();
		};
		return html('th', {scope: 'col', tabindex: '0', text: column.head, 'aria-sort': i === sortBy ? 'descending' : 'none', click: sort,
			keydown: e => e.key === 'Enter' && sort()});
	});
	panel.appendChild(html('table', {}, [html('thead', {}, [html('tr', {}, heads.concat([html('th', {scope: 'col', text: 'Function'})]))]),
		html('tbody', {}, list.slice(0, TABLE_ROWS).map(tableRow))]));
}
