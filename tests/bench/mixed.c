/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mixed ROUNDS SCALE [idle]: a server's mixture of work for tests/bench/alarms.py: parsing,
 * sorting, hashing, walks through memory that does not fit the cache. SCALE multiplies the loops of
 * target(), some 10 % of it all at 1. idle: sleeps most of the time.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HOT	     __attribute__((noinline))
#define TARGET_LOOPS 40000
#define NODES	     (1u << 16) /* of the list: 1 MB */

struct node {
	struct node *next;
	uint64_t value;
};

static struct node *nodes, *at;
static char text[4096];
static uint32_t numbers[512];
static double matrix[3][24][24];
static uint64_t sink, seed = 88172645463325252ull;

static uint64_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

HOT static void target(unsigned loops)
{
	for (unsigned i = 0; i < loops; i++)
		__asm__ volatile("" : "+r"(i));
}

HOT static unsigned next_token(const char *s, unsigned i)
{
	while (s[i] == ' ')
		i++;
	while (s[i] && s[i] != ' ')
		i++;
	return i;
}

HOT static void parse(void)
{
	for (unsigned i = 0; text[i];) {
		i = next_token(text, i);
		sink += i;
	}
}

HOT static void hash(void)
{
	uint64_t h = 14695981039346656037ull;

	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < sizeof(text); i++)
			h = (h ^ (unsigned char)text[i]) * 1099511628211ull;
	}
	sink += h;
}

HOT static void sift(uint32_t *a, unsigned root, unsigned nr)
{
	for (unsigned child = 2 * root + 1; child < nr; child = 2 * root + 1) {
		uint32_t t = a[root];

		if (child + 1 < nr && a[child] < a[child + 1])
			child++;
		if (t >= a[child])
			break;
		a[root] = a[child];
		a[child] = t;
		root = child;
	}
}

HOT static void sort(void)
{
	for (unsigned i = 0; i < 512; i++)
		numbers[i] = (uint32_t)draw();
	for (unsigned i = 256; i-- > 0;)
		sift(numbers, i, 512);
	for (unsigned n = 511; n > 0; n--) {
		uint32_t t = numbers[0];

		numbers[0] = numbers[n];
		numbers[n] = t;
		sift(numbers, 0, n);
	}
	sink += numbers[7];
}

HOT static void walk(unsigned steps)
{
	while (steps--) {
		at = at->next;
		sink += at->value;
	}
}

HOT static void multiply(void)
{
	for (unsigned i = 0; i < 24; i++) {
		for (unsigned j = 0; j < 24; j++) {
			double sum = 0;

			for (unsigned k = 0; k < 24; k++)
				sum += matrix[0][i][k] * matrix[1][k][j];
			matrix[2][i][j] = sum;
		}
	}
}

HOT static void format_number(char *out, uint64_t n)
{
	unsigned size = 0;

	do
		out[size++] = (char)('0' + n % 10);
	while (n /= 10);
	sink += (unsigned char)out[0] + size;
}

HOT static void format(void)
{
	char out[32];

	for (unsigned i = 0; i < 120; i++)
		format_number(out, draw());
}

HOT static void query(double scale)
{
	walk(300);
	sort();
	target((unsigned)(TARGET_LOOPS * scale));
}

HOT static void render(void)
{
	format();
	hash();
}

HOT static void handle(double scale)
{
	parse();
	query(scale);
	render();
	multiply();
}

static void prepare(void)
{
	nodes = calloc(NODES, sizeof(*nodes));
	if (!nodes)
		exit(1);
	/* One cycle through all of them in random order (Sattolo). */
	for (unsigned i = 0; i < NODES; i++)
		nodes[i].value = i;
	for (unsigned i = NODES - 1; i > 0; i--) {
		unsigned j = (unsigned)(draw() % i);
		uint64_t t = nodes[i].value;

		nodes[i].value = nodes[j].value;
		nodes[j].value = t;
	}
	for (unsigned i = 0; i < NODES; i++)
		nodes[i].next = &nodes[nodes[i].value];
	at = nodes;
	for (unsigned i = 0; i < sizeof(text) - 1; i++)
		text[i] = draw() % 6 ? (char)('a' + draw() % 26) : ' ';
	for (unsigned i = 0; i < 24; i++) {
		for (unsigned j = 0; j < 24; j++)
			matrix[0][i][j] = matrix[1][i][j] = (double)(draw() % 100);
	}
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 10000;
	double scale = argc > 2 ? atof(argv[2]) : 1;
	int idle = argc > 3 && strcmp(argv[3], "idle") == 0;
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail */
	seed += (uint64_t)t.tv_nsec;
	prepare();
	while (rounds--) {
		handle(scale);
		if (idle)
			(void)nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL); /* about */
	}
	return sink == 42;
}
