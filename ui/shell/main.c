/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* lanescope-ui [FILE…]: the viewer's entry point. */

#include <glib/gi18n.h>
#include <locale.h>

#include "lns-config.h"
#include "ui/shell/application.h"
#include "ui/timeline/bench.h"

int
main (int argc, char **argv)
{
  /* Software GL is several times slower than Cairo for a timeline's pixels, and GTK cannot be told
   * of it after gtk_init (). Whoever has a real GPU may set another renderer. */
  g_setenv ("GSK_RENDERER", "cairo", FALSE);

  /* Numbers are the same in every locale, as those of src/base/format.h are: GTK must not change it. */
  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C");
  gtk_disable_setlocale ();

  /* As gettext's own programs do: a build tree has its translations elsewhere. */
  const char *translations = g_getenv ("TEXTDOMAINDIR");
  bindtextdomain (LNS_GETTEXT_PACKAGE, translations != NULL ? translations : LNS_LOCALEDIR);
  bind_textdomain_codeset (LNS_GETTEXT_PACKAGE, "UTF-8");
  textdomain (LNS_GETTEXT_PACKAGE);

  g_autoptr (LnsApplication) application = lns_application_new ();
  lns_bench_add_option (G_APPLICATION (application));
  return g_application_run (G_APPLICATION (application), argc, argv);
}
