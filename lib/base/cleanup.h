/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BASE_CLEANUP_H
#define STOKE_BASE_CLEANUP_H

/* Owners on the stack that free what they hold when they go out of scope. */

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define _cleanup_(f)	 __attribute__((cleanup(f)))
#define _cleanup_free_	 _cleanup_(cleanup_free)
#define _cleanup_close_	 _cleanup_(cleanup_close)
#define _cleanup_fclose_ _cleanup_(cleanup_fclose)

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd); /* nothing was written through it: no error worth hearing */
}

static inline void cleanup_fclose(FILE *const *file)
{
	if (*file)
		(void)fclose(*file); /* writers check ferror and fflush before */
}

/* The value of a pointer that is given away; what was in it becomes NULL. */
#define take_pointer(p)                                                                            \
	({                                                                                         \
		__typeof__(p) taken_ = (p);                                                        \
		(p) = NULL;                                                                        \
		taken_;                                                                            \
	})

#define take_fd(fd)                                                                                \
	({                                                                                         \
		int taken_ = (fd);                                                                 \
		(fd) = -1;                                                                         \
		taken_;                                                                            \
	})

#endif
