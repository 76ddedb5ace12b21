/* SPDX-License-Identifier: BSD-2-Clause */
/* treenames.c: the distinct names of a profile's functions, ranked once, so that siblings are
 * sorted by number. */
#include "view/treenames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/saturate.h"
#include "view/choose.h"

/* Names in the making. */
struct naming {
	struct tree *tree;
	struct tree_names *names;
	const uint64_t *frame_weight;
	uint64_t *kind_weight; /* name * NR_FUNCTION_KINDS + kind */
	size_t names_capacity, kinds_capacity;
};

const char *tree_text(const struct tree *tree, uint32_t name, size_t *ret_size)
{
	const struct tree_name *entry = &tree->names[name];
	const char *text;

	if (name == 0)
		text = "all";
	else if (entry->name == TREE_LEFT_OUT)
		text = "[left out]";
	else if (!entry->name)
		text = "[no name]";
	else {
		*ret_size = strings_size(&tree->profile->strings, entry->name);
		return strings_text(&tree->profile->strings, entry->name);
	}
	*ret_size = strlen(text);
	return text;
}

const char *tree_module(const struct tree *tree, uint32_t name, size_t *ret_size)
{
	const char *path = tree->profile->modules[tree->names[name].module].path;
	const char *slash;

	if (!tree->names[name].module || !path)
		path = "";
	slash = strrchr(path, '/');
	if (slash && slash[1])
		path = slash + 1;
	*ret_size = strlen(path);
	return path;
}

static enum tree_class class_of(const struct frame *frame, enum function_kind kind)
{
	if (kind == FUNCTION_MARK || kind == FUNCTION_ROOT)
		return TREE_MARK;
	return (frame->flags & FRAME_KERNEL) || kind == FUNCTION_KERNEL ? TREE_KERNEL : TREE_USER;
}

static int name_add(struct naming *n, uint32_t string, enum tree_class class, uint32_t *ret)
{
	struct tree *tree = n->tree;
	size_t room;
	int r;

	r = array_reserve(&tree->names, &n->names_capacity, tree->nr_names, 1);
	if (r < 0)
		return r;
	r = size_multiply(tree->nr_names + 1, NR_FUNCTION_KINDS, &room);
	if (r < 0)
		return r;
	r = array_reserve(&n->kind_weight, &n->kinds_capacity, tree->nr_names * NR_FUNCTION_KINDS,
		NR_FUNCTION_KINDS);
	if (r < 0)
		return r;
	memset(n->kind_weight + tree->nr_names * NR_FUNCTION_KINDS, 0,
		NR_FUNCTION_KINDS * sizeof(*n->kind_weight));
	tree->names[tree->nr_names] =
		(struct tree_name){.name = string, .class = (uint8_t) class, .kind = FUNCTION_MARK};
	*ret = (uint32_t)tree->nr_names++;
	return 0;
}

/* The name of the i-th function of a frame, added when new. */
static int name_of_function(
	struct naming *n, const struct frame *frame, unsigned i, uint64_t weight, uint32_t *ret)
{
	const struct stoke_profile *profile = n->tree->profile;
	const struct function *function = &profile->functions[frame_function(profile, frame, i)];
	enum function_kind kind = (enum function_kind)function->kind;
	enum tree_class class = class_of(frame, kind);
	uint32_t *name = &n->names->name_of[class * (size_t)profile->strings.nr + function->name];
	uint64_t *sum;
	int r;

	if (!*name) {
		r = name_add(n, function->name, class, name);
		if (r < 0)
			return r;
	}
	if (kind >= NR_FUNCTION_KINDS)
		kind = FUNCTION_UNKNOWN;
	sum = &n->kind_weight[(size_t)*name * NR_FUNCTION_KINDS + kind];
	*sum = add_saturated(*sum, weight);
	*ret = *name;
	return 0;
}

/* Each name gets the kind and the module that most of its weight has. */
static int describe_names(struct naming *n)
{
	const struct stoke_profile *profile = n->tree->profile;
	_cleanup_free_ struct choose_weight *list = NULL;
	size_t nr = 0, capacity = 0;
	int r;

	for (size_t f = 0; f < profile->nr_frames; f++) {
		const struct frame *frame = &profile->frames[f];

		if (!n->frame_weight[f])
			continue;
		for (unsigned i = tree_nr_functions(frame); i-- > 0;) {
			uint32_t name;

			r = name_of_function(n, frame, i, n->frame_weight[f], &name);
			if (r < 0)
				return r;
			if (!frame->module)
				continue;
			r = array_reserve(&list, &capacity, nr, 1);
			if (r < 0)
				return r;
			list[nr++] =
				(struct choose_weight){name, frame->module, n->frame_weight[f]};
		}
	}
	choose_kinds(n->tree, n->kind_weight);
	choose_modules(n->tree, list, nr);
	return 0;
}

static int by_text(const void *a, const void *b, void *of)
{
	const struct tree *tree = of;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	size_t x_size, y_size;
	const char *x_text = tree_text(tree, x, &x_size), *y_text = tree_text(tree, y, &y_size);
	int r = memcmp(x_text, y_text, x_size < y_size ? x_size : y_size);

	if (r)
		return r;
	if (x_size != y_size)
		return x_size < y_size ? -1 : 1;
	if (tree->names[x].class != tree->names[y].class)
		return tree->names[x].class < tree->names[y].class ? -1 : 1;
	/* A target's own "[left out]" before ours, "[no name]" behind the nameless. */
	return tree->names[x].name < tree->names[y].name
		       ? -1
		       : tree->names[x].name > tree->names[y].name;
}

/* Sorts the names, the root's first, so that their order is that of their numbers. */
static int rank_names(struct naming *n)
{
	struct tree *tree = n->tree;
	size_t nr_of = (size_t)TREE_NR_CLASSES * n->tree->profile->strings.nr;
	_cleanup_free_ uint32_t *order = malloc(tree->nr_names * sizeof(*order));
	_cleanup_free_ uint32_t *rank = malloc(tree->nr_names * sizeof(*rank));
	struct tree_name *sorted = malloc(tree->nr_names * sizeof(*sorted));

	if (!order || !rank || !sorted) {
		free(sorted);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < tree->nr_names; i++)
		order[i] = i;
	qsort_r(order + 1, tree->nr_names - 1, sizeof(*order), by_text, tree);
	for (uint32_t i = 0; i < tree->nr_names; i++) {
		rank[order[i]] = i;
		sorted[i] = tree->names[order[i]];
	}
	free(tree->names);
	tree->names = sorted;
	for (size_t i = 0; i < nr_of; i++)
		n->names->name_of[i] = rank[n->names->name_of[i]]; /* 0 stays */
	n->names->left_out = rank[n->names->left_out];
	return 0;
}

static int make(struct naming *n, bool left_out)
{
	uint32_t root;
	size_t room;
	int r = size_multiply(TREE_NR_CLASSES, n->tree->profile->strings.nr, &room);

	if (r < 0)
		return r;
	n->names->name_of = calloc(room, sizeof(*n->names->name_of));
	if (!n->names->name_of)
		return -ENOMEM;
	r = name_add(n, 0, TREE_MARK, &root);
	if (r < 0)
		return r;
	n->tree->names[root].kind = FUNCTION_ROOT;
	r = describe_names(n);
	if (r >= 0 && left_out)
		r = name_add(n, TREE_LEFT_OUT, TREE_MARK, &n->names->left_out);
	return r < 0 ? r : rank_names(n);
}

int tree_names_make(
	struct tree *tree, const uint64_t *frame_weight, bool left_out, struct tree_names *ret)
{
	struct tree_names names = {0};
	struct naming n = {.tree = tree, .names = &names, .frame_weight = frame_weight};
	int r = make(&n, left_out);

	free(n.kind_weight);
	if (r < 0)
		tree_names_done(&names);
	else
		*ret = names;
	return r;
}

void tree_names_done(struct tree_names *names)
{
	free(names->name_of);
	*names = (struct tree_names){0};
}

uint32_t tree_names_find(const struct tree_names *names, const struct stoke_profile *profile,
	const struct frame *frame, unsigned i)
{
	const struct function *function = &profile->functions[frame_function(profile, frame, i)];
	enum tree_class class = class_of(frame, (enum function_kind)function->kind);

	return names->name_of[class * (size_t)profile->strings.nr + function->name];
}
