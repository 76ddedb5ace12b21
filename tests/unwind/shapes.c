/* SPDX-License-Identifier: BSD-2-Clause */
/* shapes.c: functions whose frames have every shape that compilers make. Without headers, so that
 * it compiles for any machine. Nothing here is run. */
typedef __SIZE_TYPE__ word;
typedef int vector __attribute__((vector_size(32)));

extern void sink(void *, ...);
extern vector sources(void *);

word leaf(word a)
{
	return a * 3;
}

word saves_all(word a, word b, word c, word d)
{
	word e = a * b, f = b * c, g = c * d, h = d * a, i = a - d, k = b - c;

	sink(&e, a, b, c, d);
	sink(&f, e, g, h, i, k);
	return a + b + c + d + e + f + g + h + i + k;
}

/* Shrink-wrapped: the frame exists on one way only. */
word early(word a)
{
	if (a < 10)
		return a;
	sink(&a);
	sink(&a);
	return a + 1;
}

word variable(word n)
{
	char *room = __builtin_alloca(n);

	sink(room, n);
	return (word)room[n / 2];
}

word array(word n)
{
	int room[n];

	sink(room);
	return (word)room[n / 3] + (word)sizeof(room);
}

word large(word n)
{
	char room[20000];

	sink(room, n);
	return (word)room[n];
}

word huge(word n)
{
	char room[200000];

	sink(room, n);
	return (word)room[n];
}

vector aligned(word n)
{
	vector v = sources(&n), w;

	sink(&w, &v, __builtin_alloca(n));
	return v + w;
}

word many(word a, word b, word c, word d, word e, word f, word g, word h, word i, word k)
{
	sink(&a, b, c, d, e, f, g, h, i, k, &k, &i);
	return a + k;
}

word recursive(word n)
{
	return n < 2 ? n : recursive(n - 1) + recursive(n - 2) + 1;
}

__attribute__((noreturn)) void dies(word n)
{
	for (;;)
		sink(&n);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) void clears(vector *v, word n)
{
	vector local[4];

	sink(local, v, n);
	v[0] = local[n & 3];
}
#endif
