/* SPDX-License-Identifier: BSD-2-Clause */
/* number.c: all in integers, since printf's doubles follow the locale. */
#include "view/number.h"

#include <stdio.h>
#include <string.h>

#define THIN	 "\xe2\x80\x89"
#define THOUSAND "\xe2\x80\xaf"

static uint64_t scaled(uint64_t part, uint64_t whole, unsigned scale)
{
	return (uint64_t)(((unsigned __int128)part * scale + whole / 2) / whole);
}

char *number_share(char *buffer, uint64_t part, uint64_t whole)
{
	uint64_t n;

	if (!whole || !part) {
		(void)snprintf(buffer, NUMBER_ROOM, "0" THIN "%%");
		return buffer;
	}
	if (part >= whole) {
		(void)snprintf(buffer, NUMBER_ROOM, "100" THIN "%%");
		return buffer;
	}
	if ((unsigned __int128)part * 10 >= whole) {
		n = scaled(part, whole, 1000);
		n = n < 1000 ? n : 999;
		(void)snprintf(buffer, NUMBER_ROOM, "%llu.%llu" THIN "%%",
			(unsigned long long)n / 10, (unsigned long long)n % 10);
	} else if ((unsigned __int128)part * 1000 >= whole) {
		n = scaled(part, whole, 10000);
		(void)snprintf(buffer, NUMBER_ROOM, "%llu.%02llu" THIN "%%",
			(unsigned long long)n / 100, (unsigned long long)n % 100);
	} else {
		n = scaled(part, whole, 100000);
		(void)snprintf(buffer, NUMBER_ROOM, "%s0.%03llu" THIN "%%", n ? "" : "<",
			n ? (unsigned long long)n : 1ull);
	}
	return buffer;
}

/* 12345 with 2 decimals: "123.45". */
static void print_scaled(
	char *buffer, const char *before, uint64_t n, unsigned decimals, const char *behind)
{
	uint64_t scale = decimals == 1 ? 10 : decimals == 2 ? 100 : 1000;

	(void)snprintf(buffer, NUMBER_ROOM, "%s%llu.%0*llu%s", before,
		(unsigned long long)(n / scale), (int)decimals, (unsigned long long)(n % scale),
		behind);
}

#define MAX_RATE 1e9 /* what no picture means */

char *number_rate(char *buffer, double rate)
{
	double pct = 100 * (rate < MAX_RATE ? rate : MAX_RATE);

	if (!(pct > 0))
		(void)snprintf(buffer, NUMBER_ROOM, "0" THIN "%%");
	else if (pct > 100 - 1e-7 && pct < 100 + 1e-7)
		(void)snprintf(buffer, NUMBER_ROOM, "100" THIN "%%");
	else if (pct > 100)
		print_scaled(
			buffer, "", pct < 100.1 ? 1001 : (uint64_t)(pct * 10 + .5), 1, THIN "%");
	else if (pct >= 10)
		print_scaled(buffer, "", pct > 99.9 ? 999 : (uint64_t)(pct * 10 + .5), 1, THIN "%");
	else if (pct >= .1)
		print_scaled(buffer, "", (uint64_t)(pct * 100 + .5), 2, THIN "%");
	else if (pct < .0005)
		(void)snprintf(buffer, NUMBER_ROOM, "<0.001" THIN "%%");
	else
		print_scaled(buffer, "", (uint64_t)(pct * 1000 + .5), 3, THIN "%");
	return buffer;
}

char *number_points(char *buffer, double change)
{
	double points = 100 * (change < 0 ? -change : change);
	const char *sign = change < 0 ? "\xe2\x88\x92" : "+";

	if (points < .005)
		(void)snprintf(buffer, NUMBER_ROOM,
			"\xc2\xb1"
			"0" THIN "pts");
	else if (points < 9.95)
		print_scaled(buffer, sign, (uint64_t)(points * 100 + .5), 2, THIN "pts");
	else
		print_scaled(buffer, sign,
			(uint64_t)((points < MAX_RATE ? points : MAX_RATE) * 10 + .5), 1,
			THIN "pts");
	return buffer;
}

char *number_chance(char *buffer, uint32_t millionths)
{
	if (millionths < 1000)
		(void)snprintf(buffer, NUMBER_ROOM, "<0.001");
	else
		print_scaled(buffer, "", (millionths + 500) / 1000, 3, "");
	return buffer;
}

char *number_count(char *buffer, uint64_t count)
{
	char digits[24];
	int nr = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
	size_t used = 0;

	for (int i = 0; i < nr; i++) {
		if (i && (nr - i) % 3 == 0) {
			memcpy(buffer + used, THOUSAND, 3);
			used += 3;
		}
		buffer[used++] = digits[i];
	}
	buffer[used] = '\0';
	return buffer;
}

char *number_time(char *buffer, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "\xc2\xb5s"}, {1, "ns"}};
	unsigned i = 0;
	uint64_t n;

	while (i < 3 && ns < units[i].ns)
		i++;
	if (ns / units[i].ns >= 100) {
		char count[NUMBER_ROOM];

		n = scaled(ns, units[i].ns, 1);
		(void)snprintf(buffer, NUMBER_ROOM, "%s %s", number_count(count, n), units[i].unit);
		return buffer;
	}
	n = scaled(ns, units[i].ns, 100);
	if (n % 100 == 0)
		(void)snprintf(
			buffer, NUMBER_ROOM, "%llu %s", (unsigned long long)n / 100, units[i].unit);
	else if (n >= 1000)
		(void)snprintf(buffer, NUMBER_ROOM, "%llu.%llu %s",
			(unsigned long long)scaled(ns, units[i].ns, 10) / 10,
			(unsigned long long)scaled(ns, units[i].ns, 10) % 10, units[i].unit);
	else
		(void)snprintf(buffer, NUMBER_ROOM, "%llu.%02llu %s", (unsigned long long)n / 100,
			(unsigned long long)n % 100, units[i].unit);
	return buffer;
}

char *number_value(char *buffer, uint64_t value, const char *unit)
{
	char count[NUMBER_ROOM];

	if (strcmp(unit, "ns") == 0)
		return number_time(buffer, value);
	(void)snprintf(buffer, NUMBER_ROOM, "%s %.24s", number_count(count, value), unit);
	return buffer;
}
