/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/what-if/edits.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/condition.h"
#include "src/analysis/why/pattern.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/tables/lanes.h"

/* CUpti_ActivityMemoryKind. */
enum
{
  MEMORY_PAGEABLE = 1,
  MEMORY_PINNED
};

#define BIT(kind) (1u << (kind))

typedef enum
{
  BY_FACTOR,
  PINNED,
  OTHER_THREAD
} How;

struct LnsEdit
{
  char *text;       /* owned, as the next two                                                    */
  char *range;      /* the ranges that it is about, or NULL                                      */
  LnsCondition *of; /* which of the pieces, or NULL: all                                         */
  regex_t regexes[LNS_CONDITION_TESTS_MAX]; /* by test of `of`: compiled where the test matches  */
  unsigned n_regexes;                       /* tests that were looked at                         */
  regex_t range_regex;
  bool is_range_regex;
  unsigned kinds; /* of pieces: 1 << LnsPieceKind each                                        */
  uint64_t copy;  /* CUpti_ActivityMemcpyKind, or 0: all                                      */
  bool is_call;   /* pieces without a name do not count                                       */
  How how;
  double factor;
  double bytes_ns; /* of pinned memory: bytes a nanosecond, or 0: as the report has it           */
};

/* What edits may be about. */
static const struct
{
  const char *word;
  unsigned kinds;
} subjects[] = {
  { "kernel", BIT (LNS_PIECE_KERNEL) },
  { "copy", BIT (LNS_PIECE_COPY) },
  { "set", BIT (LNS_PIECE_SET) },
  { "graph", BIT (LNS_PIECE_GRAPH) },
  { "sync", BIT (LNS_PIECE_SYNC) },
  { "wait", BIT (LNS_PIECE_WAIT) },
  { "call", BIT (LNS_PIECE_CALL) | BIT (LNS_PIECE_SYNC) | BIT (LNS_PIECE_WAIT) |
                BIT (LNS_PIECE_OUTSIDE) | BIT (LNS_PIECE_RUN) | BIT (LNS_PIECE_MPI) },
  { "range", 0 },
};

static const struct
{
  const char *word;
  uint64_t kind;
} copies[] = { { "HtoD", 1 }, { "DtoH", 2 }, { "DtoD", 8 }, { "HtoH", 9 }, { "PtoP", 10 } };

#define N_SUBJECTS (sizeof subjects / sizeof *subjects)
#define N_COPIES   (sizeof copies / sizeof *copies)

/* --- Reading ---------------------------------------------------------------------------------- */

static const char *
skip_space (const char *text)
{
  return text + strspn (text, " \t");
}

/* Where what becomes of it begins in TEXT: behind the last colon that is in no name. NULL: there is none. */
static const char *
find_how (const char *text)
{
  const char *found = NULL;
  bool is_quoted = false;

  for (const char *c = text; *c != '\0'; c++)
    {
      is_quoted ^= *c == '"';
      if (*c != ':' || is_quoted)
        continue;
      if (c[1] == ':')
        c++;
      else
        found = c;
    }
  return found;
}

/* Reads "24GB/s" after "pinned=". */
static bool
read_rate (const char *text, double *ret_bytes_ns)
{
  static const struct
  {
    const char *unit;
    double bytes_ns;
  } units[] = {
    { "GB/s", 1 }, { "MB/s", 1e-3 }, { "GiB/s", 1.073741824 }, { "MiB/s", 1.048576e-3 }
  };
  char *end;
  const double value = strtod (text, &end);

  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (end != text && strcmp (skip_space (end), units[i].unit) == 0 && value > 0 &&
        isfinite (value))
      {
        *ret_bytes_ns = value * units[i].bytes_ns;
        return true;
      }
  return false;
}

static bool
read_how (LnsEdit *edit, const char *how, LnsError *error)
{
  char *end;
  const double factor = strtod (how, &end);
  const bool is_percent = end != how && strcmp (skip_space (end), "%") == 0;

  edit->how = BY_FACTOR;
  if (strcmp (how, "none") == 0)
    edit->factor = 0;
  else if (end != how && (*end == '\0' || is_percent) && factor >= 0 && isfinite (factor))
    edit->factor = is_percent ? factor / 100 : factor;
  else if (strcmp (how, "pinned") == 0 && edit->kinds == BIT (LNS_PIECE_COPY))
    edit->how = PINNED;
  else if (strncmp (how, "pinned=", 7) == 0 && edit->kinds == BIT (LNS_PIECE_COPY) &&
           read_rate (how + 7, &edit->bytes_ns))
    edit->how = PINNED;
  else if (strcmp (how, "other thread") == 0 && edit->range != NULL)
    edit->how = OTHER_THREAD;
  else
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "“%s” does not say what becomes of it; write a factor such as 0.5, none, "
                          "pinned for a copy, or other thread for a range",
                          edit->text);
  return true;
}

/* The text in quotation marks, or up to the end, at TEXT. To be freed. */
static char *
read_name (const char *text, size_t size)
{
  while (size > 0 && isspace ((unsigned char)text[size - 1]))
    size--;
  if (size > 1 && text[0] == '"' && text[size - 1] == '"')
    return lns_memdup (text + 1, size - 2);
  return lns_memdup (text, size);
}

static bool
compile (regex_t *regex, const char *text, LnsError *error)
{
  LnsPatternReason reason;

  return lns_pattern_compile (text, REG_EXTENDED | REG_NOSUB, regex, reason) ||
         lns_error_set (error, LNS_ERROR_USAGE, 0, "“%s” is no regular expression: %s", text,
                        reason);
}

/* Reads which ranges: REST is a name, or "~" and a regular expression, of SIZE bytes. */
static bool
read_range (LnsEdit *edit, const char *rest, size_t size, LnsError *error)
{
  const bool is_regex = size > 0 && *rest == '~', has_sign = is_regex || (size > 0 && *rest == '=');
  const char *name = skip_space (rest + has_sign);

  edit->range = read_name (name, size - (size_t)(name - rest));
  if (edit->range[0] == '\0')
    return lns_error_set (error, LNS_ERROR_USAGE, 0, "“%s” names no range", edit->text);
  edit->is_range_regex = is_regex && compile (&edit->range_regex, edit->range, error);
  return !is_regex || edit->is_range_regex;
}

/* Takes "kind=HtoD" from the beginning of REST: returns what follows. */
static const char *
read_copy_kind (LnsEdit *edit, const char *rest)
{
  const char *value = rest;

  if (edit->kinds != BIT (LNS_PIECE_COPY) || strncmp (rest, "kind", 4) != 0)
    return rest;
  value = skip_space (rest + 4);
  if (*value != '=')
    return rest;
  value = skip_space (value + 1);
  for (size_t i = 0; i < N_COPIES; i++)
    if (strncasecmp (value, copies[i].word, strlen (copies[i].word)) == 0)
      {
        edit->copy = copies[i].kind;
        rest = skip_space (value + strlen (copies[i].word));
        return strncmp (rest, "and ", 4) == 0 ? skip_space (rest + 4) : rest;
      }
  return rest;
}

/* Whether TEST is of a field that all pieces of a label have in common. */
static bool
is_of_label (const LnsConditionTest *test)
{
  return test->field == LNS_CONDITION_NAME || test->field == LNS_CONDITION_THREAD ||
         test->field == LNS_CONDITION_PROCESS || test->field == LNS_CONDITION_DEVICE ||
         test->field == LNS_CONDITION_STREAM;
}

/* Reads which of the pieces: REST, of SIZE bytes, is a condition, or one of the name without its first word. */
static bool
read_condition (LnsEdit *edit, const char *rest, size_t size, LnsError *error)
{
  const bool is_of_name = *rest == '~' || *rest == '=' || *rest == '!';
  char *text = lns_asprintf ("%s%.*s", is_of_name ? "name " : "", (int)size, rest);
  bool good = true;

  edit->of = lns_condition_new (text, error);
  free (text);
  if (edit->of == NULL)
    return false;
  unsigned n;
  const LnsConditionTest *tests = lns_condition_tests (edit->of, &n);
  for (unsigned i = 0; good && i < n; i++, edit->n_regexes++)
    {
      if (!is_of_label (&tests[i]))
        good = lns_error_set (error, LNS_ERROR_USAGE, 0,
                              "“%s” tells single events apart; an edit is of all of one name, "
                              "thread, process, device or stream",
                              edit->text);
      else if (tests[i].operator== LNS_CONDITION_MATCHES)
        good = compile (&edit->regexes[i], tests[i].text, error);
      if (!good)
        break;
    }
  return good;
}

static bool
read_what (LnsEdit *edit, const char *what, size_t size, LnsError *error)
{
  size_t n_word = 0;

  while (n_word < size && isalpha ((unsigned char)what[n_word]))
    n_word++;
  for (size_t i = 0; i < N_SUBJECTS; i++)
    if (strlen (subjects[i].word) == n_word && strncmp (what, subjects[i].word, n_word) == 0)
      {
        const char *rest = skip_space (what + n_word), *end = what + size;
        while (end > rest && isspace ((unsigned char)end[-1]))
          end--;
        edit->kinds = subjects[i].kinds;
        edit->is_call = strcmp (subjects[i].word, "call") == 0;
        if (edit->kinds == 0)
          return read_range (edit, rest, rest < end ? (size_t)(end - rest) : 0, error);
        rest = read_copy_kind (edit, rest);
        return rest >= end || read_condition (edit, rest, (size_t)(end - rest), error);
      }
  return lns_error_set (error, LNS_ERROR_USAGE, 0,
                        "“%s” does not begin with what it is about: kernel, copy, set, graph, "
                        "sync, wait, call or range",
                        edit->text);
}

LnsEdit *
lns_edit_new (const char *text, LnsError *error)
{
  LnsEdit *edit = lns_calloc (1, sizeof *edit);
  const char *what = skip_space (text), *how = find_how (text);

  edit->text = lns_strdup (text);
  edit->factor = 1;
  bool good = how != NULL;
  if (!good)
    lns_error_set (error, LNS_ERROR_USAGE, 0,
                   "“%s” is no edit; write WHAT: HOW, such as 'kernel ~ gemm: 0.5'", text);
  good = good && read_what (edit, what, (size_t)(how - what), error);
  if (good)
    {
      char *rest = read_name (skip_space (how + 1), strlen (skip_space (how + 1)));
      good = read_how (edit, rest, error);
      free (rest);
    }
  if (good)
    return edit;
  lns_edit_free (edit);
  return NULL;
}

void
lns_edit_free (LnsEdit *edit)
{
  unsigned n = 0;

  if (edit == NULL)
    return;
  const LnsConditionTest *tests = edit->of != NULL ? lns_condition_tests (edit->of, &n) : NULL;
  for (unsigned i = 0; i < edit->n_regexes; i++)
    if (tests[i].operator== LNS_CONDITION_MATCHES)
      regfree (&edit->regexes[i]);
  if (edit->is_range_regex)
    regfree (&edit->range_regex);
  lns_condition_free (edit->of);
  free (edit->range);
  free (edit->text);
  free (edit);
}

const char *
lns_edit_text (const LnsEdit *edit)
{
  return edit->text;
}

/* --- Ranges ----------------------------------------------------------------------------------- */

typedef struct
{
  const LnsEdit *edit;
  LnsReport *report;
  LnsGraphMarks *marks;
  uint32_t number;
  LnsIdMap names; /* string id -> 1: it is not meant, 2: it is                                   */
} Ranges;

static bool
is_meant (Ranges *ranges, uint32_t name)
{
  const uint64_t known = lns_id_map_number (&ranges->names, name);

  if (known != 0)
    return known == 2;
  const char *text = lns_report_string (ranges->report, name, NULL);
  const bool is = ranges->edit->is_range_regex
                      ? regexec (&ranges->edit->range_regex, text, 0, NULL, 0) == 0
                      : strcmp (text, ranges->edit->range) == 0;
  lns_id_map_set_number (&ranges->names, name, is ? 2 : 1);
  return is;
}

static void
take_ranges (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Ranges *ranges = data;
  const LnsLaneKind kind = lns_report_lanes (ranges->report, NULL)[chunk->lane].kind;
  const int column = lns_lane_kind_extra (kind, LNS_COLUMN_THREAD);

  for (uint32_t i = 0; i < chunk->n; i++)
    if (is_meant (ranges, chunk->name[i]) && chunk->duration_ns[i] > 0)
      *lns_array_add (ranges->marks) =
          (LnsGraphMark){ .start_ns = chunk->start_ns[i],
                          .end_ns = lns_sum (chunk->start_ns[i], chunk->duration_ns[i]),
                          .thread = kind == LNS_LANE_NVTX_START_END
                                        ? (uint32_t)lns_chunk_extra (chunk, column, i)
                                        : track->thread,
                          .edit = ranges->number,
                          .is_moved = ranges->edit->how == OTHER_THREAD };
}

bool
lns_edit_add_marks (const LnsEdit *edit,
                    uint32_t number,
                    LnsReport *report,
                    const atomic_bool *cancel,
                    LnsGraphMarks *marks,
                    LnsError *error)
{
  Ranges ranges = { .edit = edit, .report = report, .marks = marks, .number = number };
  const LnsColumnMask name = LNS_COLUMN_BIT (LNS_COLUMN_NAME);

  if (edit->range == NULL)
    return true;
  const bool good =
      lns_read_lanes (report, LNS_LANE_NVTX_PUSH_POP, name, take_ranges, &ranges, cancel, error) &&
      lns_read_lanes (report, LNS_LANE_NVTX_START_END, name | LNS_COLUMN_BIT (LNS_COLUMN_THREAD),
                      take_ranges, &ranges, cancel, error);
  lns_id_map_clear (&ranges.names);
  return good;
}

/* --- Applying --------------------------------------------------------------------------------- */

LnsEditChanges
lns_edit_changes (const LnsGraph *graph, uint32_t n_edits)
{
  LnsEditChanges changes = { .n_edits = n_edits };

  changes.of_labels = lns_calloc (graph->labels.n + 1, sizeof *changes.of_labels);
  changes.of_marks = lns_calloc ((size_t)n_edits + 1, sizeof *changes.of_marks);
  changes.moves = lns_calloc ((size_t)n_edits + 1, sizeof *changes.moves);
  for (size_t i = 0; i < graph->labels.n; i++)
    changes.of_labels[i].factor = 1;
  for (uint32_t i = 0; i < n_edits; i++)
    changes.of_marks[i].factor = 1;
  return changes;
}

void
lns_edit_changes_clear (LnsEditChanges *changes)
{
  free (changes->of_labels);
  free (changes->of_marks);
  free (changes->moves);
}

LnsGraphChanges
lns_edit_changes_of (const LnsEditChanges *changes)
{
  return (LnsGraphChanges){ .of_labels = changes->of_labels,
                            .of_marks = changes->of_marks,
                            .moves = changes->moves,
                            .n_edits = changes->n_edits };
}

/* Whether TEXT, and NUMBER beside it, pass test I of EDIT. */
static bool
passes (const LnsEdit *edit, unsigned i, const char *text, int64_t number)
{
  unsigned n;
  const LnsConditionTest *test = &lns_condition_tests (edit->of, &n)[i];

  if (test->operator== LNS_CONDITION_MATCHES)
    return regexec (&edit->regexes[i], text, 0, NULL, 0) == 0;
  if (test->operator== LNS_CONDITION_CONTAINS)
    return test->text != NULL && strstr (text, test->text) != NULL;
  if (test->has_number && lns_condition_compare (test, number))
    return true;
  return test->text != NULL && test->operator== LNS_CONDITION_EQUAL &&
                                   strcmp (text, test->text) == 0;
}

/* Whether LABEL passes test I of EDIT. */
static bool
label_passes (const LnsEdit *edit, unsigned i, const LnsGraph *graph, const LnsGraphLabel *label)
{
  LnsReport *report = graph->report;
  const LnsGraphAgent *agent = &graph->agents.items[label->agent];
  uint32_t n_threads, n_processes, n_devices, n_streams;
  unsigned n;
  const LnsThread *threads = lns_report_threads (report, &n_threads);
  const LnsProcess *processes = lns_report_processes (report, &n_processes);
  const LnsCudaDevice *devices = lns_report_devices (report, &n_devices);
  const LnsCudaStream *streams = lns_report_streams (report, &n_streams);

  switch (lns_condition_tests (edit->of, &n)[i].field)
    {
    case LNS_CONDITION_NAME:
      return passes (edit, i, lns_report_string (report, label->name, NULL), INT64_MIN);
    case LNS_CONDITION_THREAD:
      return agent->thread < n_threads &&
             passes (edit, i, lns_report_string (report, threads[agent->thread].name, NULL),
                     threads[agent->thread].tid);
    case LNS_CONDITION_PROCESS:
      return agent->process < n_processes &&
             passes (edit, i, lns_report_string (report, processes[agent->process].name, NULL),
                     processes[agent->process].pid);
    case LNS_CONDITION_DEVICE:
      return agent->device < n_devices &&
             passes (edit, i, lns_report_string (report, devices[agent->device].name, NULL),
                     devices[agent->device].number);
    case LNS_CONDITION_STREAM:
      return agent->stream < n_streams &&
             passes (edit, i, lns_report_string (report, streams[agent->stream].name, NULL),
                     streams[agent->stream].number);
    default:
      return false;
    }
}

static bool
is_named (const LnsEdit *edit, const LnsGraph *graph, const LnsGraphLabel *label)
{
  uint64_t passed = 0;
  unsigned n = 0;

  if ((edit->kinds & BIT (label->kind)) == 0 || (edit->is_call && label->name == 0) ||
      (edit->copy != 0 && (label->more & 0xff) != edit->copy))
    return false;
  if (edit->of == NULL)
    return true;
  lns_condition_tests (edit->of, &n);
  for (unsigned i = 0; i < n; i++)
    if (label_passes (edit, i, graph, label))
      passed |= UINT64_C (1) << i;
  return lns_condition_holds (edit->of, passed);
}

/* Whether copies of LABEL are of memory of KIND. */
static bool
is_of_memory (const LnsGraphLabel *label, uint32_t kind)
{
  return label->kind == LNS_PIECE_COPY &&
         ((label->more >> 8 & 0xff) == kind || (label->more >> 16 & 0xff) == kind);
}

/* How many bytes of pinned memory are copied in a nanosecond as LABEL's are, 0: the report does not say. */
static double
pinned_rate (const LnsGraph *graph, const LnsGraphLabel *label)
{
  uint64_t bytes = 0;
  int64_t ns = 0;

  for (size_t i = 0; i < graph->labels.n; i++)
    {
      const LnsGraphLabel *other = &graph->labels.items[i];
      if (is_of_memory (other, MEMORY_PINNED) && (other->more & 0xff) == (label->more & 0xff))
        {
          bytes += other->bytes;
          ns += other->ns;
        }
    }
  return ns > 0 ? (double)bytes / (double)ns : 0;
}

/* Copies of LABEL are of pinned memory: they take less, and their calls do not wait for them. */
static bool
pin (const LnsEdit *edit,
     const LnsGraph *graph,
     const LnsGraphLabel *label,
     LnsGraphChange *change,
     LnsError *error)
{
  const double rate = edit->bytes_ns > 0 ? edit->bytes_ns : pinned_rate (graph, label);

  if (rate <= 0)
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "“%s”: no copy of pinned memory in that direction was recorded, so that "
                          "its rate is not known; write it, as in pinned=24GB/s",
                          edit->text);
  const double factor = (double)label->bytes / rate / (double)(label->ns > 0 ? label->ns : 1);
  change->factor *= factor < 1 ? factor : 1;
  return true;
}

/* Calls that copy asynchronously wait for pageable memory alone. */
static void
free_copies (const LnsGraph *graph, LnsEditChanges *changes)
{
  for (size_t i = 0; i < graph->labels.n; i++)
    {
      const LnsGraphLabel *label = &graph->labels.items[i];
      const char *name = lns_report_string (graph->report, label->name, NULL);
      if (label->kind == LNS_PIECE_SYNC && strstr (name, "Async") != NULL &&
          (strstr (name, "Memcpy") != NULL))
        changes->of_labels[i].drops_waits = true;
    }
}

bool
lns_edit_apply (const LnsEdit *edit,
                uint32_t number,
                const LnsGraph *graph,
                LnsEditChanges *changes,
                uint64_t *ret_n,
                int64_t *ret_ns,
                LnsError *error)
{
  *ret_n = 0;
  *ret_ns = 0;
  for (size_t i = 0; i < graph->overlaps.n; i++)
    if (graph->overlaps.items[i].edit == number)
      {
        *ret_n += 1;
        *ret_ns = lns_sum (*ret_ns, graph->overlaps.items[i].ns);
      }
  for (size_t i = 0; i < graph->moves.n; i++)
    *ret_n += graph->moves.items[i].edit == number && graph->moves.items[i].is_end;
  if (edit->range != NULL)
    {
      changes->of_marks[number] =
          (LnsGraphChange){ .factor = edit->factor, .drops_waits = edit->factor == 0 };
      changes->moves[number] = edit->how == OTHER_THREAD;
      return true;
    }
  bool has_named = false;
  for (size_t i = 0; i < graph->labels.n; i++)
    {
      const LnsGraphLabel *label = &graph->labels.items[i];
      if (!is_named (edit, graph, label))
        continue;
      has_named = true;
      if (edit->how == PINNED && !is_of_memory (label, MEMORY_PAGEABLE))
        continue;
      *ret_n += label->n;
      *ret_ns = lns_sum (*ret_ns, label->ns);
      if (edit->how == PINNED && !pin (edit, graph, label, &changes->of_labels[i], error))
        return false;
      changes->of_labels[i].factor *= edit->factor;
      changes->of_labels[i].drops_waits |= edit->factor == 0;
    }
  if (edit->how == PINNED && has_named && *ret_n == 0)
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "“%s”: none of these copies is of pageable memory, so that there is "
                          "nothing to pin",
                          edit->text);
  if (edit->how == PINNED && *ret_n > 0)
    free_copies (graph, changes);
  return true;
}
