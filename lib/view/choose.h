/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_VIEW_CHOOSE_H
#define STOKE_VIEW_CHOOSE_H

/* What a name of a tree is shown as, where its frames do not agree on kind or module. */

#include "view/tree.h"

struct choose_weight {
	uint32_t name, module; /* index into tree->names, module of the profile */
	uint64_t weight;
};

/* kind_weight: name * NR_FUNCTION_KINDS + kind. Names of no weight keep their kind. */
void choose_kinds(struct tree *tree, const uint64_t *kind_weight);
/* Sorts the list. Names that are not in it keep their module. */
void choose_modules(struct tree *tree, struct choose_weight *list, size_t nr);

#endif
