/* SPDX-License-Identifier: BSD-2-Clause */
/* inlined.c: functions inlined into each other, at lines that tests look up by what stands on them.
 */
#define ALWAYS static inline __attribute__((always_inline))

volatile unsigned long sink;

ALWAYS void innermost(unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		sink += i * 3; /* work */
}

ALWAYS void middle(unsigned nr)
{
	innermost(nr); /* into middle */
	sink ^= nr;
}

__attribute__((noinline)) unsigned long outer(unsigned nr)
{
	sink--;
	middle(nr); /* into outer */
	return sink;
}

__attribute__((noinline)) unsigned long alone(unsigned nr)
{
	return sink * nr; /* alone */
}
