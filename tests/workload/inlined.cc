// SPDX-License-Identifier: BSD-2-Clause
// inlined SECONDS: built with -O2 -g; functions, a template and a method inlined into each other.
#include <cstdlib>
#include <ctime>

#define ALWAYS inline __attribute__((always_inline))

static volatile unsigned long sink;

namespace work
{
template <typename T> ALWAYS void add(T value)
{
	for (T i = 0; i < value; i++)
		sink = sink + i;
}

struct Counter {
	unsigned nr;

	ALWAYS void count() const
	{
		add(nr);
		sink = sink ^ nr;
	}
};
} // namespace work

static ALWAYS void twice(const work::Counter &counter)
{
	counter.count();
	counter.count();
}

__attribute__((noinline)) static void run(unsigned nr)
{
	twice(work::Counter{nr});
	sink = sink + 1;
}

int main(int argc, char **argv)
{
	std::time_t end = std::time(nullptr) + (argc > 1 ? std::atoi(argv[1]) : 10);

	while (std::time(nullptr) < end)
		run(100000);
	return 0;
}
