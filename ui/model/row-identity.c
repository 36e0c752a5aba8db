/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/row-identity.h"

#include <inttypes.h>
#include <string.h>

#include "src/tables/lanes.h"
#include "ui/model/display-text.h"

#define MAX_NAME_BYTES                                                                             \
 200 /* of one name in an identity: longer ones differ before that, or are numbered */

/* The string ID, as text in which "/" separates nothing. */
static char *
plain (LnsReport *report, uint32_t id)
{
  size_t size_bytes;
  const char *bytes = lns_report_string (report, id, &size_bytes);
  char *text = lns_display_text (bytes, MIN (size_bytes, MAX_NAME_BYTES), TRUE);
  return g_strdelimit (text, "/#", '_');
}

static char *
process_name (LnsReport *report, uint32_t process)
{
  uint32_t n;
  const LnsProcess *all = lns_report_processes (report, &n);
  if (process >= n)
    return g_strdup ("");
  size_t size_bytes;
  const char *bytes = lns_report_string (report, all[process].name, &size_bytes);
  const char *slash = memrchr (bytes, '/', size_bytes);
  const char *name = slash != NULL ? slash + 1 : bytes;
  char *text = lns_display_text (
      name, MIN (size_bytes - (size_t)(name - bytes), (size_t)MAX_NAME_BYTES), TRUE);
  return g_strdelimit (text, "/#", '_');
}

static char *
process_part (LnsReport *report, uint32_t process)
{
  uint32_t n;
  const LnsProcess *all = lns_report_processes (report, &n);
  g_autofree char *name = process_name (report, process);
  if (process < n && all[process].mpi_rank != 0)
    return g_strdup_printf ("process %s rank %u", name, all[process].mpi_rank - 1);
  return g_strdup_printf ("process %s", name);
}

/* The main thread is called as its process is, or was renamed: it is known by its number. */
static char *
thread_part (LnsReport *report, uint32_t thread)
{
  uint32_t n, n_processes;
  const LnsThread *all = lns_report_threads (report, &n);
  const LnsProcess *processes = lns_report_processes (report, &n_processes);
  if (thread >= n)
    return g_strdup ("thread");
  const LnsThread *it = &all[thread];
  if (it->process < n_processes && it->tid != 0 && it->tid == processes[it->process].pid)
    return g_strdup ("main thread");
  g_autofree char *name = plain (report, it->name);
  return g_strdup_printf ("thread %s", name);
}

static char *
domain_part (LnsReport *report, const char *what, uint32_t domain)
{
  uint32_t n;
  const LnsDomain *all = lns_report_domains (report, &n);
  g_autofree char *name = plain (report, domain < n ? all[domain].name : 0);
  return g_strdup_printf ("%s %s", what, name);
}

static char *
facet_part (LnsReport *report, const LnsRow *row)
{
  const LnsFacet *facet = &lns_facet_set_facets (row->set, NULL)[row->facet];
  if (facet->key == LNS_FACET_OTHERS)
    return g_strdup ("others");
  if (lns_facet_set_by (row->set) != LNS_FACET_BY_KERNEL)
    return g_strdup_printf ("copies %" PRIu64, (uint64_t)facet->key);
  g_autofree char *name = plain (report, (uint32_t)facet->key);
  return g_strdup_printf ("kernel %s", name);
}

/* What the row's track is, of which each kind has a number in the file format. */
static char *
track_part (const LnsRowTree *tree, LnsReport *report, const LnsRow *row)
{
  if (row->n_lanes == 0)
    return g_strdup_printf ("kind %d", (int)row->kind);
  const LnsTrack *track = lns_track_of (report, lns_row_tree_lanes (tree)[row->lanes]);
  g_autofree char *name = plain (report, track->name);
  return g_strdup_printf ("track %u %s %" PRIu64, (unsigned)track->kind, name,
                          track->kind == LNS_TRACK_CPU ? track->number : 0);
}

/* What tells ROW from its siblings. Free with g_free (). */
static char *
part_of (const LnsRowTree *tree, LnsReport *report, const LnsRow *row)
{
  switch (row->kind)
    {
    case LNS_ROW_CPUS:
      return g_strdup ("cpus");
    case LNS_ROW_ASIDE:
      return g_strdup ("aside");
    case LNS_ROW_PROCESSES:
      return g_strdup ("quiet processes");
    case LNS_ROW_PROCESS:
      return process_part (report, row->process);
    case LNS_ROW_THREADS:
      return g_strdup ("quiet threads");
    case LNS_ROW_THREAD:
      return thread_part (report, row->thread);
    case LNS_ROW_RANGES:
      return domain_part (report, "nvtx", row->domain);
    case LNS_ROW_START_END:
      return domain_part (report, "nvtx-start-end", row->domain);
    case LNS_ROW_PROJECTION:
      return domain_part (report, "nvtx-on-gpu", row->domain);
    case LNS_ROW_DEVICE:
      return g_strdup_printf ("gpu %u", lns_report_devices (report, NULL)[row->device].number);
    case LNS_ROW_CONTEXT:
      return g_strdup_printf ("context %u",
                              lns_report_contexts (report, NULL)[row->context].number);
    case LNS_ROW_STREAM:
      return g_strdup_printf ("stream %u", lns_report_streams (report, NULL)[row->stream].number);
    case LNS_ROW_ALL_STREAMS:
      return g_strdup ("all streams");
    case LNS_ROW_KERNELS:
      return g_strdup ("kernels");
    case LNS_ROW_MEMORY:
      return g_strdup ("memory");
    case LNS_ROW_FACET:
      return facet_part (report, row);
    default:
      return track_part (tree, report, row);
    }
}

/* Puts the identity of ROW into IDENTITIES, after that of its parent. COUNTS: how many rows were called so, so far; its keys are the
 * identities of the first ones. */
static void
identify (const LnsRowTree *tree,
          LnsReport *report,
          uint32_t id,
          GPtrArray *identities,
          GHashTable *counts)
{
  const LnsRow *row = lns_row_tree_row (tree, id);
  if (g_ptr_array_index (identities, id) != NULL)
    return;
  if (row->parent != LNS_ID_NONE)
    identify (tree, report, row->parent, identities, counts);
  const char *above = row->parent != LNS_ID_NONE ? g_ptr_array_index (identities, row->parent) : "";
  g_autofree char *part = part_of (tree, report, row);
  g_autofree char *whole = g_strconcat (above, *above != '\0' ? "/" : "", part, NULL);
  gpointer first, count;
  if (!g_hash_table_lookup_extended (counts, whole, &first, &count))
    {
      g_hash_table_insert (counts, whole, GUINT_TO_POINTER (1));
      g_ptr_array_index (identities, id) = g_steal_pointer (&whole);
      return;
    }
  const guint n = GPOINTER_TO_UINT (count) + 1;
  g_hash_table_insert (counts, first, GUINT_TO_POINTER (n));
  g_ptr_array_index (identities, id) = g_strdup_printf ("%s#%u", whole, n);
}

GPtrArray *
lns_row_identities (const LnsRowTree *tree, LnsReport *report)
{
  GPtrArray *identities = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) counts = g_hash_table_new (g_str_hash, g_str_equal);
  g_ptr_array_set_size (identities, (gint)lns_row_tree_n_rows (tree));
  /* By their numbers, as people move rows. */
  for (uint32_t row = 0; row < lns_row_tree_n_rows (tree); row++)
    identify (tree, report, row, identities, counts);
  return identities;
}

/* Whether programs called NAME run what their first argument names. */
static gboolean
runs_scripts (const char *name)
{
  static const char *const prefixes[] = { "python", "torchrun", "bash", "perl",
                                          "ruby",   "node",     "julia" };
  for (gsize i = 0; i < G_N_ELEMENTS (prefixes); i++)
    if (g_str_has_prefix (name, prefixes[i]))
      return TRUE;
  return strcmp (name, "sh") == 0;
}

char *
lns_program_identity (LnsReport *report)
{
  uint32_t n, process = 0;
  g_auto (GStrv) words = NULL;
  const LnsProcess *all = lns_report_processes (report, &n);
  while (process < n && lns_process_is_of_profiler (report, process))
    process++;
  if (process == n)
    return NULL;
  g_autofree char *name = process_name (report, process);
  g_autofree char *line = plain (report, all[process].command_line);
  const char *line_bytes = lns_report_string (report, all[process].command_line, NULL);
  if (runs_scripts (name) && g_shell_parse_argv (line_bytes, NULL, &words, NULL))
    for (guint i = 1; words[i] != NULL; i++)
      if (*words[i] != '-')
        {
          g_autofree char *script = g_path_get_basename (words[i]);
          g_autofree char *text =
              lns_display_text (script, MIN (strlen (script), (gsize)MAX_NAME_BYTES), TRUE);
          return g_strdup_printf ("%s %s", name, text);
        }
  return *name != '\0' ? g_steal_pointer (&name) : NULL;
}
