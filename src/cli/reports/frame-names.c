/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/reports/frame-names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/compare.h"
#include "src/base/folders.h"
#include "src/base/memory.h"
#include "src/cli/reports/code-maps.h"
#include "src/store/write/writer.h"
#include "src/symbols/cfi.h"
#include "src/symbols/vdso.h"

_Static_assert((int)LNS_FRAME_DYNAMIC_TABLE == LNS_NAME_DYNAMIC_TABLE &&
                   (int)LNS_FRAME_SYMBOL_TABLE == LNS_NAME_SYMBOL_TABLE &&
                   (int)LNS_FRAME_MAP == LNS_NAME_MAP &&
                   (int)LNS_FRAME_DEBUG_INFO == LNS_NAME_DEBUG_INFO,
               "reports keep the sources of names as numbers");

/* A frame, and what its name is looked up by. Modules with the same number are the same file. */
typedef struct
{
  uint32_t file;
  uint32_t frame;
  uint64_t offset;
} Place;

typedef struct
{
  LnsReport *report;
  const LnsFrameNamesOptions *options;
  LnsSymbols *symbols;
  LnsWriter *writer;
  const LnsStackFrame *frames;
  const LnsModule *modules;
  Place *places; /* by file, offset and frame; owned */
  size_t n_places;
  const size_t *
      firsts; /* of the present look-up: where each of its offsets begins in `places`, and the end */
  LNS_ARRAY (uint32_t) unnamed; /* of the present look-up: frames that have no name after it */
  bool has_changes;             /* there is something to commit */
  LnsFrameNames counts;
} Naming;

/* --- What is to be looked up ------------------------------------------------------------------- */

static int
compare_modules (const void *a, const void *b, void *data)
{
  const LnsModule *modules = data;
  const LnsModule *x = &modules[*(const uint32_t *)a], *y = &modules[*(const uint32_t *)b];
  /* All code that a process makes is in one map. */
  if (x->kind == LNS_MODULE_ANONYMOUS && y->kind == LNS_MODULE_ANONYMOUS)
    return LNS_COMPARE (x->process, y->process);
  return LNS_COMPARE (x->kind, y->kind)
             ?: LNS_COMPARE (x->path, y->path) ?: LNS_COMPARE (x->build_id, y->build_id);
}

/* A number for each of the report's modules, the same for those that are the same file. Owned. */
static uint32_t *
number_files (const Naming *naming)
{
  uint32_t n;
  lns_report_modules (naming->report, &n);
  uint32_t *order = lns_calloc (n, sizeof *order), *numbers = lns_calloc (n, sizeof *numbers);
  for (uint32_t i = 0; i < n; i++)
    order[i] = i;
  if (n > 0)
    qsort_r (order, n, sizeof *order, compare_modules, (void *)naming->modules);
  for (uint32_t i = 0, number = 0; i < n; i++)
    {
      number += i > 0 && compare_modules (&order[i - 1], &order[i], (void *)naming->modules) != 0;
      numbers[order[i]] = number;
    }
  free (order);
  return numbers;
}

static int
compare_places (const void *a, const void *b)
{
  const Place *x = a, *y = b;
  return LNS_COMPARE (x->file, y->file)
             ?: LNS_COMPARE (x->offset, y->offset) ?: LNS_COMPARE (x->frame, y->frame);
}

/* Whether a look-up can tell the name of FRAME. Inlined calls are looked up with the function that has their code. */
static bool
is_place (const LnsStackFrame *frame)
{
  return frame->module != LNS_ID_NONE && frame->inlined_in == 0;
}

/* What FRAME is looked up by: maps have addresses, not offsets. */
static uint64_t
offset_of (const Naming *naming, const LnsStackFrame *frame)
{
  const LnsModule *module = &naming->modules[frame->module];
  return module->kind == LNS_MODULE_ANONYMOUS
             ? module->start + (frame->offset - module->file_offset)
             : frame->offset;
}

/* Lists the frames that have no name, or may get a better one. */
static void
list_places (Naming *naming)
{
  uint32_t n;
  naming->frames = lns_report_frames (naming->report, &n);
  naming->modules = lns_report_modules (naming->report, NULL);
  naming->places = lns_calloc (n, sizeof *naming->places);
  uint32_t *files = number_files (naming);
  for (uint32_t i = 0; i < n; i++)
    {
      const LnsStackFrame *frame = &naming->frames[i];
      if (!is_place (frame))
        continue;
      naming->counts.n_addresses++;
      naming->counts.n_named += frame->is_resolved;
      /* One that is resolved without a source had its name from who recorded it. */
      if (!frame->is_resolved || (frame->source != LNS_FRAME_NOT_RESOLVED &&
                                  (frame->source < LNS_FRAME_DEBUG_INFO || frame->file == 0)))
        naming->places[naming->n_places++] =
            (Place){ files[frame->module], i, offset_of (naming, frame) };
    }
  free (files);
  if (naming->n_places > 0)
    qsort (naming->places, naming->n_places, sizeof *naming->places, compare_places);
}

/* --- The look-up ------------------------------------------------------------------------------- */

/* Whether the file of MODULE, which has no build-id, is the one that was recorded: it has not changed since it was
 * mapped. */
static bool
is_as_recorded (const Naming *naming, const LnsModule *module)
{
  const int64_t mapped_ns = module->mapped_ns != LNS_TIME_UNKNOWN ? module->mapped_ns : 0;
  struct stat status;
  return lns_cli_is_same_boot (naming->report) &&
         stat (lns_report_string (naming->report, module->path, NULL), &status) == 0 &&
         (int64_t)status.st_ctim.tv_sec * 1000000000 + status.st_ctim.tv_nsec <=
             lns_report_info (naming->report)->t0_realtime_ns + mapped_ns;
}

/* The build-id of this kernel's vDSO; the kernel does not tell that of a process's. */
static LnsBuildId
id_of_vdso (void)
{
  LnsElfImage *image = lns_vdso_open ();
  const LnsBuildId id = image != NULL ? lns_elf_image_build_id (image) : (LnsBuildId){ .n = 0 };
  lns_elf_image_free (image);
  return id;
}

/* Fills RET_MODULE with what a look-up in MODULE is given. RET_PATH gets its path, owned. Returns NULL, or why there is nothing
 * to look up in. */
static const char *
describe (const Naming *naming,
          const LnsModule *module,
          LnsSymbolModule *ret_module,
          char **ret_path)
{
  size_t n_id;
  const char *id = lns_report_string (naming->report, module->build_id, &n_id);
  const char *why = NULL;
  *ret_module = (LnsSymbolModule){ .kind = LNS_SYMBOL_MODULE_ELF };
  if (module->kind == LNS_MODULE_ANONYMOUS)
    {
      why = lns_cli_find_code_map (naming->report, module->process, ret_module);
      *ret_path = (char *)ret_module->path;
      return why;
    }
  ret_module->path = *ret_path =
      lns_strdup (lns_report_string (naming->report, module->path, NULL));
  if (module->kind == LNS_MODULE_KERNEL)
    ret_module->kind = LNS_SYMBOL_MODULE_KERNEL;
  ret_module->build_id.n = n_id <= sizeof ret_module->build_id.bytes ? n_id : 0;
  memcpy (ret_module->build_id.bytes, id, ret_module->build_id.n);
  if (ret_module->build_id.n > 0)
    return NULL;
  if (module->kind == LNS_MODULE_VDSO && lns_cli_is_same_boot (naming->report))
    ret_module->build_id = id_of_vdso ();
  else if (module->kind != LNS_MODULE_ELF || !is_as_recorded (naming, module))
    why = "it has no build-id, and may not be what was recorded";
  return why;
}

/* Puts what FOUND says into FRAME. */
static void
take_name (Naming *naming, LnsStackFrame *frame, const LnsSymbolFrame *found)
{
  const bool has_lines = !naming->options->leaves_lines_out && found->file != NULL;
  frame->symbol = lns_writer_string (naming->writer, found->function, strlen (found->function));
  frame->is_resolved = 1;
  frame->source = found->source;
  frame->file =
      has_lines ? lns_writer_string (naming->writer, found->file, strlen (found->file)) : 0;
  frame->line = has_lines ? found->line : 0;
}

/* Whether FOUND tells more of FRAME than is known. */
static bool
is_better (const Naming *naming, const LnsSymbolFrame *found, const LnsStackFrame *frame)
{
  const LnsNameSource known = (LnsNameSource)frame->source;
  return found->source > known ||
         (found->source == known && known != LNS_NAME_NONE && found->file != NULL &&
          frame->file == 0 && !naming->options->leaves_lines_out);
}

/* Gives the frames at the offset number I their names. */
static void
take_names (void *context, size_t i, const LnsSymbolFrame *found, size_t n_found)
{
  Naming *naming = context;
  const LnsSymbolFrame *function = &found[n_found - 1];
  for (size_t at = naming->firsts[i]; at < naming->firsts[i + 1]; at++)
    {
      const uint32_t id = naming->places[at].frame;
      LnsStackFrame frame = naming->frames[id];
      if (!is_better (naming, function, &frame))
        {
          if (!frame.is_resolved)
            *lns_array_add (&naming->unnamed) = id;
          continue;
        }
      naming->counts.n_named += !frame.is_resolved;
      naming->counts.n_new++;
      naming->has_changes = true;
      take_name (naming, &frame, function);
      LnsStackFrame inlined = { .module = frame.module, .offset = frame.offset };
      frame.innermost = 1 + id;
      for (size_t k = n_found - 1; k-- > 0;)
        {
          take_name (naming, &inlined, &found[k]);
          inlined.inlined_in = frame.innermost;
          frame.innermost = 1 + lns_writer_add_frame (naming->writer, &inlined);
        }
      if (n_found == 1)
        frame.innermost = 0;
      lns_writer_set_frame (naming->writer, id, &frame);
    }
}

/* The file that has the code of WHAT, or NULL. RET_WHY gets why there is none, or why addresses in it have no names. */
static LnsElfImage *
open_image (const LnsSymbolModule *what, const LnsModule *module, const char **ret_why)
{
  LnsElfImage *image = NULL;
  *ret_why = NULL;
  if (module->kind == LNS_MODULE_ANONYMOUS)
    *ret_why = "the file does not list them";
  else if (module->kind == LNS_MODULE_KERNEL)
    *ret_why = "the list of its functions needs privileges, and the boot that was recorded";
  else if (module->kind == LNS_MODULE_VDSO)
    *ret_why = "the vDSO of this kernel is another one";
  else if (access (what->path, R_OK) != 0)
    *ret_why = "the file cannot be read here";
  if (*ret_why != NULL)
    return NULL;
  image = lns_elf_image_open (what->path);
  const LnsBuildId id = image != NULL ? lns_elf_image_build_id (image) : (LnsBuildId){ .n = 0 };
  const bool is_same = what->build_id.n == 0 || lns_build_id_equal (&id, &what->build_id);
  *ret_why = image == NULL ? "the file that is here now is not a program or library"
             : !is_same    ? "the file that is here now has another build-id"
                           : "no symbols cover them; --debug-symbols adds folders to search";
  if (!is_same)
    lns_elf_image_free (image);
  return is_same ? image : NULL;
}

/* Calls FRAME, which has no name, by where its function begins, so that all addresses of one are one function: stripped
 * programs keep call frame information, which says so. */
static void
name_by_start (
    Naming *naming, uint32_t id, const LnsElfImage *image, const LnsCfi *cfi, const char *base)
{
  LnsStackFrame frame = naming->frames[id];
  char *name = NULL;
  uint64_t address, start;

  if (lns_elf_image_address (image, frame.offset, &address) &&
      lns_cfi_function (cfi, address, &start) && address - start <= frame.offset)
    name = lns_asprintf ("%s+0x%" PRIx64, base, frame.offset - (address - start));
  if (name != NULL && strcmp (name, lns_report_string (naming->report, frame.symbol, NULL)) != 0)
    {
      frame.symbol = lns_writer_string (naming->writer, name, strlen (name));
      lns_writer_set_frame (naming->writer, id, &frame);
      naming->has_changes = true;
    }
  free (name);
}

static void
name_by_starts (Naming *naming, const LnsSymbolModule *what, const LnsElfImage *image)
{
  const char *slash = strrchr (what->path, '/');
  LnsCfi *cfi = lns_cfi_new (image);
  for (size_t i = 0; cfi != NULL && i < naming->unnamed.n; i++)
    name_by_start (naming, naming->unnamed.items[i], image, cfi,
                   slash != NULL ? slash + 1 : what->path);
  lns_cfi_free (cfi);
}

/* Looks up the N addresses of PLACES, which are in WHAT, each once. */
static bool
look_up_places (
    Naming *naming, const LnsSymbolModule *what, const Place *places, size_t n, LnsError *error)
{
  uint64_t *offsets = lns_calloc (n, sizeof *offsets);
  size_t *firsts = lns_calloc (n + 1, sizeof *firsts), n_offsets = 0;
  for (size_t i = 0; i < n; i++)
    if (n_offsets == 0 || places[i].offset != offsets[n_offsets - 1])
      {
        firsts[n_offsets] = (size_t)(places - naming->places) + i;
        offsets[n_offsets++] = places[i].offset;
      }
  firsts[n_offsets] = (size_t)(places - naming->places) + n;
  naming->firsts = firsts;
  const bool is_done =
      lns_symbols_look_up (naming->symbols, what, offsets, n_offsets, take_names, naming, error);
  free (firsts);
  free (offsets);
  return is_done;
}

/* Looks up the N PLACES, which are in one file, and notes those that have no name after it. */
static bool
look_up (Naming *naming, const Place *places, size_t n, LnsError *error)
{
  const LnsModule *module = &naming->modules[naming->frames[places->frame].module];
  LnsSymbolModule what;
  char *path;
  bool is_done = true;
  const char *why = describe (naming, module, &what, &path);
  naming->unnamed.n = 0;
  for (size_t i = 0; why != NULL && i < n; i++)
    if (!naming->frames[places[i].frame].is_resolved)
      *lns_array_add (&naming->unnamed) = places[i].frame;
  if (why == NULL)
    is_done = look_up_places (naming, &what, places, n, error);
  if (is_done && naming->unnamed.n > 0)
    {
      LnsElfImage *image = why == NULL ? open_image (&what, module, &why) : NULL;
      if (image != NULL)
        name_by_starts (naming, &what, image);
      lns_elf_image_free (image);
      *lns_array_add (&naming->counts.unnamed) =
          (LnsUnnamedFile){ .path = path, .n_addresses = naming->unnamed.n, .why = why };
      path = NULL;
    }
  free (path);
  return is_done;
}

static void
show_progress (const Naming *naming, size_t n_done)
{
  if (naming->options->progress != NULL)
    naming->options->progress (naming->n_places > 0 ? (double)n_done / (double)naming->n_places : 1,
                               naming->options->progress_data);
}

static bool
look_all_up (Naming *naming, LnsError *error)
{
  bool is_done = true;
  for (size_t at = 0, n; is_done && at < naming->n_places; at += n)
    {
      for (n = 1;
           at + n < naming->n_places && naming->places[at + n].file == naming->places[at].file;)
        n++;
      show_progress (naming, at);
      is_done = look_up (naming, &naming->places[at], n, error);
    }
  return is_done;
}

void
lns_cli_frame_names_clear (LnsFrameNames *names)
{
  for (size_t i = 0; i < names->unnamed.n; i++)
    free (names->unnamed.items[i].path);
  lns_array_clear (&names->unnamed);
}

/* Finds the folder in which names are kept. None for root in the home of a user, who could not use what root makes there. */
static bool
find_cache_folder (char ret_folder[PATH_MAX])
{
  const char *cache = getenv ("XDG_CACHE_HOME"), *home = getenv ("HOME");
  struct stat status;
  const char *owned = cache != NULL && cache[0] == '/' ? cache : home;
  if (owned != NULL && stat (owned, &status) == 0 && status.st_uid != geteuid ())
    return false;
  return lns_find_cache_folder ("symbols", ret_folder) && access (ret_folder, W_OK) == 0;
}

/* The folders of OPTIONS, and everything else that a look-up wants. */
static LnsSymbols *
make_symbols (const LnsFrameNamesOptions *options)
{
  char *text = lns_strdup (options->folders != NULL ? options->folders : ""), *rest = NULL;
  LNS_ARRAY (const char *) folders = { 0 };
  for (char *at = strtok_r (text, ":", &rest); at != NULL; at = strtok_r (NULL, ":", &rest))
    *lns_array_add (&folders) = at;
  /* Without a place for a cache everything is read anew. */
  char cache_folder[PATH_MAX];
  const bool has_cache = find_cache_folder (cache_folder);
  LnsSymbols *symbols =
      lns_symbols_new (&(LnsSymbolsOptions){ .folders = folders.items,
                                             .n_folders = folders.n,
                                             .uses_debuginfod = options->uses_debuginfod,
                                             .stop = options->stop,
                                             .cache_folder = has_cache ? cache_folder : NULL });
  lns_array_clear (&folders);
  free (text);
  return symbols;
}

bool
lns_cli_name_frames (const char *path,
                     const LnsFrameNamesOptions *options,
                     LnsFrameNames *ret_names,
                     LnsError *error)
{
  Naming naming = { .options = options };
  naming.report = lns_report_open (path, NULL, error);
  if (naming.report == NULL)
    return false;
  list_places (&naming);
  bool is_done = true;
  if (naming.n_places > 0)
    {
      naming.writer = lns_writer_amend (naming.report, !options->is_new, error);
      naming.symbols = make_symbols (options);
      is_done = naming.writer != NULL && look_all_up (&naming, error);
      lns_symbols_free (naming.symbols);
    }
  if (is_done && naming.has_changes)
    is_done = lns_writer_finish_amendment (naming.writer, error);
  else if (naming.writer != NULL)
    lns_writer_abandon (naming.writer);
  if (is_done)
    show_progress (&naming, naming.n_places);
  if (ret_names != NULL)
    *ret_names = naming.counts;
  else
    lns_cli_frame_names_clear (&naming.counts);
  lns_array_clear (&naming.unnamed);
  free (naming.places);
  lns_report_close (naming.report);
  return is_done;
}
