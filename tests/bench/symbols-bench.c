/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* symbols-bench N FILE…: unwinds N stacks that it takes of itself, and names N addresses drawn from the code of each FILE.
 * Prints one line of figures for each. Built with -O2 and without frame pointers, as what it unwinds.
 *
 * symbols-bench --report PATH N FILE…: writes a report of N samples, each at an address of its own in one of the files. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/monotonic.h"
#include "src/store/format/lane-kind.h"
#include "src/symbols/symbols.h"
#include "src/symbols/unwinder.h"
#include "tests/unit/report-fixture.h"
#include "tests/unit/stack-fixture.h"

#define N_SAMPLES   64
#define MOST_FRAMES 256

static StackSample samples[N_SAMPLES];
static size_t n_taken;
static volatile unsigned sink;

/* Takes a sample at many depths, and at different places. */
static __attribute__ ((noinline)) unsigned
descend (unsigned depth, unsigned wanted)
{
  volatile unsigned local[5] = { depth };
  if (depth == wanted)
    {
      stack_fixture_sample = &samples[n_taken++];
      raise (SIGUSR1);
    }
  else
    local[depth % 5] += descend (depth + 1, wanted);
  return local[depth % 5];
}

static int
compare (const void *a, const void *b)
{
  sink = descend (0, 5 + (unsigned)(n_taken % 12));
  return 0;
}

static void
measure_unwinding (size_t n)
{
  unsigned numbers[2] = { 1, 2 };
  stack_fixture_listen (SIGUSR1, 0);
  while (n_taken < N_SAMPLES)
    qsort (numbers, 2, sizeof *numbers, compare);
  LnsUnwinder *unwinder = lns_unwinder_new (stack_fixture_machine ());
  size_t n_maps, n_frames = 0, n_complete = 0;
  LnsUnwindMap *maps = stack_fixture_maps (unwinder, &n_maps);
  const int64_t start_ns = lns_monotonic_ns ();
  for (size_t i = 0; i < n; i++)
    {
      uint64_t chain[MOST_FRAMES];
      LnsUnwindEnd end;
      const StackSample *sample = &samples[i % N_SAMPLES];
      n_frames += lns_unwinder_unwind (unwinder, &sample->registers, &sample->stack, maps, n_maps,
                                       chain, MOST_FRAMES, NULL, &end);
      n_complete += end == LNS_UNWIND_COMPLETE;
    }
  const int64_t spent_ns = lns_monotonic_ns () - start_ns;
  printf ("{\"unwound\": %zu, \"complete\": %zu, \"frames\": %zu, \"ns\": %" PRId64 "}\n", n,
          n_complete, n_frames, spent_ns);
  free (maps);
  lns_unwinder_free (unwinder);
}

static void
count (void *context, size_t i, const LnsSymbolFrame *frames, size_t n_frames)
{
  ((size_t *)context)[frames[0].source] += 1;
}

/* N addresses in the code of the file at PATH, as offsets in it; owned. RET_ID gets its build-id. */
static uint64_t *
draw (const char *path, size_t n, LnsBuildId *ret_id)
{
  LnsElfImage *image = lns_elf_image_open (path);
  const Elf64_Shdr *text = image != NULL ? lns_elf_image_section (image, ".text") : NULL;
  if (text == NULL)
    {
      fprintf (stderr, "symbols-bench: %s has no code\n", path);
      exit (1);
    }
  uint64_t *offsets = lns_calloc (n, sizeof *offsets), seed = 1;
  for (size_t i = 0; i < n; i++)
    offsets[i] = text->sh_offset + fixture_random (&seed) % text->sh_size;
  *ret_id = lns_elf_image_build_id (image);
  lns_elf_image_free (image);
  return offsets;
}

static void
measure_names (const char *path, size_t n)
{
  LnsSymbolModule module = { .kind = LNS_SYMBOL_MODULE_ELF, .path = path };
  uint64_t *offsets = draw (path, n, &module.build_id);
  LnsSymbols *symbols = lns_symbols_new (NULL);
  size_t by_source[LNS_NAME_DEBUG_INFO + 1] = { 0 };
  LnsError error = { 0 };
  const int64_t start_ns = lns_monotonic_ns ();
  if (!lns_symbols_look_up (symbols, &module, offsets, n, count, by_source, &error))
    {
      fprintf (stderr, "symbols-bench: %s\n", error.message);
      exit (1);
    }
  const int64_t spent_ns = lns_monotonic_ns () - start_ns;
  printf ("{\"file\": \"%s\", \"named\": %zu, \"without_name\": %zu, \"by_debug_info\": %zu, "
          "\"ns\": %" PRId64 "}\n",
          path, n, by_source[LNS_NAME_NONE], by_source[LNS_NAME_DEBUG_INFO], spent_ns);
  lns_symbols_free (symbols);
  free (offsets);
}

static void
write_report (const char *report_path, size_t n, char **paths, size_t n_paths)
{
  LnsWriter *writer = fixture_writer (report_path);
  const uint32_t track = lns_writer_add_track (
      writer,
      &(LnsTrack){ .kind = LNS_TRACK_CPU_SAMPLES, .device = LNS_ID_NONE, .stream = LNS_ID_NONE });
  const uint32_t lane =
      lns_writer_add_lane (writer, &(LnsLane){ .track = track, .kind = LNS_LANE_CPU_SAMPLE });
  const int chain = lns_lane_kind_extra (LNS_LANE_CPU_SAMPLE, LNS_COLUMN_CALL_CHAIN);
  int64_t at_ns = 0;
  for (size_t i = 0; i < n_paths; i++)
    {
      const size_t n_here = n / n_paths + (i < n % n_paths);
      LnsBuildId id;
      uint64_t *offsets = draw (paths[i], n_here, &id);
      const uint32_t module = lns_writer_add_module (
          writer, &(LnsModule){ .path = lns_writer_string (writer, paths[i], strlen (paths[i])),
                                .build_id = lns_writer_string (writer, id.bytes, id.n) });
      for (size_t k = 0; k < n_here; k++)
        {
          char name[64];
          const int n_name = snprintf (name, sizeof name, "file+0x%" PRIx64, offsets[k]);
          const uint32_t frame = lns_writer_add_frame (
              writer,
              &(LnsStackFrame){ .module = module,
                                .offset = offsets[k],
                                .symbol = lns_writer_string (writer, name, (size_t)n_name) });
          LnsEvent event = { .start_ns = at_ns++ };
          event.extra[chain] =
              1 + lns_writer_add_call_node (writer, &(LnsCallNode){ LNS_ID_NONE, frame });
          lns_writer_append (writer, lane, &event);
        }
      free (offsets);
      if (!lns_writer_commit (writer, at_ns, NULL))
        exit (1);
    }
  fixture_finish (writer, at_ns);
}

int
main (int argc, char **argv)
{
  if (argc > 4 && strcmp (argv[1], "--report") == 0)
    {
      write_report (argv[2], strtoull (argv[3], NULL, 10), argv + 4, (size_t)argc - 4);
      return 0;
    }
  const size_t n = argc > 1 ? strtoull (argv[1], NULL, 10) : 0;
  if (n == 0)
    return 1;
  measure_unwinding (n);
  for (int i = 2; i < argc; i++)
    measure_names (argv[i], n);
  return 0;
}
