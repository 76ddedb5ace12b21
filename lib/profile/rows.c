/* SPDX-License-Identifier: BSD-2-Clause */
/* rows.c: the rows of a profile. Their index is made when the first row is looked for: readers of
 * sorted text only append. */
#include <stdlib.h>

#include "base/array.h"
#include "base/saturate.h"
#include "profile/index.h"

static uint64_t hash_row_key(uint32_t run, uint32_t stack, uint32_t labels, uint32_t slice)
{
	const uint32_t key[4] = {run, stack, labels, slice};

	return bytes_hash(key, sizeof(key));
}

static uint64_t hash_row(const struct stoke_profile *profile, uint32_t id)
{
	const struct rows *rows = &profile->rows;

	return hash_row_key(rows->run[id], rows->stack[id], rows->labels[id], rows->slice[id]);
}

static int rows_reserve(struct stoke_profile *profile)
{
	struct rows *rows = &profile->rows;
	int r;

	r = array_reserve(&rows->run, &rows->capacity, rows->nr, 1);
	if (r < 0)
		return r;
	r = array_reserve(&rows->stack, &rows->stack_capacity, rows->nr, 1);
	if (r < 0)
		return r;
	r = array_reserve(&rows->labels, &rows->labels_capacity, rows->nr, 1);
	if (r < 0)
		return r;
	r = array_reserve(&rows->slice, &rows->slice_capacity, rows->nr, 1);
	for (unsigned v = 0; r >= 0 && v < profile->nr_values; v++)
		r = array_reserve(&rows->value[v], &rows->value_capacity[v], rows->nr, 1);
	return r;
}

int profile_row_append(struct stoke_profile *profile, uint32_t run, uint32_t stack, uint32_t labels,
	uint32_t slice, const uint64_t *values)
{
	struct rows *rows = &profile->rows;
	int r = rows_reserve(profile);

	if (r < 0)
		return r;
	rows->run[rows->nr] = (uint16_t)run;
	rows->stack[rows->nr] = stack;
	rows->labels[rows->nr] = labels;
	rows->slice[rows->nr] = slice;
	for (unsigned v = 0; v < profile->nr_values; v++)
		rows->value[v][rows->nr] = values[v];
	rows->nr++;
	return 0;
}

static uint32_t *row_slot(const struct stoke_profile *profile, uint32_t run, uint32_t stack,
	uint32_t labels, uint32_t slice)
{
	const struct rows *rows = &profile->rows;

	return FIND_SLOT(&profile->index->rows, hash_row_key(run, stack, labels, slice), id,
		rows->run[id] == run && rows->stack[id] == stack && rows->labels[id] == labels &&
			rows->slice[id] == slice);
}

/* Takes in rows that were appended since, and makes room for one more. */
static int rows_catch_up(struct stoke_profile *profile)
{
	struct profile_index *index = profile->index;
	const struct rows *rows = &profile->rows;
	uint32_t nr_slots = index->rows.nr_slots;
	int r = slots_grow(&index->rows, rows->nr, profile, hash_row);

	if (r < 0)
		return r;
	if (index->rows.nr_slots != nr_slots)
		index->nr_indexed = rows->nr; /* growing took them all */
	for (; index->nr_indexed < rows->nr; index->nr_indexed++) {
		size_t id = index->nr_indexed;
		uint32_t *slot = row_slot(
			profile, rows->run[id], rows->stack[id], rows->labels[id], rows->slice[id]);

		if (!*slot)
			*slot = (uint32_t)id + 1;
	}
	return 0;
}

int profile_row(struct stoke_profile *profile, uint32_t run, uint32_t stack, uint32_t labels,
	uint32_t slice, const uint64_t *values)
{
	struct rows *rows = &profile->rows;
	uint32_t *slot;
	int r;

	r = rows_catch_up(profile);
	if (r < 0)
		return r;
	slot = row_slot(profile, run, stack, labels, slice);
	if (!*slot) {
		r = profile_row_append(profile, run, stack, labels, slice, values);
		if (r < 0)
			return r;
		profile->index->nr_indexed = rows->nr;
		*slot = (uint32_t)rows->nr;
		return 0;
	}
	for (unsigned v = 0; v < profile->nr_values; v++)
		rows->value[v][*slot - 1] = add_saturated(rows->value[v][*slot - 1], values[v]);
	return 0;
}

void profile_renumbered(struct stoke_profile *profile)
{
	struct profile_index *index = profile->index;

	free(index->rows.slot);
	index->rows = (struct slots){0};
	index->nr_indexed = 0;
	stacks_renumbered(&profile->stacks);
}

uint64_t profile_total(const struct stoke_profile *profile, unsigned value)
{
	uint64_t total = 0;

	if (value >= profile->nr_values)
		return 0;
	for (size_t i = 0; i < profile->rows.nr; i++)
		total = add_saturated(total, profile->rows.value[value][i]);
	return total;
}
