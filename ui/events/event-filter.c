/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/event-filter.h"

#include <glib/gi18n.h>
#include <string.h>

#include "src/analysis/condition.h"
#include "src/base/saturate.h"
#include "ui/model/event-text.h"
#include "ui/model/lane-look.h"
#include "ui/model/name-match.h"

#define CANCEL_ROWS (1u << 18)

struct _LnsEventFilter
{
  LnsCondition *condition;       /* owned; NULL: the name alone is looked at */
  const LnsConditionTest *tests; /* the condition's, or `name`               */
  unsigned n_tests;
  LnsConditionTest name;
  LnsNameMatch
      *matches[LNS_CONDITION_TESTS_MAX]; /* owned; NULL: the test looks for what is equal */
};

static bool
compile (LnsEventFilter *self, GError **error)
{
  for (unsigned i = 0; i < self->n_tests; i++)
    {
      const LnsConditionTest *test = &self->tests[i];
      const bool regex = test->operator== LNS_CONDITION_MATCHES;
      if (!regex && test->operator!= LNS_CONDITION_CONTAINS)
        continue;
      self->matches[i] = lns_name_match_new (test->text, regex, false, error);
      if (self->matches[i] == NULL)
        return false;
    }
  return true;
}

LnsEventFilter *
lns_event_filter_new (const char *text, bool regex, GError **error)
{
  g_autoptr (LnsEventFilter) self = g_new0 (LnsEventFilter, 1);

  if (!regex && lns_condition_is_meant (text))
    {
      LnsError problem = { 0 };
      self->condition = lns_condition_new (text, &problem);
      if (self->condition == NULL)
        {
          g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, problem.message);
          return NULL;
        }
      self->tests = lns_condition_tests (self->condition, &self->n_tests);
    }
  else
    {
      self->name =
          (LnsConditionTest){ .field = LNS_CONDITION_NAME,
                              .operator= regex ? LNS_CONDITION_MATCHES : LNS_CONDITION_CONTAINS,
                              .text = g_strdup (text) };
      self->tests = &self->name;
      self->n_tests = 1;
    }
  return compile (self, error) ? g_steal_pointer (&self) : NULL;
}

void
lns_event_filter_free (LnsEventFilter *self)
{
  if (self == NULL)
    return;
  for (unsigned i = 0; i < self->n_tests; i++)
    lns_name_match_free (self->matches[i]);
  lns_condition_free (self->condition);
  g_free (self->name.text);
  g_free (self);
}

/* --- What a test says ------------------------------------------------------------------------ */

/* The answers to a test: whichever array is not NULL tells them by row. */
typedef struct
{
  const LnsConditionTest *test;
  const LnsNameMatch *match;
  uint8_t *of_label;  /* owned */
  uint8_t *of_lane;   /* owned; by index in the set's lanes */
  uint8_t *of_thread; /* owned; where not 0, the row's thread is not the lane's */
  GHashTable *
      categories; /* owned; of the set's lane and the category, as a key: what is known so far, + 1 */
} Answers;

static bool
text_passes (const Answers *self, const char *bytes, size_t size_bytes)
{
  if (self->match != NULL)
    return lns_name_match_test (self->match, bytes, size_bytes);
  /* What a person can write is valid, so names that are not are compared as they are shown. */
  if (!g_utf8_validate_len (bytes, size_bytes, NULL))
    {
      g_autofree char *valid = g_utf8_make_valid (bytes, (gssize)size_bytes);
      return strcmp (self->test->text, valid) == 0;
    }
  return strlen (self->test->text) == size_bytes &&
         memcmp (self->test->text, bytes, size_bytes) == 0;
}

/* Whether what has the text TEXT, which is freed, and the number NUMBER passes. */
static bool
passes (const Answers *self, char *text, int64_t number)
{
  g_autofree char *owned = text;

  return lns_condition_compare (self->test, number) || text_passes (self, text, strlen (text));
}

/* Kinds are few, so people need not write them as they are shown. */
static bool
kind_passes (const Answers *self, LnsLaneKind kind)
{
  const char *names[] = { lns_event_kind_name (kind), lns_lane_look (kind)->name };

  for (size_t i = 0; i < G_N_ELEMENTS (names); i++)
    {
      if (names[i] == NULL)
        continue;
      g_autofree char *name = g_utf8_casefold (names[i], -1);
      g_autofree char *wanted = g_utf8_casefold (self->test->text, -1);
      if (self->match != NULL ? text_passes (self, names[i], strlen (names[i]))
                              : strcmp (name, wanted) == 0)
        return true;
    }
  return false;
}

static bool
thread_passes (const Answers *self, LnsReport *report, uint32_t thread)
{
  uint32_t n;
  const LnsThread *threads = lns_report_threads (report, &n);

  return thread < n &&
         passes (self, lns_event_text_thread (report, thread),
                 threads[thread].tid != 0 ? threads[thread].tid : threads[thread].target_tid);
}

static bool
process_passes (const Answers *self, LnsReport *report, uint32_t process)
{
  uint32_t n;
  const LnsProcess *processes = lns_report_processes (report, &n);

  return process < n &&
         passes (self, lns_event_text_process (report, process), processes[process].pid);
}

static bool
device_passes (const Answers *self, LnsReport *report, uint32_t device)
{
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (report, &n);

  if (device >= n)
    return false;
  g_autofree char *bus = lns_event_text_string (report, devices[device].bus, true);
  g_autofree char *name = lns_event_text_string (report, devices[device].name, true);
  return passes (self, g_strdup_printf ("%s - %s", bus, name), devices[device].number);
}

static bool
stream_passes (const Answers *self, LnsReport *report, const LnsTrack *track)
{
  uint32_t n;
  const LnsCudaStream *streams = lns_report_streams (report, &n);

  return track->stream < n &&
         passes (self, lns_event_text_stream (report, track), streams[track->stream].number);
}

static bool
lane_passes (const Answers *self, LnsReport *report, uint32_t lane)
{
  const LnsLane *it = &lns_report_lanes (report, NULL)[lane];
  const LnsTrack *track = lns_event_track (report, lane);

  if (track == NULL)
    return false;
  switch (self->test->field)
    {
    case LNS_CONDITION_KIND:
      return kind_passes (self, it->kind);
    case LNS_CONDITION_THREAD:
      return thread_passes (self, report, track->thread);
    case LNS_CONDITION_PROCESS:
      return process_passes (self, report, track->process);
    case LNS_CONDITION_DEVICE:
      return device_passes (self, report, track->device);
    case LNS_CONDITION_STREAM:
      return stream_passes (self, report, track);
    case LNS_CONDITION_DOMAIN:
      return track->domain != LNS_ID_NONE &&
             passes (self, lns_event_text_domain (report, track->domain), -1);
    case LNS_CONDITION_DEPTH:
      return lns_condition_compare (self->test, it->ordinal);
    default:
      return false;
    }
}

/* --- What is asked once --------------------------------------------------------------------- */

static uint8_t *
answer_lanes (const Answers *self, const LnsEventSet *set)
{
  uint8_t *of_lane = g_new0 (uint8_t, MAX (set->n_lanes, 1));

  for (uint32_t i = 0; i < set->n_lanes; i++)
    of_lane[i] = lane_passes (self, set->report, set->lanes[i]);
  return of_lane;
}

static uint8_t *
answer_threads (const Answers *self, const LnsEventSet *set)
{
  uint32_t n;

  lns_report_threads (set->report, &n);
  uint8_t *of_thread = g_new0 (uint8_t, MAX (n, 1));
  for (uint32_t i = 0; i < n; i++)
    of_thread[i] = thread_passes (self, set->report, i);
  return of_thread;
}

/* NULL: cancelled. */
static uint8_t *
answer_labels (const Answers *self, const LnsEventSet *set, GCancellable *cancellable)
{
  const uint32_t n = lns_event_set_n_labels (set);
  g_autofree uint8_t *of_label = g_new0 (uint8_t, n);

  for (uint32_t i = 0; i < n; i++)
    {
      size_t size_bytes;
      const char *text = lns_event_set_label_text (set, i, &size_bytes);
      of_label[i] = text_passes (self, text, size_bytes);
      if (i % 1024 == 0 && g_cancellable_is_cancelled (cancellable))
        return NULL;
    }
  return g_steal_pointer (&of_label);
}

/* False: cancelled. */
static bool
prepare (Answers *self, const LnsEventSet *set, GCancellable *cancellable)
{
  switch (self->test->field)
    {
    case LNS_CONDITION_NAME:
      self->of_label = answer_labels (self, set, cancellable);
      return self->of_label != NULL;
    case LNS_CONDITION_DURATION:
    case LNS_CONDITION_START:
    case LNS_CONDITION_END:
    case LNS_CONDITION_BYTES:
      return true;
    case LNS_CONDITION_CATEGORY:
      self->categories = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
      return true;
    case LNS_CONDITION_THREAD:
      if (set->thread != NULL)
        self->of_thread = answer_threads (self, set);
      break;
    default:
      break;
    }
  self->of_lane = answer_lanes (self, set);
  return true;
}

static void
clear (Answers *self)
{
  g_free (self->of_label);
  g_free (self->of_lane);
  g_free (self->of_thread);
  g_clear_pointer (&self->categories, g_hash_table_unref);
}

/* --- Rows ------------------------------------------------------------------------------------- */

static bool
category_passes (const Answers *self, const LnsEventSet *set, uint32_t row)
{
  const uint32_t category = set->category != NULL ? set->category[row] : 0;
  if (category == 0)
    return false;
  const uint32_t lane = lns_event_set_lane (set, row);
  const gint64 key = (gint64)((uint64_t)lane << 32 | category);
  const unsigned known = GPOINTER_TO_UINT (g_hash_table_lookup (self->categories, &key));
  if (known != 0)
    return known == 2;
  const LnsTrack *track = lns_event_track (set->report, set->lanes[lane]);
  const bool is_passed =
      track != NULL &&
      passes (self, lns_event_text_category (set->report, track->domain, category), category);
  g_hash_table_insert (self->categories, g_memdup2 (&key, sizeof key),
                       GUINT_TO_POINTER (1u + is_passed));
  return is_passed;
}

static bool
row_passes (const Answers *self, const LnsEventSet *set, uint32_t row)
{
  if (self->of_label != NULL)
    return self->of_label[lns_event_set_label (set, row)] != 0;
  if (self->of_thread != NULL && set->thread[row] > 0)
    return self->of_thread[set->thread[row] - 1] != 0;
  if (self->of_lane != NULL)
    return self->of_lane[lns_event_set_lane (set, row)] != 0;
  switch (self->test->field)
    {
    case LNS_CONDITION_DURATION:
      return lns_condition_compare (self->test, lns_event_set_duration (set, row));
    case LNS_CONDITION_START:
      return lns_condition_compare (self->test, lns_event_set_start (set, row));
    case LNS_CONDITION_END:
      return lns_condition_compare (
          self->test, lns_sum (lns_event_set_start (set, row), lns_event_set_duration (set, row)));
    case LNS_CONDITION_BYTES:
      return set->payload_type != NULL && set->payload_type[row] == LNS_EVENT_SET_BYTES &&
             lns_condition_compare (self->test,
                                    (int64_t)MIN (lns_event_set_payload (set, row), INT64_MAX));
    case LNS_CONDITION_CATEGORY:
      return category_passes (self, set, row);
    default:
      return false;
    }
}

/* The bits of the rows for which the filter holds; NULL: cancelled, or memory ran out. */
static uint8_t *
find_rows (const LnsEventFilter *self,
           const LnsEventSet *set,
           const Answers *answers,
           uint32_t *ret_n,
           GCancellable *cancellable)
{
  g_autofree uint8_t *rows = g_try_malloc0 (set->n / 8 + 1);

  *ret_n = 0;
  for (uint32_t row = 0; row < set->n && rows != NULL; row++)
    {
      uint64_t passed = 0;
      for (unsigned i = 0; i < self->n_tests; i++)
        passed |= (uint64_t)row_passes (&answers[i], set, row) << i;
      const bool holds =
          self->condition != NULL ? lns_condition_holds (self->condition, passed) : passed != 0;
      rows[row / 8] |= (uint8_t)(holds << row % 8);
      *ret_n += holds;
      if (row % CANCEL_ROWS == 0 && g_cancellable_is_cancelled (cancellable))
        return NULL;
    }
  return g_steal_pointer (&rows);
}

uint8_t *
lns_event_filter_find (const LnsEventFilter *self,
                       const LnsEventSet *set,
                       uint32_t *ret_n,
                       GCancellable *cancellable,
                       GError **error)
{
  g_autofree Answers *answers = g_new0 (Answers, self->n_tests);
  uint8_t *rows = NULL;
  bool alive = true;

  for (unsigned i = 0; i < self->n_tests && alive; i++)
    {
      answers[i].test = &self->tests[i];
      answers[i].match = self->matches[i];
      alive = prepare (&answers[i], set, cancellable);
    }
  if (alive)
    rows = find_rows (self, set, answers, ret_n, cancellable);
  for (unsigned i = 0; i < self->n_tests; i++)
    clear (&answers[i]);
  if (rows == NULL && !g_cancellable_set_error_if_cancelled (cancellable, error))
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE,
                         _ ("Not enough memory to filter this many events; choose a smaller row"));
  return rows;
}
