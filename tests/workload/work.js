// SPDX-License-Identifier: BSD-2-Clause
// work.js SECONDS: functions with names, one that is compiled late, one that stays interpreted.
'use strict';

function addUp(numbers) {
	let sum = 0;
	for (const number of numbers)
		sum += number % 7;
	return sum;
}

function sortSome(n) {
	const numbers = [];
	for (let i = 0; i < n; i++)
		numbers.push((i * 2654435761) % 1000003);
	numbers.sort(function byValue(a, b) {
		return a - b;
	});
	return addUp(numbers);
}

function concatenate(n) {
	const parts = new Map();
	for (let i = 0; i < n; i++)
		parts.set('part ' + (i % 50), (parts.get('part ' + (i % 50)) || 0) + 1);
	return [...parts.keys()].join('|').length;
}

const end = Date.now() + 1000 * Number(process.argv[2] || 10);
let total = 0;
console.log('ready');
while (Date.now() < end)
	total += sortSome(20000) + concatenate(5000);
