/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/used.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/store/format/definition-codec.h"

void
lns_used_begin (LnsUsed *used, LnsReport *report)
{
  uint32_t n_nodes, n_frames;

  lns_report_call_nodes (report, &n_nodes);
  lns_report_frames (report, &n_frames);
  *used = (LnsUsed){ 0 };
  /* Imported reports have call chains in a table of their own. */
  if (n_nodes == 0 || lns_report_meta (report, "imported_from") != NULL)
    return;
  used->n_nodes = n_nodes;
  used->node_of = lns_calloc (n_nodes, sizeof *used->node_of);
  used->frame_of = lns_calloc (n_frames, sizeof *used->frame_of);
  used->has_string = lns_calloc (lns_report_n_strings (report), sizeof *used->has_string);
}

static void
add_string (LnsUsed *used, LnsReport *report, uint64_t id)
{
  if (used->has_string != NULL && id < lns_report_n_strings (report))
    used->has_string[id] = true;
}

/* Gets what EVENT of a lane of KIND has in COLUMN. Returns false if such lanes do not have it. */
static bool
value_of (LnsLaneKind kind, LnsColumnId column, const LnsEvent *event, uint64_t *ret_value)
{
  const int index = lns_lane_kind_extra (kind, column);

  if (index >= 0)
    *ret_value = event->extra[index];
  return index >= 0;
}

void
lns_used_add (LnsUsed *used, LnsReport *report, LnsLaneKind kind, const LnsEvent *event)
{
  const LnsCallNode *nodes = lns_report_call_nodes (report, NULL);
  uint64_t chain = 0, type;

  if (used->node_of == NULL)
    return;
  add_string (used, report, event->name);
  /* The bytes of typed payloads may name strings. */
  if (value_of (kind, LNS_COLUMN_PAYLOAD_TYPE, event, &type) &&
      (type == LNS_PAYLOAD_TYPED || type == LNS_PAYLOAD_JSON))
    {
      free (used->has_string);
      used->has_string = NULL;
    }
  if (!value_of (kind, LNS_COLUMN_CALL_CHAIN, event, &chain) || chain > used->n_nodes)
    return;
  while (chain != 0 && used->node_of[chain - 1] == 0)
    {
      used->node_of[chain - 1] = 1;
      used->frame_of[nodes[chain - 1].frame] = 1;
      chain = nodes[chain - 1].parent == LNS_ID_NONE ? 0 : nodes[chain - 1].parent + 1;
    }
}

/* Marks the strings of all definitions but frames that are not there. */
static void
add_strings_of_definitions (LnsUsed *used, LnsReport *report)
{
  for (LnsDefinitionKind kind = LNS_DEFINITION_PROCESS; kind < LNS_N_DEFINITION_KINDS; kind++)
    {
      const size_t size_bytes = lns_definition_size (kind);
      uint32_t n, id;
      const char *records = lns_report_definitions (report, kind, &n);
      for (const LnsDefinitionField *field = lns_definition_fields (kind); field->tag != 0; field++)
        for (uint32_t i = 0; field->type == LNS_FIELD_STRING && i < n; i++)
          if (kind != LNS_DEFINITION_FRAME || used->frame_of[i] != 0)
            {
              memcpy (&id, records + i * size_bytes + field->offset, sizeof id);
              add_string (used, report, id);
            }
    }
}

/* Numbers those of the N flags in IDS that are set, from 1 on. */
static void
number (uint32_t *ids, uint32_t n)
{
  uint32_t next = 0;

  for (uint32_t i = 0; i < n; i++)
    if (ids[i] != 0)
      ids[i] = ++next;
}

/* Marks all strings that are not names of frames: only these may go. */
static void
keep_other_strings (LnsUsed *used, LnsReport *report)
{
  const uint32_t n_strings = lns_report_n_strings (report);
  uint32_t n_frames;
  const LnsStackFrame *frames = lns_report_frames (report, &n_frames);
  bool *is_of_frames = lns_calloc (n_strings, sizeof *is_of_frames);

  for (uint32_t i = 0; i < n_frames; i++)
    {
      if (frames[i].symbol < n_strings)
        is_of_frames[frames[i].symbol] = true;
      if (frames[i].file < n_strings)
        is_of_frames[frames[i].file] = true;
    }
  for (uint32_t i = 0; i < n_strings; i++)
    used->has_string[i] |= !is_of_frames[i];
  free (is_of_frames);
}

void
lns_used_end (LnsUsed *used, LnsReport *report)
{
  uint32_t n_frames;

  if (used->node_of == NULL)
    return;
  const LnsStackFrame *frames = lns_report_frames (report, &n_frames);
  /* A frame comes before the calls that are inlined in it, and those before the ones in them. */
  for (uint32_t i = 0; i < n_frames; i++)
    for (uint32_t inlined = used->frame_of[i] != 0 ? frames[i].innermost : 0;
         inlined != 0 && used->frame_of[inlined - 1] == 0; inlined = frames[inlined - 1].inlined_in)
      used->frame_of[inlined - 1] = 1;
  number (used->node_of, used->n_nodes);
  number (used->frame_of, n_frames);
  if (used->has_string == NULL)
    return;
  add_strings_of_definitions (used, report);
  keep_other_strings (used, report);
}

void
lns_used_define (const LnsUsed *used, LnsReport *report, LnsWriter *writer)
{
  uint32_t n_nodes, n_frames;
  const LnsCallNode *nodes = lns_report_call_nodes (report, &n_nodes);
  const LnsStackFrame *frames = lns_report_frames (report, &n_frames);

  if (used->node_of == NULL)
    {
      lns_writer_repeat (writer, report, LNS_DEFINITION_FRAME);
      lns_writer_repeat (writer, report, LNS_DEFINITION_CALL_NODE);
      return;
    }
  for (uint32_t i = 0; i < n_frames; i++)
    if (used->frame_of[i] != 0)
      {
        LnsStackFrame frame = frames[i];
        frame.innermost = frame.innermost != 0 ? used->frame_of[frame.innermost - 1] : 0;
        frame.inlined_in = frame.inlined_in != 0 ? used->frame_of[frame.inlined_in - 1] : 0;
        lns_writer_add_frame (writer, &frame);
      }
  for (uint32_t i = 0; i < n_nodes; i++)
    if (used->node_of[i] != 0)
      {
        const LnsCallNode node = { nodes[i].parent != LNS_ID_NONE
                                       ? used->node_of[nodes[i].parent] - 1
                                       : LNS_ID_NONE,
                                   used->frame_of[nodes[i].frame] - 1 };
        lns_writer_add_call_node (writer, &node);
      }
}

void
lns_used_translate (const LnsUsed *used, LnsLaneKind kind, LnsEvent *event)
{
  const int index = used->node_of != NULL ? lns_lane_kind_extra (kind, LNS_COLUMN_CALL_CHAIN) : -1;

  if (index >= 0 && event->extra[index] != 0)
    event->extra[index] =
        event->extra[index] <= used->n_nodes ? used->node_of[event->extra[index] - 1] : 0;
}

void
lns_used_clear (LnsUsed *used)
{
  free (used->node_of);
  free (used->frame_of);
  free (used->has_string);
  *used = (LnsUsed){ 0 };
}
