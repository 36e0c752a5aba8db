/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the `lanescope` binary can trace, as it says itself (`lanescope --capabilities=json`). */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* The choices of `lanescope profile --trace` but for "none", and those of them that are traced
 * unless told otherwise. */
typedef struct
{
  GStrv choices;
  GStrv defaults;
} LnsCapabilities;

/* Reads TEXT, the tool's answer. NULL if it is none. */
LnsCapabilities *lns_capabilities_parse (const char *text) G_GNUC_WARN_UNUSED_RESULT;
void lns_capabilities_free (LnsCapabilities *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LnsCapabilities, lns_capabilities_free)

/* Asks the tool. CALLBACK is called on the main thread. */
void lns_capabilities_load_async (GCancellable *cancellable,
                                  GAsyncReadyCallback callback,
                                  gpointer data);

/* NULL and ERROR if there is no tool, or it does not answer. */
LnsCapabilities *lns_capabilities_load_finish (GAsyncResult *result,
                                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
