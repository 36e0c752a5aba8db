/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A part of a report as a report of its own. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/analysis/projection/cuda-links.h"
#include "src/base/format.h"
#include "src/base/language.h"
#include "src/base/saturate.h"
#include "src/export/place.h"
#include "src/extract/selection.h"
#include "src/extract/types.h"
#include "src/tables/lanes.h"

#define N_NOTES 3

/* Operations without a recorded call that are looked at, one after the other, before a lane is believed to have no more calls. */
#define PATIENCE 4096

const LnsExportType _lns_extract_rep = { .name = "rep", .ending = ".part.rep" };

/* What is worked out of a selection of a report. */
typedef struct
{
  LnsReport *report;
  const LnsExtract *wanted;
  LnsSelection selection;
  LnsCudaLinks *links;
  uint64_t n_before,
      n_after; /* operations: in the part, launched before it; launched in it, behind it */
} Part;

/* Gets the first call that launched ORDINAL of LANE. RET_ANY is false where none was recorded. */
static bool
find_call (const Part *part,
           uint32_t lane,
           uint64_t ordinal,
           LnsEvent *ret_call,
           bool *ret_any,
           LnsError *error)
{
  LnsEventRun *calls;
  size_t n;

  if (!lns_cuda_links_find (part->links, lane, ordinal, &calls, &n, error))
    return false;
  *ret_any = n > 0;
  const bool good =
      n == 0 || lns_report_event (part->report, calls[0].lane, calls[0].ordinal, ret_call, error);
  free (calls);
  return good;
}

/* Counts the operations of LANE from ordinal FIRST on whose call begins before UNTIL_NS, into those whose call lies in the span
 * (RET_INSIDE) and others (RET_OUTSIDE). A stream works in the order of calls, so that the first later one ends the count. */
static bool
count_calls (const Part *part,
             uint32_t lane,
             uint64_t first,
             int64_t until_ns,
             uint64_t *ret_inside,
             uint64_t *ret_outside,
             LnsError *error)
{
  const uint64_t n_events = lns_report_lane_info (part->report, lane)->n_events;
  const LnsFilterSpan *span = &part->selection.span;
  LnsEvent call;
  bool any;

  *ret_inside = *ret_outside = 0;
  for (uint64_t i = first, n_without = 0; i < n_events && n_without < PATIENCE; i++)
    {
      if (!lns_go_on (part->wanted->cancel, error) ||
          !find_call (part, lane, i, &call, &any, error))
        return false;
      n_without = any ? 0 : n_without + 1;
      if (!any)
        continue;
      if (call.start_ns >= until_ns)
        break;
      if (lns_sum (call.start_ns, call.duration_ns) >= span->start_ns &&
          call.start_ns <= span->end_ns)
        ++*ret_inside;
      else
        ++*ret_outside;
    }
  return true;
}

/* Counts the GPU work of LANE that has its call on the other side of an end of the span. */
static bool
count_lane (Part *part, uint32_t lane, LnsError *error)
{
  const LnsFilterSpan *span = &part->selection.span;
  uint64_t first, last, inside, outside;

  if (!lns_report_find (part->report, lane, span->start_ns, &first, error) ||
      !count_calls (part, lane, first, span->start_ns, &inside, &outside, error))
    return false;
  part->n_before += outside;
  if (span->end_ns == INT64_MAX ||
      !lns_report_find (part->report, lane, lns_sum (span->end_ns, 1), &last, error))
    return span->end_ns == INT64_MAX;
  /* One that reaches over the end is in the part. */
  LnsEvent event;
  if (last < lns_report_lane_info (part->report, lane)->n_events)
    {
      if (!lns_report_event (part->report, lane, last, &event, error))
        return false;
      last += event.start_ns <= span->end_ns;
    }
  if (!count_calls (part, lane, last, lns_sum (span->end_ns, 1), &inside, &outside, error))
    return false;
  part->n_after += inside;
  return true;
}

static bool
count_ends (Part *part, LnsError *error)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (part->report, &n_lanes);
  bool good = true;

  part->links = lns_cuda_links_new (part->report);
  for (uint32_t i = 0; good && i < n_lanes; i++)
    if (lns_is_gpu_operation (lanes[i].kind) &&
        (part->selection.lanes == NULL || part->selection.lanes[i]))
      good = count_lane (part, i, error);
  lns_cuda_links_free (part->links);
  return good;
}

/* How many tracks of REPORT have lanes, and how many of them PART has. */
static void
count_tracks (const Part *part, uint32_t *ret_n_all, uint32_t *ret_n)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (part->report, &n_lanes);

  *ret_n_all = *ret_n = 0;
  for (uint32_t i = 0; i < n_lanes; i++)
    if (lanes[i].ordinal == 0 && lanes[i].kind != LNS_LANE_NVTX_PROJECTED)
      {
        ++*ret_n_all;
        *ret_n += part->selection.lanes[i];
      }
}

/* Fills NOTES with what the part says about itself. Returns their number. */
static unsigned
write_notes (const Part *part, LnsFilterNote notes[static N_NOTES])
{
  char from[LNS_FORMAT_SIZE], to[LNS_FORMAT_SIZE], whole[LNS_FORMAT_SIZE];
  const LnsFilterSpan *span = &part->selection.span;
  uint32_t n_tracks, n_kept;
  unsigned n = 0;

  if (part->selection.is_cut)
    {
      notes[n].code = "LNS-PART-001";
      snprintf (notes[n++].text, sizeof notes->text,
                LNS_SENTENCE ("this report is the part from %s to %s of %.100s, which tells of %s; "
                              "what came before and after was left out"),
                lns_format_duration_exact (span->start_ns, from),
                lns_format_duration_exact (span->end_ns, to), lns_selection_title (part->report),
                lns_format_duration (lns_recorded_ns (part->report), whole));
    }
  if (part->selection.lanes != NULL)
    {
      count_tracks (part, &n_tracks, &n_kept);
      notes[n].code = "LNS-PART-002";
      snprintf (notes[n++].text, sizeof notes->text,
                LNS_SENTENCE ("this report has %" PRIu32 " of %" PRIu32 " tracks of %.100s; the "
                              "others were left out, and nothing is known of what they tell"),
                n_kept, n_tracks, lns_selection_title (part->report));
    }
  if (part->n_before + part->n_after > 0)
    {
      notes[n].code = "LNS-PART-003";
      snprintf (notes[n++].text, sizeof notes->text,
                LNS_SENTENCE ("%" PRIu64
                              " operations of GPUs in this part were launched before it, "
                              "and calls in it launched %" PRIu64 " that came behind it: their "
                              "other ends were left out"),
                part->n_before, part->n_after);
    }
  return n;
}

static bool
write_part (const Part *part, LnsExportPlace *place, LnsError *error)
{
  LnsFilterNote notes[N_NOTES];
  const LnsFilterPart kept = { .span = part->selection.span,
                               .lanes = part->selection.lanes,
                               .notes = notes,
                               .n_notes = write_notes (part, notes),
                               .mode = place->mode,
                               .cancel = part->wanted->cancel,
                               .progress = part->wanted->progress,
                               .progress_data = part->wanted->progress_data };

  return lns_filter_keep (part->report, &kept, place->temporary, error);
}

bool
lns_extract_report (LnsReport *report, const LnsExtract *wanted, const char *path, LnsError *error)
{
  const LnsExportOptions options = { .overwrite = wanted->overwrite, .source = wanted->source };
  Part part = { .report = report, .wanted = wanted };
  LnsExportPlace place = { 0 };

  bool good = lns_selection_find (report, wanted, &part.selection, error) &&
              (!part.selection.is_cut || count_ends (&part, error)) &&
              lns_export_place_open (&place, report, &_lns_extract_rep, path, &options, error) &&
              write_part (&part, &place, error);
  if (place.type != NULL)
    good = lns_export_place_close (&place, good, error) && good;
  lns_selection_clear (&part.selection);
  return good;
}
