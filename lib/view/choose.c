/* SPDX-License-Identifier: BSD-2-Clause */
/* choose.c: most weight wins; between equals the smaller kind, the path that sorts first. */
#include "view/choose.h"

#include "base/saturate.h"

#include <stdlib.h>
#include <string.h>

void choose_kinds(struct tree *tree, const uint64_t *kind_weight)
{
	for (size_t i = 1; i < tree->nr_names; i++) {
		const uint64_t *weight = &kind_weight[i * NR_FUNCTION_KINDS];
		uint64_t best = 0;

		for (unsigned kind = 0; kind < NR_FUNCTION_KINDS; kind++) {
			if (weight[kind] > best) {
				best = weight[kind];
				tree->names[i].kind = (uint8_t)kind;
			}
		}
	}
}

static int by_name_and_module(const void *a, const void *b)
{
	const struct choose_weight *x = a, *y = b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->module < y->module ? -1 : x->module > y->module;
}

/* Modules have no order that is theirs but their paths'. */
static int module_is_before(const struct stoke_profile *profile, uint32_t x, uint32_t y)
{
	const char *x_path = profile->modules[x].path, *y_path = profile->modules[y].path;

	return strcmp(x_path ? x_path : "", y_path ? y_path : "") < 0;
}

void choose_modules(struct tree *tree, struct choose_weight *list, size_t nr)
{
	if (nr)
		qsort(list, nr, sizeof(*list), by_name_and_module);
	for (size_t i = 0; i < nr;) {
		struct tree_name *name = &tree->names[list[i].name];
		uint64_t best = 0;
		size_t of = i;

		for (; i < nr && list[i].name == list[of].name;) {
			uint32_t module = list[i].module;
			uint64_t sum = 0;

			for (; i < nr && list[i].name == list[of].name && list[i].module == module;
				i++)
				sum = add_saturated(sum, list[i].weight);
			if (sum > best || (sum == best && module_is_before(tree->profile, module,
								  name->module))) {
				best = sum;
				name->module = module;
			}
		}
	}
}
