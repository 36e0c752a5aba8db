/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* lanescope-ui [REPORT…]: the viewer's entry point. */

#include <glib/gi18n.h>
#include <locale.h>
#include <stdbool.h>
#include <string.h>

#include "lns-config.h"
#include "src/base/format.h"
#include "ui/shell/application.h"

/* Answers --version before anything needs a display. */
static int
local_options_cb (GApplication *application, GVariantDict *options, gpointer data)
{
  if (!g_variant_dict_contains (options, "version"))
    return -1; /* go on */
  g_print ("lanescope-ui %s\n", LNS_VERSION);
  return 0;
}

static void
describe_command_line (GApplication *application)
{
  const GOptionEntry entries[] = {
    /* Answered by the application itself, which needs the order of the arguments. */
    { "compare", 0, 0, G_OPTION_ARG_NONE, NULL,
      _ ("Open two reports in one window, and compare the second with the first"), NULL },
    { "version", 'v', 0, G_OPTION_ARG_NONE, NULL, _ ("Print the version"), NULL },
    { NULL }
  };
  g_application_add_main_option_entries (application, entries);
  g_application_set_option_context_parameter_string (application, _ ("[REPORT…]"));
  g_application_set_option_context_summary (
      application,
      _ ("Opens reports in the viewer, and files that nsys, PyTorch or Chrome recorded."));
  g_application_set_option_context_description (
      application, _ ("`lanescope help` lists the commands that work on reports."));
  g_signal_connect (application, "handle-local-options", G_CALLBACK (local_options_cb), NULL);
}

/* Has numbers shown with the signs of the person's locale. C has none for groups; signs that do not fit stay as they are. */
static void
use_signs (void)
{
  const struct lconv *signs = localeconv ();

  const bool has_more = strcmp (signs->decimal_point, ".") != 0 || signs->thousands_sep[0] != '\0';

  if (has_more && strlen (signs->decimal_point) == 1 &&
      g_utf8_validate (signs->thousands_sep, -1, NULL))
    lns_format_set_signs (signs->decimal_point[0], signs->thousands_sep);
}

int
main (int argc, char **argv)
{
  /* Software GL is several times slower than Cairo for a timeline's pixels, and GTK cannot be told
   * of it after gtk_init (). Whoever has a real GPU may set another renderer. */
  g_setenv ("GSK_RENDERER", "cairo", FALSE);

  /* Only numbers that are shown have the person's signs, all others are those of C: GTK must not change it. */
  setlocale (LC_ALL, "");
  use_signs ();
  setlocale (LC_NUMERIC, "C");
  gtk_disable_setlocale ();

  /* As gettext's own programs do: a build tree has its translations elsewhere. */
  const char *translations = g_getenv ("TEXTDOMAINDIR");
  bindtextdomain (LNS_GETTEXT_PACKAGE, translations != NULL ? translations : LNS_LOCALEDIR);
  bind_textdomain_codeset (LNS_GETTEXT_PACKAGE, "UTF-8");
  textdomain (LNS_GETTEXT_PACKAGE);

  g_autoptr (LnsApplication) application = lns_application_new ();
  describe_command_line (G_APPLICATION (application));
  return g_application_run (G_APPLICATION (application), argc, argv);
}
