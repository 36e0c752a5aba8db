/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Describes one event in words: all fields that its report has for it. */

#pragma once

#include <glib.h>

#include "src/tables/payload.h"
#include "ui/model/view.h"

/* One line of the details: TITLE is translated and static, TEXT UTF-8, possibly of several lines. IS_LINK: it tells of an
 * event that is tied to this one by LINK. */
typedef struct
{
  const char *title;
  char *text;
  bool is_link;
  LnsLinkKind link;
} LnsDetailsField;

/* The fields of EVENT, which is event ORDINAL of LANE, in the order they are read: an array of
 * LnsDetailsField. The name is not among them. Where the event says what a thread does after it, they are about what the
 * thread does at TIME_NS; for other events that is ignored. DECODER (may be NULL) reads typed payloads. Free
 * with g_array_unref (). */
GArray *lns_details_fields_new (LnsReport *report,
                                const LnsPayloadDecoder *decoder,
                                uint32_t lane,
                                uint64_t ordinal,
                                const LnsEvent *event,
                                int64_t time_ns) G_GNUC_WARN_UNUSED_RESULT;

/* The fields that a tooltip shows below the times: what the program said of the event, what only events of LANE's kind
 * have, such as the grid of a kernel, and notes. Free with g_array_unref (). */
GArray *lns_details_brief_fields_new (LnsReport *report,
                                      uint32_t lane,
                                      const LnsEvent *event,
                                      int64_t time_ns) G_GNUC_WARN_UNUSED_RESULT;

/* The event as text for a person's mail: its name byte for byte, then a line a field. */
GBytes *lns_details_fields_copy (LnsReport *report,
                                 const LnsEvent *event,
                                 const GArray *fields) G_GNUC_WARN_UNUSED_RESULT;
