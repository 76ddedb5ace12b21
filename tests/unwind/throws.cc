// SPDX-License-Identifier: BSD-2-Clause
// throws.cc: landing pads, cold parts, and personalities in CIEs. Nothing here is run.
extern "C" void sink(void *, ...);

namespace
{
struct guard {
	int held = 0;
	~guard() { sink(this); }
};
} // namespace

int throws(int n)
{
	guard g;

	if (n > 3)
		throw n;
	sink(&g, n);
	return n;
}

int catches(int n)
{
	guard outer;

	try {
		guard inner;
		return throws(n) + throws(n + 1);
	} catch (int caught) {
		sink(&caught);
		return caught;
	} catch (...) {
		sink(&outer);
		throw;
	}
}
