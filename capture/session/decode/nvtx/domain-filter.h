/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Selects the NVTX domains of a report. Pure; any thread. */

#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Names separated by commas. `default` is the domain without a name; a backslash makes the next character part of a
 * name: "default,torch,a\\,b,\\default". NULL: no list. At most one of the two is given; without any, no domain is
 * left out. Borrowed. */
typedef struct
{
  const char *only;
  const char *but;
} LnsDomainFilter;

/* Whether reports do without the domain whose name is the N_BYTES of NAME; NULL is the default domain. O(length of
 * the list). */
bool lns_domain_filter_leaves_out (const LnsDomainFilter *filter, const char *name, size_t n_bytes);
