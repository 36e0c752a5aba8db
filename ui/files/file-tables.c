/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/files/file-tables.h"

#include <errno.h>
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "src/analysis/call-tree.h"
#include "src/analysis/source-lines.h"
#include "src/base/compare.h"
#include "src/base/format.h"
#include "src/base/regular-file.h"
#include "ui/model/display-text.h"
#include "ui/model/event-text.h"

/* Larger files are not shown. */
#define MAX_SOURCE_BYTES (8 << 20)

#define TAB_COLUMNS 8

const char *
lns_file_section_title (LnsFileSection section)
{
  static const char *const titles[LNS_N_FILE_SECTIONS] = { N_ ("Run"),     N_ ("Environment"),
                                                           N_ ("Output"),  N_ ("Devices"),
                                                           N_ ("Modules"), N_ ("Sources") };

  return _ (titles[section]);
}

const char *
lns_file_section_lacks (LnsFileSection section)
{
  static const char *const sentences[LNS_N_FILE_SECTIONS] = {
    N_ ("The report does not say how the program was started."),
    N_ ("The report does not hold the environment of the program."),
    N_ ("The report does not hold what the program printed: it does for programs that are recorded "
        "with --show-output=false."),
    N_ ("The report has no GPUs."),
    N_ ("The report has no modules: they are recorded with call chains (-s process-tree)."),
    N_ ("The report has no samples whose source is known: record CPU samples with debugging "
        "information, or Python samples."),
  };

  return _ (sentences[section]);
}

/* --- Tables of names and values --------------------------------------------------------------- */

static void
add_text_row (LnsRows *rows, const char *name, const char *value)
{
  if (value == NULL || *value == '\0')
    return;
  lns_rows_add (rows,
                (LnsResultCell[]){ { .bytes = name, .size_bytes = strlen (name) },
                                   { .bytes = value, .size_bytes = strlen (value) } },
                NULL);
}

static LnsResult *
names_new (void)
{
  const LnsResultColumn columns[] = { { _ ("Name"), LNS_RESULT_TEXT, 0 },
                                      { _ ("Value"), LNS_RESULT_TEXT, 0 } };
  return lns_result_new (columns, G_N_ELEMENTS (columns), SIZE_MAX);
}

static LnsResult *
run_table (LnsReport *report)
{
  static const struct
  {
    const char *key, *title;
  } keys[] = {
    { "command_line", N_ ("Command line") },
    { "working_directory", N_ ("Working folder") },
    { "trace", N_ ("Recorded (--trace)") },
    { "trace_asked", N_ ("Asked for (--trace)") },
    { "backtrace", N_ ("Call chains (--backtrace)") },
    { "product", N_ ("Recorded by") },
    { "imported_from", N_ ("Imported from") },
    { "host_name", N_ ("Host") },
    { "os", N_ ("System") },
    { "kernel", N_ ("Linux") },
    { "cpu_model", N_ ("CPU") },
    { "cpu_count", N_ ("Number of CPUs") },
    { "cpu_arch", N_ ("Architecture") },
    { "driver_version", N_ ("GPU driver") },
    { "cuda_driver_version", N_ ("CUDA of the driver") },
    { "cupti_path", N_ ("CUPTI") },
  };
  LnsResult *result = names_new ();
  uint32_t n;
  const LnsProcess *processes = lns_report_processes (report, &n);

  for (size_t i = 0; i < G_N_ELEMENTS (keys); i++)
    add_text_row (lns_result_rows (result), _ (keys[i].title),
                  lns_report_meta (report, keys[i].key));
  for (uint32_t i = 0; i < n; i++)
    {
      g_autofree char *name = lns_event_text_process (report, i);
      g_autofree char *line = lns_event_text_string (report, processes[i].command_line, true);
      if (processes[i].command_line != 0)
        add_text_row (lns_result_rows (result), name, line);
    }
  return result;
}

static LnsResult *
environment_table (LnsReport *report)
{
  static const char prefix[] = "env.";
  LnsResult *result = names_new ();
  const char *key, *value;

  for (size_t i = 0; (key = lns_report_meta_at (report, prefix, i, &value)) != NULL; i++)
    add_text_row (lns_result_rows (result), key + strlen (prefix), value);
  return result;
}

/* --- Devices and modules ------------------------------------------------------------------------ */

static LnsResult *
devices_table (LnsReport *report)
{
  const LnsResultColumn columns[] = {
    { _ ("GPU"), LNS_RESULT_ID, 0 },
    { _ ("Name"), LNS_RESULT_TEXT, 0 },
    { _ ("Process"), LNS_RESULT_TEXT, 0 },
    { _ ("Bus"), LNS_RESULT_TEXT, 0 },
    { _ ("Capability"), LNS_RESULT_NUMBER, 1 },
    { _ ("Multiprocessors"), LNS_RESULT_COUNT, 0 },
    { _ ("Memory"), LNS_RESULT_BYTES, 0 },
    { _ ("L2 Cache"), LNS_RESULT_BYTES, 0 },
  };
  LnsResult *result = lns_result_new (columns, G_N_ELEMENTS (columns), SIZE_MAX);
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (report, &n);

  for (uint32_t i = 0; i < n; i++)
    {
      const LnsCudaDevice *gpu = &devices[i];
      g_autofree char *name = lns_event_text_string (report, gpu->name, true);
      g_autofree char *process = lns_event_text_process (report, gpu->process);
      g_autofree char *bus = lns_event_text_string (report, gpu->bus, true);
      const LnsResultCell cells[] = {
        { .number = gpu->number },
        { .bytes = name, .size_bytes = strlen (name) },
        { .bytes = process, .size_bytes = strlen (process) },
        { .bytes = bus, .size_bytes = strlen (bus) },
        { .number = 10 * (int64_t)gpu->compute_major + gpu->compute_minor },
        { .number = gpu->n_multiprocessors, .is_empty = gpu->n_multiprocessors == 0 },
        { .number = (int64_t)gpu->memory_bytes, .is_empty = gpu->memory_bytes == 0 },
        { .number = (int64_t)gpu->l2_bytes, .is_empty = gpu->l2_bytes == 0 },
      };
      lns_rows_add (lns_result_rows (result), cells, NULL);
    }
  return result;
}

/* The files that processes mapped, each once with the code it has in one of them. */
static LnsResult *
modules_table (LnsReport *report)
{
  const LnsResultColumn columns[] = {
    { _ ("Path"), LNS_RESULT_TEXT, 0 },
    { _ ("Code"), LNS_RESULT_BYTES, 0 },
    { _ ("Build ID"), LNS_RESULT_TEXT, 0 },
  };
  LnsResult *result = lns_result_new (columns, G_N_ELEMENTS (columns), SIZE_MAX);
  g_autoptr (GHashTable) known = g_hash_table_new (NULL, NULL);
  uint32_t n;
  const LnsModule *modules = lns_report_modules (report, &n);

  for (uint32_t i = 0; i < n; i++)
    {
      if (modules[i].kind == LNS_MODULE_ANONYMOUS ||
          !g_hash_table_add (known, GUINT_TO_POINTER (modules[i].path)))
        continue;
      g_autofree char *path = lns_event_text_string (report, modules[i].path, true);
      size_t size_bytes;
      const char *id = lns_report_string (report, modules[i].build_id, &size_bytes);
      GString *digits = g_string_new (NULL);
      for (size_t b = 0; b < size_bytes; b++)
        g_string_append_printf (digits, "%02x", (unsigned char)id[b]);
      const LnsResultCell cells[] = {
        { .bytes = path, .size_bytes = strlen (path) },
        { .number = (int64_t)(modules[i].end - modules[i].start),
          .is_empty = modules[i].end <= modules[i].start },
        { .bytes = digits->str, .size_bytes = digits->len, .is_empty = digits->len == 0 },
      };
      lns_rows_add (lns_result_rows (result), cells, NULL);
      g_string_free (digits, TRUE);
    }
  return result;
}

/* --- Sources ---------------------------------------------------------------------------------- */

/* N of N_ALL as a cell of shares, with one decimal. */
static LnsResultCell
share_cell (uint64_t n, uint64_t n_all)
{
  return (LnsResultCell){ .number = llround (1000 * (double)n / (double)MAX (n_all, 1)),
                          .is_empty = n == 0 };
}

/* The lines of the samples that REPORT has. */
static bool
read_lines (LnsReport *report,
            const atomic_bool *cancel,
            LnsSourceLines *ret_lines,
            uint64_t *ret_n,
            LnsError *error)
{
  const LnsLaneKind kinds[] = { LNS_LANE_PYTHON_SAMPLE, LNS_LANE_CPU_SAMPLE };

  *ret_lines = (LnsSourceLines){ 0 };
  *ret_n = 0;
  /* Python's own lines are what its programmer can change; where there are none, those of the machine. */
  for (size_t i = 0; i < G_N_ELEMENTS (kinds) && ret_lines->n == 0; i++)
    if (lns_call_has_samples (report, kinds[i]) &&
        !lns_source_lines (report, kinds[i], cancel, ret_lines, ret_n, error))
      return false;
  return true;
}

/* That with most samples first. */
static int
compare_files (gconstpointer a, gconstpointer b)
{
  const LnsSourceLine *x = a, *y = b;

  return LNS_COMPARE (y->self, x->self) ?: LNS_COMPARE (x->file, y->file);
}

static LnsResult *
sources_table (LnsReport *report, const atomic_bool *cancel, LnsError *error)
{
  const LnsResultColumn columns[] = {
    { _ ("File"), LNS_RESULT_TEXT, 0 },
    { _ ("In It"), LNS_RESULT_SHARE, 1 },
    { _ ("Samples"), LNS_RESULT_COUNT, 0 },
  };
  LnsSourceLines lines;
  uint64_t n_samples;

  if (!read_lines (report, cancel, &lines, &n_samples, error))
    return NULL;
  g_autoptr (GArray) files = g_array_new (FALSE, FALSE, sizeof (LnsSourceLine));
  for (size_t i = 0, next; i < lines.n; i = next)
    {
      LnsSourceLine file = lines.items[i];
      for (next = i + 1; next < lines.n && lines.items[next].file == file.file; next++)
        file.self += lines.items[next].self;
      g_array_append_val (files, file);
    }
  lns_array_clear (&lines);
  g_array_sort (files, compare_files);
  LnsResult *result = lns_result_new (columns, G_N_ELEMENTS (columns), SIZE_MAX);
  for (guint i = 0; i < files->len; i++)
    {
      const LnsSourceLine *file = &g_array_index (files, LnsSourceLine, i);
      size_t size_bytes;
      const char *path = lns_report_string (report, file->file, &size_bytes);
      const LnsResultCell cells[] = { { .bytes = path, .size_bytes = size_bytes },
                                      share_cell (file->self, n_samples),
                                      { .number = (int64_t)file->self } };
      lns_rows_add (lns_result_rows (result), cells, NULL);
    }
  return result;
}

/* The text of the file at PATH. Free with g_free (). NULL and ERROR where it cannot be read. */
static char *
read_source (const char *path, int64_t *ret_changed_ns, gsize *ret_size, LnsError *error)
{
  const int fd = lns_regular_file_open (path);
  struct stat status;
  gsize n = 0;
  ssize_t n_read = 1;

  if (fd < 0)
    {
      lns_error_set (error, LNS_ERROR_IO, errno, "%s cannot be read on this machine", path);
      return NULL;
    }
  if (fstat (fd, &status) != 0 || status.st_size > MAX_SOURCE_BYTES)
    {
      lns_error_set (error, LNS_ERROR_IO, 0, "%s is too large for a source file", path);
      close (fd);
      return NULL;
    }
  char *text = g_malloc ((gsize)status.st_size + 1);
  while (n < (gsize)status.st_size && (n_read = read (fd, text + n, (gsize)status.st_size - n)) > 0)
    n += (gsize)n_read;
  close (fd);
  text[n] = '\0';
  *ret_changed_ns = (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
  *ret_size = n;
  return text;
}

/* LINE of SIZE bytes with spaces for tabs, so that it stands as it was written. Free with g_free (). */
static char *
line_text (const char *line, gsize size)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (gsize i = 0; i < size; i++)
    if (line[i] != '\t')
      g_string_append_c (text, line[i]);
    else
      do
        g_string_append_c (text, ' ');
      while (text->len % TAB_COLUMNS != 0);
  return lns_display_text (text->str, text->len, TRUE);
}

LnsResult *
lns_file_source (LnsReport *report,
                 const char *path,
                 const atomic_bool *cancel,
                 bool *ret_is_newer,
                 LnsError *error)
{
  const LnsResultColumn columns[] = {
    { _ ("Line"), LNS_RESULT_ID, 0 },
    { _ ("In It"), LNS_RESULT_SHARE, 1 },
    { _ ("With Calls"), LNS_RESULT_SHARE, 1 },
    { _ ("Source"), LNS_RESULT_TEXT, 0 },
  };
  LnsSourceLines lines;
  uint64_t n_samples;
  int64_t changed_ns;
  gsize size;
  g_autofree char *text = read_source (path, &changed_ns, &size, error);

  if (text == NULL || !read_lines (report, cancel, &lines, &n_samples, error))
    return NULL;
  *ret_is_newer = changed_ns > lns_report_info (report)->t0_realtime_ns;
  LnsResult *result = lns_result_new (columns, G_N_ELEMENTS (columns), SIZE_MAX);
  size_t at = 0;
  while (at < lines.n && strcmp (lns_report_string (report, lines.items[at].file, NULL), path) != 0)
    at++;
  const uint32_t file = at < lines.n ? lines.items[at].file : 0;
  const char *start = text, *end = text + size;
  for (uint32_t number = 1; start < end; number++)
    {
      const char *stop = memchr (start, '\n', (size_t)(end - start));
      stop = stop != NULL ? stop : end;
      g_autofree char *shown = line_text (start, (gsize)(stop - start));
      while (at < lines.n && lines.items[at].file == file && lines.items[at].line < number)
        at++;
      const bool is_known =
          at < lines.n && lines.items[at].file == file && lines.items[at].line == number;
      const LnsResultCell cells[] = {
        { .number = number },
        share_cell (is_known ? lines.items[at].self : 0, n_samples),
        share_cell (is_known ? lines.items[at].total : 0, n_samples),
        { .bytes = shown, .size_bytes = strlen (shown) },
      };
      lns_rows_add (lns_result_rows (result), cells, NULL);
      start = stop + 1;
    }
  lns_array_clear (&lines);
  return result;
}

/* --- All -------------------------------------------------------------------------------------- */

LnsResult *
lns_file_table (LnsReport *report,
                LnsFileSection section,
                const atomic_bool *cancel,
                LnsError *error)
{
  switch (section)
    {
    case LNS_FILE_RUN:
      return run_table (report);
    case LNS_FILE_ENVIRONMENT:
      return environment_table (report);
    case LNS_FILE_DEVICES:
      return devices_table (report);
    case LNS_FILE_MODULES:
      return modules_table (report);
    case LNS_FILE_SOURCES:
      return sources_table (report, cancel, error);
    case LNS_FILE_OUTPUT:
    case LNS_N_FILE_SECTIONS:
      break;
    }
  return NULL;
}

/* Appends the pieces of the stream NAME ("stdout") to TEXT, in order, below HEADING. */
static void
append_stream (GString *text, LnsReport *report, const char *name, const char *heading)
{
  const char *piece;

  for (unsigned i = 0;; i++)
    {
      g_autofree char *key = g_strdup_printf ("%s.%u", name, i);
      piece = lns_report_meta (report, key);
      if (piece == NULL)
        return;
      if (i == 0)
        g_string_append_printf (text, "%s%s\n\n", text->len > 0 ? "\n\n" : "", heading);
      g_string_append (text, piece);
    }
}

char *
lns_file_output (LnsReport *report)
{
  g_autoptr (GString) text = g_string_new (NULL);

  append_stream (text, report, "stdout", _ ("Standard output:"));
  append_stream (text, report, "stderr", _ ("Standard error:"));
  return text->len > 0 ? lns_display_text (text->str, text->len, FALSE) : NULL;
}
