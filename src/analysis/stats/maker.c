/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/stats/maker.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

LnsKernelName
_lns_stats_naming (const LnsStatsResult *result)
{
  return result->arguments.is_base      ? LNS_KERNEL_SHORT_NAME
         : result->arguments.is_mangled ? LNS_KERNEL_MANGLED_NAME
                                        : LNS_KERNEL_NAME;
}

/* ---- What makers share ----------------------------------------------------------------------- */

bool
_lns_stats_is_called (const LnsStatsResult *result, const char *name)
{
  return strcmp (result->maker->report.name, name) == 0;
}

LnsStatsCell
_lns_stats_shape (const uint32_t three[3], char text[LNS_STATS_SHAPE_SIZE])
{
  const int size = snprintf (text, LNS_STATS_SHAPE_SIZE, "%4" PRIu32 " %4" PRIu32 " %4" PRIu32,
                             three[0], three[1], three[2]);

  return three[0] != 0 ? _lns_stats_text (text, (size_t)size) : (LnsStatsCell){ .is_empty = true };
}

uint32_t
_lns_stats_kernel_name (const LnsStatsResult *result, uint32_t name, uint64_t launch)
{
  uint32_t n;
  const LnsCudaLaunch *launches = lns_report_launches (lns_tables_report (result->tables), &n);

  return lns_kernel_name (launches, n, _lns_stats_naming (result), name, launch);
}

LnsStatsCell
_lns_stats_string (const LnsStatsResult *result, uint32_t id)
{
  size_t size;
  const char *bytes = lns_report_string (lns_tables_report (result->tables), id, &size);
  return _lns_stats_text (bytes, size);
}

/* The double itself, halves away from zero, so that 841.15, which no double is, becomes 841.1. A
 * thousand times a double fits a long double. */
int64_t
_lns_stats_rounded (double value, unsigned decimals)
{
  long double scaled = value;

  for (unsigned i = 0; i < decimals; i++)
    scaled *= 10;
  return (int64_t)roundl (fminl (scaled, 9e18L));
}

bool
_lns_stats_name_in_range (const LnsStatsResult *result,
                          const LnsCallRange *range,
                          uint32_t name,
                          LnsStatsCell *ret_cell,
                          char **ret_text)
{
  size_t size;

  *ret_cell = _lns_stats_string (result, name);
  *ret_text = NULL;
  if (range == NULL)
    return true;
  LnsStatsCell domain = _lns_stats_string (result, range->domain_name),
               text = _lns_stats_string (result, range->name);
  FILE *stream = open_memstream (ret_text, &size);
  if (stream == NULL)
    return false;
  fwrite (domain.bytes, 1, domain.size_bytes, stream);
  fputs (domain.size_bytes > 0 ? ":" : "", stream);
  fwrite (text.bytes, 1, text.size_bytes, stream);
  putc ('/', stream);
  fwrite (ret_cell->bytes, 1, ret_cell->size_bytes, stream);
  if (fclose (stream) != 0)
    return false;
  *ret_cell = _lns_stats_text (*ret_text, size);
  return true;
}

static uint32_t
domain_name (LnsReport *report, uint32_t lane)
{
  uint32_t n_lanes, n_tracks, n_domains;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  const LnsTrack *tracks = lns_report_tracks (report, &n_tracks);
  const LnsDomain *domains = lns_report_domains (report, &n_domains);
  uint32_t domain = lane < n_lanes && lanes[lane].track < n_tracks
                        ? tracks[lanes[lane].track].domain
                        : LNS_ID_NONE;

  return domain < n_domains ? domains[domain].name : 0;
}

void
_lns_stats_write_range (const LnsStatsResult *result, FILE *stream, uint32_t lane, uint32_t name)
{
  LnsReport *report = lns_tables_report (result->tables);
  LnsStatsCell domain = _lns_stats_string (result, domain_name (report, lane)),
               text = _lns_stats_string (result, name);

  fwrite (domain.bytes, 1, domain.size_bytes, stream);
  putc (':', stream);
  fwrite (text.bytes, 1, text.size_bytes, stream);
}
