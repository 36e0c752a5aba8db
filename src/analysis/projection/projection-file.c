/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/projection/projection-file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/analysis/ordering.h"
#include "src/analysis/projection/projection.h"
#include "src/base/array.h"
#include "src/base/compare.h"
#include "src/base/folders.h"
#include "src/base/memory.h"
#include "src/store/write/writer.h"
#include "src/tables/lanes.h"

#define DERIVED_FROM     "derived_from"
#define KEY_SIZE         96
#define COMMIT_BYTES     (32 << 20)
#define CACHE_BYTES      (32 << 20)
#define CANCEL_LOOK_EACH 4096

/* A range and its place among the ranges of its group. */
typedef struct
{
  const LnsProjectedRange *it;
  uint32_t domain;
  uint32_t parent; /* place of the range around it in the order of ranges, or LNS_ID_NONE        */
  uint32_t place;  /* its own                                                                   */
  uint32_t level;
} Placed;

typedef struct
{
  uint32_t lane;
  int64_t end_ns; /* of what was last appended to it */
} Level;

typedef struct
{
  LnsReport *report;
  LnsWriter *writer;
  const LnsLane *lanes;
  const LnsTrack *tracks;
  const LnsCudaContext *contexts;
  const atomic_bool *cancel;
  Placed *placed;    /* of a group, with room for all ranges                                 */
  Placed **by_place; /* the same                                                             */
  LNS_ARRAY (Level) levels; /* of the track under way */
} Layout;

/* The key by which a derived file names REPORT as its source. */
static void
key_of (const LnsReport *report, char key[KEY_SIZE])
{
  const LnsReportInfo *info = lns_report_info (report);
  int at = 0;
  for (size_t i = 0; i < sizeof info->uuid; i++)
    at += snprintf (key + at, KEY_SIZE - (size_t)at, "%02x", info->uuid[i]);
  snprintf (key + at, KEY_SIZE - (size_t)at, "-%" PRIu64 "-%d", info->n_commits,
            LNS_PROJECTION_VERSION);
}

/* ---- Levels ---------------------------------------------------------------------------------- */

static int
compare_by_domain (const void *a, const void *b)
{
  const Placed *pa = a, *pb = b;
  return LNS_COMPARE (pa->domain, pb->domain);
}

static int64_t
end_of (const Placed *placed)
{
  return placed->it->start_ns + placed->it->duration_ns;
}

/* Outer ranges before those within them, which reach no further on the GPU either. */
static int
compare_on_gpu (const void *a, const void *b)
{
  const Placed *pa = a, *pb = b;
  return LNS_COMPARE (pa->it->start_ns, pb->it->start_ns)
             ?: LNS_COMPARE (end_of (pb), end_of (pa))
             ?: LNS_COMPARE (pa->place, pb->place);
}

static int64_t
range_end_of (const Placed *placed)
{
  return placed->it->range_start_ns + placed->it->range_duration_ns;
}

/* Finds the range around each of the N of one domain, which are in the order of
 * lns_projection_by_stream (): the one before it on its thread that ends no sooner, if there is one. */
static void
find_parents (Placed *placed, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    {
      const uint32_t thread = placed[i].it->thread;
      uint32_t up = i > 0 ? i - 1 : LNS_ID_NONE;
      while (up != LNS_ID_NONE && (placed[up].it->thread != thread ||
                                   range_end_of (&placed[up]) < range_end_of (&placed[i])))
        up = placed[up].parent;
      placed[i].parent = up;
      placed[i].place = i;
    }
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void
append (Layout *self, const Placed *placed)
{
  const LnsProjectedRange *range = placed->it;
  LnsEvent event = { .start_ns = range->start_ns,
                     .duration_ns = range->duration_ns,
                     .name = range->name };
#define SET(column, value)                                                                         \
 event.extra[lns_lane_kind_extra (LNS_LANE_NVTX_PROJECTED, column)] = value
  SET (LNS_COLUMN_COLOR, range->color);
  SET (LNS_COLUMN_THREAD, range->thread);
  SET (LNS_COLUMN_CORRELATION, range->ordinal + 1);
  SET (LNS_COLUMN_ORIGINAL, range->lane);
  SET (LNS_COLUMN_COPY_COUNT, range->n_operations);
#undef SET
  Level *level = &self->levels.items[placed->level];
  lns_writer_append (self->writer, level->lane, &event);
  level->end_ns = end_of (placed);
}

static bool
go_on (Layout *self, LnsError *error)
{
  return lns_go_on (self->cancel, error) &&
         (lns_writer_waiting_bytes (self->writer) < COMMIT_BYTES ||
          lns_writer_commit (self->writer, lns_report_info (self->report)->end_ns, error));
}

/* The N ranges of one stream and domain, each on the lowest free level under the range around it. */
static bool
write_track (Layout *self, Placed *placed, uint32_t n, LnsError *error)
{
  const LnsProjectedRange *any = placed[0].it;
  const LnsTrack track = {
    .kind = LNS_TRACK_NVTX_PROJECTED,
    .process = self->tracks[self->lanes[any->lane].track].process,
    .thread = LNS_ID_NONE,
    .domain = placed[0].domain,
    .number = any->context,
    .device = self->contexts[any->context].device,
    .stream = any->stream,
  };
  const uint32_t id = lns_writer_add_track (self->writer, &track);

  self->levels.n = 0;
  find_parents (placed, n);
  lns_order (placed, n, sizeof *placed, compare_on_gpu);
  for (uint32_t i = 0; i < n; i++)
    self->by_place[placed[i].place] = &placed[i];
  for (uint32_t i = 0; i < n; i++)
    {
      uint32_t level =
          placed[i].parent != LNS_ID_NONE ? self->by_place[placed[i].parent]->level + 1 : 0;
      while (level < self->levels.n && self->levels.items[level].end_ns > placed[i].it->start_ns)
        level++;
      if (level == self->levels.n)
        {
          const LnsLane lane = { id, level, LNS_LANE_NVTX_PROJECTED };
          lns_array_add (&self->levels)->lane = lns_writer_add_lane (self->writer, &lane);
        }
      placed[i].level = level;
      append (self, &placed[i]);
      if (i % CANCEL_LOOK_EACH == 0 && !go_on (self, error))
        return false;
    }
  return true;
}

/* The N ranges of one stream, or of all of a context. */
static bool
write_group (Layout *self, const LnsProjectedRange *ranges, uint32_t n, LnsError *error)
{
  uint32_t end;

  for (uint32_t i = 0; i < n; i++)
    self->placed[i] = (Placed){ .it = &ranges[i],
                                .domain = self->tracks[self->lanes[ranges[i].lane].track].domain };
  lns_order (self->placed, n, sizeof *self->placed, compare_by_domain);
  for (uint32_t first = 0; first < n; first = end)
    {
      for (end = first + 1; end < n; end++)
        if (self->placed[end].domain != self->placed[first].domain)
          break;
      if (!write_track (self, self->placed + first, end - first, error))
        return false;
    }
  return true;
}

/* Repeats what tracks refer to, and the tracks and lanes. */
static void
repeat_definitions (const LnsReport *report, LnsWriter *writer)
{
  static const LnsDefinitionKind kinds[] = {
    LNS_DEFINITION_PROCESS, LNS_DEFINITION_THREAD, LNS_DEFINITION_DOMAIN, LNS_DEFINITION_DEVICE,
    LNS_DEFINITION_CONTEXT, LNS_DEFINITION_STREAM, LNS_DEFINITION_TRACK,  LNS_DEFINITION_LANE,
  };

  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    lns_writer_repeat (writer, report, kinds[i]);
}

static bool
same_group (const LnsProjectedRange *a, const LnsProjectedRange *b)
{
  return a->context == b->context && a->stream == b->stream;
}

static bool
write_all (Layout *self, const LnsProjectedRange *ranges, size_t n, LnsError *error)
{
  size_t end;

  if (n >= LNS_ID_NONE)
    return lns_error_set (error, LNS_ERROR_UNSUPPORTED, 0,
                          "the report has more ranges on the GPU than can be shown");
  self->placed = lns_calloc (n, sizeof *self->placed);
  self->by_place = lns_calloc (n, sizeof (Placed *));
  bool good = true;
  repeat_definitions (self->report, self->writer);
  for (size_t first = 0; good && first < n; first = end)
    {
      for (end = first + 1; end < n && same_group (&ranges[first], &ranges[end]);)
        end++;
      good = write_group (self, ranges + first, (uint32_t)(end - first), error);
    }
  free (self->placed);
  free (self->by_place);
  lns_array_clear (&self->levels);
  return good;
}

/* Writes RANGES to PATH, by another name beside it. That name ends in .rep too, because lns_report_cache_prune ()
 * removes no other files, and a process that is killed leaves it behind. */
static bool
write_file (LnsReport *report,
            const char *path,
            const LnsProjectedRange *ranges,
            size_t n,
            const atomic_bool *cancel,
            LnsError *error)
{
  const LnsReportInfo *info = lns_report_info (report);
  const LnsWriterOptions options = { .overwrite = true,
                                     .t0_monotonic_ns = info->t0_monotonic_ns,
                                     .t0_realtime_ns = info->t0_realtime_ns,
                                     .t0_tsc = info->t0_tsc };
  static atomic_uint n_written;
  char key[KEY_SIZE], *beside = lns_asprintf ("%.*s-%d-%u.rep", (int)strlen (path) - 4, path,
                                              (int)getpid (), atomic_fetch_add (&n_written, 1));
  Layout layout = { .report = report, .cancel = cancel };

  layout.lanes = lns_report_lanes (report, NULL);
  layout.tracks = lns_report_tracks (report, NULL);
  layout.contexts = lns_report_contexts (report, NULL);
  layout.writer = lns_writer_create (beside, &options, error);
  bool good = layout.writer != NULL;
  if (good)
    {
      key_of (report, key);
      lns_writer_set_meta (layout.writer, DERIVED_FROM, key);
      good = write_all (&layout, ranges, n, error);
      if (!good)
        lns_writer_abandon (layout.writer);
      else if (!lns_writer_finish (layout.writer, LNS_STATE_COMPLETE, info->end_ns, error))
        {
          unlink (beside);
          good = false;
        }
    }
  if (good && rename (beside, path) != 0)
    {
      good = lns_error_set_errno (error, errno, "cannot write %s", path);
      unlink (beside);
    }
  free (beside);
  return good;
}

/* The file at PATH if it was made from REPORT, else NULL. */
static LnsReport *
open_file (LnsReport *report, const char *path, LnsError *error)
{
  char key[KEY_SIZE];
  LnsReport *derived =
      lns_report_open (path, &(LnsOpenOptions){ .cache_bytes = CACHE_BYTES }, error);
  const char *from = derived != NULL ? lns_report_meta (derived, DERIVED_FROM) : NULL;

  key_of (report, key);
  if (derived == NULL || (from != NULL && strcmp (from, key) == 0))
    return derived;
  lns_report_close (derived);
  lns_error_set (error, LNS_ERROR_FORMAT, 0, "%s was made from another report", path);
  return NULL;
}

LnsReport *
lns_projection_open (LnsReport *report,
                     const char *folder,
                     const atomic_bool *cancel,
                     atomic_uint *ret_permille,
                     LnsError *error)
{
  char key[KEY_SIZE];
  LnsProjectedRange *ranges = NULL;
  size_t n = 0;

  key_of (report, key);
  char *path = lns_asprintf ("%s/%s.rep", folder, key);
  LnsReport *derived = open_file (report, path, &(LnsError){ 0 });
  if (derived == NULL && lns_make_folders (path, 0700, error) &&
      lns_projection_by_stream (report, cancel, ret_permille, &ranges, &n, error) &&
      write_file (report, path, ranges, n, cancel, error))
    derived = open_file (report, path, error);
  free (ranges);
  free (path);
  return derived;
}
