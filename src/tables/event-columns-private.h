/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How tables whose columns say by LnsCell what they are made of are written down. */

#pragma once

#include <stddef.h>

#include "src/tables/event-tables-private.h"
#include "src/store/format/definitions.h"

/* What a column is made of: LnsCellRule. */
#define NOTHING                                                                                    \
 {                                                                                                 \
  0                                                                                                \
 }
#define START                                                                                      \
 {                                                                                                 \
  .rule = LNS_CELL_START                                                                           \
 }
#define END                                                                                        \
 {                                                                                                 \
  .rule = LNS_CELL_END                                                                             \
 }
#define END_IF_KNOWN                                                                               \
 {                                                                                                 \
  .rule = LNS_CELL_END_IF_KNOWN                                                                    \
 }
#define NAME                                                                                       \
 {                                                                                                 \
  .rule = LNS_CELL_NAME                                                                            \
 }
#define NAME_TEXT                                                                                  \
 {                                                                                                 \
  .rule = LNS_CELL_NAME_TEXT                                                                       \
 }
#define EMPTY_LIST                                                                                 \
 {                                                                                                 \
  .rule = LNS_CELL_EMPTY_LIST                                                                      \
 }
#define TID                                                                                        \
 {                                                                                                 \
  .rule = LNS_CELL_GLOBAL_TID                                                                      \
 }
#define PID                                                                                        \
 {                                                                                                 \
  .rule = LNS_CELL_GLOBAL_PID                                                                      \
 }
#define DEVICE                                                                                     \
 {                                                                                                 \
  .rule = LNS_CELL_DEVICE                                                                          \
 }
#define CONTEXT                                                                                    \
 {                                                                                                 \
  .rule = LNS_CELL_CONTEXT                                                                         \
 }
#define GREEN                                                                                      \
 {                                                                                                 \
  .rule = LNS_CELL_GREEN_CONTEXT                                                                   \
 }
#define STREAM                                                                                     \
 {                                                                                                 \
  .rule = LNS_CELL_STREAM                                                                          \
 }
#define STREAM_OR_ALL                                                                              \
 {                                                                                                 \
  .rule = LNS_CELL_STREAM_OR_ALL                                                                   \
 }
#define CALL_CLASS                                                                                 \
 {                                                                                                 \
  .rule = LNS_CELL_CUDA_CALL_CLASS                                                                 \
 }
#define GRAPH_CLASS                                                                                \
 {                                                                                                 \
  .rule = LNS_CELL_GRAPH_CLASS                                                                     \
 }
#define CONSTANT(number)                                                                           \
 {                                                                                                 \
  .rule = LNS_CELL_CONSTANT, .argument = number                                                    \
 }
#define BITS(id)                                                                                   \
 {                                                                                                 \
  LNS_CELL_BITS, LNS_COLUMN_##id, 0, 64, 0                                                         \
 }
#define BITS_OR_NULL(id)                                                                           \
 {                                                                                                 \
  LNS_CELL_BITS_OR_NULL, LNS_COLUMN_##id, 0, 64, 0                                                 \
 }
#define BITS_PLUS(id, more)                                                                        \
 {                                                                                                 \
  LNS_CELL_BITS_PLUS, LNS_COLUMN_##id, 0, 64, more                                                 \
 }
#define START_PLUS(id)                                                                             \
 {                                                                                                 \
  LNS_CELL_START_PLUS, LNS_COLUMN_##id, 0, 64, 0                                                   \
 }
#define VALUE                                                                                      \
 {                                                                                                 \
  LNS_CELL_VALUE, LNS_COLUMN_VALUE, 0, 64, 0                                                       \
 }
#define DEPTH                                                                                      \
 {                                                                                                 \
  .rule = LNS_CELL_DEPTH                                                                           \
 }
#define TRACK_NUMBER                                                                               \
 {                                                                                                 \
  .rule = LNS_CELL_TRACK_NUMBER                                                                    \
 }
#define TRACK_METRIC                                                                               \
 {                                                                                                 \
  .rule = LNS_CELL_TRACK_METRIC                                                                    \
 }
#define SLICE(id, shift, n_bits)                                                                   \
 {                                                                                                 \
  LNS_CELL_BITS, LNS_COLUMN_##id, shift, n_bits, 0                                                 \
 }
#define PEER(shift, n_bits)                                                                        \
 {                                                                                                 \
  LNS_CELL_BITS_IF_ANY, LNS_COLUMN_PEERS, shift, n_bits, 0                                         \
 }
#define LESS_ONE(id)                                                                               \
 {                                                                                                 \
  LNS_CELL_BITS_LESS_ONE, LNS_COLUMN_##id, 0, 8, 0                                                 \
 }
#define MEMORY_KIND(id, shift)                                                                     \
 {                                                                                                 \
  LNS_CELL_MEMORY_KIND, LNS_COLUMN_##id, shift, 8, 0                                               \
 }
#define OVERHEAD_KIND                                                                              \
 {                                                                                                 \
  LNS_CELL_OVERHEAD_KIND, LNS_COLUMN_OVERHEAD_KIND, 0, 64, 0                                       \
 }
#define THREAD                                                                                     \
 {                                                                                                 \
  LNS_CELL_THREAD, LNS_COLUMN_THREAD, 0, 64, 0                                                     \
 }
#define LAUNCH(member)                                                                             \
 {                                                                                                 \
  .rule = LNS_CELL_LAUNCH, .argument = offsetof (LnsCudaLaunch, member)                            \
 }
#define LAUNCH_FROM(member, bit)                                                                   \
 {                                                                                                 \
  .rule = LNS_CELL_LAUNCH, .shift = bit, .argument = offsetof (LnsCudaLaunch, member)              \
 }
#define LAUNCH_WIDE(member)                                                                        \
 {                                                                                                 \
  .rule = LNS_CELL_LAUNCH_WIDE, .argument = offsetof (LnsCudaLaunch, member)                       \
 }

#define INTEGER(name, cell)                                                                        \
 {                                                                                                 \
  name, "INTEGER", LNS_COLUMN_PLAIN, cell                                                          \
 }
#define INTEGER_NOT_NULL(name, cell)                                                               \
 {                                                                                                 \
  name, "INTEGER", LNS_COLUMN_NOT_NULL, cell                                                       \
 }
#define TEXT(name, cell)                                                                           \
 {                                                                                                 \
  name, "TEXT", LNS_COLUMN_PLAIN, cell                                                             \
 }
#define TEXT_NOT_NULL(name, cell)                                                                  \
 {                                                                                                 \
  name, "TEXT", LNS_COLUMN_NOT_NULL, cell                                                          \
 }

#define COLUMNS(name, source) #name, LNS_ROWS_##source, sizeof(name) / sizeof(name)[0], name
#define TABLE(name, source)                                                                        \
 {                                                                                                 \
  COLUMNS (name, source)                                                                           \
 }
#define EVENTS(name, kind)                                                                         \
 {                                                                                                 \
  COLUMNS (name, EVENTS), .kinds = 1u << LNS_LANE_##kind                                           \
 }
#define EVENTS_OF(name, kind, track)                                                               \
 {                                                                                                 \
  COLUMNS (name, EVENTS), .kinds = 1u << LNS_LANE_##kind, .tracks = 1u << LNS_TRACK_##track        \
 }
#define EVENTS_WITH(name, kind, cell, mask)                                                        \
 {                                                                                                 \
  COLUMNS (name, EVENTS), .kinds = 1u << LNS_LANE_##kind, .filter = cell, .passes = mask           \
 }
