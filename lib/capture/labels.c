/* SPDX-License-Identifier: BSD-2-Clause */
/* labels.c: whose sample it is. A thread's label set is made once for each name it bears. */
#include "capture/labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "names/pools.h"

int labels_init(struct labels *labels)
{
	*labels = (struct labels){0};
	return strings_init(&labels->keys);
}

void labels_done(struct labels *labels)
{
	strings_done(&labels->keys);
	free(labels->sets);
	*labels = (struct labels){0};
}

static int add_text_label(struct stoke_profile *profile, const char *key, const char *text,
	size_t size, struct label *ret)
{
	*ret = (struct label){0};
	if (profile_text(profile, key, &ret->key) < 0)
		return -ENOMEM;
	return profile_string(profile, text, size, &ret->str);
}

static int add_number_label(
	struct stoke_profile *profile, const char *key, int64_t number, struct label *ret)
{
	*ret = (struct label){.num = number};
	return profile_text(profile, key, &ret->key);
}

static int make_labels(struct stoke_profile *profile, const struct stoke_sample *record,
	const char *name, unsigned flags, uint32_t *ret)
{
	char thread[sizeof(record->comm)], pool[64];
	size_t size = strnlen(record->comm, sizeof(record->comm)), nr = 0;
	struct label labels[5];
	int r;

	memcpy(thread, record->comm, size);
	r = add_text_label(profile, "process", name, strlen(name), &labels[nr++]);
	if (r >= 0 && (flags & STOKE_NO_THREAD_NAMES))
		r = add_text_label(profile, "thread", pool,
			pool_of(thread, size, pool, sizeof(pool)), &labels[nr++]);
	else if (r >= 0)
		r = add_text_label(profile, "thread", thread, size, &labels[nr++]);
	if (r >= 0)
		r = add_number_label(profile, "pid", record->pid, &labels[nr++]);
	if (r >= 0)
		r = add_number_label(profile, "tid", record->tid, &labels[nr++]);
	if (r >= 0 && (flags & STOKE_LABEL_CPU))
		r = add_number_label(profile, "cpu", record->cpu, &labels[nr++]);
	if (r < 0)
		return r;
	return profile_labels(profile, labels, nr, ret);
}

int labels_find(struct labels *labels, struct stoke_profile *profile,
	const struct stoke_sample *record, const struct process *process, const char *name,
	unsigned flags, uint32_t *ret)
{
	struct {
		uint64_t incarnation;
		uint32_t name, tid, cpu, zero;
		char comm[16];
	} key = {
		.incarnation = process->incarnation,
		.name = process->name,
		.tid = record->tid,
		.cpu = flags & STOKE_LABEL_CPU ? record->cpu : 0,
	};
	uint32_t id, nr = labels->keys.nr;
	int r;

	memcpy(key.comm, record->comm, sizeof(key.comm));
	r = strings_add(&labels->keys, (const char *)&key, sizeof(key), &id);
	if (r < 0)
		return r;
	if (id < nr) {
		*ret = labels->sets[id];
		return 0;
	}
	r = array_reserve(&labels->sets, &labels->sets_capacity, id, 1);
	if (r < 0)
		return r;
	labels->sets[id] = 0;
	r = make_labels(profile, record, name, flags, &labels->sets[id]);
	if (r < 0)
		return r;
	*ret = labels->sets[id];
	return 0;
}
