/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/theme.h"

#include <adwaita.h>

LnsTheme
lns_theme_now (void)
{
  AdwStyleManager *manager = adw_style_manager_get_default ();
  return (adw_style_manager_get_dark (manager) ? LNS_THEME_DARK : LNS_THEME_LIGHT) |
         (adw_style_manager_get_high_contrast (manager) ? LNS_THEME_HIGH_CONTRAST : 0);
}

void
lns_theme_connect (GCallback callback, gpointer object)
{
  AdwStyleManager *manager = adw_style_manager_get_default ();
  g_signal_connect_object (manager, "notify::dark", callback, object, G_CONNECT_SWAPPED);
  g_signal_connect_object (manager, "notify::high-contrast", callback, object, G_CONNECT_SWAPPED);
}
