/* SPDX-License-Identifier: BSD-2-Clause */
/* source.c: the table of sources, and which of them an "-e EVENT" means. */
#include "source/source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "lists.h"

#define DECLARE(word) extern const struct source source_##word;
STOKE_SOURCES(DECLARE)
#undef DECLARE

#define ENTRY(word) &source_##word,
const struct source *const sources[] = {STOKE_SOURCES(ENTRY)};
#undef ENTRY
const size_t nr_sources = ARRAY_SIZE(sources);

/* 0: is this source's event, by name or because it says so. */
static int claims(const struct source *source, const char *word)
{
	if (strcmp(source->name, word) == 0)
		return 0;
	return source->claim ? source->claim(word) : -ENOENT;
}

int source_find(
	const char *event, const struct source **ret, void **ret_params, struct stoke_error *err)
{
	const char *colon = strchr(event, ':');
	char word[64], known[256] = "";
	size_t size = colon ? (size_t)(colon - event) : strlen(event), used = 0;
	void *params = NULL;
	int r;

	(void)snprintf(word, sizeof(word), "%.*s", (int)(size < sizeof(word) ? size : 0), event);
	for (size_t i = 0; i < nr_sources; i++) {
		if (claims(sources[i], word) < 0) {
			used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
				used ? ", " : "", sources[i]->name);
			if (used >= sizeof(known))
				used = sizeof(known) - 1;
			continue;
		}
		r = params_parse(sources[i]->params, sources[i]->params_size, sources[i]->name,
			colon ? colon + 1 : NULL, &params, err);
		if (r < 0)
			return r;
		*ret = sources[i];
		*ret_params = params;
		return 0;
	}
	return fail(err, -EINVAL, "unknown event \"%.40s\"; there is: %s (stoke help events)",
		event, known);
}
