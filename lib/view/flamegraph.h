/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_VIEW_FLAMEGRAPH_H
#define STOKE_VIEW_FLAMEGRAPH_H

/*
 * The style sheet and the program that a picture carries. Constant bytes: no data ever enters
 * them, and none contains "]]>", so both stand in CDATA sections as they are.
 */

#include <stddef.h>
#include <stdio.h>

#define FLAMEGRAPH_DIFFERENCE (1u << 0) /* with what a picture of two sides needs beyond */

size_t flamegraph_size(unsigned flags); /* bytes of both */
void flamegraph_write_css(FILE *out, unsigned flags);
void flamegraph_write_js(FILE *out, unsigned flags);

#endif
