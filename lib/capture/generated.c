/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * generated.c: evidence first, names when it is complete. A sample in generated code waits for the
 * first reading after it: only that tells who owned the address then. A name found is final; a miss
 * is not, since runtimes write late.
 */
#include "capture/generated.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "bpf/event.h"
#include "capture/named.h"

#define MAX_SYMBOLS 64 /* inlined into each other at one address */

struct nameless {
	uint32_t frame;
	uint64_t time_ns, address;
};

struct claim {
	int claimed;
	void *state;
	char text[512];
};

struct generated {
	const struct host *host;
	uint32_t module;
	struct claim *claims; /* one a runtime */
	uint64_t last_reading_ns;
	uint8_t *waiting; /* struct waiting + places, one behind the other */
	size_t waiting_size, waiting_capacity;
	uint64_t waiting_since_ns;
	struct nameless *nameless;
	size_t nr_nameless, nameless_capacity;
	struct named named;
	uint64_t nr_stale;
};

int generated_new(const struct host *host, struct generated **ret)
{
	struct generated *generated = calloc(1, sizeof(*generated));

	if (!generated)
		return -ENOMEM;
	generated->host = host;
	generated->claims = calloc(nr_runtimes ? nr_runtimes : 1, sizeof(*generated->claims));
	if (!generated->claims) {
		free(generated);
		return -ENOMEM;
	}
	*ret = generated;
	return 0;
}

void generated_free(struct generated *generated)
{
	if (!generated)
		return;
	for (size_t i = 0; i < nr_runtimes; i++) {
		if (generated->claims[i].claimed)
			runtimes[i]->close(generated->claims[i].state);
	}
	free(generated->claims);
	free(generated->waiting);
	free(generated->nameless);
	named_forget(&generated->named);
	free(generated);
}

static int ask(const struct runtime *runtime, void *state, uint64_t time_ns,
	const struct place *place, struct symbol *ret)
{
	const struct span when = {time_ns, time_ns};
	int n = 0;

	if (place->note && runtime->lookup_method)
		n = runtime->lookup_method(state, when, stoke_note_method(place->note),
			stoke_note_index(place->note), ret, MAX_SYMBOLS);
	if (n != 0)
		return n;
	return runtime->lookup(state, when, place->address, ret, MAX_SYMBOLS);
}

/* In order of priority: the first runtime that knows decides; one without a reading makes it wait.
 */
static int lookup(const struct generated *generated, uint64_t time_ns, const struct place *place,
	struct symbol *ret)
{
	int wait = generated->last_reading_ns < time_ns;

	for (size_t i = 0; i < nr_runtimes; i++) {
		int n;

		if (!generated->claims[i].claimed)
			continue;
		n = ask(runtimes[i], generated->claims[i].state, time_ns, place, ret);
		if (n == -EAGAIN)
			wait = 1;
		else if (n != 0)
			return n;
	}
	return wait ? -EAGAIN : 0;
}

/* By its address alone: all that is nameless there is this frame, whatever was interpreted. */
static int remember_nameless(
	struct generated *generated, uint32_t frame, uint64_t time_ns, uint64_t address)
{
	int r;

	for (size_t i = generated->nr_nameless; i-- > 0;) {
		if (generated->nameless[i].frame == frame)
			return 0;
	}
	r = array_reserve(
		&generated->nameless, &generated->nameless_capacity, generated->nr_nameless, 1);
	if (r < 0)
		return r;
	generated->nameless[generated->nr_nameless++] = (struct nameless){
		.frame = frame,
		.time_ns = time_ns,
		.address = address,
	};
	return 0;
}

int generated_frame(struct generated *generated, struct stoke_profile *profile, uint64_t time_ns,
	const struct place *place, uint32_t *ret)
{
	struct frame key = {.address = place->address, .module = generated->module};
	struct symbol symbols[MAX_SYMBOLS];
	size_t before = profile->nr_frames;
	int n, r;

	n = lookup(generated, time_ns, place, symbols);
	if (n == -EAGAIN)
		return n;
	if (n == 0) {
		r = profile_frame(profile, &key, ret);
		if (r < 0 || profile->nr_frames == before)
			return r;
		return remember_nameless(generated, *ret, time_ns, place->address);
	}
	if (n == -ESTALE) {
		generated->nr_stale++;
		key.flags |= FRAME_STALE;
	} else if (n < 0) {
		return n;
	}
	return named_frame(&generated->named, profile, &key, symbols, n > 0 ? (size_t)n : 1, ret);
}

int generated_wait(
	struct generated *generated, const struct waiting *sample, const struct place *places)
{
	size_t places_size = sample->nr_places * sizeof(*places);
	int r;

	r = array_reserve(&generated->waiting, &generated->waiting_capacity,
		generated->waiting_size, sizeof(*sample) + places_size);
	if (r < 0)
		return r;
	memcpy(generated->waiting + generated->waiting_size, sample, sizeof(*sample));
	generated->waiting_size += sizeof(*sample);
	memcpy(generated->waiting + generated->waiting_size, places, places_size);
	generated->waiting_size += places_size;
	if (!generated->waiting_since_ns)
		generated->waiting_since_ns = sample->time_ns;
	return 0;
}

uint64_t generated_waiting_since(const struct generated *generated)
{
	return generated->waiting_since_ns;
}

uint64_t generated_last_reading(const struct generated *generated)
{
	return generated->last_reading_ns;
}

static void claim_and_observe(
	struct generated *generated, struct process *process, enum observe why, uint64_t now_ns)
{
	for (size_t i = 0; i < nr_runtimes; i++) {
		struct claim *claim = &generated->claims[i];

		if (!claim->claimed && process) {
			struct stoke_error err = {0};
			int r = runtimes[i]->claim(generated->host, process, &claim->state, &err);

			claim->claimed = r == 0;
			/* -ENOENT is "not mine"; anything else has a sentence for the report */
			(void)snprintf(claim->text, sizeof(claim->text), "%s",
				r < 0 && r != -ENOENT ? err.text : "");
		}
		if (claim->claimed)
			(void)runtimes[i]->observe(claim->state, why, now_ns); /* it explains */
	}
	generated->last_reading_ns = now_ns;
}

static int ask_nameless_again(struct generated *generated, struct stoke_profile *profile)
{
	size_t kept = 0;

	for (size_t i = 0; i < generated->nr_nameless; i++) {
		struct nameless *nameless = &generated->nameless[i];
		const struct place place = {.address = nameless->address};
		struct symbol symbols[MAX_SYMBOLS];
		int n = lookup(generated, nameless->time_ns, &place, symbols);

		if (n == -ESTALE)
			generated->nr_stale++;
		if (n > 0 || n == -ESTALE) {
			int r = profile_name_frame(
				profile, nameless->frame, symbols, n > 0 ? (size_t)n : 1);

			if (r < 0)
				return r;
		} else {
			generated->nameless[kept++] = *nameless;
		}
	}
	generated->nr_nameless = kept;
	return 0;
}

int generated_read(struct generated *generated, struct process *process,
	struct stoke_profile *profile, enum observe why, uint64_t now_ns, generated_take *take,
	void *arg)
{
	_cleanup_free_ uint8_t *waiting = NULL;
	size_t size, at = 0;
	int r;

	claim_and_observe(generated, process, why, now_ns);
	r = ask_nameless_again(generated, profile);
	if (r < 0)
		return r;

	/* take() may put samples back that still wait, so the buffer changes hands first. */
	waiting = take_pointer(generated->waiting);
	size = generated->waiting_size;
	generated->waiting_size = generated->waiting_capacity = 0;
	generated->waiting_since_ns = 0;
	while (at < size) {
		const struct waiting *sample = (const struct waiting *)(waiting + at);

		r = take(arg, sample, (const struct place *)(sample + 1));
		if (r < 0)
			return r;
		at += sizeof(*sample) + sample->nr_places * sizeof(struct place);
	}
	return 0;
}

void generated_use_module(struct generated *generated, uint32_t module)
{
	generated->module = module;
}

void generated_new_profile(struct generated *generated)
{
	generated->module = 0;
	generated->nr_nameless = 0;
	named_forget(&generated->named);
	generated->nr_stale = 0;
}

void generated_explain(const struct generated *generated, struct generated_findings *ret)
{
	int known = 0; /* some runtime knows its code, with nothing amiss */

	*ret = (struct generated_findings){.nr_stale = generated->nr_stale};
	for (size_t i = 0; i < nr_runtimes; i++) {
		const struct claim *claim = &generated->claims[i];
		struct runtime_findings findings = {0};

		if (claim->claimed) {
			ret->claimed = 1;
			runtimes[i]->explain(claim->state, &findings);
			ret->nr_entries += findings.nr_entries;
			ret->nr_bad_lines += findings.nr_bad_lines;
		} else {
			memcpy(findings.text, claim->text, sizeof(findings.text));
		}
		if (!ret->text[0] && !known)
			memcpy(ret->text, findings.text, sizeof(ret->text));
		known |= findings.nr_entries > 0 && !findings.text[0];
	}
}
