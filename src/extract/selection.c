/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/extract/selection.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/format.h"
#include "src/base/memory.h"
#include "src/tables/lanes.h"

const char *
lns_selection_title (const LnsReport *report)
{
  const char *path = lns_report_meta (report, "imported_from");

  path = path != NULL ? path : lns_report_info (report)->path;
  const char *slash = strrchr (path, '/');
  return slash != NULL ? slash + 1 : path;
}

static bool
find_span (LnsReport *report, const LnsExtract *wanted, LnsSelection *selection, LnsError *error)
{
  LnsFilterSpan all = lns_filter_span (report);
  char from[LNS_FORMAT_SIZE], to[LNS_FORMAT_SIZE];

  if (all.start_ns == INT64_MIN)
    all.start_ns = lns_report_info (report)->start_ns;
  selection->span =
      (LnsFilterSpan){ wanted->start_ns > all.start_ns ? wanted->start_ns : all.start_ns,
                       wanted->end_ns < all.end_ns ? wanted->end_ns : all.end_ns, LNS_ID_NONE };
  selection->is_cut = wanted->start_ns > all.start_ns || wanted->end_ns < all.end_ns;
  return selection->span.start_ns <= selection->span.end_ns ||
         lns_error_set (error, LNS_ERROR_USAGE, 0,
                        "%s has nothing in that time; it tells of the time from %s to %s",
                        lns_selection_title (report),
                        lns_format_duration_exact (all.start_ns, from),
                        lns_format_duration_exact (all.end_ns, to));
}

/* Whether one of the processes of REPORT is PID. */
static bool
has_process (LnsReport *report, int32_t pid)
{
  uint32_t n;
  const LnsProcess *processes = lns_report_processes (report, &n);

  for (uint32_t i = 0; i < n; i++)
    if (processes[i].pid == pid)
      return true;
  return false;
}

static bool
has_device (LnsReport *report, uint32_t number)
{
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (report, &n);

  for (uint32_t i = 0; i < n; i++)
    if (devices[i].number == number)
      return true;
  return false;
}

static bool
check (LnsReport *report, const LnsExtract *wanted, LnsError *error)
{
  for (size_t i = 0; i < wanted->n_pids; i++)
    if (!has_process (report, wanted->pids[i]))
      return lns_error_set (error, LNS_ERROR_USAGE, 0,
                            "%s has no process %" PRId32 "; `lanescope info` lists its processes",
                            lns_selection_title (report), wanted->pids[i]);
  for (size_t i = 0; i < wanted->n_devices; i++)
    if (!has_device (report, wanted->devices[i]))
      return lns_error_set (error, LNS_ERROR_USAGE, 0,
                            "%s has no GPU %" PRIu32 "; `lanescope info` lists its GPUs",
                            lns_selection_title (report), wanted->devices[i]);
  return true;
}

/* Whether WANTED names what TRACK belongs to. */
static bool
is_wanted (LnsReport *report, const LnsExtract *wanted, const LnsTrack *track)
{
  bool is_of_process = wanted->n_pids == 0 || track->process == LNS_ID_NONE,
       is_of_device = wanted->n_devices == 0 || track->device == LNS_ID_NONE;

  for (size_t i = 0; !is_of_process && i < wanted->n_pids; i++)
    is_of_process = lns_report_processes (report, NULL)[track->process].pid == wanted->pids[i];
  for (size_t i = 0; !is_of_device && i < wanted->n_devices; i++)
    is_of_device = lns_report_devices (report, NULL)[track->device].number == wanted->devices[i];
  return is_of_process && is_of_device;
}

bool
lns_selection_find (LnsReport *report,
                    const LnsExtract *wanted,
                    LnsSelection *ret_selection,
                    LnsError *error)
{
  uint32_t n_lanes;

  *ret_selection = (LnsSelection){ 0 };
  if (!find_span (report, wanted, ret_selection, error) || !check (report, wanted, error))
    return false;
  lns_report_lanes (report, &n_lanes);
  if (wanted->n_pids + wanted->n_devices > 0)
    ret_selection->lanes = lns_calloc (n_lanes, sizeof *ret_selection->lanes);
  for (uint32_t i = 0; ret_selection->lanes != NULL && i < n_lanes; i++)
    ret_selection->lanes[i] = is_wanted (report, wanted, lns_track_of (report, i));
  return true;
}

void
lns_selection_clear (LnsSelection *selection)
{
  free (selection->lanes);
  *selection = (LnsSelection){ 0 };
}
