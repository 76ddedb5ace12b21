/* SPDX-License-Identifier: BSD-2-Clause */
/* uselib SECONDS: burns in FUNCTION of the library that it is linked with. */
#include "work.h"

void FUNCTION(uint64_t end);

int main(int argc, char **argv)
{
	FUNCTION(end_after(seconds_of(argc, argv, 1, 10)));
	return 0;
}
