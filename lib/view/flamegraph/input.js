// SPDX-License-Identifier: BSD-2-Clause
// What the reader does, and the start of it all.
// ---- what input does ----

function zoom(node, silent) {
	zoomed = node === view ? null : node;
	cursor = null;
	draw();
	if (silent)
		return;
	const row = zoomed ? zoomed.box.row : 0, y = yOf(row), above = ROW * Math.min(3, row);
	scroll.scrollTop = Math.max(0, flame ? y - scroll.clientHeight + above + ROW : y - above);
	paint();
	save(true);
}

function zoomOut() {
	zoom(zoomed.parent && zoomed.parent !== view ? zoomed.parent : null);
}

function setView(word, silent) {
	const made = word ? makeView(word) : null;
	view = made || top;
	viewWord = made ? word : '';
	zoomed = cursor = null;
	select.textContent = '';
	['', 'i'].concat(viewWord.length > 1 ? [viewWord] : []).forEach(v => select.appendChild(html('option', {value: v, text: viewName(v)})));
	select.value = viewWord;
	draw();
	scroll.scrollTop = flame ? scroll.scrollHeight : 0;
	paint();
	if (!silent)
		save(true);
}

const viewOf = (letter, node) => letter + kinds[node.id] + names[node.id];

// null: nothing is looked for; false: not a regular expression; else 1 for each id that matches.
function matcher(text) {
	const re = /^\/(.*)\/(i?)$/.exec(text);
	let test;
	if (!text)
		return null;
	if (text.startsWith('kind:')) {
		test = id => meta.kinds[kinds[id]] === text.slice(5);
	} else if (re) {
		let compiled;
		try {
			compiled = new RegExp(re[1], re[2]);
		} catch (e) {
			return false;
		}
		test = id => compiled.test(names[id]);
	} else {
		const lower = text.toLowerCase();
		test = id => names[id].toLowerCase().includes(lower);
	}
	return names.map((name, id) => kinds[id] !== 'd' && test(id) ? 1 : 0);
}

function search(text, silent) {
	const found = matcher(text);
	searchText = text;
	if (input.value !== text)
		input.value = text;
	input.classList.toggle('bad', found === false);
	match = found || null;
	paint();
	countMatches();
	if (!silent)
		save(false);
}

// Share of the zoom's samples that have a match on their way, each sample once.
function countMatches() {
	const focus = zoomed || view, todo = [[focus, false]];
	let sum = 0, frames = 0, a = 0, b = 0;
	hits = [];
	matched.textContent = match || !searchText ? '' : 'not a regular expression';
	if (!match)
		return;
	while (todo.length) {
		const [node, inside] = todo.pop(), hit = !node.group && match[node.id];
		if (hit) {
			frames++;
			hits.push(node);
			if (!inside) {
				sum += node.total;
				a += node.a;
				b += node.b;
			}
		}
		// Derived trees are made only as deep as they can be seen.
		const kids = node.kids || (node.total * width >= view.total ? kidsOf(node) : []);
		for (let i = kids.length - 1; i >= 0; i--)
			todo.push([kids[i], inside || hit]);
	}
	matched.textContent = (diff ? changeShares(a, b, focus) : share(sum, focus.total)) + ' matched' + (zoomed ? ' of the zoom' : '') + ', ' + count(frames) +
		(frames === 1 ? ' frame' : ' frames');
}

function step(by) {
	if (diff && !match)
		hits = changes();
	if (!hits.length)
		return;
	hitIndex = (hitIndex + by + hits.length) % hits.length;
	moveTo(hits[hitIndex]);
}

function moveTo(node) {
	if (!node)
		return;
	cursor = node;
	let box = boxOf(node);
	if (!box) { // too narrow here: show it in its caller
		zoomed = node.parent && node.parent !== view ? node.parent : null;
		draw();
		box = boxOf(node);
	}
	if (box) {
		const y = yOf(box.row);
		if (y < scroll.scrollTop || y + ROW > scroll.scrollTop + scroll.clientHeight - 12) {
			scroll.scrollTop = Math.max(0, y - scroll.clientHeight / 2);
			paint();
		}
	}
	outline(layers.cursor, box);
	describe(node);
}

function toggleTable() {
	tableOpen = !tableOpen;
	draw();
}

function flip() {
	flame = !flame;
	draw();
	scroll.scrollTop = flame ? scroll.scrollHeight : 0;
	paint();
}

function toggleTheme() {
	const scheme = getComputedStyle(root).colorScheme;
	const dark = scheme === 'dark' || (scheme !== 'light' && matchMedia('(prefers-color-scheme:dark)').matches);
	root.style.colorScheme = dark ? 'light' : 'dark';
	try {
		localStorage.setItem('stoke-theme', root.style.colorScheme);
	} catch (e) {
		// storage may be forbidden here: the choice is then forgotten
	}
}

// Closes what lies above the graph; false: nothing did.
function closeTop() {
	const open = menu || dialog;
	if (!open)
		return false;
	open.remove();
	menu = dialog = null;
	badge.setAttribute('aria-expanded', 'false');
	if (focusBack && focusBack.focus)
		focusBack.focus();
	return true;
}

function showDialog(title, children) {
	closeTop();
	focusBack = doc.activeElement;
	dialog = html('div', {class: 'dialog', role: 'dialog', 'aria-label': title, tabindex: '-1'},
		[button('\u2715', 'Close (Esc)', closeTop), html('h2', {text: title})].concat(children));
	dialog.firstChild.classList.add('close');
	app.appendChild(dialog);
	dialog.focus();
}

function definitions(pairs) {
	const list = html('dl');
	pairs.forEach(pair => {
		list.appendChild(html('dt', {text: pair[0]}));
		list.appendChild(html('dd', {text: pair[1]}));
	});
	return list;
}

function showQuality() {
	if (badge.getAttribute('aria-expanded') === 'true')
		return closeTop();
	showDialog('What this picture is worth', [definitions(meta.quality.rows)].concat(meta.run.length ?
		[html('h2', {text: 'The run'}), definitions(meta.run)] : []));
	badge.setAttribute('aria-expanded', 'true');
}

function showHelp() {
	showDialog('Keys', [definitions([['click, Enter', 'zoom into a frame; on the zoomed one: a step out'],
		['Esc, Backspace, u', 'a step out;  0 or Home: the whole graph'],
		['arrows', 'move between frames: \u2190 \u2192 siblings, \u2191 \u2193 caller and callee'],
		['/  or Ctrl-F', 'search; Enter and Shift-Enter (n, N): next and previous match'],
		['right click or m', 'menu of the frame'], ['f,  c', 'focus on the function;  its callers'], ['b', 'bottom-up view'],
		...(diff ? changeHelp : []),
		['t,  i,  d,  q', 'table, flip, light or dark, quality'], ['y,  Y', 'copy the name;  the whole stack']]),
	html('h2', {text: 'Search'}), html('p', {text: 'Plain text matches anywhere, case ignored. /text/ is a regular expression (case counts; ' +
		'/text/i ignores it). The share counts every sample once, inside the zoom.'}),
	html('h2', {text: 'Colours'}), html('p', {text: diff ? changeColours() : 'Colour says the kind of code, never how hot it is; shades of one colour part modules and classes.'})]);
}

function showMenu(node, x, y) {
	const items = [['Zoom into this frame', () => zoom(node)]];
	closeTop();
	hideTip();
	if (!node.group)
		items.push(['Focus on this function (all places)', () => setView(viewOf('f', node))],
			['Callers of this function', () => setView(viewOf('c', node))],
			['Search for this name', () => search(regexOf(names[node.id]))],
			['Copy name', () => copy(nameOf(node))], ['Copy stack', () => copy(stackOf(node))]);
	focusBack = scroll;
	menu = html('div', {class: 'menu', role: 'menu'}, items.map(item => html('button', {type: 'button', role: 'menuitem', text: item[0], click: () => {
		closeTop();
		item[1]();
	}})));
	app.appendChild(menu);
	keepInside(menu, x, y, x, y);
	menu.firstChild.focus();
}

function menuKey(event) {
	const items = Array.from(menu.childNodes), at = items.indexOf(doc.activeElement);
	const to = {ArrowDown: at + 1, ArrowUp: at - 1 + items.length, Home: 0, End: items.length - 1}[event.key];
	if (to === undefined)
		return event.key !== 'Escape' && event.key !== 'Backspace';
	items[to % items.length].focus();
	event.preventDefault();
	return true;
}

function stackOf(node) {
	const list = [];
	for (; node; node = node.parent)
		list.push(nameOf(node));
	return list.reverse().join('\n');
}

function copy(text) {
	const done = () => {
		statusName.textContent = 'copied: ' + text.split('\n')[0];
	};
	const byHand = () => {
		const area = html('textarea');
		area.value = text;
		app.appendChild(area);
		area.select();
		if (doc.execCommand('copy'))
			done();
		area.remove();
		scroll.focus();
	};
	if (navigator.clipboard && isSecureContext)
		navigator.clipboard.writeText(text).then(done, byHand);
	else
		byHand();
}

// ---- keys ----

function searchKey(event) {
	if (event.key === 'Enter') {
		event.preventDefault();
		step(event.shiftKey ? -1 : 1);
	} else if (event.key === 'Escape') {
		if (input.value)
			search('');
		else
			scroll.focus();
	} else {
		return;
	}
	event.stopPropagation();
}

function stepOut() {
	if (closeTop())
		return;
	if (zoomed)
		zoomOut();
	else if (searchText)
		search('');
	else if (viewWord)
		setView('');
}

function sideways(node, by) {
	const box = boxOf(node), row = box ? rows[box.row] : [];
	const next = row[row.indexOf(box) + by];
	if (next)
		moveTo(next.node);
}

function heaviest(node) {
	return kidsOf(node).reduce((best, kid) => !best || kid.total > best.total ? kid : best, null);
}

function menuByKey(node) {
	const box = boxOf(node), r = graph.getBoundingClientRect(), page = root.getBoundingClientRect();
	if (box)
		showMenu(node, r.left - page.left + box.x + 10, r.top - page.top + yOf(box.row) + ROW);
}

const actions = {
	Enter: node => cursor && zoom(node === zoomed ? node.parent : node),
	Escape: stepOut, Backspace: stepOut, u: stepOut,
	0: () => zoom(null), Home: () => zoom(null),
	ArrowLeft: node => sideways(node, -1), ArrowRight: node => sideways(node, 1),
	ArrowUp: node => moveTo(flame ? heaviest(node) : node.parent || node),
	ArrowDown: node => moveTo(flame ? node.parent || node : heaviest(node)),
	'/': () => input.select() || input.focus(),
	n: () => step(1), N: () => step(-1),
	f: node => node.group || setView(viewOf('f', node)), c: node => node.group || setView(viewOf('c', node)),
	b: () => setView(viewWord === 'i' ? '' : 'i'),
	t: toggleTable, i: flip, d: toggleTheme, q: showQuality, '?': showHelp,
	y: node => copy(nameOf(node)), Y: node => copy(stackOf(node)),
	m: menuByKey, ContextMenu: menuByKey, ...(diff ? changeActions : {})
};

function key(event) {
	const target = event.target, tag = (target.tagName || '').toLowerCase();
	if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'f' && doc.activeElement !== input) {
		event.preventDefault();
		input.focus();
		input.select();
		return;
	}
	if (event.ctrlKey || event.metaKey || event.altKey || /^(input|select|textarea)$/.test(tag))
		return;
	if (menu && menuKey(event))
		return;
	// Enter on a button, a row or a heading is theirs.
	if (event.key === 'Enter' && target !== scroll && target !== root && target !== doc.body)
		return;
	if (!Object.prototype.hasOwnProperty.call(actions, event.key))
		return;
	event.preventDefault();
	event.stopPropagation();
	actions[event.key](cursor || zoomed || view);
}

// ---- the URL: #v=view&z=index.hash&s=search ----

let loading = false;

// Hash of a path from the root, of a node's given that of its parent.
const pathStart = 2166136261 | 0;
const pathStep = (node, h) => fnv((node.group ? '' : names[node.id]) + ';', h);

function pathHash(node) {
	const nodes = [];
	for (; node; node = node.parent)
		nodes.push(node);
	return nodes.reduceRight((h, n) => pathStep(n, h), pathStart);
}

const hashWord = h => (h >>> 0).toString(36);

function fragment() {
	const parts = [];
	let node = zoomed;
	while (node && node.group) // of this layout only
		node = node.parent;
	if (viewWord)
		parts.push('v=' + encodeURIComponent(viewWord));
	if (node && node !== view)
		parts.push('z=' + (viewWord ? '' : node.index.toString(36)) + '.' + hashWord(pathHash(node)));
	if (searchText)
		parts.push('s=' + encodeURIComponent(searchText));
	if (wideAs !== (meta.widths || 0))
		parts.push('w=' + wideAs);
	return parts.length ? '#' + parts.join('&') : '';
}

function save(push) {
	const to = fragment();
	if (!solo || loading || to === location.hash)
		return;
	try {
		if (push)
			history.pushState(null, '', to || '#');
		else
			history.replaceState(null, '', to || '#');
	} catch (e) {
		// a sandboxed document has no history of its own
	}
}

// A node by index if its path is still the same, else by its path, else none.
function findNode(word) {
	const dot = word.indexOf('.'), hash = word.slice(dot + 1), node = all[parseInt(word.slice(0, dot), 36)];
	if (!viewWord && node && hashWord(pathHash(node)) === hash)
		return node;
	const todo = [[view, pathStart]];
	while (todo.length) {
		const [n, above] = todo.pop(), h = pathStep(n, above);
		if (hashWord(h) === hash)
			return n;
		// Derived trees are made only as deep as they can be seen.
		if (n.kids || n.total * width >= view.total)
			kidsOf(n).forEach(kid => todo.push([kid, h]));
	}
	return null;
}

function load() {
	const words = {};
	location.hash.slice(1).split('&').forEach(part => {
		const at = part.indexOf('=');
		try {
			if (at > 0)
				words[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1));
		} catch (e) {
			// not written by us: as if it were not there
		}
	});
	loading = true;
	if (diff)
		setWidths(words.w ? +words.w : meta.widths);
	if ((words.v || '') !== viewWord)
		setView(words.v || '', true);
	search(words.s || '', true);
	zoom(words.z ? findNode(words.z) : null, true);
	loading = false;
}

// ---- printing: everything on one page, at the width of the window ----

function beforePrint() {
	printing = true;
	hideTip();
	closeTop();
	paint();
	const w = app.clientWidth;
	app.style.height = 'auto';
	shell.setAttribute('width', w);
	const h = app.scrollHeight;
	shell.setAttribute('height', h);
	root.setAttribute('viewBox', '0 0 ' + w + ' ' + h);
}

function afterPrint() {
	printing = false;
	app.style.height = '';
	shell.setAttribute('width', '100%');
	shell.setAttribute('height', '100%');
	root.removeAttribute('viewBox');
	draw();
}

// ---- start ----

function click(event) {
	const box = boxAt(event);
	closeTop();
	if (!box)
		return;
	hideTip();
	const node = box.node;
	if (node === zoomed)
		zoomOut();
	else if (node.group && node.parent !== (zoomed || view))
		zoom(node.parent);
	else
		zoom(node);
}

function contextMenu(event) {
	const box = boxAt(event);
	if (!box)
		return;
	event.preventDefault();
	showMenu(box.node, ...inPage(event));
}

let drawnSize = '';
function resized() {
	const size = main.clientWidth + ' ' + main.clientHeight;
	if (size !== drawnSize && !printing)
		draw();
	drawnSize = size;
}

function listen() {
	const keys = solo ? doc : root;
	scroll.addEventListener('scroll', () => {
		paint();
		hideTip();
	});
	graph.addEventListener('mousemove', hover);
	graph.addEventListener('mouseleave', unhover);
	graph.addEventListener('click', click);
	graph.addEventListener('contextmenu', contextMenu);
	keys.addEventListener('keydown', key);
	keys.addEventListener('mousedown', event => menu && !menu.contains(event.target) && closeTop());
	if (window.ResizeObserver)
		new ResizeObserver(resized).observe(main);
	if (!solo)
		return;
	window.addEventListener('popstate', load);
	window.addEventListener('hashchange', load);
	window.addEventListener('beforeprint', beforePrint);
	window.addEventListener('afterprint', afterPrint);
	if (location.hash.length > 1)
		load();
}

try {
	const theme = localStorage.getItem('stoke-theme');
	if (theme === 'light' || theme === 'dark')
		root.style.colorScheme = theme;
} catch (e) {
	// storage may be forbidden here: the system's theme then
}
try {
	buildShell();
	showShell();
	setView('', true);
	drawTable();
	listen();
	root.setAttribute('data-ready', Math.round(performance.now() - started));
} catch (e) {
	// The still picture is better than half a shell.
	if (shell)
		shell.remove();
	const still = root.querySelector('[class=sk-static]');
	if (still)
		still.removeAttribute('display');
	throw e;
}
