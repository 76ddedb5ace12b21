/* SPDX-License-Identifier: BSD-2-Clause */
/* find.c: from what people call a process or a container to numbers and paths. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "process/cgroup.h"
#include "process/thread.h"
#include "stoke.h"

#define SHORTEST_ID 12 /* digits: what engines show */

/* Calls each() for every process in order of /proc, until it returns negative. */
static int for_each_process(const struct host *host, int (*each)(void *arg, pid_t pid), void *arg)
{
	DIR *dir = opendir(host->proc);
	const struct dirent *entry;
	int r = 0;

	if (!dir)
		return -errno;
	while (r >= 0 && (entry = readdir(dir))) {
		char *end;
		const long pid = strtol(entry->d_name, &end, 10);

		if (pid > 0 && pid <= INT32_MAX && !*end)
			r = each(arg, (pid_t)pid);
	}
	(void)closedir(dir); /* only read */
	return r < 0 ? r : 0;
}

struct naming {
	const struct host *host;
	const char *text;
	struct stoke_match *matches;
	size_t max, nr;
	int exact; /* what is found so far is called so, and not only in part */
};

/* "Main" is enough of com.acme.Main. */
static int is_called(const char *name, const char *text)
{
	const char *dot = strrchr(name, '.');

	return strcmp(name, text) == 0 ||
	       (dot && strcmp(dot, ".jar") != 0 && strcmp(dot + 1, text) == 0);
}

static int look_at_name(void *arg, pid_t pid)
{
	struct naming *naming = arg;
	struct stoke_match match = {.pid = pid};
	_cleanup_free_ char *program = NULL;
	int exact;

	if (pid == getpid() || thread_read_comm(naming->host, pid, pid, match.comm) < 0)
		return 0;
	if (thread_runs_programs(match.comm))
		(void)thread_read_program_name(naming->host, pid, &program); /* comm will do */
	(void)snprintf(match.program, sizeof(match.program), "%s", program ? program : "");
	exact = is_called(match.comm, naming->text) ||
		(program && is_called(program, naming->text));
	if (!exact && (naming->exact || (!strstr(match.comm, naming->text) &&
						(!program || !strstr(program, naming->text)))))
		return 0;
	if (exact && !naming->exact)
		naming->nr = 0; /* better than those */
	naming->exact |= exact;
	if (naming->nr < naming->max)
		naming->matches[naming->nr] = match;
	naming->nr++;
	return 0;
}

int stoke_find_named(const char *text, const char *proc_root, struct stoke_match *ret, size_t max,
	size_t *ret_nr, struct stoke_error *err)
{
	struct host host;
	struct naming naming = {.host = &host, .text = text, .matches = ret, .max = max};
	int r;

	if (!*text)
		return fail(err, -EINVAL, "a name of no letters fits every process");
	r = host_open(proc_root, NULL, &host);
	if (r == 0) {
		r = for_each_process(&host, look_at_name, &naming);
		host_close(&host);
	}
	if (r < 0)
		return fail(err, r, "cannot read /proc: %s", strerror(-r));
	if (naming.nr == 0)
		return fail(err, -ESRCH, "no process is called %.100s", text);
	*ret_nr = naming.nr;
	return 0;
}

struct container_search {
	const struct host *host;
	const char *id;
	struct stoke_container found;
	int nr; /* different ones */
};

static int look_at_container(void *arg, pid_t pid)
{
	struct container_search *search = arg;
	struct stoke_container *found = &search->found;
	char id[CONTAINER_ID_MAX];

	if (container_id_of(search->host, pid, id) < 0 ||
		strncmp(id, search->id, strlen(search->id)) != 0)
		return 0;
	if (search->nr == 0 || strcmp(id, found->id) != 0)
		search->nr++;
	if (search->nr > 1)
		return -EALREADY; /* two are one too many */
	memcpy(found->id, id, sizeof(found->id));
	if (!found->pid || pid < found->pid)
		found->pid = pid;
	return 0;
}

int stoke_find_container(
	const char *id, const char *proc_root, struct stoke_container *ret, struct stoke_error *err)
{
	struct host host;
	struct container_search search = {.host = &host, .id = id};
	int r;

	if (strspn(id, "0123456789abcdef") != strlen(id) || strlen(id) < SHORTEST_ID ||
		strlen(id) >= CONTAINER_ID_MAX)
		return fail(err, -EINVAL,
			"%.80s is no container id: 12 to 64 digits of 0-9a-f, as docker ps, podman "
			"ps and crictl ps show",
			id);
	r = host_open(proc_root, NULL, &host);
	if (r < 0)
		return fail(err, r, "cannot read /proc: %s", strerror(-r));
	r = for_each_process(&host, look_at_container, &search);
	if (r >= 0 && search.nr == 1)
		r = cgroup_of_container(&host, search.found.pid, search.found.id,
			search.found.cgroup, sizeof(search.found.cgroup));
	host_close(&host);
	if (r == -EALREADY)
		return fail(err, -EEXIST, "%s is the beginning of several containers' ids", id);
	if (r < 0)
		return fail(
			err, r, "cannot read the cgroups of container %s: %s", id, strerror(-r));
	if (!search.nr)
		return fail(err, -ESRCH,
			"no process of a container %s is seen from here; on its own node?", id);
	*ret = search.found;
	return 0;
}
