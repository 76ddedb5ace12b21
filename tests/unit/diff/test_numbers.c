/* SPDX-License-Identifier: BSD-2-Clause */
#include "diff/numbers.h"

#include <math.h>

#include "unit/test.h"

TestSuite(numbers, .fini = check_leaks);

enum function { NORMAL, NORMAL_QUANTILE, T, T_QUANTILE, BETA };

/* From closed forms (Abramowitz and Stegun 26.7.3 and 26.7.4), exact rational sums and series of
 * 60 digits, none of which is how numbers.c works. */
static const struct vector {
	enum function function;
	double arguments[3];
	double value;
} vectors[] = {
	{NORMAL, {0, 0, 0}, 5.0000000000000000e-1},
	{NORMAL, {0.5, 0, 0}, 6.9146246127401310e-1},
	{NORMAL, {1, 0, 0}, 8.4134474606854295e-1},
	{NORMAL, {1.644853627, 0, 0}, 9.5000000000500489e-1},
	{NORMAL, {1.959963985, 0, 0}, 9.7500000002688156e-1},
	{NORMAL, {2.575829304, 0, 0}, 9.9500000000652278e-1},
	{NORMAL, {3, 0, 0}, 9.9865010196836991e-1},
	{NORMAL, {4, 0, 0}, 9.9996832875816688e-1},
	{NORMAL, {-1, 0, 0}, 1.5865525393145705e-1},
	{NORMAL, {-3, 0, 0}, 1.3498980316300945e-3},
	{NORMAL, {-5, 0, 0}, 2.8665157187919391e-7},
	{NORMAL, {-6, 0, 0}, 9.8658764503769814e-10},
	{NORMAL, {-8, 0, 0}, 6.2209605742717841e-16},
	{NORMAL_QUANTILE, {0.95, 0, 0}, 1.644853626951473},
	{NORMAL_QUANTILE, {0.975, 0, 0}, 1.959963984540054},
	{NORMAL_QUANTILE, {0.995, 0, 0}, 2.575829303548901},
	{NORMAL_QUANTILE, {0.999, 0, 0}, 3.090232306167814},
	{NORMAL_QUANTILE, {0.99975, 0, 0}, 3.480756404346213},
	{T, {1, 1, 0}, 7.500000000000000e-01},
	{T, {2, 2, 0}, 9.082482904638630e-01},
	{T, {2.5, 3, 0}, 9.561466764959673e-01},
	{T, {-2.5, 4, 0}, 3.338327240599415e-02},
	{T, {1.859548, 8, 0}, 9.499999971180189e-01},
	{T, {2.306004, 8, 0}, 9.749999947235333e-01},
	{T, {-3, 6, 0}, 1.200409837786542e-02},
	{T, {4.5, 10, 0}, 9.994284474565980e-01},
	{T, {0, 5, 0}, 5.000000000000000e-01},
	{T, {2.04, 30, 0}, 9.748802126304568e-01},
	{T, {-6, 14, 0}, 1.627387939107106e-05},
	{T_QUANTILE, {0.975, 1, 0}, 12.7062047361747},
	{T_QUANTILE, {0.975, 2, 0}, 4.3026527297495},
	{T_QUANTILE, {0.975, 3, 0}, 3.1824463052837},
	{T_QUANTILE, {0.975, 4, 0}, 2.7764451051978},
	{T_QUANTILE, {0.975, 6, 0}, 2.4469118511450},
	{T_QUANTILE, {0.975, 8, 0}, 2.3060041352042},
	{T_QUANTILE, {0.975, 14, 0}, 2.1447866879178},
	{T_QUANTILE, {0.95, 8, 0}, 1.8595480375309},
	{T_QUANTILE, {0.995, 8, 0}, 3.3553873313334},
	{T_QUANTILE, {0.975, 30, 0}, 2.0422724563012},
	{BETA, {1, 1, 0.25}, 2.500000000000000e-01},
	{BETA, {2, 3, 0.4}, 5.248000000000000e-01},
	{BETA, {5, 1, 0.9}, 5.904900000000000e-01},
	{BETA, {1, 5, 0.1}, 4.095100000000000e-01},
	{BETA, {10, 10, 0.5}, 5.000000000000000e-01},
	{BETA, {3, 20, 0.1}, 3.799590615880966e-01},
	{BETA, {40, 60, 0.5}, 9.780623532064924e-01},
	{BETA, {116, 9886, 0.015}, 9.983828735920746e-01},
	{BETA, {20, 3, 0.5}, 6.055831909179688e-05},
};

static double computed(const struct vector *vector)
{
	const double *a = vector->arguments;

	switch (vector->function) {
	case NORMAL:
		return normal_cdf(a[0]);
	case NORMAL_QUANTILE:
		return normal_quantile(a[0]);
	case T:
		return t_cdf(a[0], a[1]);
	case T_QUANTILE:
		return t_quantile(a[0], a[1]);
	case BETA:
		return beta_cdf(a[0], a[1], a[2]);
	}
	return NAN;
}

Test(numbers, functions_equal_closed_forms)
{
	cr_assert(eq(sz, ARRAY_SIZE(vectors), 48));
	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		double value = vectors[i].value, got = computed(&vectors[i]);
		double room = 1e-9 * fabs(value);

		/* Small tails are wanted to as many digits as large ones. */
		cr_assert(epsilon_eq(dbl, got, value, room), "vector %zu", i);
	}
}

Test(numbers, quantiles_undo_cdfs_far_out)
{
	for (double p = 1e-12; p < 0.4; p *= 10) {
		cr_assert(epsilon_eq(dbl, normal_cdf(normal_quantile(p)), p, p * 1e-9));
		cr_assert(epsilon_eq(dbl, t_cdf(t_quantile(p, 1), 1), p, p * 1e-9));
		cr_assert(epsilon_eq(dbl, t_cdf(t_quantile(p, 7.3), 7.3), p, p * 1e-9));
	}
	cr_assert(lt(dbl, t_quantile(1e-12, 1), -1e11));
}

Test(numbers, what_is_outside_the_domain_is_nan)
{
	cr_assert(isnan(t_cdf(1, 0)));
	cr_assert(isnan(t_quantile(1.5, 3)));
	cr_assert(isnan(t_quantile(0.5, -1)));
	cr_assert(isnan(beta_cdf(-1, 2, 0.5)));
	cr_assert(isnan(beta_cdf(1, 2, NAN)));
	cr_assert(isinf(normal_quantile(1)));
}
