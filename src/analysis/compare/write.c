/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes a comparison: lines for people, Markdown, and JSON. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/compare/sentences.h"
#include "src/analysis/why/maker.h"
#include "src/base/json.h"
#include "src/base/memory.h"

static const char *
type_name (LnsChangeType type)
{
  static const char *const names[] = { "slower", "faster", "new", "gone" };
  return names[type];
}

/* "+10.4 %", or nothing for what is new. */
static const char *
share_text (double share, char ret_text[32])
{
  if (isnan (share))
    snprintf (ret_text, 32, "–");
  else
    snprintf (ret_text, 32, "%+.1f %%", 100 * share);
  return ret_text;
}

static const char *
p_text (double p, char ret_text[32])
{
  snprintf (ret_text, 32, p < 0.0001 ? "p<0.0001" : "p=%.4f", p);
  return ret_text;
}

/* "+1.60 ms" */
static const char *
signed_ns (double ns, char ret_text[LNS_WHY_NS_SIZE])
{
  char text[LNS_WHY_NS_SIZE];

  snprintf (ret_text, LNS_WHY_NS_SIZE, "%s%s", ns > 0 ? "+" : "",
            _lns_why_ns ((int64_t)llround (ns), text));
  return ret_text;
}

static size_t
shown (const LnsComparison *comparison, int64_t top)
{
  const size_t n = comparison->found.changes.n;
  return top < 0 || (uint64_t)top > n ? n : (size_t)top;
}

/* --- Lines ------------------------------------------------------------------------------------ */

static void
put_padded (const char *text, int width, FILE *stream)
{
  int n = 0;

  for (const char *c = text; *c != '\0'; c++)
    n += ((unsigned char)*c & 0xc0) != 0x80;
  fprintf (stream, "%*s%s", width > n ? width - n : 0, "", text);
}

static void
put_change (const LnsComparison *comparison, const LnsChange *change, FILE *stream)
{
  char a[LNS_WHY_NS_SIZE], b[LNS_WHY_NS_SIZE], ns[LNS_WHY_NS_SIZE], share[32], p[32];
  char *subject = _lns_change_subject (comparison, change);

  fprintf (stream, "  %-6s  %-8s", type_name (change->type), lns_part_kind_name (change->kind));
  put_padded (signed_ns (change->change_ns, ns), 10, stream);
  put_padded (share_text (change->change, share), 10, stream);
  put_padded (p_text (change->p, p), 10, stream);
  fprintf (stream, "  %s: %s", subject, _lns_why_ns ((int64_t)change->a_ns, a));
  fprintf (stream, " → %s%s\n", _lns_why_ns ((int64_t)change->b_ns, b),
           change->is_renamed ? _ (", under another name") : "");
  free (subject);
}

static void
put_finding (const LnsComparison *comparison,
             const char *what,
             int side,
             size_t finding,
             double other,
             FILE *stream)
{
  const LnsWhyFinding *it = &comparison->why[side]->findings.items[finding - 1];
  char share[64];

  if (other >= 0)
    snprintf (share, sizeof share, "%.1f %% → %.1f %%", 100 * other, 100 * it->share);
  else
    snprintf (share, sizeof share, "%.1f %%", 100 * it->share);
  fprintf (stream, "  %-8s%-16s%s: %s\n", what, lns_cause_name (it->cause), share, it->sentence);
}

static void
put_findings (const LnsComparison *comparison, FILE *stream)
{
  if (comparison->gone.n + comparison->fresh.n + comparison->changed.n > 0)
    fprintf (stream, "%s\n", _ ("Findings of lanescope why:"));
  for (size_t i = 0; i < comparison->fresh.n; i++)
    put_finding (comparison, "new", 1, comparison->fresh.items[i].b, -1, stream);
  for (size_t i = 0; i < comparison->changed.n; i++)
    {
      const LnsFindingPair *pair = &comparison->changed.items[i];
      put_finding (comparison, "changed", 1, pair->b,
                   comparison->why[0]->findings.items[pair->a - 1].share, stream);
    }
  for (size_t i = 0; i < comparison->gone.n; i++)
    put_finding (comparison, "gone", 0, comparison->gone.items[i].a, -1, stream);
}

void
lns_comparison_write_text (const LnsComparison *comparison, int64_t top, FILE *stream)
{
  const LnsChanges *changes = &comparison->found.changes;
  const size_t n = shown (comparison, top);

  for (size_t i = 0; i < n; i++)
    put_change (comparison, &changes->items[i], stream);
  if (n < changes->n)
    fprintf (stream, _ ("  %zu more; --top=0 prints all\n"), changes->n - n);
  for (int side = 0; side < 2; side++)
    {
      char p50[LNS_WHY_NS_SIZE], p99[LNS_WHY_NS_SIZE];
      char *name = lns_why_step_name (comparison->tables[side], comparison->why[side]);
      if (comparison->runs[side].times->n_all > 0 && comparison->p50_ns[side] > 0)
        {
          fprintf (stream, _ ("%s: %zu steps “%s”, median %s, p99 %s.\n"), side == 0 ? "A" : "B",
                   comparison->runs[side].times->n_all, name,
                   _lns_why_ns ((int64_t)comparison->p50_ns[side], p50),
                   _lns_why_ns ((int64_t)comparison->p99_ns[side], p99));
          if (comparison->n_runs[side] > 1)
            fprintf (stream, _ ("   That is %s, the typical one of %zu runs.\n"),
                     lns_report_info (lns_tables_report (comparison->tables[side]))->path,
                     comparison->n_runs[side]);
        }
      free (name);
    }
  put_findings (comparison, stream);
  if (comparison->differs.n > 0)
    fprintf (stream, "%s\n", _ ("What differs besides:"));
  for (size_t i = 0; i < comparison->differs.n; i++)
    {
      const LnsDifference *it = &comparison->differs.items[i];
      fprintf (stream, "  %s: %s → %s\n", it->name, it->a != NULL ? it->a : "–",
               it->b != NULL ? it->b : "–");
    }
  for (size_t i = 0; i < comparison->notes.n; i++)
    fprintf (stream, _ ("Note: %s\n"), comparison->notes.items[i]);
}

/* --- Markdown --------------------------------------------------------------------------------- */

/* Writes TEXT into a cell of a table. */
static void
put_cell (const char *text, FILE *stream)
{
  for (; *text != '\0'; text++)
    fprintf (stream, *text == '|' ? "\\%c" : "%c", *text == '\n' ? ' ' : *text);
}

void
lns_comparison_write_markdown (const LnsComparison *comparison, int64_t top, FILE *stream)
{
  const LnsChanges *changes = &comparison->found.changes;
  const size_t n = shown (comparison, top);

  fprintf (stream, "**%s**\n", comparison->verdict);
  if (n > 0)
    fputs ("\n| what | kind | name | A | B | change | % | p "
           "|\n|---|---|---|---:|---:|---:|---:|---:|\n",
           stream);
  for (size_t i = 0; i < n; i++)
    {
      const LnsChange *change = &changes->items[i];
      char a[LNS_WHY_NS_SIZE], b[LNS_WHY_NS_SIZE], ns[LNS_WHY_NS_SIZE], share[32], p[32];
      char *subject = _lns_change_subject (comparison, change);
      fprintf (stream, "| %s | %s | ", type_name (change->type), lns_part_kind_name (change->kind));
      put_cell (subject, stream);
      fprintf (stream, " | %s", _lns_why_ns ((int64_t)change->a_ns, a));
      fprintf (stream, " | %s", _lns_why_ns ((int64_t)change->b_ns, b));
      fprintf (stream, " | %s | %s | %s |\n", signed_ns (change->change_ns, ns),
               share_text (change->change, share), p_text (change->p, p));
      free (subject);
    }
  const LnsFindingPairs *lists[] = { &comparison->fresh, &comparison->gone };
  for (int side = 1; side >= 0; side--)
    for (size_t i = 0; i < lists[1 - side]->n; i++)
      {
        const LnsFindingPair *pair = &lists[1 - side]->items[i];
        const LnsWhyFinding *it =
            &comparison->why[side]->findings.items[(side == 1 ? pair->b : pair->a) - 1];
        fprintf (stream, "%s- %s: %s\n", i == 0 ? "\n" : "", side == 1 ? _ ("New") : _ ("Gone"),
                 it->sentence);
      }
  for (size_t i = 0; i < comparison->differs.n; i++)
    {
      const LnsDifference *it = &comparison->differs.items[i];
      fprintf (stream, "%s- %s: `%s` → `%s`\n", i == 0 ? "\n" : "", it->name,
               it->a != NULL ? it->a : "–", it->b != NULL ? it->b : "–");
    }
  for (size_t i = 0; i < comparison->notes.n; i++)
    fprintf (stream, "%s- %s\n", i == 0 ? "\n" : "", comparison->notes.items[i]);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void
put_string (const char *text, FILE *stream)
{
  if (text != NULL)
    lns_json_write_string (stream, text, strlen (text));
  else
    fputs ("null", stream);
}

static void
put_number (const char *key, double value, FILE *stream)
{
  fprintf (stream, ",\"%s\":", key);
  lns_json_write_double (stream, value);
}

static void
put_json_change (const LnsComparison *comparison, const LnsChange *change, FILE *stream)
{
  char *name = lns_change_name (comparison, change), *range = lns_change_range (comparison, change);
  const uint32_t device = lns_change_device (comparison, change);
  const int side = change->b != 0 ? 1 : 0;
  const size_t at = change->b != 0 ? change->b : change->a;

  fprintf (stream, "{\"kind\":\"%s\",\"name\":", lns_part_kind_name (change->kind));
  put_string (name, stream);
  fprintf (stream, ",\"type\":\"%s\",\"range\":", type_name (change->type));
  put_string (range, stream);
  if (device != LNS_ID_NONE)
    fprintf (stream, ",\"device\":%" PRIu32, device);
  fprintf (stream, ",\"is_renamed\":%s", change->is_renamed ? "true" : "false");
  fprintf (stream, ",\"a_ns\":%lld,\"b_ns\":%lld,\"change_ns\":%lld", llround (change->a_ns),
           llround (change->b_ns), llround (change->change_ns));
  put_number ("change", change->change, stream);
  put_number ("p", change->p, stream);
  fprintf (stream, ",\"side\":\"%c\",\"events\":[", "ab"[side]);
  const LnsStepPart *part = at == 0 ? NULL : &comparison->runs[side].times->parts.items[at - 1];
  for (unsigned i = 0; part != NULL && i < part->n_events_kept; i++)
    {
      fputs (i > 0 ? "," : "", stream);
      lns_why_write_event (comparison->tables[side], &part->events[i], stream);
    }
  fputs ("]}", stream);
  free (name);
  free (range);
}

static void
put_json_findings (const LnsComparison *comparison,
                   const char *key,
                   const LnsFindingPairs *pairs,
                   FILE *stream)
{
  fprintf (stream, "\"%s\":[", key);
  for (size_t i = 0; i < pairs->n; i++)
    {
      const LnsFindingPair *pair = &pairs->items[i];
      const int side = pair->b != 0 ? 1 : 0;
      const LnsWhyFinding *it =
          &comparison->why[side]->findings.items[(side == 1 ? pair->b : pair->a) - 1];
      fprintf (stream, "%s{\"cause\":\"%s\"", i > 0 ? ",\n   " : "", lns_cause_name (it->cause));
      put_number ("a_share",
                  pair->a != 0 ? comparison->why[0]->findings.items[pair->a - 1].share : 0, stream);
      put_number ("b_share",
                  pair->b != 0 ? comparison->why[1]->findings.items[pair->b - 1].share : 0, stream);
      fputs (",\"sentence\":", stream);
      put_string (it->sentence, stream);
      putc ('}', stream);
    }
  putc (']', stream);
}

void
lns_comparison_write_json (const LnsComparison *comparison, FILE *stream)
{
  const LnsChanges *changes = &comparison->found.changes;

  fputs ("{\"verdict\":", stream);
  put_string (comparison->verdict, stream);
  fputs (",\n \"steps\":{", stream);
  for (int side = 0; side < 2; side++)
    fprintf (stream, "%s\"%c\":{\"count\":%zu,\"p50_ns\":%lld,\"p99_ns\":%lld}",
             side > 0 ? "," : "", "ab"[side], comparison -> runs[side].times->n_all,
             llround (comparison->p50_ns[side]), llround (comparison->p99_ns[side]));
  put_number ("change", comparison->is_known ? comparison->change : NAN, stream);
  put_number ("low", comparison->is_known ? comparison->low : NAN, stream);
  put_number ("high", comparison->is_known ? comparison->high : NAN, stream);
  put_number ("p", comparison->is_known ? comparison->found.p : NAN, stream);
  fprintf (stream, "},\n \"runs\":{\"a\":%zu,\"b\":%zu},\n \"changes\":[", comparison->n_runs[0],
           comparison->n_runs[1]);
  for (size_t i = 0; i < changes->n; i++)
    {
      fputs (i > 0 ? ",\n  " : "\n  ", stream);
      put_json_change (comparison, &changes->items[i], stream);
    }
  fputs ("],\n \"findings\":{", stream);
  put_json_findings (comparison, "gone", &comparison->gone, stream);
  fputs (",\n  ", stream);
  put_json_findings (comparison, "new", &comparison->fresh, stream);
  fputs (",\n  ", stream);
  put_json_findings (comparison, "changed", &comparison->changed, stream);
  fputs ("},\n \"differs\":[", stream);
  for (size_t i = 0; i < comparison->differs.n; i++)
    {
      const LnsDifference *it = &comparison->differs.items[i];
      fputs (i > 0 ? ",\n  {\"name\":" : "\n  {\"name\":", stream);
      put_string (it->name, stream);
      fputs (",\"a\":", stream);
      put_string (it->a, stream);
      fputs (",\"b\":", stream);
      put_string (it->b, stream);
      putc ('}', stream);
    }
  fputs ("],\n \"notes\":[", stream);
  for (size_t i = 0; i < comparison->notes.n; i++)
    {
      fputs (i > 0 ? ",\n  " : "\n  ", stream);
      put_string (comparison->notes.items[i], stream);
    }
  fputs ("]}\n", stream);
}
