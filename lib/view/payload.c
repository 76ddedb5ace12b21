/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * payload.c: three bytes a node. Names are numbered by use, so that the common ones have one
 * digit; grep finds them in the file, and gzip packs the rest as well as any format of ours would.
 */
#include "view/payload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "profile/prune.h"
#include "view/label.h"
#include "view/number.h"
#include "view/palette.h"

#define NO_ID UINT32_MAX

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* An entry of the names: of the tree, or "N frames left out". */
struct entry {
	uint64_t use;
	uint64_t nr_left_out; /* 0: of the tree */
	uint32_t name;
	char letter;
};

/* The entry of a count of left out frames. */
struct cut {
	uint64_t nr;
	uint32_t id;
};

/* A node as written that has marks. */
struct marked {
	size_t node;
	uint8_t marks;
};

struct encoder {
	const struct tree *tree;
	const struct payload_evidence *evidence;
	uint64_t threshold;
	uint64_t *nr_cut, *sum_cut[TREE_MAX_SIDES]; /* of the children of a node */
	struct marked *marked;
	size_t nr_marked, marked_capacity;
	struct entry *entries;
	size_t nr_entries, entries_capacity;
	uint32_t *id_of; /* name -> entry */
	struct cut *cuts; /* sorted by count */
	size_t nr_cuts, cuts_capacity;
	FILE *out;
	uint32_t last; /* node last written */
	unsigned depth; /* of the last child's place */
	struct payload *ret;
};

static void put_vlq(FILE *out, uint64_t n)
{
	do {
		unsigned digit = n & 31;

		n >>= 5;
		putc_unlocked(digits[n ? digit | 32 : digit], out);
	} while (n);
}

static int by_use(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->use != y->use)
		return x->use > y->use ? -1 : 1;
	if (x->letter != y->letter)
		return x->letter < y->letter ? -1 : 1;
	if (x->nr_left_out != y->nr_left_out)
		return x->nr_left_out < y->nr_left_out ? -1 : 1;
	/* Names of a tree are sorted by their bytes. */
	return x->name < y->name ? -1 : x->name > y->name;
}

static int by_count(const void *a, const void *b)
{
	const struct cut *x = a, *y = b;

	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

static int add_entry(struct encoder *e, struct entry entry)
{
	int r = array_reserve(&e->entries, &e->entries_capacity, e->nr_entries, 1);

	if (r >= 0)
		e->entries[e->nr_entries++] = entry;
	return r;
}

/* On the side where it is larger. */
static uint64_t weight_of(const struct tree *tree, uint32_t node)
{
	uint64_t weight = tree->total[0][node];

	if (tree->nr_sides > 1 && tree->total[1][node] > weight)
		weight = tree->total[1][node];
	return weight;
}

/* What falls under the threshold, and how often each name is used by the rest. */
static void count_uses(struct encoder *e, uint64_t *use)
{
	const struct tree *tree = e->tree;

	e->ret->nr_left_out = 0;
	memset(e->nr_cut, 0, tree->nr * sizeof(*e->nr_cut));
	for (unsigned side = 0; side < tree->nr_sides; side++)
		memset(e->sum_cut[side], 0, tree->nr * sizeof(uint64_t));
	for (uint32_t n = 0; n < tree->nr;) {
		if (n && weight_of(tree, n) < e->threshold) {
			e->nr_cut[tree->parent[n]] += tree->end[n] - n;
			for (unsigned side = 0; side < tree->nr_sides; side++)
				e->sum_cut[side][tree->parent[n]] += tree->total[side][n];
			e->ret->nr_left_out += tree->end[n] - n;
			n = tree->end[n];
		} else {
			use[tree->name[n]]++;
			n++;
		}
	}
}

/* An entry for each different count of left out frames. */
static int add_cuts(struct encoder *e)
{
	size_t kept = 0;
	int r;

	e->nr_cuts = 0;
	for (size_t n = 0; n < e->tree->nr; n++) {
		if (!e->nr_cut[n])
			continue;
		r = array_reserve(&e->cuts, &e->cuts_capacity, e->nr_cuts, 1);
		if (r < 0)
			return r;
		e->cuts[e->nr_cuts++].nr = e->nr_cut[n];
	}
	if (e->nr_cuts)
		qsort(e->cuts, e->nr_cuts, sizeof(*e->cuts), by_count);
	for (size_t i = 0; i < e->nr_cuts;) {
		struct entry entry = {
			.nr_left_out = e->cuts[i].nr, .letter = PALETTE_LEFT_OUT, .name = NO_ID};

		for (; i < e->nr_cuts && e->cuts[i].nr == entry.nr_left_out; i++)
			entry.use++;
		e->cuts[kept++].nr = entry.nr_left_out;
		r = add_entry(e, entry);
		if (r < 0)
			return r;
	}
	e->nr_cuts = kept;
	return 0;
}

static struct cut *cut_of(const struct encoder *e, uint64_t nr)
{
	const struct cut key = {.nr = nr};

	return bsearch(&key, e->cuts, e->nr_cuts, sizeof(*e->cuts), by_count);
}

static int number_names(struct encoder *e)
{
	size_t nr_names = e->tree->nr_names;
	_cleanup_free_ uint64_t *use = calloc(nr_names, sizeof(*use));
	int r;

	if (!use)
		return -ENOMEM;
	count_uses(e, use);
	e->nr_entries = 0;
	for (uint32_t i = 0; i < nr_names; i++) {
		struct entry entry = {.use = use[i], .name = i};

		if (!use[i])
			continue;
		entry.letter = palette_letter(e->tree, i);
		r = add_entry(e, entry);
		if (r < 0)
			return r;
	}
	r = add_cuts(e);
	if (r < 0)
		return r;
	qsort(e->entries, e->nr_entries, sizeof(*e->entries), by_use);
	for (size_t i = 0; i < e->nr_entries; i++) {
		if (e->entries[i].name != NO_ID)
			e->id_of[e->entries[i].name] = (uint32_t)i;
		else
			cut_of(e, e->entries[i].nr_left_out)->id = (uint32_t)i;
	}
	return 0;
}

/* A node's own sum of each side stands in of[side][at]. */
static void put_node(
	struct encoder *e, unsigned depth, uint32_t id, uint64_t *const of[], uint32_t at)
{
	unsigned nr_sides = e->tree->nr_sides;
	uint64_t head = e->depth - depth;

	head <<= nr_sides;
	for (unsigned side = 0; side < nr_sides; side++)
		head |= of[side][at] ? 1u << side : 0;
	put_vlq(e->out, head);
	put_vlq(e->out, id);
	for (unsigned side = 0; side < nr_sides; side++) {
		if (of[side][at])
			put_vlq(e->out, of[side][at]);
	}
	e->depth = depth + 1;
	e->ret->nr_nodes++;
}

/* What was cut off below a node is its last child. */
static void put_cut(struct encoder *e, uint32_t node)
{
	if (e->nr_cut[node])
		put_node(e, e->tree->depth[node] + 1u, cut_of(e, e->nr_cut[node])->id, e->sum_cut,
			node);
}

/* Goes up to `parent`, closing what lies between. */
static void close_up_to(struct encoder *e, uint32_t parent)
{
	for (; e->last != parent; e->last = e->tree->parent[e->last])
		put_cut(e, e->last);
}

static int add_mark(struct encoder *e, uint32_t node)
{
	int r;

	if (!e->evidence || !e->evidence->marks[node])
		return 0;
	r = array_reserve(&e->marked, &e->marked_capacity, e->nr_marked, 1);
	if (r < 0)
		return r;
	e->marked[e->nr_marked++] = (struct marked){e->ret->nr_nodes, e->evidence->marks[node]};
	return 0;
}

static int put_tree(struct encoder *e)
{
	const struct tree *tree = e->tree;
	int r;

	e->ret->nr_nodes = 0;
	e->nr_marked = 0;
	e->depth = 0;
	e->last = 0;
	put_node(e, 0, e->id_of[tree->name[0]], tree->self, 0);
	for (uint32_t n = 1; n < tree->nr;) {
		if (weight_of(tree, n) < e->threshold) {
			n = tree->end[n];
			continue;
		}
		close_up_to(e, tree->parent[n]);
		r = add_mark(e, n);
		if (r < 0)
			return r;
		put_node(e, tree->depth[n], e->id_of[tree->name[n]], tree->self, n);
		e->last = n++;
	}
	close_up_to(e, 0);
	put_cut(e, 0);
	return 0;
}

static int put_marks(struct encoder *e)
{
	size_t last = 0;

	for (size_t i = 0; i < e->nr_marked; i++) {
		put_vlq(e->out, e->marked[i].node - last);
		put_vlq(e->out, e->marked[i].marks);
		last = e->marked[i].node;
	}
	return 0;
}

static void put_chance(FILE *out, struct payload_chance chance)
{
	if (chance.grew == PAYLOAD_UNTESTED)
		return;
	put_vlq(out, chance.grew);
	put_vlq(out, chance.shrank);
}

static int put_evidence(struct encoder *e)
{
	size_t last = 0;

	for (size_t id = 0; id < e->nr_entries; id++) {
		uint32_t name = e->entries[id].name;
		struct payload_chance total, self;

		if (name == NO_ID)
			continue;
		total = e->evidence->total[name];
		self = e->evidence->self[name];
		if (total.grew == PAYLOAD_UNTESTED && self.grew == PAYLOAD_UNTESTED)
			continue;
		put_vlq(e->out, id - last);
		put_vlq(e->out,
			(total.grew != PAYLOAD_UNTESTED) + 2u * (self.grew != PAYLOAD_UNTESTED));
		put_chance(e->out, total);
		put_chance(e->out, self);
		last = id;
	}
	return 0;
}

static int put_names(struct encoder *e)
{
	_cleanup_free_ char *text = malloc(LABEL_NAME_ROOM);
	size_t size;

	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < e->nr_entries; i++) {
		const struct entry *entry = &e->entries[i];

		if (i)
			putc('\n', e->out);
		putc(entry->letter, e->out);
		if (entry->name == NO_ID) {
			char count[NUMBER_ROOM];

			fprintf(e->out, "%s frame%s left out",
				number_count(count, entry->nr_left_out),
				entry->nr_left_out == 1 ? "" : "s");
			continue;
		}
		size = label_name(e->tree, entry->name, text);
		(void)fwrite(text, 1, size, e->out); /* the stream keeps its error */
		size = entry->letter == 'n' || entry->letter == 'c' || entry->letter == 'k'
			       ? label_module(e->tree, entry->name, text)
			       : 0;
		if (size) {
			putc('\t', e->out);
			(void)fwrite(text, 1, size, e->out);
		}
	}
	e->ret->nr_names = e->nr_entries;
	return 0;
}

/* Runs one writer into memory. */
static int to_memory(struct encoder *e, int (*put)(struct encoder *), char **text, size_t *size)
{
	int r, failed;

	free(*text);
	*text = NULL;
	e->out = open_memstream(text, size);
	if (!e->out)
		return -ENOMEM;
	r = put(e);
	failed = ferror(e->out);
	if (fclose(e->out) != 0 || failed)
		return -ENOMEM;
	return r;
}

static size_t escaped_size(const char *text, size_t size)
{
	size_t sum = size;

	for (size_t i = 0; i < size; i++)
		sum += text[i] == '&'			  ? 4
		       : text[i] == '<' || text[i] == '>' ? 3
		       : text[i] == '"'			  ? 5
							  : 0;
	return sum;
}

/* Writes all parts at the threshold in force. */
static int put_all(struct encoder *e)
{
	struct payload *p = e->ret;
	int r;

	r = number_names(e);
	if (r < 0)
		return r;
	r = to_memory(e, put_tree, &p->tree, &p->tree_size);
	if (r < 0)
		return r;
	if (e->evidence) {
		r = to_memory(e, put_evidence, &p->evidence, &p->evidence_size);
		if (r < 0)
			return r;
		r = to_memory(e, put_marks, &p->marks, &p->marks_size);
		if (r < 0)
			return r;
	}
	return to_memory(e, put_names, &p->names, &p->names_size);
}

static int encode(struct encoder *e, size_t budget)
{
	const struct tree *tree = e->tree;
	uint64_t smallest = 0, largest = weight_of(tree, 0);
	struct payload *p = e->ret;

	for (unsigned side = 0; side < tree->nr_sides; side++) {
		for (size_t n = 0; n < tree->nr; n++) {
			uint64_t self = tree->self[side][n];

			if (self && (!smallest || self < smallest))
				smallest = self;
		}
	}
	for (;;) {
		int r = put_all(e);

		if (r < 0)
			return r;
		if (!budget || e->threshold > largest ||
			p->tree_size + p->evidence_size + p->marks_size +
					escaped_size(p->names, p->names_size) <=
				budget)
			break;
		if (__builtin_mul_overflow(
			    e->threshold ? e->threshold : smallest, 2, &e->threshold))
			e->threshold = UINT64_MAX;
	}
	p->threshold = p->nr_left_out ? e->threshold : 0;
	return 0;
}

int payload_make(const struct tree *tree, size_t budget, const struct payload_evidence *evidence,
	struct payload *ret)
{
	struct payload payload = {0};
	struct encoder e = {.tree = tree, .evidence = evidence, .ret = &payload};
	int r = -ENOMEM, made;

	e.nr_cut = array_new(tree->nr, sizeof(*e.nr_cut));
	e.id_of = malloc(tree->nr_names * sizeof(*e.id_of));
	made = e.nr_cut && e.id_of;
	for (unsigned side = 0; side < tree->nr_sides; side++) {
		e.sum_cut[side] = array_new(tree->nr, sizeof(uint64_t));
		made = made && e.sum_cut[side];
	}
	if (made)
		r = encode(&e, budget);
	free(e.nr_cut);
	for (unsigned side = 0; side < tree->nr_sides; side++)
		free(e.sum_cut[side]);
	free(e.id_of);
	free(e.entries);
	free(e.cuts);
	free(e.marked);
	if (r < 0) {
		payload_done(&payload);
		return r;
	}
	*ret = payload;
	return 0;
}

void payload_done(struct payload *payload)
{
	free(payload->names);
	free(payload->tree);
	free(payload->evidence);
	free(payload->marks);
	*payload = (struct payload){0};
}

/* A name that was read. */
struct entry_read {
	uint32_t frame;
	uint64_t nr_left_out;
};

/* Text being read. */
struct decoder {
	const char *at, *end;
};

static int get_vlq(struct decoder *d, uint64_t *ret)
{
	uint64_t n = 0;

	for (unsigned shift = 0;; shift += 5) {
		const char *digit = d->at < d->end && *d->at ? strchr(digits, *d->at) : NULL;
		uint64_t value;

		if (!digit || shift > 60)
			return -EINVAL;
		d->at++;
		value = (uint64_t)(digit - digits);
		if (shift == 60 && (value & 31) > 15)
			return -EINVAL;
		n |= (value & 31) << shift;
		if (value < 32)
			break;
	}
	*ret = n;
	return 0;
}

/* Modules by the name that stands behind a tab. */
struct module_names {
	struct strings names;
	uint32_t *module; /* by string */
	size_t nr, capacity;
};

static int find_module(struct stoke_profile *into, struct module_names *modules, const char *name,
	size_t size, uint32_t *ret)
{
	struct module module = {.kind = MODULE_FOREIGN, .fd = -1, .root_fd = -1};
	_cleanup_free_ char *path = NULL;
	uint32_t string;
	int r = strings_add(&modules->names, name, size, &string);

	for (; r >= 0 && modules->nr <= string; modules->nr++) {
		r = array_reserve(&modules->module, &modules->capacity, modules->nr, 1);
		if (r >= 0)
			modules->module[modules->nr] = 0;
	}
	if (r < 0)
		return r;
	if (string && !modules->module[string]) {
		module.path = path = strndup(name, size);
		r = path ? profile_module(into, &module, &modules->module[string]) : -ENOMEM;
	}
	*ret = modules->module[string];
	return r;
}

/* What an entry of the names means. */
static int read_entry(struct stoke_profile *into, struct module_names *modules, const char *entry,
	size_t size, struct entry_read *ret)
{
	const char *tab = memchr(entry, '\t', size);
	size_t name = tab ? (size_t)(tab - entry) : size;
	struct frame frame = {.nr_functions = 1};
	enum function_kind kind = palette_kind_of(entry[0]);
	int r = 0;

	*ret = (struct entry_read){0};
	if (entry[0] == PALETTE_LEFT_OUT) {
		for (size_t i = 1; i < name && ret->nr_left_out < UINT32_MAX; i++)
			if (entry[i] >= '0' && entry[i] <= '9')
				ret->nr_left_out =
					10 * ret->nr_left_out + (uint64_t)(entry[i] - '0');
		return profile_named_frame(into, PROFILE_LEFT_OUT, strlen(PROFILE_LEFT_OUT),
			FUNCTION_MARK, &ret->frame);
	}
	if (tab)
		r = find_module(into, modules, tab + 1, size - name - 1, &frame.module);
	if (r >= 0)
		r = profile_function(into, entry + 1, name - 1, kind, 0, 0, &frame.function);
	frame.flags = kind == FUNCTION_KERNEL ? FRAME_KERNEL : 0;
	return r < 0 ? r : profile_frame(into, &frame, &ret->frame);
}

/* The frames of the names, by id. */
static int read_names(struct stoke_profile *into, const char *names, size_t size,
	struct entry_read **ret, size_t *ret_nr)
{
	_cleanup_free_ struct entry_read *entries = NULL;
	struct module_names modules = {0};
	size_t nr = 0, capacity = 0;
	int r = strings_init(&modules.names);

	for (const char *end = names + size; r >= 0 && names < end;) {
		const char *lf = memchr(names, '\n', (size_t)(end - names));
		size_t line = lf ? (size_t)(lf - names) : (size_t)(end - names);

		r = line ? array_reserve(&entries, &capacity, nr, 1) : -EINVAL;
		if (r >= 0)
			r = read_entry(into, &modules, names, line, &entries[nr++]);
		names += line + 1;
	}
	strings_done(&modules.names);
	free(modules.module);
	if (r < 0)
		return r;
	*ret = take_pointer(entries);
	*ret_nr = nr;
	return 0;
}

int payload_read(struct stoke_profile *into, uint32_t run, unsigned value, const char *names,
	size_t names_size, const char *tree, size_t tree_size)
{
	struct decoder d = {tree, tree + tree_size};
	_cleanup_free_ struct entry_read *entries = NULL;
	uint64_t values[PROFILE_MAX_VALUES] = {0}, *hidden;
	uint32_t node = 0;
	uint64_t depth = 0; /* of the child's place of `node`: the root, "all", is no frame */
	size_t nr;
	int r;

	r = read_names(into, names, names_size, &entries, &nr);
	if (r < 0)
		return r;
	hidden = &into->runs[run].quality.count[QUALITY_HIDDEN_NODES];
	for (int first = 1; d.at < d.end; first = 0) {
		uint64_t head, id, self = 0;

		if (get_vlq(&d, &head) < 0 || get_vlq(&d, &id) < 0 ||
			((head & 1) && get_vlq(&d, &self) < 0))
			return -EINVAL;
		if (id >= nr || (first ? head > 1 : head / 2 >= depth))
			return -EINVAL;
		for (uint64_t up = head / 2; up; up--, depth--)
			node = into->stacks.parent[node];
		if (++depth > UINT16_MAX) /* the root is no frame */
			return -EINVAL;
		*hidden += entries[id].nr_left_out;
		if (!first) {
			r = stacks_child(&into->stacks, node, entries[id].frame, &node);
			if (r < 0)
				return r;
		}
		values[value] = self;
		if (self) {
			r = profile_row(into, run, node, 0, 0, values);
			if (r < 0)
				return r;
		}
	}
	return 0;
}
