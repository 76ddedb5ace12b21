/* SPDX-License-Identifier: BSD-2-Clause */
#include "names/pools.h"

#include <string.h>

#include "names/whole.h"
#include "unit/test.h"

TestSuite(pools, .fini = check_leaks);

static const struct {
	const char *name, *pool;
} cases[] = {
	{"main", "main"},
	{"", ""},
	{"http-nio-8080-exec-12", "http-nio-*-exec-*"},
	{"http-nio-8080-Poller", "http-nio-*-Poller"},
	{"pool-1-thread-17", "pool-*-thread-*"},
	{"ForkJoinPool.commonPool-worker-3", "ForkJoinPool.commonPool-worker-*"},
	{"GC Thread#3", "GC Thread#*"},
	{"GC task thread#0 (ParallelGC)", "GC task thread#* (ParallelGC)"},
	{"G1 Conc#1", "G1 Conc#*"},
	{"G1 Main Marker", "G1 Main Marker"},
	{"C2 CompilerThread0", "C2 CompilerThread*"},
	{"C1 CompilerThread12", "C1 CompilerThread*"},
	{"C2 CompilerThre", "C2 CompilerThre"},
	{"Java2D Disposer", "Java2D Disposer"},
	{"log4j2-TF-1-AsyncLogger[AsyncContext@5ffd2b27]-1",
		"log4j2-TF-*-AsyncLogger[AsyncContext@*]-*"},
	{"nioEventLoopGroup-3-2", "nioEventLoopGroup-*"},
	{"qtp1625082366-89", "qtp*"},
	{"qtp1625082366-14-acceptor-0@3fabb1aa-ServerConnector@76ed5528{HTTP/1.1,[http/1.1]}"
	 "{0.0.0.0:8080}",
		"qtp*-acceptor-*-ServerConnector@*{HTTP/*,[http/*]}{*}"},
	{"RMI TCP Connection(12)-10.0.0.17", "RMI TCP Connection(*)-*"},
	{"Handling GET /job/build-7/api/json from 10.1.2.3 : qtp1625082366-89",
		"Handling GET /job/*/api/json from * : qtp*"},
	{"GET /api/v2/users/42/orders?since=2026-11-01&n=5 HTTP",
		"GET /api/v2/users/*/orders?* HTTP"},
	{"POST /s/aVeryLongTokenThatIsDataNotAName", "POST /s/*"},
	{"Timer@6d06d69c", "Timer@*"},
	{"session 550e8400-e29b-41d4-a716-446655440000 reader", "session * reader"},
	{"conn 0x7f3c001c5920 idle", "conn * idle"},
	{"blob-deadbeef42", "blob-*"},
	{"sleeping 12.5s of 30s", "sleeping * of *"},
	{"backoff 250ms", "backoff *"},
	{"peer [fe80::1ff:fe23:4567:890a]:443", "peer [*]:*"},
	{"cron 03:15:00", "cron *"},
	{"kworker/u8:3-events", "kworker/u*-events"},
	{"ksoftirqd/0", "ksoftirqd/*"},
	{"worker_2_of_8", "worker_*_of_*"},
	{"worker-*", "worker-*"},
	{"disruptor-orders-0", "disruptor-orders-*"},
	{"std::thread", "std::thread"},
	{"\xe5\xb7\xa5\xe4\xbd\x9c\xe7\xba\xbf\xe7\xa8\x8b-12",
		"\xe5\xb7\xa5\xe4\xbd\x9c\xe7\xba\xbf\xe7\xa8\x8b-*"},
	{"\xe8\xae\xa2\xe5\x8d\x95"
	 "7"
	 "\xe5\xa4\x84\xe7\x90\x86",
		"\xe8\xae\xa2\xe5\x8d\x95*\xe5\xa4\x84\xe7\x90\x86"},
	{"\xff\xfe bad 3", "\xff\xfe bad *"},
};

Test(pools, members_of_a_pool_share_its_name)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char out[256] = "";
		size_t n = pool_of(cases[i].name, strlen(cases[i].name), out, sizeof(out) - 1);

		out[n] = '\0';
		cr_expect(eq(str, out, (char *)cases[i].pool), "of \"%s\"", cases[i].name);
	}
}

Test(pools, the_pool_of_a_pool_is_itself)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *pool = cases[i].pool;
		char out[256] = "";
		size_t n = pool_of(pool, strlen(pool), out, sizeof(out) - 1);

		out[n] = '\0';
		cr_expect(eq(str, out, (char *)pool));
	}
}

Test(pools, what_does_not_fit_is_cut_between_characters)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (size_t room = 0; room < 40; room++) {
			char out[48];
			size_t n;

			memset(out, '!', sizeof(out));
			n = pool_of(cases[i].name, strlen(cases[i].name), out, room);
			cr_assert(le(sz, n, room));
			for (size_t j = room; j < sizeof(out); j++)
				cr_assert(eq(chr, out[j], '!'), "written past its room");
			cr_assert(n == strlen(cases[i].pool) || whole_characters(out, n) == n);
		}
	}
}

Test(pools, a_nul_is_a_byte_like_others)
{
	char out[16];

	cr_assert(eq(sz, pool_of("a\0b7", 4, out, sizeof(out)), 4));
	cr_assert(memcmp(out, "a\0b*", 4) == 0);
}
