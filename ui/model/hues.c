/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/hues.h"

#include <glib.h>

#include "src/base/hash.h"
#include "src/base/plain-name.h"
#include "ui/model/event-text.h"
#include "ui/model/palette.h"

#define MAX_STRINGS (1u << 16)

/* By the plain name, so that a step, a layer or a call has the colour of the others, in each report and rank. */
static gpointer
key_of (const char *name, size_t size_bytes)
{
  char plain[LNS_PLAIN_NAME_SIZE];
  const size_t n = lns_plain_name (name, size_bytes, plain);

  return GSIZE_TO_POINTER ((gsize)lns_hash (plain, n));
}

/* The hue that fewest names have; of several, the first one from that of the hash on. So each of twelve names that
 * come one after the other has its own. */
static unsigned
choose (uint32_t used[LNS_N_HUES], gpointer key)
{
  unsigned first = (unsigned)(GPOINTER_TO_SIZE (key) % LNS_N_HUES), best = first;
  for (unsigned i = 1; i < LNS_N_HUES; i++)
    if (used[(first + i) % LNS_N_HUES] < used[best])
      best = (first + i) % LNS_N_HUES;
  used[best]++;
  return best;
}

LnsHues *
lns_hues_new (LnsReport *report)
{
  LnsHues *self = g_hash_table_new (NULL, NULL);
  uint32_t used[LNS_N_HUES] = { 0 }, n = MIN (lns_report_n_strings (report), MAX_STRINGS);
  /* Strings are numbered as they first occur: ranges that are seen together are so here. */
  for (uint32_t id = 1; id < n; id++)
    {
      size_t size_bytes;
      const char *name = lns_report_string (report, id, &size_bytes);
      gpointer whole = key_of (name, size_bytes);
      name = lns_event_short_name (LNS_NAMES_KERNELS, name, &size_bytes);
      gpointer key = key_of (name, size_bytes);
      if (!g_hash_table_contains (self, key))
        g_hash_table_insert (self, key, GUINT_TO_POINTER (choose (used, key) + 1));
      if (!g_hash_table_contains (self, whole))
        g_hash_table_insert (self, whole, g_hash_table_lookup (self, key));
    }
  return self;
}

unsigned
lns_hues_get (LnsHues *self, const char *name, size_t size_bytes)
{
  gpointer key = key_of (name, size_bytes);
  guint hue = GPOINTER_TO_UINT (g_hash_table_lookup (self, key));
  return hue > 0 ? hue - 1 : (unsigned)(GPOINTER_TO_SIZE (key) % LNS_N_HUES);
}
