/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BASE_FINDINGS_H
#define STOKE_BASE_FINDINGS_H

/*
 * What was found out, in the order in which it is to be told. Sentences are kept as they come, with
 * bytes that could drive a terminal spelled out.
 */

#include <stddef.h>

#include "stoke.h"

struct stoke_findings {
	struct stoke_finding *items;
	size_t nr, capacity;
	size_t nr_no; /* of them */
	int error; /* -ENOMEM: something is missing. Looked at once, at the end */
};

/* cure: lines, or NULL; of no finding but NO and NOTE. */
void findings_add(struct stoke_findings *findings, enum stoke_finding_state state,
	const char *subject, const char *cure, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* Frees what they hold. */
void findings_done(struct stoke_findings *findings);

#endif
