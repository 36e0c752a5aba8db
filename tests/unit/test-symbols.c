/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The programs symbols-c and symbols-cpp say themselves what their addresses are called (symbols-note.h). The test looks
 * the same addresses up in them, and in copies that were stripped in different ways. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/hash.h"
#include "src/base/memory.h"
#include "src/symbols/demangle.h"
#include "src/symbols/dwarf-names.h"
#include "src/symbols/name-worker.h"
#include "src/symbols/span-list.h"
#include "src/symbols/symbols.h"
#include "src/symbols/vdso.h"

#include "tests/tap.h"

static const char *c_program, *cpp_program, *rust_program;
static char folder[] = "/tmp/lanescope-symbols-XXXXXX";

/* --- What the programs say, and what is found ---------------------------------------------------- */

typedef struct
{
  uint64_t offset;
  int n_lines, lines[3];
  char *frames, *file;
} Note;

typedef LNS_ARRAY (Note) Notes;

static void
clear_notes (Notes *notes)
{
  for (size_t i = 0; i < notes->n; i++)
    {
      free (notes->items[i].frames);
      free (notes->items[i].file);
    }
  lns_array_clear (notes);
}

static Notes
run_program (const char *path)
{
  Notes notes = { 0 };
  char line[1024], frames[512], file[128];
  FILE *output = popen (path, "r");
  LNS_CHECK (output != NULL);
  while (fgets (line, sizeof line, output) != NULL)
    {
      Note note = { 0 };
      LNS_CHECK_INT (sscanf (line, "%" SCNx64 " %127s %d %d %d %d %511[^\n]", &note.offset, file,
                             &note.n_lines, &note.lines[0], &note.lines[1], &note.lines[2], frames),
                     7);
      note.file = lns_strdup (file);
      note.frames = lns_strdup (frames);
      *lns_array_add (&notes) = note;
    }
  LNS_CHECK_INT (pclose (output), 0);
  return notes;
}

/* What was found for one address: the functions with ";" between them, as a note has them. */
typedef struct
{
  char functions[4096];
  int lines[8], n;
  char file[512];
  LnsNameSource source;
} Found;

static void
keep (void *context, size_t i, const LnsSymbolFrame *frames, size_t n_frames)
{
  Found *found = &((Found *)context)[i];
  found->n += (int)n_frames;
  found->source = frames[n_frames - 1].source;
  for (size_t at = 0; at < n_frames; at++)
    {
      const size_t n = strlen (found->functions);
      snprintf (found->functions + n, sizeof found->functions - n, "%s%s", at > 0 ? ";" : "",
                frames[at].function);
      if (at < 8)
        found->lines[at] = (int)frames[at].line;
    }
  if (frames[0].file != NULL)
    snprintf (found->file, sizeof found->file, "%s", frames[0].file);
}

static LnsBuildId
id_of (const char *path)
{
  LnsElfImage *image = lns_elf_image_open (path);
  LNS_CHECK (image != NULL);
  const LnsBuildId id = lns_elf_image_build_id (image);
  lns_elf_image_free (image);
  return id;
}

/* Hashes what is found, so that it can be compared for many addresses. */
static void
hash_frames (void *context, size_t i, const LnsSymbolFrame *frames, size_t n_frames)
{
  uint64_t *hash = &((uint64_t *)context)[i];
  for (size_t at = 0; at < n_frames; at++)
    {
      char text[4096];
      const int n = snprintf (text, sizeof text, "%s|%s|%u|%d|%" PRIx64, frames[at].function,
                              frames[at].file != NULL ? frames[at].file : "-", frames[at].line,
                              (int)frames[at].source, *hash);
      *hash = lns_hash (text, (size_t)n);
    }
}

/* Looks N offsets up. The caller frees the result. */
static Found *
look_up (const LnsSymbolsOptions *options,
         const LnsSymbolModule *module,
         const uint64_t *offsets,
         size_t n)
{
  Found *found = lns_calloc (n, sizeof *found);
  LnsSymbols *symbols = lns_symbols_new (options);
  LnsError error = { 0 };
  if (!lns_symbols_look_up (symbols, module, offsets, n, keep, found, &error))
    LNS_FAIL ("%s", error.message);
  lns_symbols_free (symbols);
  return found;
}

static Found *
look_notes_up (const LnsSymbolsOptions *options, const char *path, const Notes *notes)
{
  uint64_t *offsets = lns_calloc (notes->n, sizeof *offsets);
  for (size_t i = 0; i < notes->n; i++)
    offsets[i] = notes->items[i].offset;
  const LnsSymbolModule module = { LNS_SYMBOL_MODULE_ELF, path, id_of (path) };
  Found *found = look_up (options, &module, offsets, notes->n);
  free (offsets);
  return found;
}

static void
check_all (const Notes *notes, const Found *found)
{
  LNS_CHECK (notes->n >= 2);
  for (size_t i = 0; i < notes->n; i++)
    {
      const Note *note = &notes->items[i];
      LNS_CHECK_STR (found[i].functions, note->frames);
      LNS_CHECK_INT (found[i].n, note->n_lines);
      for (int at = 0; at < note->n_lines; at++)
        LNS_CHECK_INT (found[i].lines[at], note->lines[at]);
      LNS_CHECK_INT (found[i].source, LNS_NAME_DEBUG_INFO);
      const char *slash = strrchr (found[i].file, '/');
      LNS_CHECK_STR (slash != NULL ? slash + 1 : found[i].file, note->file);
    }
}

/* Checks that only the functions themselves are known, without inlined calls and lines. */
static void
check_functions (const Notes *notes, const Found *found, LnsNameSource source)
{
  for (size_t i = 0; i < notes->n; i++)
    {
      const char *frames = notes->items[i].frames, *last = strrchr (frames, ';');
      LNS_CHECK_STR (found[i].functions, last != NULL ? last + 1 : frames);
      LNS_CHECK_INT (found[i].source, source);
      LNS_CHECK_INT (found[i].lines[0], 0);
    }
}

static void
shell (const char *format, ...)
{
  char command[8192];
  va_list arguments;
  va_start (arguments, format);
  vsnprintf (command, sizeof command, format, arguments);
  va_end (arguments);
  const int status = system (command);
  if (status != 0)
    LNS_FAIL ("\"%s\" ended with %d", command, status);
}

/* --- The cases ----------------------------------------------------------------------------------- */

static void
test_c_and_inlined_calls (void)
{
  Notes notes = run_program (c_program);
  Found *found = look_notes_up (NULL, c_program, &notes);
  check_all (&notes, found);
  free (found);
  clear_notes (&notes);
}

static void
test_cpp_with_templates (void)
{
  if (cpp_program == NULL)
    LNS_SKIP ("there is no C++ compiler");
  Notes notes = run_program (cpp_program);
  Found *found = look_notes_up (NULL, cpp_program, &notes);
  check_all (&notes, found);
  free (found);
  clear_notes (&notes);
}

static void
test_rust (void)
{
  if (rust_program == NULL)
    LNS_SKIP ("there is no Rust compiler");
  Notes notes = run_program (rust_program);
  Found *found = look_notes_up (NULL, rust_program, &notes);
  check_all (&notes, found);
  free (found);
  clear_notes (&notes);
}

/* Beside the program, found by its link; in a folder of build-ids, and in one that has it under its name. */
static void
test_separate_debug_files (void)
{
  Notes notes = run_program (c_program);
  shell ("cd %s && rm -rf sep && mkdir -p sep/bin sep/store && cp %s sep/whole && objcopy "
         "--only-keep-debug sep/whole "
         "sep/bin/prog.debug && strip -o sep/bin/prog sep/whole && cd sep/bin && objcopy "
         "--add-gnu-debuglink=prog.debug prog",
         folder, c_program);
  char *program = lns_asprintf ("%s/sep/bin/prog", folder),
       *store = lns_asprintf ("%s/sep/store", folder);
  Found *found = look_notes_up (NULL, program, &notes);
  check_all (&notes, found);
  free (found);

  const LnsBuildId id = id_of (program);
  char text[2 * LNS_MOST_BUILD_ID_BYTES + 1];
  lns_build_id_text (&id, text);
  shell ("cd %s/sep && mkdir -p store/.build-id/%.2s && mv bin/prog.debug "
         "store/.build-id/%.2s/%s.debug",
         folder, text, text, text + 2);
  found = look_notes_up (NULL, program, &notes);
  for (size_t i = 0; i < notes.n; i++)
    LNS_CHECK (found[i].source < LNS_NAME_SYMBOL_TABLE); /* the debug file is elsewhere now */
  free (found);
  const LnsSymbolsOptions options = { .folders = (const char *const[]){ store }, .n_folders = 1 };
  found = look_notes_up (&options, program, &notes);
  check_all (&notes, found);
  free (found);

  /* On another machine: the program itself is there only in that folder. */
  shell ("cd %s/sep && rm -rf store/.build-id && mv whole store/prog", folder);
  const LnsSymbolModule module = { LNS_SYMBOL_MODULE_ELF, "/nowhere/at/all/prog", id };
  uint64_t offset = notes.items[0].offset;
  found = look_up (&options, &module, &offset, 1);
  LNS_CHECK_STR (found[0].functions, notes.items[0].frames);
  free (found);
  free (program);
  free (store);
  clear_notes (&notes);
}

static void
test_symbol_table_alone (void)
{
  Notes notes = run_program (c_program);
  char *program = lns_asprintf ("%s/no-dwarf", folder);
  shell ("strip -g -o %s %s", program, c_program);
  Found *found = look_notes_up (NULL, program, &notes);
  check_functions (&notes, found, LNS_NAME_SYMBOL_TABLE);
  free (found);

  /* The packed table that some distributions leave (MiniDebugInfo). */
  shell ("cd %s && objcopy --only-keep-debug no-dwarf table && xz --keep table && strip -o mini "
         "no-dwarf && "
         "objcopy --add-section .gnu_debugdata=table.xz mini",
         folder);
  free (program);
  program = lns_asprintf ("%s/mini", folder);
  found = look_notes_up (NULL, program, &notes);
  check_functions (&notes, found, LNS_NAME_SYMBOL_TABLE);
  free (found);
  free (program);
  clear_notes (&notes);
}

static void
test_stripped_entirely (void)
{
  Notes notes = run_program (c_program);
  char *program = lns_asprintf ("%s/bare", folder);
  shell ("strip -o %s %s", program, c_program);
  Found *found = look_notes_up (NULL, program, &notes);
  for (size_t i = 0; i < notes.n; i++)
    {
      char *expected = lns_asprintf ("bare+0x%" PRIx64, notes.items[i].offset);
      LNS_CHECK_STR (found[i].functions, expected);
      LNS_CHECK_INT (found[i].source, LNS_NAME_NONE);
      free (expected);
    }
  free (found);
  free (program);
  clear_notes (&notes);
}

/* The exported functions of a library without any other names. */
static void
test_dynamic_table_as_the_last_resort (void)
{
  Notes notes = run_program (c_program);
  char *program = lns_asprintf ("%s/exports", folder);
  shell ("cd %s && gcc -shared -fPIC -nostdlib -o exports -x c - <<'E'\nint exported (int a) { "
         "return a + 1; }\nE\n"
         "strip exports",
         folder);
  LnsElfImage *image = lns_elf_image_open (program);
  const Elf64_Shdr *text = lns_elf_image_section (image, ".text");
  LNS_CHECK (text != NULL);
  uint64_t offset = text->sh_offset + 1;
  lns_elf_image_free (image);
  const LnsSymbolModule module = { LNS_SYMBOL_MODULE_ELF, program, { .n = 0 } };
  Found *found = look_up (NULL, &module, &offset, 1);
  LNS_CHECK_STR (found[0].functions, "exported");
  LNS_CHECK_INT (found[0].source, LNS_NAME_DYNAMIC_TABLE);
  free (found);
  free (program);
  clear_notes (&notes);
}

/* Looks the first N offsets of the file at PATH up. Owned. */
static uint64_t *
hash_names (const char *path, const char *cache_folder, size_t n, const char *debug_folder)
{
  const LnsSymbolModule module = { LNS_SYMBOL_MODULE_ELF, path, id_of (path) };
  const LnsSymbolsOptions options = { .cache_folder = cache_folder,
                                      .folders = &debug_folder,
                                      .n_folders = debug_folder != NULL };
  LnsSymbols *symbols = lns_symbols_new (&options);
  LnsError error = { 0 };
  uint64_t *offsets = lns_calloc (n, sizeof *offsets), *hashes = lns_calloc (n, sizeof *hashes);
  for (size_t i = 0; i < n; i++)
    offsets[i] = i;
  if (!lns_symbols_look_up (symbols, &module, offsets, n, hash_frames, hashes, &error))
    LNS_FAIL ("%s", error.message);
  lns_symbols_free (symbols);
  free (offsets);
  return hashes;
}

/* The number and the times of the one file in the folder of the cache. */
static struct stat
status_of_cache (void)
{
  char path[512] = "";
  struct stat status = { .st_ino = 0 };
  char *command = lns_asprintf ("ls -d %s/kept/*", folder);
  FILE *list = popen (command, "r");
  LNS_CHECK (list != NULL && fgets (path, sizeof path, list) != NULL);
  pclose (list);
  path[strcspn (path, "\n")] = '\0';
  LNS_CHECK (stat (path, &status) == 0);
  free (command);
  return status;
}

/* After a look-up of one address and of all, these have the names that they have without a cache, and need no worker. */
static void
test_names_that_were_kept (void)
{
  char *kept = lns_asprintf ("%s/kept/", folder);
  const char *programs[] = { c_program, cpp_program };
  for (unsigned i = 0; i < 2; i++)
    {
      struct stat program;
      LNS_CHECK (stat (programs[i], &program) == 0);
      const size_t n = (size_t)program.st_size + 100;
      shell ("rm -rf %s && mkdir %s", kept, kept);
      uint64_t *expected = hash_names (programs[i], NULL, n, NULL);
      free (hash_names (programs[i], kept, 1, NULL));
      uint64_t *found = hash_names (programs[i], kept, n, NULL);
      size_t n_different = 0;
      for (size_t at = 0; at < n; at++)
        n_different += found[at] != expected[at];
      LNS_CHECK_INT (n_different, 0);
      free (found);
      const struct stat before = status_of_cache ();
      LNS_CHECK (before.st_size > 1000);
      found = hash_names (programs[i], kept, n, NULL);
      LNS_CHECK (memcmp (found, expected, n * sizeof *found) == 0);
      LNS_CHECK_INT (status_of_cache ().st_ino, before.st_ino);
      free (found);
      free (expected);
    }
  free (kept);
}

/* A debug file that comes later, and another one in its place, change the names. */
static void
test_kept_names_and_other_files (void)
{
  const size_t n = 20000;
  char *kept = lns_asprintf ("%s/kept2/", folder),
       *program = lns_asprintf ("%s/later/prog", folder),
       *store = lns_asprintf ("%s/later/store", folder);
  shell ("cd %s && mkdir -p kept2 later/store && strip -o later/prog %s", folder, c_program);
  for (unsigned step = 0; step < 3; step++)
    {
      if (step == 1)
        shell ("strip -g -o %s/prog %s", store, c_program);
      else if (step == 2)
        shell ("cp %s %s/prog", c_program, store);
      uint64_t *expected = hash_names (program, NULL, n, store);
      for (unsigned i = 0; i < 2; i++)
        {
          uint64_t *found = hash_names (program, kept, n, store);
          LNS_CHECK (memcmp (found, expected, n * sizeof *found) == 0);
          free (found);
        }
      free (expected);
    }
  free (kept);
  free (program);
  free (store);
}

static void
test_other_build_id (void)
{
  Notes notes = run_program (c_program);
  LnsSymbolModule module = { LNS_SYMBOL_MODULE_ELF, c_program, id_of (c_program) };
  LNS_CHECK (module.build_id.n > 0);
  uint64_t offsets[2] = { notes.items[1].offset, notes.items[0].offset };
  Found *found = look_up (NULL, &module, offsets, 2);
  LNS_CHECK_STR (found[0].functions, notes.items[1].frames);
  LNS_CHECK_STR (found[1].functions, notes.items[0].frames);
  free (found);
  module.build_id.bytes[3] ^= 0x10;
  found = look_up (NULL, &module, offsets, 2);
  LNS_CHECK_INT (found[0].source, LNS_NAME_NONE);
  LNS_CHECK (strstr (found[0].functions, "symbols-c+0x") == found[0].functions);
  free (found);
  clear_notes (&notes);
}

/* A stand-in for the program that asks servers. */
static void
test_debuginfod (void)
{
  Notes notes = run_program (c_program);
  const LnsBuildId id = id_of (c_program);
  char text[2 * LNS_MOST_BUILD_ID_BYTES + 1], *program = lns_asprintf ("%s/served", folder);
  lns_build_id_text (&id, text);
  shell ("mkdir -p %s/path && strip -o %s %s && cat >%s/path/debuginfod-find <<'E'\n#!/bin/sh\n[ "
         "\"$1 $2\" = \"debuginfo "
         "%s\" ] || exit 1\necho %s\nE\nchmod +x %s/path/debuginfod-find",
         folder, program, c_program, folder, text, c_program, folder);
  char *path = lns_asprintf ("%s/path:%s", folder, getenv ("PATH")),
       *before = lns_strdup (getenv ("PATH"));
  setenv ("PATH", path, 1);
  unsetenv ("DEBUGINFOD_URLS");
  const LnsSymbolsOptions options = { .uses_debuginfod = true };
  Found *found = look_notes_up (&options, program, &notes);
  LNS_CHECK_INT (found[0].source, LNS_NAME_NONE);
  free (found);
  setenv ("DEBUGINFOD_URLS", "http://localhost:1/", 1);
  found = look_notes_up (&options, program, &notes);
  check_all (&notes, found);
  free (found);
  found = look_notes_up (NULL, program, &notes);
  LNS_CHECK_INT (found[0].source, LNS_NAME_NONE);
  free (found);
  setenv ("PATH", before, 1);
  unsetenv ("DEBUGINFOD_URLS");
  free (before);
  free (path);
  free (program);
  clear_notes (&notes);
}

static void
write_file (const char *path, const void *bytes, size_t n)
{
  FILE *file = fopen (path, "w");
  LNS_CHECK (file != NULL && fwrite (bytes, 1, n, file) == n && fclose (file) == 0);
}

static void
test_perf_map_with_overlaps (void)
{
  static const char text[] = "1000 100 first\n"
                             "1040 20 inner, later\n"
                             "2000 10 alone\n"
                             "nonsense\n"
                             "3000 0 empty\n"
                             "fffffffffffffff0 100 wraps\n"
                             "10f0 20 py::run:/a b.py\n"
                             "2000 10 replaced\n"
                             "4000 10 cut off";
  char *path = lns_asprintf ("%s/perf-1.map", folder);
  write_file (path, text, sizeof text - 1);
  const uint64_t addresses[] = { 0x1000, 0x103F, 0x1040, 0x105F, 0x1060, 0x10EF,
                                 0x10F0, 0x110F, 0x1110, 0x2005, 0x3000, 0x400F };
  static const char *const expected[] = { "first",           "first",           "inner, later",
                                          "inner, later",    "first",           "first",
                                          "py::run:/a b.py", "py::run:/a b.py", "+0x1110",
                                          "replaced",        "+0x3000",         "cut off" };
  const LnsSymbolModule module = { .kind = LNS_SYMBOL_MODULE_PERF_MAP, .path = path };
  Found *found = look_up (NULL, &module, addresses, sizeof addresses / sizeof *addresses);
  for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++)
    {
      const bool is_named = expected[i][0] != '+';
      LNS_CHECK_STR (is_named ? found[i].functions : strchr (found[i].functions, '+'), expected[i]);
      LNS_CHECK_INT (found[i].source, is_named ? LNS_NAME_MAP : LNS_NAME_NONE);
    }
  free (found);
  free (path);
}

/* A jitdump file as the specification describes it. */
typedef struct
{
  uint8_t bytes[4096];
  size_t n;
} Dump;

static void
add (Dump *dump, uint64_t value, unsigned width)
{
  for (unsigned i = 0; i < width; i++)
    dump->bytes[dump->n++] = (uint8_t)(value >> 8 * i);
}

static void
add_text (Dump *dump, const char *text)
{
  memcpy (dump->bytes + dump->n, text, strlen (text) + 1);
  dump->n += strlen (text) + 1;
}

static size_t
begin (Dump *dump, unsigned kind)
{
  const size_t start = dump->n;
  add (dump, kind, 4);
  add (dump, 0, 4);
  add (dump, 1, 8);
  return start;
}

static void
finish (Dump *dump, size_t start)
{
  const size_t n = dump->n;
  dump->n = start + 4;
  add (dump, n - start, 4);
  dump->n = n;
}

static void
add_load (Dump *dump, uint64_t address, uint64_t size, uint64_t index, const char *name)
{
  const size_t start = begin (dump, 0);
  add (dump, 7, 4);
  add (dump, 8, 4);
  add (dump, address, 8);
  add (dump, address, 8);
  add (dump, size, 8);
  add (dump, index, 8);
  add_text (dump, name);
  dump->n += size; /* the code */
  finish (dump, start);
}

static void
test_jitdump (void)
{
  Dump dump = { .n = 0 };
  add (&dump, 0x4A695444, 4);
  add (&dump, 1, 4);
  add (&dump, 40, 4);
  add (&dump, EM_X86_64, 4);
  add (&dump, 0, 4);
  add (&dump, 7, 4);
  add (&dump, 0, 8);
  add (&dump, 0, 8);
  size_t start = begin (&dump, 2); /* lines of the function that follows */
  add (&dump, 0x5000, 8);
  add (&dump, 3, 8);
  add (&dump, 0x5000, 8);
  add (&dump, 10, 4);
  add (&dump, 0, 4);
  add_text (&dump, "app.js");
  add (&dump, 0x5010, 8);
  add (&dump, 12, 4);
  add (&dump, 0, 4);
  add_text (&dump, "\xff");
  add (&dump, 0x5018, 8);
  add (&dump, 99, 4);
  add (&dump, 0, 4);
  add_text (&dump, "lib.js");
  finish (&dump, start);
  add_load (&dump, 0x5000, 0x20, 1, "hot");
  add_load (&dump, 0x6000, 0x10, 2, "old");
  add_load (&dump, 0x6008, 0x10, 3, "new");
  start = begin (&dump, 1); /* `hot` moves */
  add (&dump, 7, 4);
  add (&dump, 8, 4);
  add (&dump, 0x7000, 8);
  add (&dump, 0x5000, 8);
  add (&dump, 0x7000, 8);
  add (&dump, 0x20, 8);
  add (&dump, 1, 8);
  finish (&dump, start);
  finish (&dump, begin (&dump, 77)); /* of a kind that does not exist yet */
  add_load (&dump, 0x8000, 0x10, 4, "last");
  add (&dump, 0, 4); /* the beginning of a record that was not written whole */
  char *path = lns_asprintf ("%s/jit-7.dump", folder);
  write_file (path, dump.bytes, dump.n);
  const uint64_t addresses[] = { 0x500F, 0x5010, 0x501F, 0x6007, 0x6008, 0x7010, 0x800F, 0x8010 };
  static const char *const expected[] = { "hot", "hot", "hot", "old", "new", "hot", "last" };
  static const int lines[] = { 10, 12, 99, 0, 0, 0, 0 };
  static const char *const files[] = { "app.js", "app.js", "lib.js", "", "", "", "" };
  const LnsSymbolModule module = { .kind = LNS_SYMBOL_MODULE_JITDUMP, .path = path };
  Found *found = look_up (NULL, &module, addresses, 8);
  for (size_t i = 0; i < 7; i++)
    {
      LNS_CHECK_STR (found[i].functions, expected[i]);
      LNS_CHECK_INT (found[i].lines[0], lines[i]);
      LNS_CHECK_STR (found[i].file, files[i]);
      LNS_CHECK_INT (found[i].source, LNS_NAME_MAP);
    }
  LNS_CHECK_STR (found[7].functions, "jit-7.dump+0x8010");
  free (found);
  free (path);
}

static void
test_vdso (void)
{
  LnsElfImage *image = lns_vdso_open ();
  if (image == NULL)
    LNS_SKIP ("the kernel maps no vdso");
  const Elf64_Shdr *text = lns_elf_image_section (image, ".text");
  const LnsSymbolModule module = { LNS_SYMBOL_MODULE_ELF, "[vdso]",
                                   lns_elf_image_build_id (image) };
  LNS_CHECK (text != NULL && module.build_id.n > 0);
  uint64_t *offsets = lns_calloc (text->sh_size, sizeof *offsets);
  for (size_t i = 0; i < text->sh_size; i++)
    offsets[i] = text->sh_offset + i;
  Found *found = look_up (NULL, &module, offsets, text->sh_size);
  bool has_clock = false;
  for (size_t i = 0; i < text->sh_size; i++)
    has_clock |= strstr (found[i].functions, "clock_gettime") != NULL;
  LNS_CHECK (has_clock);
  free (found);
  free (offsets);
  lns_elf_image_free (image);
}

/* The kernel's list, where this user may read addresses; where not, addresses keep no name. */
static void
test_kernel (void)
{
  LnsSymbolModule module = { LNS_SYMBOL_MODULE_KERNEL, "", lns_symbols_boot_id () };
  LNS_CHECK_INT (module.build_id.n, 16);
  uint64_t first = 0;
  char name[512] = "", line[1024];
  FILE *list = fopen ("/proc/kallsyms", "re");
  while (list != NULL && first == 0 && fgets (line, sizeof line, list) != NULL)
    if (sscanf (line, "%" SCNx64 " %*[tT] %511s", &first, name) != 2)
      first = 0;
  if (list != NULL)
    fclose (list);
  const uint64_t address = first > 0 ? first : 0xFFFFFFFF81000000;
  Found *found = look_up (NULL, &module, &address, 1);
  LNS_CHECK_INT (found[0].source, first > 0 ? LNS_NAME_MAP : LNS_NAME_NONE);
  if (first == 0)
    LNS_CHECK_STR (found[0].functions, "[kernel]+0xffffffff81000000");
  free (found);
  module.build_id.bytes[0] ^= 1; /* of another boot, whose addresses were others */
  found = look_up (NULL, &module, &address, 1);
  LNS_CHECK_INT (found[0].source, LNS_NAME_NONE);
  free (found);
}

/* The same answers as a scan of all spans. */
static void
test_overlapping_spans (void)
{
  unsigned random = 1;
  for (unsigned round = 0; round < 300; round++)
    {
      LnsSpanList spans = { 0 };
      for (unsigned i = 0; i < 1 + round % 40; i++)
        {
          random = random * 1103515245 + 12345;
          const uint64_t start = random >> 16 & 127, n = 1 + (random >> 24 & 63);
          *lns_array_add (&spans) = (LnsSpan){ start, start + n, i * 7919u % 41, i };
        }
      lns_span_list_sort (&spans);
      LnsSpanSweep sweep = { .spans = &spans };
      for (uint64_t address = 0; address < 200; address += 1 + round % 3)
        {
          uint32_t expected = LNS_SPAN_NONE;
          for (uint32_t i = 0; i < spans.n; i++)
            if (spans.items[i].start <= address && address < spans.items[i].end &&
                (expected == LNS_SPAN_NONE || spans.items[i].rank > spans.items[expected].rank))
              expected = i;
          LNS_CHECK_INT (lns_span_sweep_find (&sweep, address), expected);
        }
      lns_span_sweep_clear (&sweep);
      lns_array_clear (&spans);
    }
}

static void
test_demangling (void)
{
  static const char *const names[][2] = {
    { "_ZNSt6vectorIiSaIiEE9push_backEOi",
      "std::vector<int, std::allocator<int> >::push_back(int&&)" },
    { "_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE", "core::fmt::Formatter::write_str" },
    { "_RNvCs4fqI2P2rA04_11mycrate_foo3bar", "mycrate_foo::bar" },
    { "_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>" },
    { "_ZNKSt8functionIFivEEclEv", "std::function<int ()>::operator()() const" },
    { "_Z3fooIiET_S0_", "foo<int>(int)" },
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    {
      char *demangled = lns_demangle (names[i][0]);
      LNS_CHECK_STR (demangled, names[i][1]);
      free (demangled);
    }
  LNS_CHECK (lns_demangle ("main") == NULL);
  LNS_CHECK (lns_demangle ("_Zebra") == NULL);
  LNS_CHECK (lns_demangle ("f") == NULL);
}

/* --- The worker, over files that take it over ---------------------------------------------------- */

static void
name_many_and_crash (const void *what, LnsNameWriter *writer)
{
  /* More than a pipe's block, so that some of it is on its way. */
  for (size_t i = 0; i < 50000; i++)
    lns_name_writer_add (writer, i, &(LnsSymbolFrame){ .function = "known" }, 1);
  raise (SIGSEGV);
}

static void
work_for_ever (const void *what, LnsNameWriter *writer)
{
  for (volatile unsigned i = 0;; i++)
    ;
}

static void
take_all_memory (const void *what, LnsNameWriter *writer)
{
  /* Untouched, so that it costs the machine nothing. */
  if (mmap (NULL, (size_t)16 << 30, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED)
    raise (SIGABRT);
}

static void
count_calls (void *context, size_t i, const LnsSymbolFrame *frames, size_t n_frames)
{
  ++*(size_t *)context;
}

/* What a crash had sent before is kept; the parent goes on. */
static void
test_worker_that_breaks (void)
{
  void (*const jobs[]) (const void *, LnsNameWriter *) = {
    name_many_and_crash,
    work_for_ever,
#if !defined __SANITIZE_ADDRESS__ &&                                                               \
    !defined __SANITIZE_THREAD__ /* whose shadows need more than any limit */
    take_all_memory,
#endif
  };
  for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
    {
      size_t n_calls = 0;
      LnsNameReader *reader = lns_name_reader_new (50000, count_calls, &n_calls);
      const LnsNameJob job = { .run = jobs[i], .most_seconds = i == 1 ? 1 : 60 };
      LNS_CHECK_INT (lns_name_worker_run (&job, reader), LNS_WORK_BROKEN);
      LNS_CHECK (i == 0 ? n_calls > 1000 && lns_name_reader_has (reader, 0) : n_calls == 0);
      lns_name_reader_free (reader);
    }
}

static void
test_stop (void)
{
  const atomic_bool stop = true;
  const LnsSymbolsOptions options = { .stop = &stop };
  LnsSymbols *symbols = lns_symbols_new (&options);
  const LnsSymbolModule module = { LNS_SYMBOL_MODULE_ELF, c_program, { .n = 0 } };
  const uint64_t offset = 1;
  size_t n_calls = 0;
  LnsError error = { 0 };
  LNS_CHECK (!lns_symbols_look_up (symbols, &module, &offset, 1, count_calls, &n_calls, &error));
  LNS_CHECK_INT (error.domain, LNS_ERROR_CANCELLED);
  LNS_CHECK_INT (n_calls, 0);
  lns_symbols_free (symbols);
}

/* The whole path of the program NAME among ARGUMENTS, because cases change the folder; NULL if it was not built. */
static const char *
find_program (char **arguments, const char *name)
{
  for (size_t i = 1; arguments[i] != NULL; i++)
    {
      const char *slash = strrchr (arguments[i], '/');
      if (strcmp (slash != NULL ? slash + 1 : arguments[i], name) == 0)
        return realpath (arguments[i], NULL);
    }
  return NULL;
}

/* A report may name anything. To open a device has effects, whatever is read from it then. */
static void
test_only_regular_files_are_opened (void)
{
  char path[PATH_MAX];
  char events[4096];
  snprintf (path, sizeof path, "%s/device", folder);
  LNS_CHECK_INT (mkfifo (path, 0600), 0);
  const int watch = inotify_init1 (IN_NONBLOCK | IN_CLOEXEC);
  LNS_CHECK (watch >= 0 && inotify_add_watch (watch, path, IN_OPEN) >= 0);
  LNS_CHECK (lns_elf_image_open (path) == NULL);
  LNS_CHECK (lns_dwarf_names_new (path) == NULL);
  LNS_CHECK_INT (read (watch, events, sizeof events), -1);
  LNS_CHECK_INT (errno, EAGAIN);
  close (open (path, O_RDONLY | O_NONBLOCK));
  LNS_CHECK (read (watch, events, sizeof events) > 0);
  close (watch);
  unlink (path);
}

int
main (int n_arguments, char **arguments)
{
  if (n_arguments < 2 || mkdtemp (folder) == NULL)
    return 1;
  c_program = find_program (arguments, "symbols-c");
  cpp_program = find_program (arguments, "symbols-cpp");
  rust_program = find_program (arguments, "symbols-rust");
  LNS_TEST (test_c_and_inlined_calls);
  LNS_TEST (test_cpp_with_templates);
  LNS_TEST (test_rust);
  LNS_TEST (test_separate_debug_files);
  LNS_TEST (test_symbol_table_alone);
  LNS_TEST (test_stripped_entirely);
  LNS_TEST (test_dynamic_table_as_the_last_resort);
  LNS_TEST (test_names_that_were_kept);
  LNS_TEST (test_kept_names_and_other_files);
  LNS_TEST (test_other_build_id);
  LNS_TEST (test_debuginfod);
  LNS_TEST (test_perf_map_with_overlaps);
  LNS_TEST (test_jitdump);
  LNS_TEST (test_vdso);
  LNS_TEST (test_kernel);
  LNS_TEST (test_overlapping_spans);
  LNS_TEST (test_demangling);
  LNS_TEST (test_only_regular_files_are_opened);
  LNS_TEST (test_worker_that_breaks);
  LNS_TEST (test_stop);
  shell ("rm -rf %s", folder);
  return lns_tap_done ();
}
