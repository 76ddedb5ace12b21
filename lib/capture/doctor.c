/* SPDX-License-Identifier: BSD-2-Clause */
/* doctor.c: what works here, what does not, and what mends it; told in this order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "capture/doctor/doctor.h"

static void tell_verdict(struct stoke_findings *findings)
{
	const size_t nr = findings->nr_no;

	if (nr)
		findings_add(findings, STOKE_FINDING_VERDICT, "verdict", NULL,
			"record, bench: no (%zu cause%s)    report, flamegraph, convert, diff, "
			"check: yes",
			nr, nr == 1 ? "" : "s");
	else
		findings_add(findings, STOKE_FINDING_VERDICT, "verdict", NULL,
			"record, bench, report, flamegraph, convert, diff, check: yes");
}

int stoke_doctor(const struct stoke_doctor_options *options, struct stoke_findings **ret,
	struct stoke_error *err)
{
	struct stoke_findings *findings = calloc(1, sizeof(*findings));
	struct surroundings surroundings = {0};
	struct host host;
	int r;

	if (!findings)
		return fail(err, -ENOMEM, "out of memory");
	r = host_open(options->proc_root, options->sys_root, &host);
	if (r < 0) {
		stoke_findings_free(findings);
		return fail(err, r, "cannot open /proc: %s", strerror(-r));
	}
	r = surroundings_read(&host, &surroundings, err);
	if (r >= 0) {
		surroundings.process = options->pid ? probe_process(options->pid) : -ESRCH;
		surroundings_tell(&surroundings, findings);
		if (options->pid)
			target_tell(&host, options->pid, &surroundings, findings);
		tell_verdict(findings);
		if (findings->error)
			r = fail(err, findings->error, "out of memory");
	}
	host_close(&host);
	if (r < 0) {
		stoke_findings_free(findings);
		return r;
	}
	*ret = findings;
	return 0;
}

const struct stoke_finding *stoke_findings_at(const struct stoke_findings *findings, size_t i)
{
	return i < findings->nr ? &findings->items[i] : NULL;
}

size_t stoke_findings_blocking(const struct stoke_findings *findings)
{
	return findings->nr_no;
}

void stoke_findings_free(struct stoke_findings *findings)
{
	if (findings)
		findings_done(findings);
	free(findings);
}
