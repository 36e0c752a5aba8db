/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/symbols/kernel-names.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lns-config.h"
#include "src/base/buffer.h"
#include "src/base/hash.h"
#include "src/base/memory.h"
#include "src/symbols/name-cache.h"
#include "src/symbols/span-list.h"

#define CACHE_FILE          "kernel"
#define HEAD_BYTES          4096u /* of the list, which are part of the key */
#define CHUNK_BYTES         (64u << 10)
#define MOST_NAMES_BYTES    (UINT32_C (256) << 20)
#define MOST_FUNCTION_BYTES (1u << 20) /* no function of the kernel has more */

/* What is read of the list. */
typedef struct
{
  LnsSpanList functions; /* `name` is the place in `names` */
  LnsBuffer names;
  uint64_t core_start, core_end; /* _stext and _etext; 0 until they were read */
  uint64_t last_wanted;
  uint64_t first_wanted;
  bool is_sorted; /* up to here */
  bool is_done;   /* nothing of what follows is wanted */
} List;

/* Reads the number at AT, hexadecimal, and moves *AT behind it. */
static uint64_t
take_hex (const char **at)
{
  uint64_t value = 0;
  for (;; (*at)++)
    {
      const char c = **at;
      const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
      if (digit < 0)
        return value;
      value = value << 4 | (uint64_t)digit;
    }
}

/* Takes a line, which ends with a NUL. */
static void
take_line (List *list, const char *line, size_t n)
{
  const char *at = line;
  const uint64_t start = take_hex (&at);
  /* T and t are code, W and w weak code. */
  if (at == line || at[0] != ' ' || at[1] == '\0' || strchr ("tTwW", at[1]) == NULL ||
      at[2] != ' ' || at[3] == '\0')
    return;
  if (start == 0)
    {
      /* Data of processors may lie at 0, but code does not: this is what is shown without privileges. */
      list->is_done = list->functions.n == 0;
      return;
    }
  const char *name = at + 3;
  if (list->functions.n > 0 && list->functions.items[list->functions.n - 1].start > start)
    list->is_sorted = false;
  if (strcmp (name, "_stext") == 0)
    list->core_start = start;
  if (strcmp (name, "_etext") == 0 && list->is_sorted && list->core_start != 0)
    {
      list->core_end = start;
      list->is_done = list->first_wanted >= list->core_start && list->last_wanted < start;
    }
  if (list->functions.n >= LNS_SPAN_NONE || list->names.size_bytes > MOST_NAMES_BYTES)
    return;
  *lns_array_add (&list->functions) =
      (LnsSpan){ start, start + 1, list->functions.n, list->names.size_bytes };
  lns_buffer_append (&list->names, name, n - (size_t)(name - line) + 1);
}

/* Gives the functions their ends: the list has no sizes, so each ends where the next one begins. */
static void
set_ends (LnsSpanList *functions)
{
  lns_span_list_sort (functions);
  uint64_t next_start = UINT64_MAX;
  for (size_t i = functions->n; i-- > 0;)
    {
      LnsSpan *function = &functions->items[i];
      if (i + 1 < functions->n && functions->items[i + 1].start > function->start)
        next_start = functions->items[i + 1].start;
      const uint64_t most = function->start + MOST_FUNCTION_BYTES > function->start
                                ? function->start + MOST_FUNCTION_BYTES
                                : UINT64_MAX;
      function->end = next_start < most ? next_start : most;
    }
}

/* Reads the list from FD, as far as it is wanted. False if *STOP became true. */
static bool
read_list (int fd, List *list, const atomic_bool *stop)
{
  char *chunk = lns_realloc (NULL, CHUNK_BYTES, 1);
  size_t n_kept = 0;
  bool is_stopped = false;
  while (!list->is_done && !is_stopped)
    {
      const ssize_t n = read (fd, chunk + n_kept, CHUNK_BYTES - n_kept);
      is_stopped = stop != NULL && atomic_load_explicit (stop, memory_order_relaxed);
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        break;
      char *line = chunk, *end = chunk + n_kept + n, *newline;
      for (; !list->is_done && (newline = memchr (line, '\n', (size_t)(end - line))) != NULL;
           line = newline + 1)
        {
          *newline = '\0';
          take_line (list, line, (size_t)(newline - line));
        }
      n_kept = (size_t)(end - line);
      if (n_kept == CHUNK_BYTES)
        break; /* no line is as long as that */
      memmove (chunk, line, n_kept);
    }
  free (chunk);
  if (list->names.failed)
    lns_out_of_memory ();
  set_ends (&list->functions);
  return !is_stopped;
}

/* Writes the core of LIST to the cache. */
static void
keep (const LnsKernelNamesOptions *options, const List *list, const char *key)
{
  if (list->core_end <= list->core_start)
    return;
  LnsNameSpans *spans = lns_name_spans_new ();
  for (size_t i = 0; i < list->functions.n; i++)
    {
      const LnsSpan *function = &list->functions.items[i];
      const bool is_alias = i + 1 < list->functions.n &&
                            function[1].start == function->start; /* the last one counts */
      if (is_alias || function->start < list->core_start || function->start >= list->core_end)
        continue;
      const LnsSymbolFrame frame = { .function = (const char *)list->names.bytes + function->name,
                                     .source = LNS_NAME_MAP };
      lns_name_spans_add (spans, function->start,
                          function->end < list->core_end ? function->end : list->core_end, &frame,
                          1, true);
    }
  lns_name_spans_write (spans, options->cache_folder, CACHE_FILE, key, options->most_cache_bytes);
  lns_name_spans_free (spans);
}

/* What must be the same for the cached part of the list to be true. HEAD is the list's beginning. Owned. */
static char *
make_key (const LnsBuildId *boot, const char *head, size_t n_head)
{
  struct utsname system;
  char id[2 * LNS_MOST_BUILD_ID_BYTES + 1];
  lns_build_id_text (boot, id);
  if (uname (&system) != 0)
    memset (&system, 0, sizeof system);
  return lns_asprintf ("kernel %s %016" PRIx64 " %s %s %s %s", id, lns_hash (head, n_head),
                       system.release, system.version, system.machine, LNS_VERSION);
}

/* Finds what of the ADDRESSES the cache has. Returns whether others are to be read, whose first and last it gives. */
static bool
find_in_cache (LnsNameCache *cache,
               const uint64_t *addresses,
               size_t n,
               LnsSymbolsFunc func,
               void *context,
               bool *has,
               uint64_t ret_wanted[2])
{
  LnsSymbolFrame frames[LNS_NAME_MOST_FRAMES];
  size_t n_frames, n_missed = 0;
  for (size_t i = 0; i < n; i++)
    {
      has[i] = cache != NULL && lns_name_cache_find (cache, addresses[i], frames, &n_frames) &&
               n_frames > 0;
      if (has[i])
        func (context, i, frames, n_frames);
      else
        {
          ret_wanted[0] = n_missed++ == 0 ? addresses[i] : ret_wanted[0];
          ret_wanted[1] = addresses[i];
        }
    }
  return n_missed > 0;
}

/* Whether CACHE is to be written anew, because it does not have WANTED, which it should: it is damaged then. */
static bool
lacks_core (const LnsNameCache *cache, uint64_t wanted)
{
  uint64_t start = 0, end = UINT64_MAX;
  if (cache != NULL)
    lns_name_cache_range (cache, &start, &end);
  return wanted >= start && wanted < end;
}

bool
lns_kernel_names_find (const LnsKernelNamesOptions *options,
                       const uint64_t *addresses,
                       size_t n,
                       LnsSymbolsFunc func,
                       void *context)
{
  bool *has = lns_calloc (n, sizeof *has);
  char head[HEAD_BYTES];
  const int fd = open (options->list, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  const ssize_t n_head = fd >= 0 ? pread (fd, head, sizeof head, 0) : -1;
  bool is_done = true;
  if (n_head > 0)
    {
      char *key = make_key (&options->boot, head, (size_t)n_head);
      LnsNameCache *cache = options->cache_folder != NULL
                                ? lns_name_cache_open (options->cache_folder, CACHE_FILE, key)
                                : NULL;
      uint64_t wanted[2] = { 0, 0 };
      if (find_in_cache (cache, addresses, n, func, context, has, wanted))
        {
          List list = { .first_wanted = wanted[0], .last_wanted = wanted[1], .is_sorted = true };
          is_done = read_list (fd, &list, options->stop);
          LnsSpanSweep sweep = { .spans = &list.functions };
          for (size_t i = 0; is_done && i < n; i++)
            {
              const uint32_t span = lns_span_sweep_find (&sweep, addresses[i]);
              if (has[i] || span == LNS_SPAN_NONE)
                continue;
              func (context, i,
                    &(LnsSymbolFrame){ .function = (const char *)list.names.bytes +
                                                   list.functions.items[span].name,
                                       .source = LNS_NAME_MAP },
                    1);
            }
          lns_span_sweep_clear (&sweep);
          if (is_done && options->cache_folder != NULL && lacks_core (cache, wanted[0]))
            keep (options, &list, key);
          lns_array_clear (&list.functions);
          lns_buffer_clear (&list.names);
        }
      lns_name_cache_free (cache);
      free (key);
    }
  if (fd >= 0)
    close (fd);
  free (has);
  return is_done;
}
