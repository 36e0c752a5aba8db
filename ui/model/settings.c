/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/settings.h"

#include "lns-config.h"

GSettings *
lns_settings_new (void)
{
  GSettingsSchemaSource *installed = g_settings_schema_source_get_default ();
  g_autoptr (GSettingsSchema) schema = NULL;

  if (installed != NULL)
    schema = g_settings_schema_source_lookup (installed, LNS_APP_ID, TRUE);
  if (schema == NULL)
    {
      g_autoptr (GSettingsSchemaSource) built =
          g_settings_schema_source_new_from_directory (LNS_BUILDDIR "/data", installed, TRUE, NULL);
      if (built != NULL)
        schema = g_settings_schema_source_lookup (built, LNS_APP_ID, TRUE);
    }
  if (schema == NULL)
    g_error ("The settings schema %s is not installed: run `meson install` again", LNS_APP_ID);
  return g_settings_new_full (schema, NULL, NULL);
}
