/* SPDX-License-Identifier: BSD-2-Clause */
/* doctor.c: what the library found out, as text: cures stand under what they cure. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cmd/command.h"
#include "cmd/inputs.h"

struct doctor_values {
	struct numbers pids;
	const char *container;
};

static const struct option options[] = {
	{.name = "pid",
		.letter = 'p',
		.type = OPTION_IDS,
		.value = "PID",
		.offset = offsetof(struct doctor_values, pids),
		.help = "look at this process, too"},
	{.name = "container",
		.type = OPTION_TEXT,
		.value = "ID",
		.offset = offsetof(struct doctor_values, container),
		.help = "look at the first process of this container"},
	OPTIONS_END,
};

static void print_lines(const char *title, const char *text)
{
	size_t size;

	for (; *text; text += size + (text[size] == '\n')) {
		size = strcspn(text, "\n");
		printf("%-10s%.*s\n", title, (int)size,
			text); /* made harmless where it came from */
		title = "";
	}
}

/* One that mends several things is told once. */
static int said_before(const struct stoke_findings *findings, size_t i)
{
	const struct stoke_finding *finding = stoke_findings_at(findings, i), *earlier;

	while (i--) {
		earlier = stoke_findings_at(findings, i);
		if (earlier->cure && strcmp(earlier->subject, finding->subject) == 0 &&
			strcmp(earlier->cure, finding->cure) == 0)
			return 1;
	}
	return 0;
}

/* Of the findings before i that speak of one subject. */
static void print_cures(const struct stoke_findings *findings, size_t first, size_t end)
{
	const char *title = "cure";

	for (size_t i = first; i < end; i++) {
		const struct stoke_finding *finding = stoke_findings_at(findings, i);

		if (!finding->cure || said_before(findings, i))
			continue;
		print_lines(title, finding->cure);
		title = "";
	}
}

static void print_all(const struct stoke_findings *findings, const struct voice *voice)
{
	static const char *const words[] = {"", "ok", "no", "note", ""};
	const struct stoke_finding *finding;
	size_t first = 0, i;

	for (i = 0; (finding = stoke_findings_at(findings, i)); i++) {
		if (finding->state == STOKE_FINDING_ABOUT ||
			finding->state == STOKE_FINDING_VERDICT) {
			print_cures(findings, first, i);
			first = i;
			print_lines(finding->subject, finding->text);
		} else if (!voice->quiet || finding->state != STOKE_FINDING_OK) {
			printf("  %-8s%s\n", words[finding->state], finding->text);
		}
	}
}

static int take_operands(const struct call *call, struct doctor_values *values, pid_t *ret)
{
	unsigned long pid = values->pids.nr ? values->pids.items[0] : 0;
	struct stoke_container container;
	struct stoke_error err = {0};
	char *end;

	if (values->pids.nr + call->nr_operands + (values->container != NULL) > 1)
		return say_error(
			&call->voice, STATUS_USAGE, "doctor looks at one process at a time");
	if (call->nr_operands) {
		errno = 0;
		pid = strtoul(call->operands[0], &end, 10);
		if (*end || end == call->operands[0] || errno || !pid || pid > INT_MAX)
			return say_error(&call->voice, STATUS_USAGE,
				"%s is no PID; stoke doctor -p PID", call->operands[0]);
	}
	if (values->container) {
		if (stoke_find_container(values->container, NULL, &container, &err) < 0)
			return say_error(&call->voice, STATUS_USAGE, "--container: %s", err.text);
		pid = (unsigned long)container.pid;
	}
	*ret = (pid_t)pid;
	return STATUS_DONE;
}

static int doctor_run(const struct call *call)
{
	struct stoke_doctor_options doctor = {0};
	struct stoke_findings *findings = NULL;
	struct stoke_error err = {0};
	int status = take_operands(call, call->values, &doctor.pid);

	if (status)
		return status;
	if (stoke_doctor(&doctor, &findings, &err) < 0)
		return say_error(&call->voice, STATUS_NOT_PERMITTED, "%s", err.text);
	print_all(findings, &call->voice);
	status = stoke_findings_blocking(findings) ? STATUS_NO : STATUS_DONE;
	stoke_findings_free(findings);
	return status;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "say what works here, what does not, and what mends it",
	.usage = "doctor [-p PID | --container ID]",
	.about = "Asks kernel, rights and limits for what a recording needs, then looks at a "
		 "process: "
		 "what\nof it can be seen and what never. Exit status 0: it can be recorded; 1: "
		 "something is in\nthe way.",
	.options = options,
	.values_size = sizeof(struct doctor_values),
	.run = doctor_run,
};
