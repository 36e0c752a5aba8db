/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What this machine lets `lanescope` record, as it says itself (`lanescope status -e -f json`). */

#pragma once

#include <adwaita.h>
#include <jansson.h>

/* One kind of data. Texts are the tool's. */
typedef struct
{
  const char *data;     /* "cuda" */
  const char *title;    /* "CUDA calls and GPU work" */
  const char *given_by; /* "--trace=mpi", or in parentheses when it is recorded without a switch */
  const char *recordable; /* "yes", "limited" or "no" */
  char *reason;           /* why not, or less, and what to do; or NULL. Translated, owned */
} LnsMachineData;

typedef struct
{
  json_t *json; /* owned; the tool's answer */
  GArray *data; /* owned; of LnsMachineData */
} LnsMachine;

/* Reads TEXT, the tool's answer. Returns NULL if TEXT is no such answer. */
LnsMachine *lns_machine_parse (const char *text) G_GNUC_WARN_UNUSED_RESULT;
void lns_machine_free (LnsMachine *self);

/* What is known of the choice WORD of --trace, or NULL. Owned by SELF. */
const LnsMachineData *lns_machine_find_trace (const LnsMachine *self, const char *word);

gboolean lns_machine_can_record (const LnsMachineData *data);

/* Adds a row for each kind of data to EXPANDER, and tells in it how many can be recorded. */
void lns_machine_show (const LnsMachine *self, AdwExpanderRow *expander);
