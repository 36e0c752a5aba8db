/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which NVTX domains a report gets. Pure; any thread. */

#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Names parted by commas, where `default` is the domain that has none, and a backslash makes what
 * follows a part of a name: "default,torch,a\\,b,\\default". NULL: no list. One of the two at most is
 * given; neither leaves nothing out. Borrowed. */
typedef struct
{
  const char *only;
  const char *but;
} LnsDomainFilter;

/* Whether reports do without the domain whose name is the N_BYTES of NAME; NULL is the default one.
 * O(length of the list). */
bool lns_domain_filter_leaves_out (const LnsDomainFilter *filter, const char *name, size_t n_bytes);
