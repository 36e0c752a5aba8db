/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* --python-functions-trace, --pytorch and --dask: the list of Python functions to trace, and the variables that make
 * processes load capture/python. */

#include "src/cli/profile/profile.h"

#include <errno.h>
#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/cli/terminal/language.h"

#define FOLDER_VARIABLE    "LANESCOPE_PYTHON_FOLDER"
#define FUNCTIONS_VARIABLE "LANESCOPE_PYTHON_FUNCTIONS"
#define STARTER            "liblanescope-python-start.so"

/* Between the words of a command line, or of a shell's. */
#define BLANKS " \t\r\n\"';&|()"

/* A process takes no longer variable than 128 KiB. */
#define TEXT_MAX_BYTES (120u << 10)

char *
lns_profile_python_folder (const char *injection, LnsError *error)
{
  static const char *const places[] = { "../python", "python" };
  const char *slash = strrchr (injection, '/');
  for (size_t i = 0; slash != NULL && i < sizeof places / sizeof *places; i++)
    {
      char *folder = lns_asprintf ("%.*s/%s", (int)(slash - injection), injection, places[i]);
      char *module = lns_asprintf ("%s/sitecustomize.py", folder);
      char *whole = access (module, R_OK) == 0 ? realpath (folder, NULL) : NULL;
      free (module);
      free (folder);
      if (whole != NULL)
        return whole;
    }
  lns_error_set (error, LNS_ERROR_UNSUPPORTED, 0,
                 "--python-functions-trace: this Lanescope was built without Python's "
                 "headers; install python3-dev and build it again");
  return NULL;
}

/* --- The list of functions -------------------------------------------------------------------- */

/* Fills ERROR with WHAT is wrong with entry N (from 1) of the file WHERE. */
static bool
refuse (LnsError *error, const char *where, size_t n, const char *what)
{
  return lns_cli_usage (error, "--python-functions-trace: %s, entry %zu: %s", where, n, _ (what));
}

/* The colour in VALUE, "0xRRGGBB", "#RRGGBB" or a number, opaque; NULL gives 0, none. */
static bool
read_color (const json_t *value, uint32_t *ret_color)
{
  *ret_color = 0;
  if (value == NULL || json_is_null (value))
    return true;
  if (json_is_integer (value))
    {
      *ret_color = 0xff000000u | (uint32_t)json_integer_value (value);
      return json_integer_value (value) >= 0 && json_integer_value (value) <= 0xffffff;
    }
  const char *text = json_string_value (value);
  if (text == NULL)
    return false;
  text += *text == '#' ? 1 : text[0] == '0' && (text[1] | 0x20) == 'x' ? 2 : 0;
  char *end;
  unsigned long number = strtoul (text, &end, 16);
  *ret_color = 0xff000000u | (uint32_t)number;
  return isxdigit ((unsigned char)*text) && *end == '\0' && number <= 0xffffff;
}

/* The text of VALUE; NULL if it is not a text of one line. */
static const char *
line_of (const json_t *value)
{
  const char *text = json_string_value (value);
  return text == NULL || strpbrk (text, "\t\n\r") != NULL ? NULL : text;
}

/* The same of KEY in ENTRY; "" if ENTRY does not have KEY. */
static const char *
text_of (const json_t *entry, const char *key)
{
  const json_t *value = json_object_get (entry, key);
  return value == NULL || json_is_null (value) ? "" : line_of (value);
}

static bool
add_entry (
    FILE *list, const char *kind, const json_t *entry, const char *where, size_t n, LnsError *error)
{
  const char *module = text_of (entry, "module"), *domain = text_of (entry, "domain"),
             *category = text_of (entry, "category");
  const json_t *functions = json_object_get (entry, "functions");
  uint32_t color_of_all, color;
  if (!json_is_object (entry) || module == NULL || module[0] == '\0')
    return refuse (error, where, n,
                   N_ ("“module” must name a module: {\"module\": \"package.module\", …}"));
  if (domain == NULL || category == NULL)
    return refuse (error, where, n, N_ ("“domain” and “category” must be strings"));
  if (!read_color (json_object_get (entry, "color"), &color_of_all))
    return refuse (error, where, n, N_ ("“color” must be a color, such as \"0x008000\""));
  if (!json_is_array (functions) || json_array_size (functions) == 0)
    return refuse (error, where, n,
                   N_ ("“functions” must be a list, such as [\"function\", \"Class.method\"]"));
  for (size_t i = 0; i < json_array_size (functions); i++)
    {
      const json_t *given = json_array_get (functions, i);
      const bool has_own = json_is_object (given);
      const char *name = has_own ? text_of (given, "function") : line_of (given);
      if (name == NULL || name[0] == '\0' ||
          !read_color (has_own ? json_object_get (given, "color") : NULL, &color))
        return refuse (error, where, n,
                       N_ ("each of “functions” must be a name, or {\"function\": NAME, \"color\": "
                           "\"0x008000\"}"));
      fprintf (list, "%s\t%s\t%s\t%s\t%s\t%x\n", kind, module, name, domain, category,
               color != 0 ? color : color_of_all);
    }
  return true;
}

/* Adds the functions in the file at PATH to LIST, as rows of KIND. */
static bool
add_file (FILE *list, const char *kind, const char *path, LnsError *error)
{
  json_error_t wrong;
  FILE *file = fopen (path, "re");
  if (file == NULL)
    return lns_error_set_errno (error, errno, "--python-functions-trace: cannot read \"%s\"", path);
  json_t *entries = json_loadf (file, 0, &wrong);
  fclose (file);
  if (entries == NULL)
    return lns_cli_usage (error, "--python-functions-trace: %s is not valid JSON: line %d: %s",
                          path, wrong.line, wrong.text);
  bool done =
      json_is_array (entries) ||
      lns_cli_usage (
          error,
          "--python-functions-trace: %s must hold a list: [{\"module\": …, \"functions\": […]}]",
          path);
  for (size_t i = 0; done && i < json_array_size (entries); i++)
    done = add_entry (list, kind, json_array_get (entries, i), path, i + 1, error);
  json_decref (entries);
  return done;
}

/* --- The environment -------------------------------------------------------------------------- */

/* Whether WORD, up to a blank, is the name or path of a Python. */
static bool
is_python (const char *word)
{
  const size_t n = strcspn (word, BLANKS);
  const char *slash = memrchr (word, '/', n);
  return strncmp (slash == NULL ? word : slash + 1, "python", 6) == 0;
}

/* Whether the switches in TEXT, separated by blanks, make Python ignore PYTHONPATH. */
static bool
has_such_switches (const char *text)
{
  for (const char *word = text; word[0] == '-' && word[1] != '-' && word[1] != '\0';)
    {
      const size_t n_word = strcspn (word, BLANKS), n = 1 + strcspn (word + 1, "cmWX" BLANKS);
      if (1 + strcspn (word + 1, "IES") < n)
        return true;
      if (word[n] == 'c' || word[n] == 'm')
        return false;
      const bool has_value_next = n + 1 == n_word; /* of -X and -W */
      word += n_word + strspn (word + n_word, BLANKS);
      if (has_value_next)
        word += strcspn (word, BLANKS), word += strspn (word, BLANKS);
    }
  return false;
}

/* Whether ARGV runs such a Python: python3 -I x.py, mpirun python3 -E x.py, sh -c 'python3 -S x.py', or a script whose
 * first line does. */
static bool
ignores_environment (char **argv)
{
  char line[256] = "";
  FILE *script = fopen (argv[0], "re");
  if (script != NULL && (fgets (line, sizeof line, script) == NULL || strncmp (line, "#!", 2) != 0))
    line[0] = '\0';
  if (script != NULL)
    fclose (script);
  char *all = NULL;
  size_t n_bytes = 0;
  FILE *words = lns_memory_stream (&all, &n_bytes);
  fprintf (words, "%s ", line[0] != '\0' ? line + 2 : "");
  for (char **word = argv; *word != NULL; word++)
    fprintf (words, "%s ", *word);
  lns_memory_stream_end (words);
  bool ignores = false;
  for (const char *word = all + strspn (all, BLANKS); !ignores && *word != '\0';)
    {
      const char *next = word + strcspn (word, BLANKS);
      next += strspn (next, BLANKS);
      ignores = is_python (word) && has_such_switches (next);
      word = next;
    }
  free (all);
  return ignores;
}

static void
set_variables (LnsProfile *profile, const char *folder, const char *functions)
{
  LnsEnvironment *environment = &profile->environment;
  char *starter = lns_asprintf ("%s/" STARTER, folder);
  if (!lns_environment_set (environment, FUNCTIONS_VARIABLE, functions) ||
      !lns_environment_set (environment, FOLDER_VARIABLE, folder) ||
      !lns_environment_prepend (environment, "PYTHONPATH", folder) ||
      (ignores_environment (profile->argv) &&
       !lns_environment_prepend (environment, "LD_PRELOAD", starter)))
    lns_out_of_memory ();
  free (starter);
}

/* --- The switches ----------------------------------------------------------------------------- */

static bool
add_preset (FILE *list, const char *folder, const char *name, LnsError *error)
{
  char *path = lns_asprintf ("%s/%s.json", folder, name);
  const bool done = add_file (list, "optional", path, error);
  free (path);
  return done;
}

/* Writes the list of functions that the switches ask for. */
static bool
list_functions (const LnsProfile *profile, const char *folder, FILE *list, LnsError *error)
{
  const LnsProfileOptions *given = &profile->options;
  if (given->python_functions_trace != NULL &&
      !add_file (list, "function", given->python_functions_trace, error))
    return false;
  for (size_t i = 0; i < given->pytorch.n_items; i++)
    if (strncmp (given->pytorch.items[i], "autograd", 8) == 0)
      fprintf (list, "pytorch\t%s\n", given->pytorch.items[i]);
    else if (strncmp (given->pytorch.items[i], "functions-trace", 15) == 0 &&
             !add_preset (list, folder, "pytorch", error))
      return false;
  return !lns_option_list_has (&given->dask, "functions-trace") ||
         add_preset (list, folder, "dask", error);
}

/* Whether LIST selects anything. */
static bool
asks (const LnsOptionList *list)
{
  return list->n_items > 0 && !lns_option_list_has (list, "none");
}

static bool
is_asked_for (const LnsProfile *profile)
{
  const LnsProfileOptions *given = &profile->options;
  return given->python_functions_trace != NULL || asks (&given->pytorch) || asks (&given->dask);
}

void
lns_profile_check_python (LnsProfile *profile)
{
  if (lns_option_list_has (&profile->options.pytorch, "functions-trace-shapes"))
    lns_cli_say ("warning", "--pytorch: functions are traced without the shapes of their tensors; "
                            "autograd-shapes-nvtx records those of operators [LNS-TRACE-001]");
  profile->wants_python = is_asked_for (profile);
  if (!profile->wants_python || (profile->target.traces & LNS_WIRE_TRACE_NVTX))
    return;
  profile->target.traces |= LNS_WIRE_TRACE_NVTX;
  lns_cli_say ("warning", "--trace: nvtx is recorded too, because calls of Python functions are "
                          "NVTX ranges [LNS-TRACE-003]");
}

bool
lns_profile_add_python (LnsProfile *profile, const char *injection, LnsError *error)
{
  char *text = NULL;
  size_t n_bytes = 0;
  if (!profile->wants_python)
    return true;
  char *folder = lns_profile_python_folder (injection, error);
  if (folder == NULL)
    return false;
  FILE *list = lns_memory_stream (&text, &n_bytes);
  bool done = list_functions (profile, folder, list, error);
  lns_memory_stream_end (list);
  if (done && n_bytes > TEXT_MAX_BYTES)
    done = lns_cli_usage (error,
                          "--python-functions-trace: the list of functions takes %zu bytes, and a "
                          "variable holds at most %u; list fewer functions",
                          n_bytes, TEXT_MAX_BYTES);
  if (done)
    set_variables (profile, folder, text);
  free (folder);
  free (text);
  return done;
}
