/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/source.h"

#include <errno.h>
#include <string.h>

#include "unit/test.h"

TestSuite(source, .fini = check_leaks);

Test(source, finds_by_name_and_leaves_outputs_alone_on_failure)
{
	const struct source *source = NULL;
	void *params = NULL;
	struct stoke_error err = {0};

	cr_assert(eq(int, source_find("nothing", &source, &params, &err), -EINVAL));
	cr_assert(eq(ptr, (void *)source, NULL));
	cr_assert(eq(ptr, params, NULL));
	for (size_t i = 0; i < nr_sources; i++) {
		cr_assert(ne(ptr, strstr(err.text, sources[i]->name), NULL));
		cr_assert(eq(int, source_find(sources[i]->name, &source, &params, &err), 0));
		cr_assert(eq(ptr, (void *)source, (void *)sources[i]));
		params_free(source->params, params);
	}
}

Test(source, survives_words_of_any_length)
{
	char word[5000];
	const struct source *source = NULL;
	void *params = NULL;
	struct stoke_error err = {0};

	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	cr_assert(eq(int, source_find(word, &source, &params, &err), -EINVAL));
	memcpy(word, "cpu:", 4);
	cr_assert(eq(int, source_find(word, &source, &params, &err), -EINVAL));
	memset(word, ' ', sizeof(word) - 1);
	cr_assert(eq(int, source_find(word, &source, &params, &err), -EINVAL));
}

Test(source, every_source_can_be_opened_started_and_closed)
{
	for (size_t i = 0; i < nr_sources; i++) {
		cr_assert(ne(ptr, (void *)sources[i]->open, NULL));
		cr_assert(ne(ptr, (void *)sources[i]->start, NULL));
		cr_assert(ne(ptr, (void *)sources[i]->stop, NULL));
		cr_assert(ne(ptr, (void *)sources[i]->close, NULL));
		cr_assert(ne(ptr, (void *)sources[i]->summary, NULL));
		sources[i]->close(NULL);
	}
}
