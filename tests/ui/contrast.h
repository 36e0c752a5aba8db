/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The contrast of two colours, worked out apart from the palette whose colours it judges. */

#pragma once

#include <math.h>
#include <stdint.h>

/* Relative luminance of 0xRRGGBB, as WCAG 2.1 defines it. */
static inline double
luminance (uint32_t rgb)
{
  static const double weights[] = { 0.0722, 0.7152, 0.2126 };
  double sum = 0;
  for (int i = 0; i < 3; i++)
    {
      double share = (rgb >> 8 * i & 255) / 255.0;
      sum += weights[i] * (share <= 0.03928 ? share / 12.92 : pow ((share + 0.055) / 1.055, 2.4));
    }
  return sum;
}

/* From 1 (equal) to 21 (black on white), as WCAG 2.1 defines it. */
static inline double
contrast (uint32_t a, uint32_t b)
{
  double la = luminance (a), lb = luminance (b);
  return (fmax (la, lb) + 0.05) / (fmin (la, lb) + 0.05);
}
