/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * select.c: a profile made from what another one has. Expressions are asked once a function, nodes
 * judged once in one loop forwards, since a parent comes before its children; then rows are copied
 * with what they need and nothing else.
 */
#include "profile/select.h"

#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "profile/copy.h"

/* What a function's name matched, and what was seen on a node's path. */
#define HAS_FOCUS  (1u << 0)
#define HAS_IGNORE (1u << 1)
#define HAS_HIDE   (1u << 2)
#define HAS_ROOT   (1u << 3)
#define HAS_FRAME  (1u << 4) /* of node: some frame stays */

#define NAME_BYTES 512

struct select {
	const struct stoke_profile *from;
	const struct stoke_select_options *options;
	select_pool *pool;
	uint8_t *lone; /* threads that are their pool, once pools are asked for */
	struct copy *copy; /* into the new profile */
	uint8_t *function_has; /* flags of each function */
	uint8_t *node_has; /* flags of each node's path */
	uint8_t *set_kept; /* label sets whose rows stay */
	uint32_t *chain_of_set; /* label set -> node of its root frames in the new profile */
	uint32_t *frame_of; /* frame -> whole frame of the new profile; 0: not asked yet */
	uint32_t *node_of; /* node -> node of the new profile, for one chain */
	uint32_t *stamp; /* chain + 1 for which node_of holds */
	uint32_t *path; /* scratch: nodes from a leaf up */
	size_t path_capacity;
};

static void select_done(struct select *select)
{
	copy_free(select->copy);
	free(select->lone);
	free(select->function_has);
	free(select->node_has);
	free(select->set_kept);
	free(select->chain_of_set);
	free(select->frame_of);
	free(select->node_of);
	free(select->stamp);
	free(select->path);
}

/* Compiles an extended regular expression, says what is wrong with it. */
static int compile(const char *what, const char *text, regex_t *ret, struct stoke_error *err)
{
	char why[128];
	int r = regcomp(ret, text, REG_EXTENDED | REG_NOSUB);

	if (!r)
		return 0;
	(void)regerror(r, ret, why, sizeof(why));
	if (r == REG_ESPACE)
		return fail(err, -ENOMEM, "out of memory");
	return fail(err, -EINVAL, "--%s %s: %s", what, text, why);
}

/* REG_STARTEND (glibc): names may hold NUL. */
static int matches(const regex_t *regex, const struct strings *strings, uint32_t string)
{
	regmatch_t range = {.rm_so = 0, .rm_eo = (regoff_t)strings_size(strings, string)};

	return regexec(regex, strings_text(strings, string), 0, &range, REG_STARTEND) == 0;
}

/* Sets flag on the functions that an expression matches; NULL: on none. */
static int match_functions(struct select *select, const char *what, const char *text, uint8_t flag,
	struct stoke_error *err)
{
	const struct stoke_profile *from = select->from;
	regex_t regex;
	int r;

	if (!text)
		return 0;
	r = compile(what, text, &regex, err);
	if (r < 0)
		return r;
	for (size_t i = 1; i < from->nr_functions; i++) {
		if (matches(&regex, &from->strings, from->functions[i].name))
			select->function_has[i] |= flag;
	}
	regfree(&regex);
	return 0;
}

/* 1: this part of stacks stays. Roots that are asked for replace those of the recording. */
static int frame_wanted(const struct select *select, const struct frame *frame)
{
	unsigned only = select->options->flags & (STOKE_USER_ONLY | STOKE_KERNEL_ONLY);
	int kernel = (frame->flags & FRAME_KERNEL) != 0;
	uint32_t function = frame_function(select->from, frame, 0);

	if (select->options->nr_by && select->from->functions[function].kind == FUNCTION_ROOT)
		return 0;
	return only == STOKE_USER_ONLY ? !kernel : only == STOKE_KERNEL_ONLY ? kernel : 1;
}

static uint8_t function_has(const struct select *select, const struct frame *frame, unsigned i)
{
	return select->function_has[frame_function(select->from, frame, i)];
}

static void judge_nodes(struct select *select)
{
	const struct stacks *stacks = &select->from->stacks;

	for (size_t i = 1; i < stacks->nr; i++) {
		const struct frame *frame = &select->from->frames[stacks->frame[i]];
		uint8_t has = select->node_has[stacks->parent[i]];
		unsigned nr = frame->nr_functions ? frame->nr_functions : 1;

		while (nr--) {
			uint8_t match = function_has(select, frame, nr);

			has |= match & (HAS_FOCUS | HAS_IGNORE | HAS_ROOT);
			if (!(match & HAS_HIDE) && frame_wanted(select, frame) &&
				(!select->options->root || (has & HAS_ROOT)))
				has |= HAS_FRAME;
		}
		select->node_has[i] = has;
	}
}

static int node_kept(const struct select *select, uint32_t node)
{
	const struct stoke_select_options *options = select->options;
	uint8_t has = select->node_has[node];
	int cuts = options->root || options->hide ||
		   (options->flags & (STOKE_USER_ONLY | STOKE_KERNEL_ONLY));

	return !(has & HAS_IGNORE) && (!options->focus || (has & HAS_FOCUS)) &&
	       (!cuts || (has & HAS_FRAME));
}

/* Which label sets stay, by thread and process. */
static int judge_sets(struct select *select, struct stoke_error *err)
{
	const struct stoke_select_options *options = select->options;
	const struct stoke_profile *from = select->from;
	regex_t regex;
	int r = options->thread ? compile("thread", options->thread, &regex, err) : 0;

	if (r < 0)
		return r;
	for (uint32_t set = 0; set < from->nr_label_sets; set++) {
		const struct label *thread = profile_label(from, set, "thread");
		const struct label *pid = profile_label(from, set, "pid");
		int kept = 1;

		if (options->thread)
			kept = thread && thread->str &&
			       matches(&regex, &from->strings, thread->str);
		if (options->nr_pids) {
			size_t i = 0;

			while (pid && i < options->nr_pids && options->pids[i] != pid->num)
				i++;
			kept = kept && pid && i < options->nr_pids;
		}
		select->set_kept[set] = (uint8_t)kept;
	}
	if (options->thread)
		regfree(&regex);
	return 0;
}

static int in_time(const struct select *select, size_t row)
{
	const struct rows *rows = &select->from->rows;
	uint64_t width = select->from->runs[rows->run[row]].slice_ns;
	uint64_t start = rows->slice[row] * width;

	if (!width)
		return 1; /* a run without times: check_time() saw that none was asked for */
	return start + width > select->options->from_ns &&
	       (!select->options->to_ns || start < select->options->to_ns);
}

static int check_time(const struct select *select, struct stoke_error *err)
{
	const struct stoke_profile *from = select->from;

	if (!select->options->from_ns && !select->options->to_ns)
		return 0;
	for (size_t i = 0; i < from->nr_runs; i++) {
		if (!from->runs[i].slice_ns)
			return fail(err, -EINVAL,
				"%s does not say when its samples were taken: no part of its time "
				"can be chosen",
				strings_text(&from->strings, from->runs[i].name));
	}
	return 0;
}

/* The labels that name and number a kind of root frame. */
static void root_labels(enum stoke_by by, const char **ret_name, const char **ret_number)
{
	*ret_name = by == STOKE_BY_PROCESS ? "process" : by == STOKE_BY_CPU ? NULL : "thread";
	*ret_number = by == STOKE_BY_PROCESS ? "pid"
		      : by == STOKE_BY_CPU   ? "cpu"
		      : by == STOKE_BY_POOL  ? NULL
					     : "tid";
}

/* Of so many processes of one name nobody wants a root each: make -j8 runs thousands of cc1. */
#define MAX_NAMESAKES 20

/*
 * Names that several processes (or threads) share: then the number stands behind them. *ret has a
 * byte for each string of the profile: how many bear it, 255 for more.
 */
static int count_namesakes(const struct select *select, enum stoke_by by, uint8_t **ret)
{
	const struct stoke_profile *from = select->from;
	_cleanup_free_ uint8_t *namesakes = calloc(from->strings.nr, 1);
	const char *name_key, *number_key;
	struct strings seen;
	int r = strings_init(&seen);

	root_labels(by, &name_key, &number_key);
	for (uint32_t set = 0; r >= 0 && name_key && number_key && set < from->nr_label_sets;
		set++) {
		const struct label *name = profile_label(from, set, name_key);
		const struct label *number = profile_label(from, set, number_key);
		uint32_t id, nr = seen.nr;
		int64_t pair[2];

		if (!select->set_kept[set] || !name || !number)
			continue;
		pair[0] = name->str;
		pair[1] = number->num;
		r = strings_add(&seen, (const char *)pair, sizeof(pair), &id);
		if (r >= 0 && id == nr && namesakes && namesakes[name->str] < 255)
			namesakes[name->str]++;
	}
	strings_done(&seen);
	if (r < 0 || !namesakes)
		return r < 0 ? r : -ENOMEM;
	*ret = take_pointer(namesakes);
	return 0;
}

/* Does the number stand behind this name? */
static int is_numbered(enum stoke_by by, uint8_t namesakes)
{
	return namesakes > 1 && by != STOKE_BY_POOL &&
	       (by != STOKE_BY_PROCESS || namesakes <= MAX_NAMESAKES);
}

/* The name of a set's root frame; 0 bytes: it has none. */
static size_t root_name(const struct select *select, enum stoke_by by, const uint8_t *namesakes,
	uint32_t set, char out[NAME_BYTES])
{
	const struct stoke_profile *from = select->from;
	const char *name_key, *number_key, *text;
	const struct label *name = NULL, *number = NULL;
	size_t size;
	int n;

	root_labels(by, &name_key, &number_key);
	if (name_key)
		name = profile_label(from, set, name_key);
	if (number_key)
		number = profile_label(from, set, number_key);
	if (!name || !name->str) {
		if (!number || number->str)
			return 0;
		n = snprintf(out, NAME_BYTES, by == STOKE_BY_CPU ? "CPU %" PRId64 : "(%" PRId64 ")",
			number->num);
		return n > 0 ? (size_t)n : 0;
	}
	text = strings_text(&from->strings, name->str);
	size = strings_size(&from->strings, name->str);
	if (by == STOKE_BY_POOL && !select->lone[name->str])
		return select->pool(text, size, out, NAME_BYTES);
	if (size > NAME_BYTES - 32)
		size = NAME_BYTES - 32;
	memcpy(out, text, size);
	if (is_numbered(by, namesakes[name->str])) {
		n = snprintf(out + size, NAME_BYTES - size, " (%" PRId64 ")", number->num);
		size += n > 0 ? (size_t)n : 0;
	}
	return size;
}

/* Puts one kind of root frame under each set's chain. */
static int extend_chains(struct select *select, enum stoke_by by)
{
	struct stoke_profile *to = copy_profile(select->copy);
	_cleanup_free_ uint8_t *namesakes = NULL;
	char name[NAME_BYTES];
	int r = count_namesakes(select, by, &namesakes);

	if (r >= 0 && by == STOKE_BY_POOL && !select->lone)
		r = profile_lone_threads(select->from, select->pool, &select->lone);
	for (uint32_t set = 0; r >= 0 && set < select->from->nr_label_sets; set++) {
		size_t size =
			select->set_kept[set] ? root_name(select, by, namesakes, set, name) : 0;
		uint32_t frame;

		if (!size)
			continue;
		r = profile_named_frame(to, name, size, FUNCTION_ROOT, &frame);
		if (r >= 0)
			r = stacks_child(&to->stacks, select->chain_of_set[set], frame,
				&select->chain_of_set[set]);
	}
	return r;
}

/*
 * The functions of a frame that stay, as one frame of the new profile. Most frames stay whole; what
 * inlining put together, hide and root may take apart. 0: nothing stays.
 */
static int cut_frame(struct select *select, uint32_t id, uint8_t above, uint32_t *ret)
{
	const struct frame *frame = &select->from->frames[id];
	unsigned nr = frame->nr_functions ? frame->nr_functions : 1, nr_kept = 0;
	_cleanup_free_ uint8_t *kept = NULL;
	int r, inside = !select->options->root || (above & HAS_ROOT);

	*ret = 0;
	if (!frame_wanted(select, frame))
		return 0;
	kept = calloc(nr, 1);
	if (!kept)
		return -ENOMEM;
	for (unsigned i = nr; i--;) {
		uint8_t match = function_has(select, frame, i);

		inside = inside || (match & HAS_ROOT);
		kept[i] = inside && !(match & HAS_HIDE);
		nr_kept += kept[i];
	}
	if (!nr_kept)
		return 0;
	if (nr_kept < nr)
		return copy_frame_part(select->copy, id, kept, ret);
	if (!select->frame_of[id]) {
		r = copy_frame(select->copy, id, &select->frame_of[id]);
		if (r < 0)
			return r;
	}
	*ret = select->frame_of[id];
	return 0;
}

/* The node of the new profile for a node of the old one, below a chain of root frames. */
static int map_node(struct select *select, uint32_t chain, uint32_t node, uint32_t *ret)
{
	const struct stacks *stacks = &select->from->stacks;
	struct stoke_profile *to = copy_profile(select->copy);
	uint32_t at = chain, frame;
	size_t nr = 0;
	int r;

	for (; node; node = stacks->parent[node]) {
		if (select->stamp[node] == chain + 1) {
			at = select->node_of[node];
			break;
		}
		r = array_reserve(&select->path, &select->path_capacity, nr, 1);
		if (r < 0)
			return r;
		select->path[nr++] = node;
	}
	while (nr) {
		node = select->path[--nr];
		r = cut_frame(select, stacks->frame[node], select->node_has[stacks->parent[node]],
			&frame);
		if (r >= 0 && frame)
			r = stacks_child(&to->stacks, at, frame, &at);
		if (r < 0)
			return r;
		select->node_of[node] = at;
		select->stamp[node] = chain + 1;
	}
	*ret = at;
	return 0;
}

/* Rows that stay, those of one chain together. */
struct chosen {
	uint32_t chain, row;
};

static int by_chain(const void *a, const void *b)
{
	const struct chosen *x = a, *y = b;

	if (x->chain != y->chain)
		return x->chain < y->chain ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static int copy_rows(struct select *select)
{
	const struct rows *rows = &select->from->rows;
	struct stoke_profile *to = copy_profile(select->copy);
	_cleanup_free_ struct chosen *chosen = calloc(rows->nr + 1, sizeof(*chosen));
	size_t nr = 0;
	int r = chosen ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && i < rows->nr; i++) {
		if (select->set_kept[rows->labels[i]] && in_time(select, i) &&
			node_kept(select, rows->stack[i]))
			chosen[nr++] =
				(struct chosen){select->chain_of_set[rows->labels[i]], (uint32_t)i};
	}
	if (nr)
		qsort(chosen, nr, sizeof(*chosen), by_chain);
	for (size_t i = 0; r >= 0 && i < nr; i++) {
		uint64_t values[PROFILE_MAX_VALUES];
		uint32_t row = chosen[i].row, node, set;

		r = map_node(select, chosen[i].chain, rows->stack[row], &node);
		if (r >= 0)
			r = copy_labels(select->copy, rows->labels[row], &set);
		if (r < 0)
			break;
		for (unsigned v = 0; v < to->nr_values; v++)
			values[v] = rows->value[v][row];
		r = profile_row(to, rows->run[row], node, set, rows->slice[row], values);
	}
	return r;
}

static int make_room(struct select *select)
{
	const struct stoke_profile *from = select->from;
	size_t nr_sets = from->nr_label_sets, nr_nodes = from->stacks.nr;

	select->function_has = calloc(from->nr_functions, 1);
	select->node_has = calloc(nr_nodes, 1);
	select->set_kept = calloc(nr_sets, 1);
	select->chain_of_set = calloc(nr_sets, sizeof(*select->chain_of_set));
	select->frame_of = calloc(from->nr_frames, sizeof(*select->frame_of));
	select->node_of = calloc(nr_nodes, sizeof(*select->node_of));
	select->stamp = calloc(nr_nodes, sizeof(*select->stamp));
	return select->function_has && select->node_has && select->set_kept &&
			       select->chain_of_set && select->frame_of && select->node_of &&
			       select->stamp
		       ? 0
		       : -ENOMEM;
}

static int match_all(struct select *select, struct stoke_error *err)
{
	const struct stoke_select_options *options = select->options;
	int r = match_functions(select, "focus", options->focus, HAS_FOCUS, err);

	if (r >= 0)
		r = match_functions(select, "ignore", options->ignore, HAS_IGNORE, err);
	if (r >= 0)
		r = match_functions(select, "hide", options->hide, HAS_HIDE, err);
	if (r >= 0)
		r = match_functions(select, "root", options->root, HAS_ROOT, err);
	if (r >= 0)
		r = judge_sets(select, err);
	if (r >= 0)
		r = check_time(select, err);
	if (r >= 0)
		judge_nodes(select);
	return r;
}

int profile_select(const struct stoke_profile *profile, const struct stoke_select_options *options,
	select_pool *pool, struct stoke_profile **ret, struct stoke_error *err)
{
	struct select select = {.from = profile, .options = options, .pool = pool};
	int r = make_room(&select);

	if (r >= 0)
		r = copy_new(profile, &select.copy);
	if (r >= 0)
		r = match_all(&select, err);
	for (size_t i = 0; r >= 0 && i < options->nr_by; i++)
		r = extend_chains(&select, options->by[i]);
	if (r >= 0)
		r = copy_rows(&select);
	if (r >= 0)
		*ret = copy_take(select.copy);
	select_done(&select);
	return r == -ENOMEM ? fail(err, r, "out of memory") : r < 0 ? r : 0;
}
