/* SPDX-License-Identifier: BSD-2-Clause */
/* A library whose functions are seen from outside, seen only in .symtab, or not at all; it tells a
 * test where they are, so that no ELF reader is needed to know what is right. */
#include <stddef.h>
#include <stdlib.h>

static volatile unsigned long sink;

void api_first(void);
void api_last(long n);
const void *address_of(int which);

void api_first(void)
{
	sink++;
}

__attribute__((noinline, visibility("hidden"))) void secret_hot(long n);
void secret_hot(long n)
{
	for (long i = 0; i < n; i++)
		sink += (unsigned long)i;
}

static __attribute__((noinline)) void only_in_symtab(long n)
{
	for (long i = 0; i < n; i++)
		sink -= (unsigned long)i;
}

void api_last(long n)
{
	secret_hot(n);
	only_in_symtab(n);
	sink++;
}

const void *address_of(int which)
{
	switch (which) {
	case 0:
		return (const void *)api_first;
	case 1:
		return (const void *)secret_hot;
	case 2:
		return (const void *)only_in_symtab;
	case 3:
		return (const void *)api_last;
	default:
		return NULL;
	}
}

/* By way of the PLT. */
const char *api_calls(void);
const char *api_calls(void)
{
	return getenv("HOME");
}
