/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/functions/function-name.h"

#include <glib/gi18n.h>

#include "ui/model/display-text.h"
#include "ui/model/event-text.h"

/* NAME with an N for each of its numbers: "layers.N". Free with g_free (). */
static char *
without_numbers (const char *name)
{
  GString *text = g_string_new (NULL);

  for (const char *at = name; *at != '\0'; at++)
    if (!g_ascii_isdigit (*at))
      g_string_append_c (text, *at);
    else if (!g_ascii_isdigit (at[1]))
      g_string_append_c (text, 'N');
  return g_string_free (text, FALSE);
}

char *
lns_function_other_name (LnsReport *report, const LnsCallFunction *function, gboolean is_on_bar)
{
  static const LnsLaneKind lane_kinds[LNS_N_CALL_SORTS] = {
    [LNS_CALL_RANGE] = LNS_LANE_NVTX_PUSH_POP, [LNS_CALL_KERNEL] = LNS_LANE_CUDA_KERNEL,
    [LNS_CALL_COPY] = LNS_LANE_CUDA_MEMCPY,    [LNS_CALL_SET] = LNS_LANE_CUDA_MEMSET,
    [LNS_CALL_GRAPH] = LNS_LANE_CUDA_GRAPH,
  };
  g_autofree char *name = NULL;
  size_t size_bytes;

  switch ((LnsCallSort)function->sort)
    {
    case LNS_CALL_PROCESS:
      return lns_event_text_process (report, function->symbol);
    case LNS_CALL_THREAD:
      return lns_event_text_thread_or (report, function->symbol, _ ("Thread"));
    case LNS_CALL_NO_RANGE:
      name = lns_event_text_thread_or (report, function->symbol, _ ("Thread"));
      /* Translators: a thread, which asked for GPU work outside of NVTX ranges: "loader (4711): no range" */
      return g_strdup_printf (_ ("%s: no range"), name);
    case LNS_CALL_NO_LAUNCH:
      name = lns_event_text_process (report, function->symbol);
      /* Translators: a process, of which the CUDA calls that launched GPU work were not recorded */
      return g_strdup_printf (_ ("%s: launch not recorded"), name);
    default:
      break;
    }
  const char *whole = lns_report_string (report, function->symbol, &size_bytes);
  const LnsNames names = function->sort == LNS_CALL_KERNEL ? LNS_NAMES_KERNELS : LNS_NAMES_OWN;
  const char *shown = is_on_bar ? lns_event_bar_name (names, whole, &size_bytes)
                                : lns_event_short_name (names, whole, &size_bytes);
  if (size_bytes == 0)
    return g_strdup (lns_event_kind_name (lane_kinds[function->sort]));
  name = lns_display_text (shown, size_bytes, TRUE);
  return function->is_many ? without_numbers (name) : g_steal_pointer (&name);
}

char *
lns_function_module (LnsReport *report, const LnsCallFunction *function)
{
  static const char *const names[LNS_N_CALL_SORTS] = {
    [LNS_CALL_RANGE] = N_ ("NVTX ranges"),
    [LNS_CALL_KERNEL] = N_ ("Kernels"),
    [LNS_CALL_COPY] = N_ ("Copies"),
    [LNS_CALL_SET] = N_ ("Memsets"),
    [LNS_CALL_GRAPH] = N_ ("CUDA graphs"),
    [LNS_CALL_NO_RANGE] = N_ ("Outside of ranges"),
    [LNS_CALL_NO_LAUNCH] = N_ ("Launch not recorded"),
  };

  if (function->module != 0)
    {
      g_autofree char *name = lns_event_text_string (report, function->module, true);
      const char *category = lns_event_category_name (report, name);
      return function->sort == LNS_CALL_CODE ? g_steal_pointer (&name)
             : category != NULL              ? g_strdup (category)
                                             : g_strdup_printf ("NVTX: %s", name);
    }
  return g_strdup (names[function->sort] != NULL ? _ (names[function->sort]) : "");
}

char *
lns_function_module_name (LnsReport *report, const LnsCallFunction *function)
{
  g_autofree char *path = lns_function_module (report, function);

  if (function->sort != LNS_CALL_CODE)
    return g_steal_pointer (&path);
  return *path != '\0' ? g_path_get_basename (path) : g_strdup (_ ("(no module)"));
}

char *
lns_function_name (LnsReport *report, const LnsCallFunction *function, gboolean is_by_module)
{
  const gboolean is_unknown =
      function->symbol != 0 && function->symbol == function->module; /* of an import */

  if (function->sort != LNS_CALL_CODE)
    return lns_function_other_name (report, function, FALSE);
  if (!is_by_module && !is_unknown)
    return lns_event_text_string (report, function->symbol, true);
  g_autofree char *name = lns_function_module_name (report, function);
  return is_by_module ? g_steal_pointer (&name) : g_strconcat (name, "+0x…", NULL);
}
