/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/symbols/symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lns-config.h"
#include "src/base/hash.h"
#include "src/base/memory.h"
#include "src/symbols/debug-files.h"
#include "src/symbols/kernel-names.h"
#include "src/symbols/name-cache.h"
#include "src/symbols/name-jobs.h"
#include "src/symbols/name-worker.h"
#include "src/symbols/vdso.h"

#define DEFAULT_SECONDS  60
#define MOST_CACHE_BYTES (UINT64_C (256) << 20)

struct LnsSymbols
{
  char **folders; /* owned, as are its strings */
  LnsDebugSearch search;
  unsigned most_seconds;
  char *cache_folder; /* owned; may be NULL */
};

LnsSymbols *
lns_symbols_new (const LnsSymbolsOptions *options)
{
  static const LnsSymbolsOptions defaults;
  const LnsSymbolsOptions *given = options != NULL ? options : &defaults;
  LnsSymbols *symbols = lns_calloc (1, sizeof *symbols);
  symbols->folders = lns_calloc (given->n_folders, sizeof *symbols->folders);
  for (size_t i = 0; i < given->n_folders; i++)
    symbols->folders[i] = lns_strdup (given->folders[i]);
  symbols->search = (LnsDebugSearch){ .folders = (const char *const *)symbols->folders,
                                      .n_folders = given->n_folders,
                                      .uses_debuginfod = given->uses_debuginfod,
                                      .stop = given->stop };
  symbols->most_seconds = given->most_seconds > 0 ? given->most_seconds : DEFAULT_SECONDS;
  symbols->cache_folder = given->cache_folder != NULL ? lns_strdup (given->cache_folder) : NULL;
  return symbols;
}

void
lns_symbols_free (LnsSymbols *symbols)
{
  if (symbols == NULL)
    return;
  for (size_t i = 0; i < symbols->search.n_folders; i++)
    free (symbols->folders[i]);
  free (symbols->folders);
  free (symbols->cache_folder);
  free (symbols);
}

LnsBuildId
lns_symbols_boot_id (void)
{
  LnsBuildId id = { .n = 0 };
  char text[64] = "";
  FILE *file = fopen ("/proc/sys/kernel/random/boot_id", "re");
  if (file == NULL)
    return id;
  if (fgets (text, sizeof text, file) == NULL)
    text[0] = '\0';
  fclose (file);
  for (const char *at = text; id.n < 16; at += 2)
    {
      unsigned byte;
      at += *at == '-';
      if (sscanf (at, "%2x", &byte) != 1)
        return (LnsBuildId){ .n = 0 };
      id.bytes[id.n++] = (uint8_t)byte;
    }
  return id;
}

/* --- One look-up --------------------------------------------------------------------------------- */

typedef struct
{
  uint64_t offset;
  size_t i;
} Address;

typedef struct
{
  const uint64_t *offsets; /* ascending */
  size_t n;
  bool *has;            /* which of them have frames */
  const Address *order; /* where the caller has each; NULL if there, too */
  LnsSymbolsFunc func;
  void *context;
} LookUp;

static int
compare_addresses (const void *a, const void *b)
{
  const Address *x = a, *y = b;
  return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1) : (x->i > y->i) - (x->i < y->i);
}

/* Sorts the offsets. NULL if they are sorted, else their order, and *RET_OFFSETS in that order; both owned. */
static Address *
sort (const uint64_t *offsets, size_t n, uint64_t **ret_offsets)
{
  size_t n_sorted = n > 0;
  while (n_sorted < n && offsets[n_sorted - 1] <= offsets[n_sorted])
    n_sorted++;
  if (n_sorted == n)
    return NULL;
  Address *order = lns_calloc (n, sizeof *order);
  *ret_offsets = lns_calloc (n, sizeof **ret_offsets);
  for (size_t i = 0; i < n; i++)
    order[i] = (Address){ offsets[i], i };
  qsort (order, n, sizeof *order, compare_addresses);
  for (size_t i = 0; i < n; i++)
    (*ret_offsets)[i] = order[i].offset;
  return order;
}

static void
forward (void *context, size_t i, const LnsSymbolFrame *frames, size_t n_frames)
{
  const LookUp *look_up = context;
  look_up->has[i] = true;
  look_up->func (look_up->context, look_up->order != NULL ? look_up->order[i].i : i, frames,
                 n_frames);
}

/* Whether the module is what this machine has, for those that no search is needed for. */
static bool
is_here (const LnsSymbolModule *module)
{
  LnsBuildId id = { .n = 0 };
  if (module->kind == LNS_SYMBOL_MODULE_KERNEL)
    id = lns_symbols_boot_id ();
  else
    {
      LnsElfImage *image = lns_vdso_open ();
      if (image != NULL)
        id = lns_elf_image_build_id (image);
      lns_elf_image_free (image);
    }
  return id.n > 0 && lns_build_id_equal (&id, &module->build_id);
}

/* Chooses the job and the files of MODULE. False if there is nothing to read. */
static bool
prepare (const LnsSymbols *symbols,
         const LnsSymbolModule *module,
         LnsNameJob *job,
         LnsNameJobInput *input,
         LnsDebugFiles *files)
{
  input->image = module->path;
  input->uses_debug_info = true;
  switch (module->kind)
    {
    case LNS_SYMBOL_MODULE_PERF_MAP:
      job->run = lns_name_job_perf_map;
      return true;
    case LNS_SYMBOL_MODULE_JITDUMP:
      job->run = lns_name_job_jitdump;
      return true;
    case LNS_SYMBOL_MODULE_KERNEL: /* needs no worker */
    case LNS_SYMBOL_MODULE_ELF:
      break;
    }
  job->run = lns_name_job_elf;
  if (strcmp (module->path, "[vdso]") == 0)
    return is_here (module);
  *files = lns_debug_files_find (&symbols->search, module->path, &module->build_id);
  input->image = files->image;
  input->debug = files->debug;
  return files->image != NULL;
}

/* Calls what has no name by its module and offset. */
static void
name_the_rest (const LnsSymbolModule *module, LookUp *look_up)
{
  const char *path = module->kind == LNS_SYMBOL_MODULE_KERNEL ? "[kernel]" : module->path;
  const char *slash = strrchr (path, '/');
  const char *base = slash != NULL ? slash + 1 : path;
  char *name = lns_calloc (strlen (base) + 32, 1);
  for (size_t i = 0; i < look_up->n; i++)
    if (!look_up->has[i])
      {
        sprintf (name, "%s+0x%" PRIx64, base, look_up->offsets[i]);
        forward (look_up, i, &(LnsSymbolFrame){ .function = name, .source = LNS_NAME_NONE }, 1);
      }
  free (name);
}

static LnsWorkEnd
look_up_in_kernel (const LnsSymbols *symbols, const LnsSymbolModule *module, LookUp *look_up)
{
  const LnsKernelNamesOptions options = { .list = "/proc/kallsyms",
                                          .boot = module->build_id,
                                          .cache_folder = symbols->cache_folder,
                                          .most_cache_bytes = MOST_CACHE_BYTES,
                                          .stop = symbols->search.stop };
  return !is_here (module) ||
                 lns_kernel_names_find (&options, look_up->offsets, look_up->n, forward, look_up)
             ? LNS_WORK_DONE
             : LNS_WORK_STOPPED;
}

/* What of a module is kept between runs. */
typedef struct
{
  const LnsSymbols *symbols;
  char *name, *key;    /* of the file; owned; NULL if nothing is kept */
  LnsNameCache *cache; /* or NULL */
  LookUp *look_up;
  uint64_t *offsets; /* that the cache does not have */
  size_t *missed;    /* their numbers in the look-up */
  size_t n_missed;
} Kept;

/* Says which file is at PATH, so that another one in its place has another text. */
static char *
describe_file (const char *path)
{
  struct stat status;
  if (strcmp (path, "[vdso]") == 0 || stat (path, &status) != 0)
    return lns_strdup (path);
  return lns_asprintf ("%s %lld %lld.%09ld %llu:%llu", path, (long long)status.st_size,
                       (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
                       (unsigned long long)status.st_dev, (unsigned long long)status.st_ino);
}

/* Finds what of the look-up was kept, and lists the rest. A module is known by its build-id and all files that its names
 * come from. */
static void
find_kept (Kept *kept, const LnsSymbolModule *module, const LnsNameJobInput *input)
{
  LookUp *look_up = kept->look_up;
  LnsSymbolFrame frames[LNS_NAME_MOST_FRAMES];
  size_t n_frames;
  if (kept->symbols->cache_folder != NULL && module->kind == LNS_SYMBOL_MODULE_ELF &&
      module->build_id.n > 0)
    {
      char id[2 * LNS_MOST_BUILD_ID_BYTES + 1];
      char *image = describe_file (input->image);
      char *debug = describe_file (input->debug != NULL ? input->debug : "-");
      lns_build_id_text (&module->build_id, id);
      kept->key = lns_asprintf ("elf %s %s\n%s\n%s", id, LNS_VERSION, image, debug);
      kept->name = lns_asprintf ("%s-%016" PRIx64, id, lns_hash (kept->key, strlen (kept->key)));
      kept->cache = lns_name_cache_open (kept->symbols->cache_folder, kept->name, kept->key);
      free (image);
      free (debug);
    }
  kept->offsets = lns_calloc (look_up->n, sizeof *kept->offsets);
  kept->missed = lns_calloc (look_up->n, sizeof *kept->missed);
  for (size_t i = 0; i < look_up->n; i++)
    if (kept->cache == NULL ||
        !lns_name_cache_find (kept->cache, look_up->offsets[i], frames, &n_frames))
      {
        kept->missed[kept->n_missed] = i;
        kept->offsets[kept->n_missed++] = look_up->offsets[i];
      }
    else if (n_frames > 0)
      forward (look_up, i, frames, n_frames);
}

static void
forward_missed (void *context, size_t i, const LnsSymbolFrame *frames, size_t n_frames)
{
  const Kept *kept = context;
  forward (kept->look_up, kept->missed[i], frames, n_frames);
}

static void
keep_span (
    void *context, uint64_t start, uint64_t end, const LnsSymbolFrame *frames, size_t n_frames)
{
  lns_name_spans_add (context, start, end, frames, n_frames, false);
}

/* Has a worker name what was not kept, and keeps it. */
static LnsWorkEnd
name_missed (Kept *kept, LnsNameJob *job, LnsNameJobInput *input)
{
  LnsNameReader *reader = lns_name_reader_new (kept->n_missed, forward_missed, kept);
  LnsNameSpans *spans = kept->key != NULL ? lns_name_spans_new () : NULL;
  input->addresses = kept->offsets;
  input->n = kept->n_missed;
  input->wants_spans = spans != NULL;
  /* What was asked for before and lacks something now is asked for again and again. */
  input->wants_all_spans = kept->cache != NULL;
  if (spans != NULL)
    lns_name_reader_take_spans (reader, keep_span, spans);
  LnsWorkEnd end = lns_name_worker_run (job, reader);
  const int cause = errno;
  if (end == LNS_WORK_DONE && spans != NULL)
    {
      if (kept->cache != NULL)
        lns_name_spans_add_cache (spans, kept->cache);
      lns_name_spans_write (spans, kept->symbols->cache_folder, kept->name, kept->key,
                            MOST_CACHE_BYTES);
    }
  lns_name_reader_take_spans (reader, NULL, NULL);
  lns_name_spans_free (spans);
  errno = cause;
  if (end == LNS_WORK_BROKEN && input->debug != NULL)
    {
      /* Most likely the DWARF: symbol tables are simple, and may be sound. */
      input->uses_debug_info = input->wants_spans = false;
      end = lns_name_worker_run (job, reader);
    }
  const int last_cause = errno;
  lns_name_reader_free (reader);
  errno = last_cause;
  return end;
}

static LnsWorkEnd
look_up_in_files (const LnsSymbols *symbols, const LnsSymbolModule *module, LookUp *look_up)
{
  LnsNameJobInput input = { .n = 0 };
  LnsNameJob job = { .what = &input,
                     .most_seconds = symbols->most_seconds,
                     .stop = symbols->search.stop };
  LnsDebugFiles files = { .image = NULL };
  LnsWorkEnd end = LNS_WORK_DONE;
  if (prepare (symbols, module, &job, &input, &files))
    {
      Kept kept = { .symbols = symbols, .look_up = look_up };
      find_kept (&kept, module, &input);
      if (kept.n_missed > 0)
        end = name_missed (&kept, &job, &input);
      const int cause = errno;
      lns_name_cache_free (kept.cache);
      free (kept.name);
      free (kept.key);
      free (kept.offsets);
      free (kept.missed);
      errno = cause;
    }
  const int cause = errno;
  lns_debug_files_free (&files);
  errno = cause;
  return end;
}

bool
lns_symbols_look_up (const LnsSymbols *symbols,
                     const LnsSymbolModule *module,
                     const uint64_t *offsets,
                     size_t n,
                     LnsSymbolsFunc func,
                     void *context,
                     LnsError *error)
{
  uint64_t *sorted = NULL;
  Address *order = sort (offsets, n, &sorted);
  LookUp look_up = { .offsets = sorted != NULL ? sorted : offsets,
                     .n = n,
                     .has = lns_calloc (n, sizeof (bool)),
                     .order = order,
                     .func = func,
                     .context = context };
  LnsWorkEnd end = LNS_WORK_DONE;
  if (n > 0)
    end = module->kind == LNS_SYMBOL_MODULE_KERNEL ? look_up_in_kernel (symbols, module, &look_up)
                                                   : look_up_in_files (symbols, module, &look_up);
  const int cause = errno;
  /* A search for files that was stopped looks like one that found none. */
  const atomic_bool *stop = symbols->search.stop;
  if (end != LNS_WORK_NOT_BEGUN && stop != NULL &&
      atomic_load_explicit (stop, memory_order_relaxed))
    end = LNS_WORK_STOPPED;
  const bool is_done = end == LNS_WORK_DONE || end == LNS_WORK_BROKEN;
  if (is_done)
    name_the_rest (module, &look_up);
  else if (end == LNS_WORK_STOPPED)
    lns_error_set (error, LNS_ERROR_CANCELLED, 0, "%s: reading was cancelled", module->path);
  else
    lns_error_set_errno (error, cause, "cannot start a process that reads the symbols of “%s”",
                         module->path);
  free (look_up.has);
  free (sorted);
  free (order);
  return is_done;
}
