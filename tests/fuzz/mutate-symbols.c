/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* mutate-symbols [MUTATIONS [SEED]]: breaks an ELF program, stacks, perf maps, jitdump files and the worker's answers in
 * random ways, and reads them. The program is tests/programs/symbols-c. libdw is not built under sanitizers: what it makes of a
 * broken file happens in the worker's process, and must leave every address with a name. */

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/buffer.h"
#include "src/symbols/cfi.h"
#include "src/symbols/code-map.h"
#include "src/symbols/debug-files.h"
#include "src/symbols/name-jobs.h"
#include "src/symbols/symbols.h"
#include "src/symbols/unwinder.h"
#include "tests/fuzz/mutations.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#define N_OFFSETS 64

static unsigned n_mutations = 200;
static uint64_t seed = 1;
static uint8_t *original;
static size_t n_original;
static char path[] = "/tmp/lanescope-mutated-XXXXXX";

static uint64_t
draw (uint64_t below)
{
  return fixture_random (&seed) % below;
}

/* A value that readers get wrong. */
static uint64_t
draw_value (void)
{
  static const uint64_t values[] = {
    0,          1,          0x7F,       0x80,       0xFF,       0x7FFF,    0xFFFF,
    0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFF0, UINT64_MAX, INT64_MAX, (uint64_t)1 << 63
  };
  return draw (3) > 0 ? values[draw (sizeof values / sizeof *values)] : fixture_random (&seed);
}

static void
break_bytes (uint8_t *bytes, size_t start, size_t n)
{
  if (n == 0)
    return;
  const size_t at = start + (size_t)draw (n), width = (size_t)1 << draw (4);
  const uint64_t value =
      draw (2) > 0 ? draw_value () : (uint64_t)bytes[at] ^ (uint64_t)1 << draw (8);
  memcpy (bytes + at, &value, width < start + n - at ? width : start + n - at);
}

/* Breaks a copy of the program: its headers, or the sections that are read. */
static size_t
break_program (uint8_t *bytes)
{
  static const char *const names[] = { ".eh_frame",       ".debug_info",        ".debug_abbrev",
                                       ".debug_line",     ".debug_str",         ".symtab",
                                       ".strtab",         ".note.gnu.build-id", ".debug_rnglists",
                                       ".debug_line_str", ".shstrtab" };
  memcpy (bytes, original, n_original);
  LnsElfImage *image = lns_elf_image_from_bytes (original, n_original);
  LNS_CHECK (image != NULL);
  Elf64_Ehdr header;
  memcpy (&header, original, sizeof header);
  for (uint64_t left = 1 + draw (6); left > 0; left--)
    {
      const uint64_t kind = draw (8);
      const Elf64_Shdr *section =
          lns_elf_image_section (image, names[draw (sizeof names / sizeof *names)]);
      if (kind == 0)
        break_bytes (bytes, 0, sizeof header);
      else if (kind == 1)
        break_bytes (bytes, header.e_phoff, header.e_phnum * sizeof (Elf64_Phdr));
      else if (kind == 2)
        break_bytes (bytes, header.e_shoff, header.e_shnum * sizeof (Elf64_Shdr));
      else if (section != NULL)
        break_bytes (bytes, section->sh_offset, section->sh_size);
    }
  lns_elf_image_free (image);
  return draw (10) > 0 ? n_original : (size_t)draw (n_original);
}

static void
write_file (const void *bytes, size_t n)
{
  FILE *file = fopen (path, "w");
  LNS_CHECK (file != NULL && fwrite (bytes, 1, n, file) == n && fclose (file) == 0);
}

/* Offsets around the code, and elsewhere; ascending. */
static void
draw_offsets (uint64_t *ret_offsets)
{
  uint64_t at = 0;
  for (size_t i = 0; i < N_OFFSETS; i++)
    ret_offsets[i] = at += draw (n_original / N_OFFSETS / 2);
}

static void
count (void *context, size_t i, const LnsSymbolFrame *frames, size_t n_frames)
{
  uint8_t *n_calls = context;
  LNS_CHECK (i < N_OFFSETS && n_frames > 0);
  for (size_t frame = 0; frame < n_frames; frame++)
    LNS_CHECK (frames[frame].function != NULL && frames[frame].function[0] != '\0');
  n_calls[i]++;
}

/* Everything that reads ELF files in this process, and so under sanitizers. */
static void
read_here (const uint64_t *offsets)
{
  const int nothing = open ("/dev/null", O_WRONLY | O_CLOEXEC);
  LnsNameWriter *writer = lns_name_writer_new (nothing);
  lns_name_job_elf (
      &(LnsNameJobInput){
          .image = path, .debug = path, .wants_spans = true, .addresses = offsets, .n = N_OFFSETS },
      writer);
  lns_name_writer_end (writer);
  close (nothing);
  const LnsDebugSearch search = { .n_folders = 0 };
  LnsDebugFiles files = lns_debug_files_find (&search, path, &(LnsBuildId){ .n = 0 });
  lns_debug_files_free (&files);
}

static void
unwind (const uint64_t *offsets)
{
  const LnsMachine *machine = lns_machine_find (EM_X86_64);
  LnsUnwinder *unwinder = lns_unwinder_new (machine);
  const uint32_t file = lns_unwinder_add_file (unwinder, path, &(LnsBuildId){ .n = 0 });
  const uint64_t start = 0x550000000000, sp = 0x7FFC00000000;
  const LnsUnwindMap map = { start, start + n_original, 0, file };
  uint64_t words[256], chain[64], interrupted;
  for (size_t i = 0; i < N_OFFSETS; i++)
    {
      LnsRegisters registers = { .known = 0 };
      for (unsigned number = 0; number <= 16; number++)
        lns_register_set (&registers, number, draw (2) > 0 ? sp + 8 * draw (300) : draw_value ());
      lns_register_set (&registers, 16, start + offsets[i]);
      lns_register_set (&registers, 7, sp);
      for (size_t word = 0; word < 256; word++)
        words[word] = draw (2) > 0   ? start + draw (n_original)
                      : draw (2) > 0 ? sp + 8 * draw (256)
                                     : draw_value ();
      const LnsStackCopy stack = { (const uint8_t *)words, (size_t)draw (sizeof words), sp };
      LnsUnwindEnd end;
      const size_t n = lns_unwinder_unwind (unwinder, &registers, &stack, &map, 1, chain, 64,
                                            &interrupted, &end);
      LNS_CHECK (n >= 1 && n <= 64 && chain[0] == start + offsets[i]);
    }
  lns_unwinder_free (unwinder);
}

static void
test_broken_programs (void)
{
  uint8_t *bytes = malloc (n_original);
  /* A file that keeps libdw busy costs a second each time. */
  const LnsSymbolsOptions options = { .most_seconds = 1 };
  LnsSymbols *symbols = lns_symbols_new (&options);
  for (unsigned i = 0; i < n_mutations; i++)
    {
      uint64_t offsets[N_OFFSETS];
      uint8_t n_calls[N_OFFSETS] = { 0 };
      write_file (bytes, break_program (bytes));
      draw_offsets (offsets);
      read_here (offsets);
      unwind (offsets);
      const LnsSymbolModule module = { LNS_SYMBOL_MODULE_ELF, path, { .n = 0 } };
      LnsError error = { 0 };
      if (!lns_symbols_look_up (symbols, &module, offsets, N_OFFSETS, count, n_calls, &error))
        LNS_FAIL ("%s", error.message);
      for (size_t at = 0; at < N_OFFSETS; at++)
        LNS_CHECK_INT (n_calls[at], 1);
    }
  lns_symbols_free (symbols);
  free (bytes);
}

static void
test_broken_maps (void)
{
  static const char perf[] =
      "1000 100 first\n1040 20 inner\n2000 10 a long name with spaces\nfff0 10 last\n";
  uint8_t dump[512] = { 0x44, 0x54, 0x69, 0x4A, 1, 0, 0, 0, 40 };
  size_t n_dump = 40;
  for (unsigned kind = 0; kind < 5; kind++)
    {
      dump[n_dump] = (uint8_t)(kind == 0 ? 2 : kind - 1);
      dump[n_dump + 4] = 80;
      dump[n_dump + 25] = 1;
      dump[n_dump + 72] = 'f';
      n_dump += 80;
    }
  for (unsigned i = 0; i < 10 * n_mutations; i++)
    {
      uint8_t bytes[512];
      const bool is_dump = i % 2 > 0;
      size_t n = is_dump ? n_dump : sizeof perf - 1;
      memcpy (bytes, is_dump ? dump : (const uint8_t *)perf, n);
      for (uint64_t left = draw (5); left > 0; left--)
        break_bytes (bytes, 0, n);
      write_file (bytes, draw (5) > 0 ? n : (size_t)draw (n));
      LnsCodeMap map = { .text = NULL };
      if (is_dump ? lns_code_map_read_jitdump (path, &map) : lns_code_map_read_perf (path, &map))
        {
          LnsSpanSweep sweep = { .spans = &map.functions };
          for (uint64_t address = 0; address < 0x20000; address += 1 + draw (0x100))
            {
              const uint32_t span = lns_span_sweep_find (&sweep, address);
              if (span == LNS_SPAN_NONE)
                continue;
              LNS_CHECK (map.functions.items[span].start <= address &&
                         address < map.functions.items[span].end);
              LNS_CHECK (strlen (map.text + map.functions.items[span].name) < sizeof bytes);
              lns_code_map_line (&map, span, address);
            }
          lns_span_sweep_clear (&sweep);
        }
      lns_code_map_clear (&map);
    }
}

/* What a worker says that a hostile file took over. */
static void
test_broken_answers (void)
{
  LnsBuffer answers = { 0 };
  const int good = memfd_create ("answers", MFD_CLOEXEC);
  LNS_CHECK (good >= 0);
  LnsNameWriter *writer = lns_name_writer_new (good);
  for (size_t i = 0; i < N_OFFSETS; i++)
    lns_name_writer_add (writer, i,
                         (const LnsSymbolFrame[]){ { "_Z3fooi", "a.c", 10, LNS_NAME_DEBUG_INFO },
                                                   { i % 2 ? "bar" : "qux" } },
                         2);
  lns_name_writer_end (writer);
  const off_t n = lseek (good, 0, SEEK_CUR);
  for (unsigned i = 0; i < 10 * n_mutations; i++)
    {
      lns_buffer_reset (&answers);
      uint8_t *bytes = lns_buffer_reserve (&answers, (size_t)n);
      LNS_CHECK (pread (good, bytes, (size_t)n, 0) == n);
      for (uint64_t left = draw (5); left > 0; left--)
        break_bytes (bytes, 0, (size_t)n);
      write_file (bytes, draw (5) > 0 ? (size_t)n : (size_t)draw ((uint64_t)n));
      uint8_t n_calls[N_OFFSETS] = { 0 };
      LnsNameReader *reader = lns_name_reader_new (N_OFFSETS, count, n_calls);
      const int fd = open (path, O_RDONLY | O_CLOEXEC);
      while (lns_name_reader_read (reader, fd))
        ;
      for (size_t at = 0; at < N_OFFSETS; at++)
        LNS_CHECK (n_calls[at] == lns_name_reader_has (reader, at));
      lns_name_reader_free (reader);
      close (fd);
    }
  close (good);
  lns_buffer_clear (&answers);
}

static void
test_random_expressions (void)
{
  for (unsigned i = 0; i < 1000 * n_mutations; i++)
    {
      uint8_t program[24], memory[64] = { 1, 2, 3 };
      const size_t n = (size_t)draw (sizeof program);
      for (size_t at = 0; at < n; at++)
        program[at] = (uint8_t)draw (256);
      LnsRegisters registers = { .known = 0x1FFFF };
      for (unsigned number = 0; number <= 16; number++)
        registers.values[number] = 0x1000 + draw (80);
      const LnsStackCopy stack = { memory, sizeof memory, 0x1000 };
      const uint64_t cfa = 0x1010;
      uint64_t value;
      lns_expression_evaluate (program, n, &registers, &stack, draw (2) > 0 ? &cfa : NULL, &value);
    }
}

int
main (int argc, char **argv)
{
  char program[4096];
  const char *build = getenv ("LNS_BUILD_ROOT");
  snprintf (program, sizeof program, "%s/tests/programs/symbols-c",
            build != NULL ? build : "build");
  FILE *file = fopen (program, "r");
  const int fd = mkstemp (path);
  read_mutations (argc, argv, &n_mutations, &seed);
  if (file == NULL || fd < 0)
    {
      fprintf (stderr, "cannot read %s\n", program);
      return 1;
    }
  close (fd);
  original = malloc (1 << 20);
  n_original = fread (original, 1, 1 << 20, file);
  fclose (file);
  LNS_TEST (test_broken_programs);
  LNS_TEST (test_broken_maps);
  LNS_TEST (test_broken_answers);
  LNS_TEST (test_random_expressions);
  unlink (path);
  free (original);
  return lns_tap_done ();
}
