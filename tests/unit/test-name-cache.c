/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Names that are kept between runs: what comes back is what was written, or nothing. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/symbols/kernel-names.h"
#include "src/symbols/name-cache.h"

#include "tests/tap.h"

#define FOLDER_BYTES (UINT64_C (1) << 20)

static char folder[] = "/tmp/lanescope-names-XXXXXX";
static char folder_slash[64], list_path[64], cache_path[64];

/* --- The file ------------------------------------------------------------------------------------ */

/* "inner@a.c:3 outer@b.c:40 " of the frames of ADDRESS, "" if it has none, "?" if they are not known. */
static void
describe (LnsNameCache *cache, uint64_t address, char ret_text[256])
{
  LnsSymbolFrame frames[LNS_NAME_MOST_FRAMES];
  size_t n, at = 0;
  ret_text[0] = '\0';
  if (cache == NULL || !lns_name_cache_find (cache, address, frames, &n))
    strcpy (ret_text, "?");
  else
    for (size_t i = 0; i < n; i++)
      at += (size_t)snprintf (ret_text + at, 256 - at, "%s@%s:%u/%d ", frames[i].function,
                              frames[i].file != NULL ? frames[i].file : "", frames[i].line,
                              frames[i].source);
}

static void
check_at (const char *key, uint64_t address, const char *expected)
{
  char text[256];
  LnsNameCache *cache = lns_name_cache_open (folder_slash, "file", key);
  describe (cache, address, text);
  LNS_CHECK_STR (text, expected);
  lns_name_cache_free (cache);
}

static void
write_file (const char *name, const char *key, uint64_t most_bytes)
{
  const LnsSymbolFrame two[] = { { "inner", "a.c", 3, LNS_NAME_DEBUG_INFO },
                                 { "outer", "b.c", 40, LNS_NAME_DEBUG_INFO } };
  const LnsSymbolFrame one = { "exported", NULL, 0, LNS_NAME_DYNAMIC_TABLE };
  LnsNameSpans *spans = lns_name_spans_new ();
  lns_name_spans_add (spans, 0x5000, 0x5010, &one, 1, false);
  lns_name_spans_add (spans, 0x1000, 0x1008, two, 2, false);
  lns_name_spans_add (spans, 0x1008, 0x1010, two, 2, false);
  lns_name_spans_add (spans, 0x1010, 0x1020, two + 1, 1, false);
  lns_name_spans_add (spans, 0x1020, 0x1030, NULL, 0, false);
  LNS_CHECK (lns_name_spans_write (spans, folder_slash, name, key, most_bytes));
  lns_name_spans_free (spans);
}

static void
test_what_was_written (void)
{
  struct stat status;
  write_file ("file", "key 1", FOLDER_BYTES);
  check_at ("key 1", 0x0FFF, "?");
  check_at ("key 1", 0x1000, "inner@a.c:3/4 outer@b.c:40/4 ");
  check_at ("key 1", 0x100F, "inner@a.c:3/4 outer@b.c:40/4 ");
  check_at ("key 1", 0x1010, "outer@b.c:40/4 ");
  check_at ("key 1", 0x102F, "");
  check_at ("key 1", 0x1030, "?");
  check_at ("key 1", 0x5000, "exported@:0/1 ");
  check_at ("key 1", 0x5010, "?");
  check_at ("key 1", UINT64_MAX, "?");
  check_at ("key 2", 0x1000, "?");
  check_at ("key", 0x1000, "?");
  LNS_CHECK (stat (cache_path, &status) == 0 && (status.st_mode & 0777) == 0600);
  LNS_CHECK (chmod (cache_path, 0622) == 0); /* others may have written it */
  check_at ("key 1", 0x1000, "?");
}

static void
test_what_is_added (void)
{
  const LnsSymbolFrame more = { "more", NULL, 0, LNS_NAME_SYMBOL_TABLE };
  write_file ("file", "key", FOLDER_BYTES);
  LnsNameCache *cache = lns_name_cache_open (folder_slash, "file", "key");
  LNS_CHECK (cache != NULL);
  LnsNameSpans *spans = lns_name_spans_new ();
  lns_name_spans_add_cache (spans, cache);
  lns_name_spans_add (spans, 0x3000, 0x3010, &more, 1, false);
  LNS_CHECK (lns_name_spans_write (spans, folder_slash, "file", "key", FOLDER_BYTES));
  lns_name_spans_free (spans);
  lns_name_cache_free (cache);
  check_at ("key", 0x1000, "inner@a.c:3/4 outer@b.c:40/4 ");
  check_at ("key", 0x1020, "");
  check_at ("key", 0x3008, "more@:0/2 ");
  check_at ("key", 0x5000, "exported@:0/1 ");
}

static size_t
read_bytes (const char *path, uint8_t *bytes, size_t room)
{
  FILE *file = fopen (path, "re");
  const size_t n = file != NULL ? fread (bytes, 1, room, file) : 0;
  LNS_CHECK (file != NULL && fclose (file) == 0);
  return n;
}

static void
write_bytes (const char *path, const void *bytes, size_t n)
{
  FILE *file = fopen (path, "we");
  LNS_CHECK (file != NULL && fwrite (bytes, 1, n, file) == n && fclose (file) == 0);
  LNS_CHECK (chmod (path, 0600) == 0);
}

/* Each byte is changed in turn, and the file is cut at each place: what comes back is true or nothing. */
static void
test_damage (void)
{
  static const uint64_t addresses[] = { 0x0FF0, 0x1000, 0x1010, 0x1020, 0x1030, 0x5000, 0x5010 };
  uint8_t bytes[4096];
  char true_text[7][256], text[256];
  write_file ("file", "key", FOLDER_BYTES);
  const size_t n = read_bytes (cache_path, bytes, sizeof bytes);
  LnsNameCache *cache = lns_name_cache_open (folder_slash, "file", "key");
  for (size_t i = 0; i < 7; i++)
    describe (cache, addresses[i], true_text[i]);
  lns_name_cache_free (cache);
  size_t n_wrong = 0, n_lost = 0;
  for (size_t place = 0; place < 4 * n; place++)
    {
      uint8_t *byte = &bytes[place % n];
      const uint8_t was = *byte;
      const bool is_cut = place >= 3 * n;
      *byte = place < n ? was ^ 1 : place < 2 * n ? (uint8_t)~was : place < 3 * n ? 0 : was;
      write_bytes (cache_path, bytes, is_cut ? place % n : n);
      *byte = was;
      cache = lns_name_cache_open (folder_slash, "file", "key");
      for (size_t i = 0; i < 7; i++)
        {
          describe (cache, addresses[i], text);
          n_wrong += strcmp (text, "?") != 0 && strcmp (text, true_text[i]) != 0;
          n_lost += strcmp (text, "?") == 0 && strcmp (true_text[i], "?") != 0;
        }
      lns_name_cache_free (cache);
    }
  LNS_CHECK_INT (n_wrong, 0);
  LNS_CHECK (n_lost > n);
}

static void
test_oldest_files_go (void)
{
  const struct timeval old[2] = { { 1000, 0 }, { 1000, 0 } };
  struct stat status;
  write_file ("file", "key", FOLDER_BYTES);
  LNS_CHECK (stat (cache_path, &status) == 0 && utimes (cache_path, old) == 0);
  write_file ("other", "key", 2 * (uint64_t)status.st_size);
  LNS_CHECK (access (cache_path, F_OK) == 0);
  write_file ("third", "key", 2 * (uint64_t)status.st_size);
  LNS_CHECK (access (cache_path, F_OK) != 0);
}

/* --- The kernel's functions ---------------------------------------------------------------------- */

/* Writes a list whose functions are called as FORMAT says. The first lines, which tell boots apart, do not change. */
static void
write_list (const char *core, const char *module, bool has_privileges)
{
  FILE *file = fopen (list_path, "we");
  LNS_CHECK (file != NULL);
  fprintf (file, "0000000000000000 A per_cpu_start\n");
  for (unsigned i = 0; i < 200; i++)
    fprintf (file, "%016x T %s%u\n", has_privileges ? 0x1000 + 16 * i : 0, "head", i);
  fprintf (file, "%016x T _stext\n", has_privileges ? 0x2000 : 0);
  for (unsigned i = 1; i < 100; i++)
    fprintf (file, "%016x t %s%u\n", has_privileges ? 0x2000 + 16 * i : 0, core, i);
  fprintf (file, "%016x D data\n", has_privileges ? 0x2104 : 0);
  fprintf (file, "%016x T _etext\n", has_privileges ? 0x3000 : 0);
  fprintf (file, "%016x T after\n", has_privileges ? 0x4000 : 0);
  fprintf (file, "%016x t %s\t[a_module]\n", has_privileges ? 0x6000 : 0, module);
  LNS_CHECK (fclose (file) == 0);
}

static void
append_name (void *context, size_t i, const LnsSymbolFrame *frames, size_t n_frames)
{
  LNS_CHECK (n_frames == 1 && frames->source == LNS_NAME_MAP);
  snprintf ((char *)context + strlen (context), 512 - strlen (context), "%zu:%s ", i,
            frames->function);
}

static void
check_kernel (
    uint8_t boot, bool has_cache, const uint64_t *addresses, size_t n, const char *expected)
{
  char names[512] = "";
  const LnsKernelNamesOptions options = { .list = list_path,
                                          .boot = { { boot }, 16 },
                                          .cache_folder = has_cache ? folder_slash : NULL,
                                          .most_cache_bytes = FOLDER_BYTES };
  LNS_CHECK (lns_kernel_names_find (&options, addresses, n, append_name, names));
  LNS_CHECK_STR (names, expected);
}

static void
test_kernel (void)
{
  static const uint64_t core[] = { 0x2108, 0x210F, 0x2110 },
                        all[] = { 0x10, 0x2108, 0x4001, 0x6004 };
  char path[80];
  snprintf (path, sizeof path, "%skernel", folder_slash);
  write_list ("zero", "none", false);
  check_kernel (1, true, all, 4, "");
  LNS_CHECK (access (path, F_OK) != 0);
  write_list ("old", "module", true);
  check_kernel (1, false, core, 3, "0:old16 1:old16 2:old17 ");
  LNS_CHECK (access (path, F_OK) != 0);
  check_kernel (1, true, core, 3, "0:old16 1:old16 2:old17 ");
  LNS_CHECK (access (path, F_OK) == 0);
  /* A kernel does not do this; it shows what is read anew. */
  write_list ("new", "module2", true);
  check_kernel (1, true, core, 3, "0:old16 1:old16 2:old17 ");
  check_kernel (1, true, all, 4, "1:old16 2:after 3:module2\t[a_module] ");
  check_kernel (1, false, all, 4, "1:new16 2:after 3:module2\t[a_module] ");
  check_kernel (2, true, core, 3, "0:new16 1:new16 2:new17 ");
  /* Damaged, it is written anew. */
  LNS_CHECK (truncate (path, 1000) == 0);
  write_list ("third", "module", true);
  check_kernel (2, true, all, 4, "1:third16 2:after 3:module\t[a_module] ");
  write_list ("fourth", "module", true);
  check_kernel (2, true, core, 3, "0:third16 1:third16 2:third17 ");
  /* Without privileges there are no names, even where some were kept. */
  write_list ("zero", "none", false);
  check_kernel (2, true, core, 3, "");
}

int
main (void)
{
  if (mkdtemp (folder) == NULL)
    return 1;
  snprintf (folder_slash, sizeof folder_slash, "%s/", folder);
  snprintf (list_path, sizeof list_path, "%s.list", folder);
  snprintf (cache_path, sizeof cache_path, "%s/file", folder);
  LNS_TEST (test_what_was_written);
  LNS_TEST (test_what_is_added);
  LNS_TEST (test_damage);
  LNS_TEST (test_oldest_files_go);
  LNS_TEST (test_kernel);
  unlink (list_path);
  char command[80];
  snprintf (command, sizeof command, "rm -rf %s", folder);
  return system (command) != 0 || lns_tap_done ();
}
