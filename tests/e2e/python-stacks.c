/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Samples the Python threads of a process as tests ask for it: python-stacks PID. Says on stdout, a JSON object a line, whether
 * there is a reader; then for each line of stdin, which is a number, takes so many samples, and prints the threads of the last
 * and the names, files and lines of all. With "t" before the number it prints how long the samples took instead. */

#include "capture/session/python/reader.h"
#include "src/base/array.h"
#include "src/base/json.h"
#include "src/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const states[] = {
  "ready", "absent", "refused", "strange", "unsupported", "gone"
};
static const char *const gils[] = { "unknown", "none", "held", "waited" };

typedef struct
{
  bool is_last; /* of the samples asked for */
  bool is_first_thread;
  LNS_ARRAY (char *) seen; /* distinct "name|file|first_line" of all samples */
} Dump;

static void
note (Dump *dump, const LnsPythonFrame *frame)
{
  char *text = lns_asprintf ("%s|%s|%d", frame->name, frame->file, frame->first_line);

  for (size_t i = 0; i < dump->seen.n; i++)
    if (strcmp (dump->seen.items[i], text) == 0)
      {
        free (text);
        return;
      }
  *lns_array_add (&dump->seen) = text;
}

static void
take (const LnsPythonThread *thread, void *data)
{
  Dump *dump = data;

  for (size_t i = 0; i < thread->n_frames; i++)
    note (dump, &thread->frames[i]);
  if (!dump->is_last)
    return;
  printf ("%s{\"tid\": %d, \"interpreter\": %" PRId64 ", \"gil\": \"%s\", \"cut\": %s, \"name\": ",
          dump->is_first_thread ? "" : ", ", thread->tid, thread->interpreter, gils[thread->gil],
          thread->is_cut || thread->lacks_outermost ? "true" : "false");
  if (thread->name == NULL)
    printf ("null");
  else
    lns_json_write_string (stdout, thread->name, strlen (thread->name));
  printf (", \"frames\": [");
  for (size_t i = 0; i < thread->n_frames; i++)
    {
      printf (i == 0 ? "[" : ", [");
      lns_json_write_string (stdout, thread->frames[i].name, strlen (thread->frames[i].name));
      printf (", ");
      lns_json_write_string (stdout, thread->frames[i].file, strlen (thread->frames[i].file));
      printf (", %d, %d]", thread->frames[i].first_line, thread->frames[i].line);
    }
  printf ("]}");
  dump->is_first_thread = false;
}

static void
ignore (const LnsPythonThread *thread, void *data)
{
  (void)thread, (void)data;
}

/* Takes N samples and prints their time. */
static void
measure (LnsPythonReader *reader, unsigned long n)
{
  struct timespec start, end;

  clock_gettime (CLOCK_MONOTONIC, &start);
  for (unsigned long i = 0; i < n; i++)
    lns_python_reader_sample (reader, ignore, NULL);
  clock_gettime (CLOCK_MONOTONIC, &end);
  const LnsPythonCounters counters = lns_python_reader_counters (reader);
  printf ("{\"ns\": %" PRId64 ", \"frames\": %" PRIu64 ", \"samples\": %" PRIu64
          ", \"cut\": %" PRIu64 "}\n",
          (int64_t)(end.tv_sec - start.tv_sec) * 1000000000 + end.tv_nsec - start.tv_nsec,
          counters.n_frames, counters.n_samples, counters.n_cut);
  fflush (stdout);
}

int
main (int n_arguments, char **arguments)
{
  char line[64];
  LnsError error = { 0 };
  LnsPythonReader *reader;

  const LnsPythonState state =
      lns_python_reader_new (n_arguments > 1 ? atoi (arguments[1]) : 0, &reader, &error);
  printf ("{\"state\": \"%s\", \"version\": %u, \"message\": ", states[state],
          reader == NULL ? 0 : lns_python_reader_version (reader));
  lns_json_write_string (stdout, error.message, strlen (error.message));
  printf ("}\n");
  fflush (stdout);
  while (reader != NULL && fgets (line, sizeof line, stdin) != NULL)
    {
      Dump dump = { .is_first_thread = true };
      LnsPythonState now = LNS_PYTHON_READY;
      if (line[0] == 't')
        {
          measure (reader, strtoul (line + 1, NULL, 10));
          continue;
        }
      const unsigned long n = strtoul (line, NULL, 10);
      printf ("{\"threads\": [");
      for (unsigned long i = 0; i < n && now == LNS_PYTHON_READY; i++)
        {
          dump.is_last = i + 1 == n;
          now = lns_python_reader_sample (reader, take, &dump);
        }
      const LnsPythonCounters counters = lns_python_reader_counters (reader);
      printf ("], \"state\": \"%s\", \"samples\": %" PRIu64 ", \"retries\": %" PRIu64
              ", \"cut\": %" PRIu64 ", \"broken\": %" PRIu64 ", \"frames\": %" PRIu64
              ", \"seen\": [",
              states[now], counters.n_samples, counters.n_retries, counters.n_cut,
              counters.n_broken_lists, counters.n_frames);
      for (size_t i = 0; i < dump.seen.n; i++)
        {
          printf (i == 0 ? "" : ", ");
          lns_json_write_string (stdout, dump.seen.items[i], strlen (dump.seen.items[i]));
          free (dump.seen.items[i]);
        }
      lns_array_clear (&dump.seen);
      printf ("]}\n");
      fflush (stdout);
    }
  lns_python_reader_free (reader);
  return 0;
}
