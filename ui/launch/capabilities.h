/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The switches that the `lanescope` binary accepts, as it lists them itself (`lanescope --capabilities=json`). */

#pragma once

#include <gio/gio.h>

/* A switch of `lanescope profile` that has an effect. Texts are the tool's, in English. */
typedef struct
{
  char *name;         /* "force-overwrite" */
  char letter;        /* 'f', or 0 */
  char *kind;         /* "bool"; see LnsOptionKind */
  char *group;        /* "The report": what it is about */
  char *value;        /* "PATH", or NULL */
  char *default_text; /* what holds without it, or NULL */
  char *help;
  GStrv choices; /* empty: any */
} LnsSwitch;

typedef struct
{
  GPtrArray *switches; /* of LnsSwitch, in the tool's order: those of a group together */
  GStrv flags;         /* names of those that take no value */
} LnsCapabilities;

/* Reads TEXT, the tool's answer. NULL if it is none. */
LnsCapabilities *lns_capabilities_parse (const char *text) G_GNUC_WARN_UNUSED_RESULT;
void lns_capabilities_free (LnsCapabilities *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LnsCapabilities, lns_capabilities_free)

/* The switch called NAME, or NULL. Owned by SELF. */
const LnsSwitch *lns_capabilities_find (const LnsCapabilities *self, const char *name);

/* Asks the tool. CALLBACK is called on the main thread. */
void lns_capabilities_load_async (GCancellable *cancellable,
                                  GAsyncReadyCallback callback,
                                  gpointer data);

/* NULL and ERROR if there is no tool, or it does not answer. */
LnsCapabilities *lns_capabilities_load_finish (GAsyncResult *result,
                                               GError **error) G_GNUC_WARN_UNUSED_RESULT;
