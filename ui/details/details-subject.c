/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/details/details-subject.h"

#include "src/base/format.h"
#include "ui/model/event-text.h"

/* Takes TEXT over; one that says nothing is left out. */
void
_lns_details_add (GArray *fields, const char *title, char *text)
{
  LnsDetailsField field = { title, text };
  if (text == NULL || *text == '\0')
    g_free (text);
  else
    g_array_append_val (fields, field);
}

uint64_t
_lns_details_value (const LnsDetailsSubject *self, LnsColumnId column)
{
  return lns_event_extra (self->report, self->lane, self->event, column);
}

void
_lns_details_add_number (const LnsDetailsSubject *self, const char *title, LnsColumnId column)
{
  char text[LNS_FORMAT_SIZE];
  uint64_t value = _lns_details_value (self, column);

  if (value != 0)
    _lns_details_add (self->fields, title, g_strdup (lns_format_unsigned (value, text)));
}
