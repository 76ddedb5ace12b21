/* SPDX-License-Identifier: BSD-2-Clause */
/* naming.c: names as they were asked for. Unless they were, they stay as they are. */
#include "cmd/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"

#define ALIAS_MAX_BYTES (1u << 20) /* of the file, which somebody wrote by hand */

static const char *const level_words[] = {"none", "build", "jdk", NULL};

const struct option naming_options[] = {
	{.type = OPTION_HEADING, .help = "How functions are called:"},
	{.name = "names",
		.type = OPTION_WORDS,
		.value = "LEVEL",
		.offset = offsetof(struct naming, level),
		.words = level_words,
		.help = "build: without what differs from build to build and run to run; jdk: and "
			"from one JDK to the next; none: as they are"},
	{.name = "alias",
		.type = OPTION_TEXT,
		.value = "FILE",
		.offset = offsetof(struct naming, alias),
		.help = "names of your own for functions, \"GLOB => NAME\" a line"},
	{.name = "no-fold",
		.type = OPTION_FLAG,
		.bits = STOKE_NO_FOLD,
		.offset = offsetof(struct naming, flags),
		.help = "keep a function that calls itself as several frames"},
	OPTIONS_END,
};

enum stoke_names naming_level(const struct naming *naming)
{
	return naming->level.nr ? (enum stoke_names)(STOKE_NAMES_NONE +
						     naming->level.items[naming->level.nr - 1])
				: STOKE_NAMES_AUTO;
}

int naming_is_empty(const struct naming *naming)
{
	return naming_level(naming) <= STOKE_NAMES_NONE && !naming->alias;
}

int naming_aliases(
	const struct voice *voice, const struct naming *naming, char **ret, size_t *ret_size)
{
	int r;

	if (!naming->alias) {
		*ret = NULL;
		*ret_size = 0;
		return STATUS_DONE;
	}
	r = file_read_text(AT_FDCWD, naming->alias, ALIAS_MAX_BYTES, ret, ret_size);
	if (r == -E2BIG)
		return say_error(voice, STATUS_USAGE, "%s: more than %u bytes of aliases",
			naming->alias, ALIAS_MAX_BYTES);
	if (r < 0)
		return say_error(voice, STATUS_USAGE, "cannot read %s: %s", naming->alias,
			r == -ENOENT ? "no such file" : strerror(-r));
	return STATUS_DONE;
}

int naming_apply(
	const struct voice *voice, const struct naming *naming, struct stoke_profile **profile)
{
	struct stoke_rename_options options = {
		.names = naming_level(naming),
		.aliases_name = naming->alias,
		.flags = naming->flags,
	};
	_cleanup_free_ char *aliases = NULL;
	struct stoke_error err = {0};
	struct stoke_profile *renamed;
	int status;

	if (naming_is_empty(naming))
		return STATUS_DONE;
	status = naming_aliases(voice, naming, &aliases, &options.aliases_size);
	if (status)
		return status;
	options.aliases = aliases;
	if (options.names == STOKE_NAMES_AUTO)
		options.names = STOKE_NAMES_NONE;
	if (stoke_profile_rename(*profile, &options, &renamed, &err) < 0)
		return say_error(voice, STATUS_USAGE, "%s", err.text);
	stoke_profile_free(*profile);
	*profile = renamed;
	return STATUS_DONE;
}
