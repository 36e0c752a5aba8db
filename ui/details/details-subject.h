/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The event that the details pane describes, and how a field is added to its description. */

#pragma once

#include "ui/details/details-fields.h"

G_BEGIN_DECLS

/* The event whose fields are being written; all is borrowed. */
typedef struct
{
  GArray *fields; /* of LnsDetailsField                                                          */
  LnsReport *report;
  uint32_t lane;
  LnsLaneKind kind;
  const LnsTrack *track; /* or NULL                                                              */
  const LnsEvent *event;
} LnsDetailsSubject;

/* Adds a field, unless TEXT, which it takes, is NULL or empty. */
void _lns_details_add (GArray *fields, const char *title, char *text);

/* The value of COLUMN, 0 where the event has none. */
uint64_t _lns_details_value (const LnsDetailsSubject *self, LnsColumnId column);

/* Adds the value of COLUMN, grouped, unless it is 0. */
void _lns_details_add_number (const LnsDetailsSubject *self, const char *title, LnsColumnId column);

G_END_DECLS
