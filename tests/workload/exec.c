/* SPDX-License-Identifier: BSD-2-Clause */
/* exec SECONDS PROGRAM ARGS: burns so long in before_exec, then becomes PROGRAM. */
#include <unistd.h>

#include "work.h"

HOT static void before_exec(uint64_t end)
{
	burn_until(end);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	before_exec(end_after(atof(argv[1])));
	(void)execv(argv[2], argv + 2);
	return 1;
}
