/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A page for browsers: one file that needs no other and no network. It has the answer of `why` as text, and the rows as data, which a
 * script of ours draws (page.js). What comes from the report is never markup: it is escaped in the text, and the data are JSON without
 * a "<". */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lns-config.h"
#include "lns-page-generated.h"
#include "src/analysis/projection/cuda-keys.h"
#include "src/analysis/why/why.h"
#include "src/base/format.h"
#include "src/base/json.h"
#include "src/base/kernel-text.h"
#include "src/base/language.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/export/place.h"
#include "src/export/text.h"
#include "src/extract/page-items.h"
#include "src/extract/page-rows.h"
#include "src/extract/types.h"
#include "src/store/read/pixels.h"
#include "src/tables/lanes.h"

#define _(text) lns_text (text)

/* A page has at most so many events, and so many of a lane: about 9 bytes each. */
#define MOST_EVENTS   300000
#define MOST_OF_LANE  20000
#define LEAST_OF_LANE 16

/* Places of density: of all lanes, and of one. A counter has as many. */
#define MOST_PLACES  2000000
#define PLACES       2000
#define LEAST_PLACES 50

#define MOST_GAPS     5000 /* a GPU: the longest                                                  */
#define MOST_FINDINGS 8
#define MOST_NAME     1000 /* bytes of a name that are shown                                      */

const LnsExportType _lns_extract_html = { .name = "html", .ending = ".html", .is_stream = true };

typedef struct
{
  LnsReport *report;
  const LnsExtract *wanted;
  LnsSelection selection;
  LnsTables *tables;
  LnsWhy *why;
  LnsPageRows rows;
  LnsPageNames names;
  LnsExportText *text;
  size_t n_most;     /* events of a lane                                                          */
  uint32_t n_places; /* of density                                                                */
  uint64_t n_events, n_left;
  LNS_ARRAY (char *) labels; /* owned: of gaps                                                    */
} Page;

/* ---- Writing ---------------------------------------------------------------------------------- */

static void
put (Page *page, const char *text)
{
  lns_export_put_text (page->text, text);
}

/* Puts a JSON string in which nothing ends the script that it is in. */
static void
put_string (Page *page, const char *bytes, size_t size_bytes)
{
  const uint8_t *at = (const uint8_t *)bytes, *end = at + size_bytes;
  char escape[LNS_JSON_ESCAPE_SIZE];

  lns_export_put_byte (page->text, '"');
  while (at < end)
    {
      const size_t n = lns_json_plain_length (at, (size_t)(end - at));
      for (const uint8_t *stop = at + n; at < stop; at++)
        if (*at == '<')
          put (page, "\\u003c");
        else
          lns_export_put_byte (page->text, (char)*at);
      if (at < end)
        put (page, lns_json_escape (*at++, escape));
    }
  lns_export_put_byte (page->text, '"');
}

static void
put_key (Page *page, const char *key)
{
  put (page, ",\"");
  put (page, key);
  put (page, "\":");
}

static void
put_member (Page *page, const char *key, const char *text)
{
  put_key (page, key);
  put_string (page, text, strlen (text));
}

static void
put_number (Page *page, const char *key, int64_t value)
{
  put_key (page, key);
  lns_export_put_integer (page->text, value);
}

static void
put_real (Page *page, const char *key, double value)
{
  put_key (page, key);
  lns_export_put_real (page->text, value);
}

/* Puts text of the page. What is not UTF-8, or a control character, becomes U+FFFD. */
static void
put_html (Page *page, const char *text)
{
  const uint8_t *at = (const uint8_t *)text, *end = at + strlen (text);

  while (at < end)
    {
      const size_t length = lns_utf8_sequence_length (at, (size_t)(end - at));
      if (length == 0 || (*at < 0x20 && *at != '\n' && *at != '\t') || *at == 0x7F)
        put (page, "\xEF\xBF\xBD");
      else if (*at == '&' || *at == '<' || *at == '>' || *at == '"')
        put (page, *at == '&' ? "&amp;" : *at == '<' ? "&lt;" : *at == '>' ? "&gt;" : "&quot;");
      else
        lns_export_put (page->text, at, length);
      at += length > 0 ? length : 1;
    }
}

static void
put_base64 (Page *page, const char *key, const LnsBuffer *buffer)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

  put_key (page, key);
  lns_export_put_byte (page->text, '"');
  for (size_t i = 0; i < buffer->size_bytes; i += 3)
    {
      const size_t n = buffer->size_bytes - i < 3 ? buffer->size_bytes - i : 3;
      uint32_t bits = 0;
      for (size_t k = 0; k < 3; k++)
        bits = bits << 8 | (k < n ? buffer->bytes[i + k] : 0u);
      const char group[4] = { digits[bits >> 18 & 63], digits[bits >> 12 & 63],
                              n > 1 ? digits[bits >> 6 & 63] : '=',
                              n > 2 ? digits[bits & 63] : '=' };
      lns_export_put (page->text, group, sizeof group);
    }
  lns_export_put_byte (page->text, '"');
}

/* ---- What fits -------------------------------------------------------------------------------- */

/* Finds how many events of each lane the page can have, and how fine density is. */
static bool
plan (Page *page, LnsError *error)
{
  LNS_ARRAY (uint64_t) counts = { 0 };
  uint64_t n_all, n_dense = 0;
  bool good = true;

  for (size_t i = 0; good && i < page->rows.all.n; i++)
    for (size_t k = 0;
         good && !page->rows.all.items[i].is_device && k < page->rows.all.items[i].n_lanes; k++)
      good = _lns_page_items_count (
          page->report, page->rows.lanes.items[page->rows.all.items[i].first_lane + k].lane,
          &page->selection.span, NULL, lns_array_add (&counts), error);
  page->n_most = MOST_OF_LANE * 2;
  do
    {
      page->n_most /= 2;
      n_all = 0;
      for (size_t i = 0; i < counts.n; i++)
        n_all += counts.items[i] < page->n_most ? counts.items[i] : page->n_most;
    }
  while (n_all > MOST_EVENTS && page->n_most > LEAST_OF_LANE);
  for (size_t i = 0; i < counts.n; i++)
    n_dense += counts.items[i] > page->n_most;
  page->n_places = n_dense * PLACES <= MOST_PLACES ? PLACES : (uint32_t)(MOST_PLACES / n_dense);
  if (page->n_places < LEAST_PLACES)
    page->n_places = LEAST_PLACES;
  lns_array_clear (&counts);
  return good;
}

/* ---- Lanes ------------------------------------------------------------------------------------ */

/* What the script tells lanes apart by. */
static const char *
kind_of (LnsLaneKind kind)
{
  switch (kind)
    {
    case LNS_LANE_CUDA_KERNEL:
      return "kernel";
    case LNS_LANE_CUDA_MEMCPY:
    case LNS_LANE_CUDA_MEMSET:
      return "copy";
    case LNS_LANE_SCHED:
      return "state";
    case LNS_LANE_CPU_SAMPLE:
    case LNS_LANE_PYTHON_SAMPLE:
      return "sample";
    case LNS_LANE_CUDA_SYNC:
    case LNS_LANE_CUDA_OVERHEAD:
      return "pale";
    default:
      return "range";
    }
}

static void
put_strip (Page *page, const LnsPageStrip *strip, const char *kind, bool is_first)
{
  put (page, is_first ? "\n{\"k\":\"" : ",\n{\"k\":\"");
  put (page, kind);
  put (page, "\"");
  put_number (page, "n", (int64_t)strip->n);
  put_base64 (page, "e", &strip->events);
  if (strip->has_colors)
    put (page, ",\"c\":1");
  if (strip->n_left > 0)
    {
      put_number (page, "left", (int64_t)strip->n_left);
      put_number (page, "most", strip->longest_ns);
      put_number (page, "places", page->n_places);
      put_base64 (page, "d", &strip->density);
    }
  put (page, "}");
}

/* Puts what a counter was: for each place its least and greatest value, 0 to 254 between those of all, 255 where it has none. */
static bool
put_counter (Page *page, uint32_t lane, bool is_first, LnsError *error)
{
  const LnsFilterSpan *span = &page->selection.span;
  const LnsPixelQuery query = { .origin_ns = span->start_ns,
                                .ns_per_px = fmax (
                                    ((double)span->end_ns - (double)span->start_ns) / PLACES, 1e-3),
                                .n_px = PLACES };
  LnsCounterPixel *pixels = lns_calloc (PLACES, sizeof *pixels);
  double least = INFINITY, most = -INFINITY;
  LnsBuffer values = { 0 };

  const bool good = lns_report_query_counter (page->report, lane, &query, pixels, error);
  for (unsigned i = 0; good && i < PLACES; i++)
    if (isfinite (pixels[i].min) && isfinite (pixels[i].max))
      {
        least = fmin (least, pixels[i].min);
        most = fmax (most, pixels[i].max);
      }
  const double scale = most > least ? 254 / (most - least) : 0;
  for (unsigned i = 0; good && i < PLACES; i++)
    {
      const bool is_known = isfinite (pixels[i].min) && isfinite (pixels[i].max);
      lns_buffer_append_int (
          &values, is_known ? (uint64_t)lround ((pixels[i].min - least) * scale) : 255, 1);
      lns_buffer_append_int (
          &values, is_known ? (uint64_t)lround ((pixels[i].max - least) * scale) : 255, 1);
    }
  put (page, is_first ? "\n{\"k\":\"counter\"" : ",\n{\"k\":\"counter\"");
  put_number (page, "n", (int64_t)lns_report_lane_info (page->report, lane)->n_events);
  put_real (page, "least", isfinite (least) ? least : 0);
  put_real (page, "greatest", isfinite (most) ? most : 0);
  const uint32_t unit = lns_track_of (page->report, lane)->unit;
  put_member (page, "unit", lns_report_string (page->report, unit, NULL));
  put_base64 (page, "v", &values);
  put (page, "}");
  lns_buffer_clear (&values);
  free (pixels);
  return good;
}

static bool
put_lane (Page *page, uint32_t lane, bool is_first, LnsError *error)
{
  const LnsLaneKind kind = lns_report_lanes (page->report, NULL)[lane].kind;
  LnsPageStrip strip;

  if (kind == LNS_LANE_COUNTER)
    return put_counter (page, lane, is_first, error);
  const bool good = _lns_page_items_read (&page->names, lane, &page->selection.span, page->n_most,
                                          page->n_places, page->wanted->cancel, &strip, error);
  if (good)
    put_strip (page, &strip, kind_of (kind), is_first);
  page->n_events += strip.n;
  page->n_left += strip.n_left;
  _lns_page_strip_clear (&strip);
  return good;
}

/* Puts all lanes but those of GPUs' own rows, which are those of the rows below. RET_PLACE gets the index of each lane of the report. */
static bool
put_lanes (Page *page, uint32_t *ret_places, uint32_t *ret_n, LnsError *error)
{
  const size_t n_rows = page->rows.all.n;

  *ret_n = 0;
  for (size_t i = 0; i < n_rows; i++)
    {
      const LnsPageRow *row = &page->rows.all.items[i];
      if (page->wanted->progress != NULL)
        page->wanted->progress ((double)i / (double)n_rows, page->wanted->progress_data);
      for (size_t k = 0; !row->is_device && k < row->n_lanes; k++)
        {
          const uint32_t lane = page->rows.lanes.items[row->first_lane + k].lane;
          if (!put_lane (page, lane, *ret_n == 0, error))
            return false;
          ret_places[lane] = (*ret_n)++;
        }
    }
  return true;
}

/* ---- Gaps ------------------------------------------------------------------------------------- */

static int
compare_lengths (const void *a, const void *b)
{
  const LnsPageItem *x = a, *y = b;

  return (x->duration_ns < y->duration_ns) - (x->duration_ns > y->duration_ns);
}

static int
compare_starts (const void *a, const void *b)
{
  const LnsPageItem *x = a, *y = b;

  return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* The name of what GAP was lost to. */
static uint32_t
gap_name (Page *page, const LnsWhyGap *gap)
{
  /* Where the page begins or ends, the program need not. */
  if (page->selection.is_cut &&
      (gap->cause == LNS_CAUSE_START_UP || gap->cause == LNS_CAUSE_TEAR_DOWN))
    return _lns_page_names_of_text (&page->names, _ (lns_why_cause_label (LNS_CAUSE_UNKNOWN)));
  if (gap->finding == 0)
    return _lns_page_names_of_text (&page->names, _ (lns_why_cause_label (gap->cause)));
  while (page->labels.n < page->why->findings.n)
    {
      char *label = lns_why_label (page->tables, &page->why->findings.items[page->labels.n]);
      *lns_array_add (&page->labels) = label;
    }
  return _lns_page_names_of_text (&page->names, page->labels.items[gap->finding - 1]);
}

/* Puts the idle times of LEDGER as a lane. */
static void
put_gaps (Page *page, uint32_t ledger, bool is_first)
{
  LNS_ARRAY (LnsPageItem) gaps = { 0 };
  LnsPageStrip strip = { 0 };

  for (size_t i = 0; i < page->why->gaps.n; i++)
    {
      const LnsWhyGap *gap = &page->why->gaps.items[i];
      if (gap->ledger == ledger)
        *lns_array_add (&gaps) = (LnsPageItem){ .start_ns = gap->start_ns,
                                                .duration_ns = gap->end_ns - gap->start_ns,
                                                .name = gap_name (page, gap) };
    }
  strip.n = gaps.n;
  if (gaps.n > MOST_GAPS)
    {
      qsort (gaps.items, gaps.n, sizeof *gaps.items, compare_lengths);
      gaps.n = MOST_GAPS;
    }
  if (gaps.n > 0)
    qsort (gaps.items, gaps.n, sizeof *gaps.items, compare_starts);
  _lns_page_items_pack (&strip.events, gaps.items, gaps.n, page->selection.span.start_ns, false);
  put_strip (page, &strip, "gap", is_first);
  _lns_page_strip_clear (&strip);
  lns_array_clear (&gaps);
}

/* Puts the gaps of each GPU whose row there is. RET_GAPS gets, by row, 1 + the index of their lane. */
static void
put_all_gaps (Page *page, uint32_t *ret_gaps, uint32_t *inout_n)
{
  for (size_t i = 0; i < page->rows.all.n; i++)
    for (uint32_t k = 0; page->rows.all.items[i].is_device && k < page->why->ledgers.n; k++)
      {
        const LnsLedger *ledger = &page->why->ledgers.items[k];
        if (!ledger->is_device || ledger->device != page->rows.all.items[i].device ||
            ret_gaps[i] != 0)
          continue;
        put_gaps (page, k, *inout_n == 0);
        ret_gaps[i] = ++*inout_n;
      }
}

/* ---- The data --------------------------------------------------------------------------------- */

static void
put_rows (Page *page, const uint32_t *places, const uint32_t *gaps)
{
  put (page, "],\n\"rows\":[");
  for (size_t i = 0; i < page->rows.all.n; i++)
    {
      const LnsPageRow *row = &page->rows.all.items[i];
      unsigned strip = 0;
      put (page, i > 0 ? ",\n{\"l\":" : "\n{\"l\":");
      put_string (page, row->label, strlen (row->label));
      put_number (page, "d", row->depth);
      if (row->is_group)
        put (page, row->is_device ? ",\"g\":2" : row->is_of_cpus ? ",\"g\":3" : ",\"g\":1");
      if (row->is_folded)
        put (page, ",\"f\":1");
      if (gaps[i] > 0)
        put_number (page, "gaps", gaps[i] - 1);
      put (page, ",\"s\":[");
      for (size_t k = 0; k < row->n_lanes; k++)
        {
          const LnsPageLane *lane = &page->rows.lanes.items[row->first_lane + k];
          put (page, k == 0 ? "[" : lane->strip != strip ? "],[" : ",");
          strip = lane->strip;
          lns_export_put_integer (page->text, places[lane->lane]);
        }
      put (page, row->n_lanes > 0 ? "]]}" : "]}");
    }
}

/* Puts names; those of kernels with a short form, those of calls without their version. */
static void
put_names (Page *page)
{
  put (page, "],\n\"names\":[");
  for (size_t i = 0; i < page->names.all.n; i++)
    {
      const LnsPageName *name = &page->names.all.items[i];
      size_t size_bytes = name->text != NULL ? strlen (name->text) : 0;
      const char *bytes = name->text != NULL
                              ? name->text
                              : lns_report_string (page->report, name->string, &size_bytes);
      if (i > 0)
        put (page, ",");
      if (name->kind == LNS_LANE_CUDA_API)
        size_bytes = lns_cuda_call_name_size (bytes, size_bytes);
      if (name->kind == LNS_LANE_CUDA_KERNEL)
        {
          size_t short_bytes;
          const char *part = lns_kernel_text_short (bytes, &short_bytes);
          put (page, "[");
          put_string (page, part, short_bytes < MOST_NAME ? short_bytes : MOST_NAME);
          put (page, ",");
        }
      put_string (page, bytes, size_bytes < MOST_NAME ? size_bytes : MOST_NAME);
      if (name->kind == LNS_LANE_CUDA_KERNEL)
        put (page, "]");
    }
  put (page, "]");
}

/* Puts what the script says itself. */
static void
put_words (Page *page)
{
  const struct
  {
    const char *key, *text;
  } words[] = {
    { "start", _ ("Start") },
    { "duration", _ ("Duration") },
    { "idle", _ ("The GPU is idle") },
    { "open", _ ("Its beginning or end was not recorded") },
    { "shorter", _ ("shorter events, at most") },
    { "busy", _ ("busy") },
    { "samples", _ ("samples") },
    { "share", _ ("of the time in view") },
    { "fold", _ ("Click to fold or unfold") },
    { "row", _ ("Row") },
    { "found", _ ("events found") },
  };

  put (page, ",\n\"words\":{\"\":0");
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    put_member (page, words[i].key, words[i].text);
  put (page, "}");
}

/* Puts the time that is shown first: that of the events that are not a profiler's own, which may reach far beyond. */
static void
put_home (Page *page)
{
  const LnsFilterSpan *span = &page->selection.span;
  int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;

  for (size_t i = 0; i < page->rows.lanes.n; i++)
    {
      const uint32_t lane = page->rows.lanes.items[i].lane;
      const LnsLaneInfo *info = lns_report_lane_info (page->report, lane);
      if (lns_process_is_of_profiler (page->report, lns_track_of (page->report, lane)->process))
        continue;
      start_ns = info->start_ns < start_ns ? info->start_ns : start_ns;
      end_ns = info->end_ns > end_ns ? info->end_ns : end_ns;
    }
  if (page->selection.is_cut || start_ns >= end_ns)
    {
      start_ns = span->start_ns;
      end_ns = span->end_ns;
    }
  start_ns = start_ns > span->start_ns ? start_ns : span->start_ns;
  end_ns = end_ns < span->end_ns ? end_ns : span->end_ns;
  put (page, ",\"home\":[");
  lns_export_put_integer (page->text, start_ns - span->start_ns);
  put (page, ",");
  lns_export_put_integer (page->text, end_ns - span->start_ns);
  put (page, "]");
}

static bool
put_data (Page *page, LnsError *error)
{
  uint32_t n_lanes, n = 0;
  lns_report_lanes (page->report, &n_lanes);
  uint32_t *places = lns_calloc (n_lanes, sizeof *places),
           *gaps = lns_calloc (page->rows.all.n, sizeof *gaps);

  put (page, "<script type=\"application/json\" id=\"data\">{\"format\":1");
  put_number (page, "start", page->selection.span.start_ns);
  put_number (page, "span",
              lns_difference (page->selection.span.end_ns, page->selection.span.start_ns));
  put_home (page);
  put_words (page);
  put (page, ",\n\"lanes\":[");
  const bool good = put_lanes (page, places, &n, error);
  if (good)
    {
      put_all_gaps (page, gaps, &n);
      put_rows (page, places, gaps);
      put_names (page);
      put (page, "}</script>\n");
    }
  free (places);
  free (gaps);
  return good;
}

/* ---- The page --------------------------------------------------------------------------------- */

static void
put_findings (Page *page)
{
  const LnsWhy *why = page->why;
  char ns[LNS_FORMAT_SIZE], share[LNS_FORMAT_SIZE];

  put (page, "<p id=\"verdict\">");
  put_html (page, why->verdict);
  put (page, "</p>\n");
  if (why->next != NULL)
    {
      char *next = lns_asprintf (_ ("Next: %s."), why->next);
      put (page, "<p id=\"next\">");
      put_html (page, next);
      put (page, "</p>\n");
      free (next);
    }
  if (why->findings.n == 0)
    return;
  put (page, "<details id=\"findings\" open><summary>");
  put_html (page, _ ("Findings"));
  put (page, "</summary><ol>\n");
  for (size_t i = 0; i < why->findings.n && i < MOST_FINDINGS; i++)
    {
      const LnsWhyFinding *finding = &why->findings.items[i];
      char *places = lns_asprintf ("<li><button type=\"button\" data-from=\"%" PRId64
                                   "\" data-to=\"%" PRId64 "\">",
                                   finding->longest.start_ns, finding->longest.end_ns);
      put (page, places);
      put_html (page, finding->sentence);
      put (page, "</button> <span>");
      put_html (page, lns_format_duration (finding->ns, ns));
      put (page, " · ");
      put_html (page, lns_format_fixed (100 * finding->share, 1, share));
      put (page, " %</span></li>\n");
      free (places);
    }
  put (page, "</ol></details>\n");
}

/* What is in the page and what is not. */
static void
put_foot (Page *page)
{
  char n[LNS_FORMAT_SIZE], left[LNS_FORMAT_SIZE], lost[LNS_FORMAT_SIZE];
  const uint64_t n_lost = lns_report_info (page->report)->n_lost;
  char *text;

  put (page, "<footer><p id=\"contents\">");
  lns_format_unsigned (page->n_events, n);
  text = page->n_left > 0
             ? lns_asprintf (_ ("%s events; %s of them, shorter than the others of their row, are "
                                "drawn as density."),
                             n, lns_format_unsigned (page->n_left, left))
             : lns_asprintf (_ ("%s events, all of this time."), n);
  put_html (page, text);
  free (text);
  if (n_lost > 0)
    {
      text =
          lns_asprintf (_ (" The recording lost %s events."), lns_format_unsigned (n_lost, lost));
      put_html (page, text);
      free (text);
    }
  if (page->selection.is_cut)
    {
      put (page, " ");
      put_html (page, _ ("What came before and after this time is not in this page."));
    }
  if (page->selection.lanes != NULL)
    {
      put (page, " ");
      put_html (page, _ ("Some rows of the report are not in this page."));
    }
  put (page, "</p><p>Lanescope " LNS_VERSION "</p></footer>\n");
}

static void
put_head (Page *page)
{
  const LnsFilterSpan *span = &page->selection.span;
  char from[LNS_FORMAT_SIZE], to[LNS_FORMAT_SIZE], length[LNS_FORMAT_SIZE];
  const char *title = lns_selection_title (page->report);

  put (page, "<!DOCTYPE html>\n<html lang=\"");
  put_html (page, _ ("en"));
  put (page,
       "\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" "
       "content=\"default-src "
       "'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'\">\n<meta name=\"viewport\" "
       "content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" "
       "content=\"light "
       "dark\">\n<title>");
  put_html (page, title);
  put (page, " – Lanescope</title>\n<style>\n");
  put (page, page_css);
  put (page, "</style>\n</head>\n<body>\n<header>\n<h1>");
  put_html (page, title);
  put (page, " <small>");
  char *text = lns_asprintf (
      _ ("%s, from %s to %s"),
      lns_format_duration (lns_difference (span->end_ns, span->start_ns), length),
      lns_format_duration (span->start_ns, from), lns_format_duration (span->end_ns, to));
  put_html (page, text);
  free (text);
  put (page, "</small></h1>\n");
  put_findings (page);
  put (page, "</header>\n");
}

/* The controls, and where the rows are drawn: one element with the keys, which says what it is. */
static void
put_body (Page *page)
{
  put (page, "<main>\n<div id=\"bar\"><button type=\"button\" id=\"whole\">");
  put_html (page, _ ("Show All"));
  put (page, "</button> <button type=\"button\" id=\"in\" aria-label=\"");
  put_html (page, _ ("Zoom In"));
  put (page, "\">+</button> <button type=\"button\" id=\"out\" aria-label=\"");
  put_html (page, _ ("Zoom Out"));
  put (page, "\">−</button> <input type=\"search\" id=\"search\" placeholder=\"");
  put_html (page, _ ("Find a name"));
  put (page, "\" aria-label=\"");
  put_html (page, _ ("Find a name"));
  put (page, "\"> <output id=\"found\"></output><span id=\"keys\">");
  put_html (page, _ ("Wheel: zoom · drag: move · Shift and drag: zoom to · 0: all · W A S D"));
  put (page,
       "</span></div>\n<canvas id=\"rows\" tabindex=\"0\" role=\"application\" aria-label=\"");
  put_html (page, _ ("Timeline; the arrow keys move, plus and minus zoom, 0 shows all"));
  put (page, "\"></canvas>\n<div id=\"tip\" role=\"tooltip\" hidden></div>\n"
             "<p id=\"said\" role=\"status\"></p>\n<noscript><p>");
  put_html (page, _ ("Without JavaScript, this page shows the text alone."));
  put (page, "</p></noscript>\n</main>\n");
}

static bool
put_page (Page *page, LnsError *error)
{
  put_head (page);
  put_body (page);
  if (!put_data (page, error))
    return false;
  put_foot (page);
  put (page, "<script>\n");
  put (page, page_js);
  put (page, "</script>\n</body>\n</html>\n");
  return true;
}

/* ---- All -------------------------------------------------------------------------------------- */

static bool
prepare (Page *page, LnsError *error)
{
  page->names.report = page->report;
  if (!lns_selection_find (page->report, page->wanted, &page->selection, error))
    return false;
  const LnsWhyOptions options = { .span = page->selection.span,
                                  .keeps_gaps = true,
                                  .in_language = true };
  page->tables = lns_tables_new (page->report, error);
  page->why = page->tables != NULL
                  ? lns_why_run (page->tables, &options, page->wanted->cancel, error)
                  : NULL;
  return page->why != NULL &&
         _lns_page_rows_make (page->report, &page->selection, &page->rows, error) &&
         plan (page, error);
}

bool
lns_extract_page (LnsReport *report, const LnsExtract *wanted, const char *path, LnsError *error)
{
  const LnsExportOptions options = { .overwrite = wanted->overwrite, .source = wanted->source };
  Page page = { .report = report, .wanted = wanted };
  LnsExportPlace place = { 0 };

  bool good = prepare (&page, error) &&
              lns_export_place_open (&place, report, &_lns_extract_html, path, &options, error);
  const LnsExportJob job = { .report = report,
                             .type = &_lns_extract_html,
                             .options = &options,
                             .path = path,
                             .temporary = place.temporary,
                             .mode = place.mode };
  page.text = good ? lns_export_text_open (&job, place.temporary, error) : NULL;
  good = page.text != NULL && put_page (&page, error);
  good = lns_export_text_close (page.text, good, error) && good;
  if (place.type != NULL)
    good = lns_export_place_close (&place, good, error) && good;
  for (size_t i = 0; i < page.labels.n; i++)
    free (page.labels.items[i]);
  lns_array_clear (&page.labels);
  _lns_page_names_clear (&page.names);
  _lns_page_rows_clear (&page.rows);
  lns_why_free (page.why);
  lns_tables_free (page.tables);
  lns_selection_clear (&page.selection);
  return good;
}
