/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c: the table of reports, made from the list in meson.build. */
#include "report/report.h"

#include "base/cleanup.h"
#include "lists.h"

#define DECLARE(name) extern const struct report report_##name;
STOKE_REPORTS(DECLARE)

#define ENTRY(name) &report_##name,
const struct report *const reports[] = {STOKE_REPORTS(ENTRY)};
const size_t nr_reports = ARRAY_SIZE(reports);
