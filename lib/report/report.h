/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_REPORT_REPORT_H
#define STOKE_REPORT_REPORT_H

/*
 * A report is what stoke *says* of a profile, or of a comparison (NULL: cannot). One file a report
 * (report/x.c exports report_x), its word in meson.build, its test, its goldens.
 */

#include <stdio.h>

#include "base/param.h"
#include "profile/profile.h"

struct report {
	const char *name, *summary, *suffixes; /* as in struct format */
	const struct param *params;
	size_t params_size;
	int (*profile)(const struct stoke_profile *profile, const void *params, FILE *out);
	int (*comparison)(const struct stoke_comparison *comparison, const void *params, FILE *out);
};

extern const struct report *const reports[];
extern const size_t nr_reports;

#endif
