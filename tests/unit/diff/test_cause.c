/* SPDX-License-Identifier: BSD-2-Clause */
#include "diff/cause.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "unit/folded.h"

TestSuite(cause, .fini = check_leaks);

#define CLOSE 1e-8

struct fixture {
	struct stoke_profile *profile;
	struct aligned *aligned;
	struct cause *cause;
};

static struct fixture found(const char *before, const char *after)
{
	struct fixture f = {0};
	double exposure[2];

	f.profile = folded_profile(before);
	folded_add(f.profile, after);
	cr_assert(eq(int,
		align_build(f.profile, &(struct tree_options){.nr_before = 1}, &f.aligned), 0));
	for (unsigned side = 0; side < 2; side++)
		exposure[side] = (double)f.aligned->tree->total[side][0];
	cr_assert(eq(int, cause_find(f.aligned, exposure, 0.005, &f.cause), 0));
	return f;
}

static void done(struct fixture *f)
{
	cause_free(f->cause);
	aligned_free(f->aligned);
	stoke_profile_free(f->profile);
}

static const char *name_of(const struct fixture *f, uint32_t name)
{
	static char text[2][64];
	static unsigned turn;
	size_t size;
	const char *raw = tree_text(f->aligned->tree, name, &size);

	turn = !turn;
	(void)snprintf(text[turn], sizeof(text[turn]), "%.*s", (int)size, raw);
	return text[turn];
}

/* "all;main;f" */
static char *path_of(const struct fixture *f, uint32_t node)
{
	static char text[1024];
	const struct tree *tree = f->aligned->tree;
	uint32_t way[64];
	unsigned nr = 0;
	size_t at = 0;

	for (uint32_t n = node;; n = tree->parent[n]) {
		way[nr++] = n;
		if (!n)
			break;
	}
	while (nr)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", at ? ";" : "",
			name_of(f, tree->name[way[--nr]]));
	return text;
}

#define ASSERT_CLOSE(a, b) cr_assert(epsilon_eq(dbl, (a), (b), CLOSE))

#define TLS_BEFORE                                                                                 \
	"main;EventLoop.run;Handler.read;App.process 9385\n"                                       \
	"main;EventLoop.run;SSL.readRecord;Client.processMessage;Finished.verify 80\n"             \
	"main;EventLoop.run;SSL.readRecord;Client.processMessage;HelloDone;RSA.crypt 20\n"         \
	"main;EventLoop.run;SSL.readRecord;Client.processMessage;Cert;X509.verify 15\n"            \
	"main;EventLoop.run;SSL.writeRecord;CipherBox.encrypt 500\n"
#define TLS_AFTER                                                                                  \
	"main;EventLoop.run;Handler.read;App.process 7102\n"                                       \
	"main;EventLoop.run;SSL.readRecord;Client.processMessage;Finished.verify 84\n"             \
	"main;EventLoop.run;SSL.readRecord;Client.processMessage;HelloDone;RSA.crypt 1480\n"       \
	"main;EventLoop.run;SSL.readRecord;Client.processMessage;Cert;X509.verify 834\n"           \
	"main;EventLoop.run;SSL.writeRecord;CipherBox.encrypt 500\n"

Test(cause, owner_of_the_handshakes_does_other_work)
{
	struct fixture f = found(TLS_BEFORE, TLS_AFTER);
	const struct owner *owner = f.cause->owners;

	cr_assert(eq(sz, f.cause->nr_owners, 1));
	cr_assert(eq(str, path_of(&f, owner->node),
		"all;main;EventLoop.run;SSL.readRecord;Client.processMessage"));
	cr_assert(eq(int, owner->kind, CAUSE_MIX));
	cr_assert(eq(int, owner->crossroads, 0));
	ASSERT_CLOSE(owner->before, 0.0115);
	ASSERT_CLOSE(owner->after, 0.2398);
	ASSERT_CLOSE(owner->growth, 0.1460 + 0.0819);
	ASSERT_CLOSE(owner->variation, 0.6606229829447769);
	cr_assert(epsilon_eq(dbl, owner->cost_ratio, 27.11440925, 1e-7));
	cr_assert(eq(sz, owner->nr_parts, 4));
	cr_assert(eq(str, name_of(&f, owner->parts[0].name), "Finished.verify"));
	ASSERT_CLOSE(owner->parts[0].before, 80 / 115.);
	ASSERT_CLOSE(owner->parts[0].after, 84 / 2398.);
	cr_assert(eq(str, name_of(&f, owner->parts[1].name), "HelloDone"));
	cr_assert(eq(u32, owner->parts[3].name, CAUSE_OWN));
	cr_assert(eq(sz, f.cause->nr_sites, 2));
	ASSERT_CLOSE(f.cause->sites[0].growth, 0.1460);
	ASSERT_CLOSE(f.cause->sites[1].growth, 0.0819);
	ASSERT_CLOSE(f.cause->sites[1].self, 0.0819);
	/* Growth of handshakes beside shrinkage of the application is no move. */
	cr_assert(eq(sz, f.cause->nr_moved, 0));
	ASSERT_CLOSE(f.cause->difference, 0.2283);
	done(&f);
}

Test(cause, the_same_work_more_often_is_volume)
{
	struct fixture f = found("main;req;parse;lex 100\nmain;req;parse;alloc 50\n"
				 "main;req;render 300\nmain;gc 50\nmain;req;db;q 500\n",
		"main;req;parse;lex 180\nmain;req;parse;alloc 90\n"
		"main;req;render 280\nmain;gc 50\nmain;req;db;q 400\n");
	const struct owner *owner = f.cause->owners;

	cr_assert(eq(sz, f.cause->nr_owners, 1));
	cr_assert(eq(str, path_of(&f, owner->node), "all;main;req;parse"));
	cr_assert(eq(int, owner->kind, CAUSE_VOLUME));
	ASSERT_CLOSE(owner->variation, 0);
	cr_assert(epsilon_eq(dbl, owner->cost_ratio, 2.095890411, CLOSE));
	cr_assert(eq(sz, f.cause->nr_sites, 2));
	ASSERT_CLOSE(f.cause->sites[0].growth, 0.08);
	ASSERT_CLOSE(f.cause->sites[1].growth, 0.04);
	done(&f);
}

Test(cause, new_and_own_code_are_told)
{
	struct fixture f = found("m;a 50\nm;b 50\n", "m;a 50\nm;b 40\nm;c;d 10\n");

	cr_assert(eq(sz, f.cause->nr_owners, 1));
	cr_assert(eq(str, path_of(&f, f.cause->owners[0].node), "all;m;c;d"));
	cr_assert(eq(int, f.cause->owners[0].kind, CAUSE_NEW));
	cr_assert(isnan(f.cause->owners[0].cost_ratio));
	done(&f);
	f = found("m;a 50\nm;b 50\n", "m;a 60\nm;b 40\n");
	cr_assert(eq(str, path_of(&f, f.cause->owners[0].node), "all;m;a"));
	cr_assert(eq(int, f.cause->owners[0].kind, CAUSE_SELF));
	done(&f);
}

Test(cause, each_of_several_causes_has_its_owner)
{
	struct fixture f = found("m;a;x 10\nm;b;y 10\nm;c 80\n", "m;a;x 22\nm;b;y 20\nm;c 58\n");

	/* The way down splits at m, which itself did not grow. */
	cr_assert(eq(sz, f.cause->nr_owners, 3));
	cr_assert(eq(str, path_of(&f, f.cause->owners[0].node), "all;m"));
	cr_assert(eq(int, f.cause->owners[0].crossroads, 1));
	ASSERT_CLOSE(f.cause->owners[0].growth, 0.22);
	cr_assert(eq(str, path_of(&f, f.cause->owners[1].node), "all;m;a;x"));
	cr_assert(eq(int, f.cause->owners[1].crossroads, 0));
	ASSERT_CLOSE(f.cause->owners[1].growth, 0.12);
	cr_assert(eq(str, path_of(&f, f.cause->owners[2].node), "all;m;b;y"));
	ASSERT_CLOSE(f.cause->owners[2].growth, 0.10);
	done(&f);
}

Test(cause, what_is_left_after_the_first_owner_is_looked_for_too)
{
	struct fixture f = found("m;a;x 10\nm;b;y 10\nm;c 980\n", "m;a;x 110\nm;b;y 20\nm;c 870\n");

	cr_assert(eq(sz, f.cause->nr_owners, 2));
	cr_assert(eq(str, path_of(&f, f.cause->owners[0].node), "all;m;a;x"));
	cr_assert(eq(str, path_of(&f, f.cause->owners[1].node), "all;m;b;y"));
	done(&f);
}

Test(cause, inlined_code_moved_and_did_not_shrink)
{
	struct fixture f = found("m;run;eval 60\nm;run 10\nm;z 30\n", "m;run 71\nm;z 29\n");
	const struct moved *moved = f.cause->moved;

	cr_assert(eq(sz, f.cause->nr_moved, 1));
	cr_assert(eq(int, moved->kind, MOVED_INLINED));
	cr_assert(eq(str, path_of(&f, moved->node), "all;m;run"));
	cr_assert(eq(str, path_of(&f, moved->from), "all;m;run;eval"));
	ASSERT_CLOSE(moved->size, 0.60);
	done(&f);
	f = found("m;run 71\nm;z 29\n", "m;run;eval 60\nm;run 10\nm;z 30\n");
	cr_assert(eq(sz, f.cause->nr_moved, 1));
	cr_assert(eq(int, f.cause->moved->kind, MOVED_OUTLINED));
	cr_assert(eq(str, path_of(&f, f.cause->moved->node), "all;m;run;eval"));
	cr_assert(eq(str, path_of(&f, f.cause->moved->from), "all;m;run"));
	done(&f);
}

Test(cause, renamed_frame_is_known_by_its_parts)
{
	struct fixture f =
		found("m;old;a 20\nm;old;b 10\nm;z 70\n", "m;new;a 21\nm;new;b 9\nm;z 70\n");

	cr_assert(eq(sz, f.cause->nr_moved, 1));
	cr_assert(eq(int, f.cause->moved->kind, MOVED_RENAMED));
	cr_assert(eq(str, path_of(&f, f.cause->moved->node), "all;m;new"));
	cr_assert(eq(str, path_of(&f, f.cause->moved->from), "all;m;old"));
	done(&f);
	/* Other parts; leaves; a parent that grew. */
	f = found("m;old;a 20\nm;old;b 10\nm;z 70\n", "m;new;c 21\nm;new;b 9\nm;z 70\n");
	cr_assert(eq(sz, f.cause->nr_moved, 0));
	done(&f);
	f = found("m;old 30\nm;z 70\n", "m;new 30\nm;z 70\n");
	cr_assert(eq(sz, f.cause->nr_moved, 0));
	done(&f);
	f = found("m;p;old;a 20\nm;p;k 5\nm;z 75\n", "m;p;new;a 20\nm;p;k 25\nm;z 55\n");
	cr_assert(eq(sz, f.cause->nr_moved, 0));
	done(&f);
}

Test(cause, inserted_frames_are_moved_and_no_change)
{
	struct fixture f = found("m;w;a 60\nm;w;b 40\n", "m;i;w;a 60\nm;i;w;b 40\n");

	cr_assert(eq(sz, f.cause->nr_moved, 1));
	cr_assert(eq(int, f.cause->moved->kind, MOVED_INSERTED));
	cr_assert(eq(str, path_of(&f, f.cause->moved->node), "all;m;i"));
	cr_assert(eq(u32, f.cause->moved->from, 0));
	cr_assert(eq(sz, f.cause->nr_owners, 0));
	ASSERT_CLOSE(f.cause->difference, 0);
	done(&f);
}

Test(cause, rates_of_work_grow_at_the_root_and_have_plain_ratios)
{
	struct fixture f = found("m;a 100\nm;b 100\n", "m;a 150\nm;b 150\n");
	const double exposure[2] = {100, 100};
	struct cause *cause = NULL;

	cr_assert(eq(sz, f.cause->nr_owners, 0));
	cr_assert(eq(int, cause_find(f.aligned, exposure, 0.005, &cause), 0));
	cr_assert(eq(str, path_of(&f, cause->owners[0].node), "all;m"));
	cr_assert(eq(int, cause->owners[0].kind, CAUSE_VOLUME));
	cr_assert(eq(int, cause->owners[0].crossroads, 0));
	ASSERT_CLOSE(cause->owners[0].growth, 1);
	ASSERT_CLOSE(cause->owners[0].cost_ratio, 1.5);
	cause_free(cause);
	/* A side of nothing divides nothing. */
	cr_assert(eq(int, cause_find(f.aligned, (double[]){0, 100}, 0, &cause), 0));
	cr_assert(eq(int, cause->owners[0].kind, CAUSE_NEW));
	cause_free(cause);
	done(&f);
}

Test(cause, limits_that_are_met_exactly_count)
{
	struct fixture f = found("m;a 10\nm;b 190\n", "m;a 11\nm;b 189\n");

	cr_assert(eq(sz, f.cause->nr_sites, 1));
	done(&f);
}

Test(cause, depth_is_no_limit)
{
	struct stoke_profile *profile = NULL;
	struct aligned *aligned = NULL;
	struct cause *cause = NULL;
	unsigned value;

	cr_assert(eq(int, stoke_profile_new(&profile), 0));
	cr_assert(eq(int, profile_value(profile, "samples", "count", &value), 0));
	for (unsigned side = 0; side < 2; side++) {
		uint32_t run = 0, node = 0;

		cr_assert(eq(int, profile_run(profile, "deep", &run), 0));
		for (unsigned i = 0; i < 60000; i++) {
			cr_assert(eq(int,
				stacks_child(&profile->stacks, node,
					folded_frame(profile, i % 2 ? "f" : "g", 1), &node),
				0));
			if (i == 100)
				cr_assert(eq(int,
					profile_row(profile, run, node, 0, 0, (uint64_t[]){100}),
					0));
		}
		cr_assert(eq(int,
			profile_row(profile, run, node, 0, 0, (uint64_t[]){side ? 50 : 10}), 0));
	}
	cr_assert(
		eq(int, align_build(profile, &(struct tree_options){.nr_before = 1}, &aligned), 0));
	cr_assert(eq(int, cause_find(aligned, (double[]){110, 150}, 0.005, &cause), 0));
	cr_assert(eq(sz, cause->nr_owners, 1));
	cr_assert(eq(u16, aligned->tree->depth[cause->owners[0].node], 60000));
	cause_free(cause);
	aligned_free(aligned);
	stoke_profile_free(profile);
}

/* ---- the worked cases, where they lie ---- */

static char *read_whole(const char *name)
{
	char path[4096], *text;
	FILE *in;
	size_t n;

	(void)snprintf(path, sizeof(path), "%s/%s", DIFF_EXAMPLES, name);
	in = fopen(path, "r");
	if (!in)
		return NULL;
	text = calloc(1, 1 << 16);
	n = fread(text, 1, (1 << 16) - 1, in);
	cr_assert(gt(sz, n, 0));
	(void)fclose(in); /* read only */
	return text;
}

static void check_owner(const struct fixture *f, const json_t *wanted)
{
	static char *const kinds[] = {"new", "self", "volume", "mix"};
	const struct owner *owner = f->cause->owners;
	const json_t *path = json_object_get(wanted, "path"), *parts, *step;
	char joined[1024] = "";
	size_t at = 0, i;

	json_array_foreach(path, i, step) at += (size_t)snprintf(
		joined + at, sizeof(joined) - at, "%s%s", i ? ";" : "", json_string_value(step));
	cr_assert(eq(str, path_of(f, owner->node), joined));
	ASSERT_CLOSE(owner->before, json_number_value(json_object_get(wanted, "a")));
	ASSERT_CLOSE(owner->after, json_number_value(json_object_get(wanted, "b")));
	ASSERT_CLOSE(owner->variation, json_number_value(json_object_get(wanted, "tv")));
	cr_assert(epsilon_eq(dbl, owner->cost_ratio,
		json_number_value(json_object_get(wanted, "cost_ratio")), CLOSE));
	cr_assert(eq(str, kinds[owner->kind],
		(char *)json_string_value(json_object_get(wanted, "kind"))));
	parts = json_object_get(wanted, "composition");
	cr_assert(eq(sz, owner->nr_parts, json_object_size(parts)));
	for (i = 0; i < owner->nr_parts; i++) {
		const struct part *part = &owner->parts[i];
		const json_t *both = json_object_get(
			parts, part->name == CAUSE_OWN ? "(self)" : name_of(f, part->name));

		ASSERT_CLOSE(part->before, json_number_value(json_array_get(both, 0)));
		ASSERT_CLOSE(part->after, json_number_value(json_array_get(both, 1)));
	}
}

Test(cause, worked_cases_come_out_as_written)
{
	static const char *const cases[] = {"01-tls-handshake", "05-root-cause"};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char name[3][64], *text[3];
		struct fixture f;
		json_t *wanted;

		for (unsigned k = 0; k < 3; k++) {
			(void)snprintf(name[k], sizeof(name[k]), "%s/%s", cases[i],
				(const char *[]){"A.folded", "B.folded", "expected.json"}[k]);
			text[k] = read_whole(name[k]);
			if (!text[k])
				cr_skip_test("no worked cases here");
		}
		f = found(text[0], text[1]);
		wanted = json_loads(text[2], 0, NULL);
		cr_assert(wanted != NULL);
		check_owner(&f, json_object_get(wanted, "owner"));
		cr_assert(eq(
			sz, f.cause->nr_sites, json_array_size(json_object_get(wanted, "sites"))));
		for (size_t s = 0; s < f.cause->nr_sites; s++)
			ASSERT_CLOSE(f.cause->sites[s].growth,
				json_number_value(json_object_get(
					json_array_get(json_object_get(wanted, "sites"), s), "U")));
		json_decref(wanted);
		done(&f);
		for (unsigned k = 0; k < 3; k++)
			free(text[k]);
	}
}
