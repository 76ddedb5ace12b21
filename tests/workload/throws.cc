// SPDX-License-Identifier: BSD-2-Clause
// throws SECONDS: built without frame pointers; C++ exceptions fly through 20 frames with destructors.
#include <ctime>
#include <cstdlib>
#include <stdexcept>

static volatile unsigned long sink;

struct Guard {
	~Guard()
	{
		for (unsigned long i = 0; i < 500; i++)
			sink = sink + i;
	}
};

__attribute__((noinline)) static void deep(int depth)
{
	Guard guard;

	if (depth == 0)
		throw std::runtime_error("thrown");
	deep(depth - 1);
	sink = sink + 1;
}

__attribute__((noinline)) static void outer()
{
	try {
		deep(20);
	} catch (const std::exception &e) {
		sink = sink + static_cast<unsigned char>(e.what()[0]);
	}
}

int main(int argc, char **argv)
{
	std::time_t end = std::time(nullptr) + (argc > 1 ? std::atoi(argv[1]) : 10);

	while (std::time(nullptr) < end)
		outer();
	return 0;
}
