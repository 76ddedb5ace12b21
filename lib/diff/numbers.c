/* SPDX-License-Identifier: BSD-2-Clause */
/* numbers.c: the distribution functions that a test needs, with nothing but libm. */
#include "diff/numbers.h"

#include <math.h>

#define MAX_TERMS      500
#define MAX_BISECTIONS 2000 /* doubles end them after some 60 */

/* A continued fraction's partial denominators must not vanish (Lentz). */
static double not_zero(double x)
{
	return fabs(x) > 1e-300 ? x : 1e-300;
}

/* The continued fraction of I_x(a, b), Abramowitz and Stegun 26.5.8, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), product = d;

	for (int i = 1; i < MAX_TERMS; i++) {
		double even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i));
		double odd = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1));
		double change;

		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		product *= c * d;
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		change = c * d;
		product *= change;
		if (fabs(change - 1) < 1e-15)
			break;
	}
	return product;
}

double beta_cdf(double a, double b, double x)
{
	double power;
	int sign; /* of gamma, always 1 here; lgamma() would write it to a global */

	if (!(a > 0) || !(b > 0) || isnan(x))
		return NAN;
	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	/* Beyond its mean the fraction converges slowly: the other tail. */
	if (x > (a + 1) / (a + b + 2))
		return 1 - beta_cdf(b, a, 1 - x);
	power = lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) +
		b * log1p(-x);
	return exp(power) * beta_fraction(a, b, x) / a;
}

double normal_cdf(double z)
{
	return 0.5 * erfc(-z / M_SQRT2);
}

double t_cdf(double t, double freedom)
{
	double tail;

	if (!(freedom > 0) || isnan(t))
		return NAN;
	if (isinf(t))
		return t > 0;
	tail = 0.5 * beta_cdf(freedom / 2, 0.5, freedom / (freedom + t * t));
	return t > 0 ? 1 - tail : tail;
}

static double cdf(double x, double freedom)
{
	return isinf(freedom) ? normal_cdf(x) : t_cdf(x, freedom);
}

static double quantile(double p, double freedom)
{
	double low = -1, high = 1;

	if (!(p >= 0) || !(p <= 1) || !(freedom > 0))
		return NAN;
	if (p == 0 || p == 1)
		return p == 0 ? -INFINITY : INFINITY;
	while (cdf(low, freedom) > p && low > -1e300)
		low *= 2;
	while (cdf(high, freedom) < p && high < 1e300)
		high *= 2;
	for (int i = 0; i < MAX_BISECTIONS; i++) {
		double middle = 0.5 * (low + high);

		if (middle <= low || middle >= high)
			break;
		if (cdf(middle, freedom) < p)
			low = middle;
		else
			high = middle;
	}
	return 0.5 * (low + high);
}

double normal_quantile(double p)
{
	return quantile(p, INFINITY);
}

double t_quantile(double p, double freedom)
{
	return quantile(p, freedom);
}
