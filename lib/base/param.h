/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BASE_PARAM_H
#define STOKE_BASE_PARAM_H

/*
 * Options of plug-ins: "svg:width=800,flame". A table names them; parsing, errors and help come
 * from it, so that no option of a plug-in ever reaches cmd/.
 */

#include <stddef.h>
#include <stdint.h>

#include "stoke.h"

enum param_type {
	PARAM_FLAG, /* unsigned: 1 when the word stands there */
	PARAM_NUMBER, /* uint64_t */
	PARAM_SHARE, /* double: "0.1%" or "0.001" */
	PARAM_TEXT /* char *, in memory of the params */
};

struct param {
	const char *name;
	enum param_type type;
	size_t offset; /* into the struct */
	const char *initial; /* default as text, NULL: 0 */
	const char *help;
	uint64_t min, max; /* of PARAM_NUMBER; max 0: no limit */
};

/*
 * Parses "name:key=value,key" (text after the first ':'; may be NULL or empty) over the defaults
 * into *ret, size bytes, calloc'ed, to be freed by params_free(). -EINVAL: err names the unknown
 * word and the known ones. The table ends with a NULL name, or is NULL. In a value, '\,' is a
 * comma and '\\' a backslash.
 */
int params_parse(const struct param *params, size_t size, const char *plugin, const char *text,
	void **ret, struct stoke_error *err);
void params_free(const struct param *params, void *values);

#endif
