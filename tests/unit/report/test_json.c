/* SPDX-License-Identifier: BSD-2-Clause */
#include <jansson.h>
#include <stdio.h>

#include "report/report.h"
#include "unit/folded.h"

TestSuite(json, .fini = check_leaks);

extern const struct report report_json;

/* What the report says. Freed by the caller. */
static char *said(const struct stoke_profile *profile, const char *params)
{
	void *values = NULL;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	cr_assert(ne(ptr, out, NULL));
	cr_assert(eq(int,
		params_parse(
			report_json.params, report_json.params_size, "json", params, &values, NULL),
		0));
	cr_assert(eq(int, report_json.profile(profile, values, out), 0));
	cr_assert(eq(int, fclose(out), 0));
	params_free(report_json.params, values);
	return text;
}

/* The same, read back; the profile is gone afterwards. */
static json_t *read_back(struct stoke_profile *profile, const char *params)
{
	char *text = said(profile, params);
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	cr_assert(ne(ptr, root, NULL), "line %d: %s in\n%s", error.line, error.text, text);
	free(text);
	stoke_profile_free(profile);
	return root;
}

static long long integer(json_t *root, const char *list, size_t i, const char *key)
{
	return json_integer_value(
		json_object_get(json_array_get(json_object_get(root, list), i), key));
}

static const char *word(json_t *root, const char *list, size_t i, const char *key)
{
	const char *value = json_string_value(
		json_object_get(json_array_get(json_object_get(root, list), i), key));

	return value ? value : "(none)";
}

static long long node(json_t *root, size_t i, size_t column)
{
	return json_integer_value(
		json_array_get(json_array_get(json_object_get(root, "nodes"), i), column));
}

Test(json, the_tree_leads_from_each_row_to_its_function_and_parent)
{
	json_t *root = read_back(folded_profile("main;a;b_[k] 3\nmain;a 2\nmain;c_[j] 4\n"), "");
	static const struct {
		const char *function;
		long long parent, total, self;
	} expected[] = {{"main", 0, 9, 0}, {"a", 1, 5, 2}, {"b", 2, 3, 3}, {"c", 1, 4, 4}};

	cr_assert(eq(sz, json_array_size(json_object_get(root, "nodes")), 5));
	cr_assert(eq(llong, node(root, 0, 0), -1));
	cr_assert(eq(llong, node(root, 0, 1), -1));
	cr_assert(eq(llong, node(root, 0, 2), 9));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		size_t function = (size_t)node(root, i + 1, 1);

		cr_expect(eq(str, (char *)word(root, "functions", function, "name"),
			(char *)expected[i].function));
		cr_expect(eq(llong, node(root, i + 1, 0), expected[i].parent));
		cr_expect(eq(llong, node(root, i + 1, 2), expected[i].total));
		cr_expect(eq(llong, node(root, i + 1, 3), expected[i].self));
	}
	cr_assert(eq(str, (char *)word(root, "functions", 0, "name"), "main"));
	cr_assert(eq(llong, integer(root, "values", 0, "total"), 9));
	cr_assert(eq(str, (char *)word(root, "groups", 0, "name"), "[generated code]"));
	json_decref(root);
}

Test(json, kinds_are_words)
{
	json_t *root = read_back(folded_profile("[broken]_[m];f_[k];g_[i];h_[j] 1\n"), "");
	static const char *const kinds[] = {"jit", "mark", "kernel", "inlined"};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		cr_expect(eq(str, (char *)word(root, "functions", i, "kind"), (char *)kinds[i]));
	json_decref(root);
}

Test(json, what_is_too_narrow_is_left_out_and_its_sum_kept)
{
	json_t *root =
		read_back(folded_profile("main;a 970\nmain;b 10\nmain;c;d 20\n"), "min_share=5%");

	cr_assert(eq(sz, json_array_size(json_object_get(root, "nodes")), 4));
	/* Below main, in no function: 30 of b and c. */
	cr_assert(eq(llong, node(root, 2, 0), 1));
	cr_assert(eq(llong, node(root, 2, 1), -1));
	cr_assert(eq(llong, node(root, 2, 2), 30));
	cr_assert(eq(llong, node(root, 3, 2), 970));
	/* Tables are whole. */
	cr_assert(eq(sz, json_array_size(json_object_get(root, "functions")), 5));
	json_decref(root);
}

Test(json, numbers_beyond_double_are_exact)
{
	json_t *root = read_back(folded_profile("main 9007199254740993\n"), "");

	cr_assert(eq(llong, integer(root, "values", 0, "total"), 9007199254740993));
	cr_assert(eq(llong, integer(root, "functions", 0, "self"), 9007199254740993));
	cr_assert(eq(llong, node(root, 1, 2), 9007199254740993));
	json_decref(root);
}

Test(json, names_of_any_bytes_are_valid_and_harmless)
{
	json_t *root = read_back(folded_profile("</script>\"\\\x1b\x01\xff\xe5\xb7\xa5 5\n"), "");

	cr_assert(eq(str, (char *)word(root, "functions", 0, "name"),
		"</script>\"\\\\x1b\\x01\xef\xbf\xbd\xe5\xb7\xa5"));
	json_decref(root);
}

Test(json, a_profile_of_nothing_is_valid_and_says_why)
{
	struct stoke_profile *profile = NULL;
	json_t *root;

	cr_assert(eq(int, stoke_profile_new(&profile), 0));
	root = read_back(profile, "");
	cr_assert(eq(sz, json_array_size(json_object_get(root, "functions")), 0));
	cr_assert(eq(str,
		(char *)json_string_value(json_array_get(json_object_get(root, "warnings"), 0)),
		"no samples: there is no stack with a count, or none passes the filters"));
	json_decref(root);
}

Test(json, facts_and_counts_of_runs_are_there)
{
	struct stoke_profile *profile = folded_profile("main 500\n");
	json_t *root, *fact;

	profile->runs[0].quality.count[QUALITY_LOST_RING] = 7;
	profile->runs[0].duration_ns = 30000000000;
	cr_assert(eq(int, profile_fact(profile, 0, "kernel", "6.18"), 0));
	cr_assert(eq(int, profile_fact(profile, 0, "warning", "one"), 0));
	cr_assert(eq(int, profile_fact(profile, 0, "warning", "two"), 0));
	root = read_back(profile, "");
	cr_assert(eq(llong, integer(root, "runs", 0, "duration_ns"), 30000000000));
	cr_assert(eq(llong,
		json_integer_value(json_object_get(json_object_get(root, "quality"), "lost-ring")),
		7));
	fact = json_array_get(
		json_object_get(json_array_get(json_object_get(root, "runs"), 0), "facts"), 2);
	cr_assert(eq(str, (char *)json_string_value(json_array_get(fact, 0)), "warning"));
	cr_assert(eq(str, (char *)json_string_value(json_array_get(fact, 1)), "two"));
	json_decref(root);
}

Test(json, the_same_profile_is_the_same_bytes)
{
	struct stoke_profile *one = folded_profile("main;a 1\nmain;b 1\n"),
			     *two = folded_profile("main;b 1\nmain;a 1\n");
	char *first = said(one, ""), *second = said(two, "");

	cr_assert(eq(str, first, second));
	free(first);
	free(second);
	stoke_profile_free(one);
	stoke_profile_free(two);
}
