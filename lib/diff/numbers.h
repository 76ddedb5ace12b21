/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_NUMBERS_H
#define STOKE_DIFF_NUMBERS_H

/* Distribution functions, good to 1e-9. Arguments outside their domain give NAN. */

double normal_cdf(double z);
double normal_quantile(double p);
/* Student's t with freedom > 0, which may be a fraction. */
double t_cdf(double t, double freedom);
double t_quantile(double p, double freedom);
/* Regularised incomplete beta function I_x(a, b), a and b > 0. */
double beta_cdf(double a, double b, double x);

#endif
