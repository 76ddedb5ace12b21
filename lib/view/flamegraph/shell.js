// SPDX-License-Identifier: BSD-2-Clause
// What surrounds the graph.
// ---- elements ----

function make(ns, tag, attributes, children) {
	const e = doc.createElementNS(ns, tag);
	for (const key in attributes || {}) {
		const v = attributes[key];
		if (key === 'text')
			e.textContent = v;
		else if (typeof v === 'function')
			e.addEventListener(key, v);
		else if (v !== null && v !== undefined)
			e.setAttribute(key, v);
	}
	(children || []).forEach(c => {
		if (c)
			e.appendChild(typeof c === 'string' ? doc.createTextNode(c) : c);
	});
	return e;
}
const html = (tag, attributes, children) => make(XHTML, tag, attributes, children);
const svg = (tag, attributes, children) => make(SVG, tag, attributes, children);

function button(text, title, click) {
	return html('button', {type: 'button', title: title, 'aria-label': title, text: text, click: click});
}

function swatch(cls) {
	return svg('svg', {viewBox: '0 0 10 10', 'aria-hidden': 'true'}, [svg('rect', {width: 10, height: 10, class: cls})]);
}

// ---- state and shell ----

let view = top, viewWord = '', zoomed = null, cursor = null, flame = !!meta.flame, tableOpen = null, sortBy = diff ? 2 : 0;
let match = null, hits = [], hitIndex = -1, searchText = '';
let shell, app, badge, input, matched, select, tableButton, flipButton, path, main, scroll, graph, panel, statusName, statusNumbers, tip;
let menu = null, dialog = null, focusBack = null;
const layers = {};

function legend() {
	if (diff)
		return changeLegend();
	const self = {};
	all.forEach(node => {
		self[kinds[node.id]] = (self[kinds[node.id]] || 0) + node.self;
	});
	const chips = Object.keys(meta.kinds).filter(kind => self[kind] && kind !== 'd').map(kind => {
		const word = 'kind:' + meta.kinds[kind];
		return html('button', {type: 'button', title: 'Mark all ' + meta.kinds[kind] + ' frames; the number is their share of self time',
			click: () => search(searchText === word ? '' : word)},
		[swatch('k' + kind + '0'), meta.kinds[kind], html('b', {text: share(self[kind], top.total)})]);
	});
	return html('div', {class: 'legend', role: 'group', 'aria-label': 'Colours by kind, with share of self time'}, chips);
}

function barTime(i) {
	return (i * meta.strip.ms / 1000).toFixed(2) + ' s';
}

function timeStrip() {
	const bars = meta.strip.v, most = Math.max(1, ...bars);
	return html('div', {class: 'strip'}, [svg('svg', {viewBox: '0 0 ' + bars.length + ' 34', preserveAspectRatio: 'none', role: 'img',
		'aria-label': 'Weight over time, from 0 to ' + barTime(bars.length)},
	bars.map((v, i) => svg('rect', {x: i + .06, y: 34 - 32 * v / most, width: .88, height: 32 * v / most, class: 'kn0'},
		[svg('title', {text: 'from ' + barTime(i) + ': ' + value(v)})])))]);
}

function buildShell() {
	input = html('input', {type: 'search', placeholder: 'Search  (text, or /regex/)', spellcheck: 'false',
		'aria-label': 'Search frames: plain text, or a regular expression between slashes',
		input: () => search(input.value), keydown: searchKey});
	matched = html('span', {class: 'matched', role: 'status', 'aria-live': 'polite'});
	select = html('select', {'aria-label': 'View', title: 'View (f: focus on a function, c: its callers, b: bottom up)', change: () => setView(select.value)});
	tableButton = diff ? button('Changes', 'Table of changes (t)', toggleTable) : button('Top functions', 'Table of the top functions (t)', toggleTable);
	flipButton = button('Flip', 'Root at the top or at the bottom (i)', flip);
	badge = html('button', {type: 'button', class: meta.quality.ok ? 'badge ok' : 'badge', 'aria-expanded': 'false',
		title: 'What this picture is worth (q)', text: (meta.quality.ok ? '\u25cf ' : '\u25b2 ') + meta.quality.verdict, click: showQuality});
	graph = svg('svg', {class: 'graph', 'aria-hidden': 'true'});
	['callers', 'dim', 'frames', 'over', 'match', 'labels', 'hover', 'cursor'].forEach(name => {
		const single = name === 'match' || name === 'hover' || name === 'cursor';
		layers[name] = graph.appendChild(svg(single ? 'path' : 'g', {class: name}));
	});
	scroll = html('div', {class: 'scroll', tabindex: '0', role: 'application', 'aria-roledescription': 'flame graph',
		'aria-label': meta.title + '. Arrow keys move between frames, Enter zooms, Escape goes back.'}, [graph]);
	panel = html('div', {class: 'panel', role: 'region', 'aria-label': diff ? 'Changes' : 'Top functions'});
	path = html('nav', {class: 'path', 'aria-label': 'Zoom path'});
	main = html('div', {class: 'main'}, [scroll, panel]);
	statusName = html('span', {class: 'name', role: 'status', 'aria-live': 'polite'});
	statusNumbers = html('span', {class: 'numbers'});
	tip = html('div', {class: 'tip'});
	tip.style.display = 'none';
	app = html('div', {class: 'app'}, [
		html('div', {class: 'head'}, [html('h1', {text: meta.title, title: meta.title}), badge]),
		html('div', {class: 'facts'}, [html('span', {text: meta.facts.join(' \u00b7 '), title: meta.facts.join('\n')}), legend()]),
		diff ? html('p', {class: 'story', text: meta.story}) : null,
		html('div', {class: 'tools', role: 'toolbar', 'aria-label': 'Flame graph'}, [input, matched, html('span', {class: 'space'}), select, diff ? widthsSelect() : null,
			tableButton, flipButton, button('\u25d1', 'Light or dark (d)', toggleTheme), button('?', 'Keys and help (?)', showHelp)]),
		path, meta.strip ? timeStrip() : null, main,
		html('div', {class: 'status'}, [statusName, statusNumbers,
			html('span', {class: 'keys', text: 'click: zoom   right click: more   /: search   ?: keys'})]),
		tip]);
	shell = svg('foreignObject', {x: 0, y: 0, width: '100%', height: '100%'}, [app]);
}

function showShell() {
	const still = root.querySelector('[class=sk-static]');
	if (still)
		still.setAttribute('display', 'none');
	root.removeAttribute('viewBox');
	root.setAttribute('role', 'presentation');
	root.removeAttribute('aria-labelledby');
	if (solo) {
		root.setAttribute('width', '100%');
		root.setAttribute('height', '100%');
		root.style.position = 'fixed';
		root.style.inset = '0';
	} else {
		root.style.maxWidth = '100%';
		root.style.maxHeight = '85vh';
	}
	root.appendChild(shell);
}
