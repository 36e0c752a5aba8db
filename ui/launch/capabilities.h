/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The switches that the `lanescope` binary accepts, as it lists them itself (`lanescope --capabilities=json`). */

#pragma once

#include <glib.h>
#include <jansson.h>

/* A switch of `lanescope profile` that has an effect. Texts are the tool's, in English; the capabilities own them. */
typedef struct
{
  const char *name;         /* "force-overwrite" */
  char letter;              /* 'f', or 0 */
  const char *kind;         /* "bool"; see LnsOptionKind */
  const char *group;        /* the topic: "The report" */
  const char *value;        /* "PATH", or NULL */
  const char *default_text; /* the default, or NULL */
  const char *help;
  const char **choices; /* owned; ends with NULL; empty: any */
} LnsSwitch;

typedef struct
{
  json_t *json;        /* owned; the tool's answer */
  GPtrArray *switches; /* of LnsSwitch, in the tool's order; those of a group are adjacent */
  GStrv flags;         /* names of those that take no value */
} LnsCapabilities;

/* Reads TEXT, the tool's answer. Returns NULL if TEXT is no such answer. */
LnsCapabilities *lns_capabilities_parse (const char *text) G_GNUC_WARN_UNUSED_RESULT;
void lns_capabilities_free (LnsCapabilities *self);

/* The switch called NAME, or NULL. Owned by SELF. */
const LnsSwitch *lns_capabilities_find (const LnsCapabilities *self, const char *name);
