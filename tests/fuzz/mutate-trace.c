/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* mutate-trace [MUTATIONS [SEED]]: breaks a trace in random ways and imports each. The import may
 * succeed or fail with a sentence; it may not crash, leak, take a minute or write a report that
 * does not open. */

#include <fcntl.h>
#include <unistd.h>

#include "src/import/nsys/import.h"
#include "tests/fuzz/mutations.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#define TRACE_BYTES (64 * 1024)

static unsigned n_mutations = 150;
static uint64_t seed = 1;

/* Events of every phase and category, whose numbers are to be filled in. */
static const char *const events[] = {
  "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%u,\"tid\":%u,\"ts\":%u,\"args\":{\"name\":\"n\"}"
  "}",
  "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"pid\":%u,\"tid\":%u,\"ts\":%u.25,\"dur\":9,"
  "\"args\":{\"x\":[1,{\"y\":null}],\"s\":\"a\\\"b\\u00e4\"}}",
  "{\"ph\":\"B\",\"name\":\"b\",\"pid\":%u,\"tid\":%u,\"ts\":%u}",
  "{\"ph\":\"E\",\"pid\":%u,\"tid\":%u,\"ts\":%u}",
  "{\"ph\":\"b\",\"cat\":\"c\",\"id\":\"0x7\",\"name\":\"a\",\"pid\":%u,\"tid\":%u,\"ts\":%u}",
  "{\"ph\":\"e\",\"cat\":\"c\",\"id\":\"0x7\",\"name\":\"a\",\"pid\":%u,\"tid\":%u,\"ts\":%u}",
  "{\"ph\":\"C\",\"name\":\"mem\",\"pid\":%u,\"tid\":%u,\"ts\":%u,\"args\":{\"a\":1,\"b\":2.5}}",
  "{\"ph\":\"s\",\"cat\":\"fwdbwd\",\"id\":5,\"name\":\"f\",\"pid\":%u,\"tid\":%u,\"ts\":%u}",
  "{\"ph\":\"i\",\"name\":\"mark\",\"pid\":\"P%u\",\"tid\":\"T%u\",\"ts\":%u}",
  "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":%u,\"tid\":%u,"
  "\"ts\":%u,"
  "\"dur\":4,\"args\":{\"correlation\":12}}",
  "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"void k<int>(int*)\",\"pid\":%u,\"tid\":%u,\"ts\":%u,"
  "\"dur\":6,\"args\":{\"correlation\":12,\"device\":0,\"stream\":7,\"grid\":[1,2,3],\"block\":[4,"
  "5,6]}}",
  "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Pinned -> "
  "Device)\",\"pid\":%u,\"tid\":%u,"
  "\"ts\":%u,\"dur\":2,\"args\":{\"bytes\":64,\"stream\":7}}",
};
#define N_EVENTS (sizeof events / sizeof *events)

/* What may stand anywhere. */
static const char *const words[] = { "NaN",     "-Infinity",  "{",
                                     "}",       "[",          "]",
                                     "\"",      "\\",         "null",
                                     ",",       ":",          "1e999",
                                     "-",       "\t",         "\xEF\xBB\xBF",
                                     "\"ph\":", "\"args\":{", "99999999999999999999" };

static uint64_t
draw (uint64_t below)
{
  return fixture_random (&seed) % below;
}

static size_t
make_trace (char *text)
{
  const bool is_list = draw (2) == 0;
  size_t n = (size_t)sprintf (
      text, is_list ? "[" : "{\"deviceProperties\":[{\"id\":0,\"name\":\"G\"}],\"traceEvents\":[");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  for (uint64_t i = 0, end = 1 + draw (150); i < end; i++)
    {
      text[n] = ',';
      n += i > 0;
      n += (size_t)sprintf (text + n, events[draw (N_EVENTS)], (unsigned)draw (3),
                            (unsigned)draw (4), (unsigned)(i * 3 + draw (9)));
    }
#pragma GCC diagnostic pop
  return n + (size_t)sprintf (text + n, is_list ? "]" : "]}");
}

/* Breaks the N bytes of TEXT once. How many there are then. */
static size_t
mutate (char *text, size_t n)
{
  const size_t at = (size_t)draw (n), to = (size_t)draw (n);
  const char *word = words[draw (sizeof words / sizeof *words)];
  const size_t n_word = strlen (word), n_moved = (size_t)draw (n - (at > to ? at : to));

  switch (draw (8))
    {
    case 0:
      return at + 1;
    case 1:
    case 2:
      text[at] ^= (char)(1 << draw (8));
      return n;
    case 3:
      memmove (text + to, text + at, n_moved);
      return n;
    default:
      memmove (text + at + n_word, text + at, n - at);
      memcpy (text + at, word, n_word);
      return n + n_word;
    }
}

static void
test_broken_traces (void)
{
  static char text[TRACE_BYTES];
  const char *path = fixture_path ("mutated.json"), *out_path = fixture_path ("imported.rep");
  const LnsImportOptions options = { .overwrite = true };
  unsigned n_imported = 0;

  for (unsigned i = 0; i < n_mutations; i++)
    {
      LnsError error = { 0 };
      LnsImportResult result = { 0 };
      size_t n = make_trace (text);
      for (uint64_t left = draw (6); left > 0; left--)
        n = mutate (text, n);
      int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
      LNS_CHECK (fd >= 0 && write (fd, text, n) == (ssize_t)n);
      close (fd);
      alarm ((unsigned)(60 * lns_tap_patience ()));
      const bool good = lns_import_trace (path, out_path, &options, &result, &error);
      alarm (0);
      n_imported += good;
      if (good)
        lns_report_close (fixture_open (out_path, NULL));
      else
        LNS_CHECK (error.domain != LNS_ERROR_NONE && error.message[0] != '\0' &&
                   strchr (error.message, '\n') == NULL);
      free (result.left_out);
    }
  LNS_CHECK (n_imported > 0);
  printf ("# %u of %u imported\n", n_imported, n_mutations);
}

int
main (int argc, char **argv)
{
  read_mutations (argc, argv, &n_mutations, &seed);
  LNS_TEST (test_broken_traces);
  return lns_tap_done ();
}
