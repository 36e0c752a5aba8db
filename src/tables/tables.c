/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>

#include "src/tables/tables-private.h"

/* Device, context and stream of TRACK. */
static void
describe_place (LnsReport *report, const LnsTrack *track, LnsTableLane *lane)
{
  uint32_t n_devices, n_contexts, n_streams;
  const LnsCudaDevice *devices = lns_report_devices (report, &n_devices);
  const LnsCudaContext *contexts = lns_report_contexts (report, &n_contexts);
  const LnsCudaStream *streams = lns_report_streams (report, &n_streams);

  lane->device = track->device < n_devices ? devices[track->device].number : 0;
  if (track->stream >= n_streams)
    return;
  const LnsCudaStream *stream = &streams[track->stream];
  lane->stream = stream->number;
  lane->context = stream->context < n_contexts ? contexts[stream->context].number : 0;
  lane->is_green = stream->context < n_contexts && contexts[stream->context].is_green != 0;
}

static LnsTableLane
describe_lane (const LnsTables *tables, const LnsLane *lanes, uint32_t lane)
{
  uint32_t n_tracks, n_domains;
  const LnsTrack *tracks = lns_report_tracks (tables->report, &n_tracks);
  const LnsDomain *domains = lns_report_domains (tables->report, &n_domains);
  LnsTableLane result = {
    .lane = lane, .kind = lanes[lane].kind, .track = lanes[lane].track, .domain = LNS_ID_NONE
  };

  result.n_events = lns_report_lane_info (tables->report, lane)->n_events;
  if (result.track >= n_tracks)
    return result;
  const LnsTrack *track = &tracks[result.track];
  result.global_tid = lns_tables_global_tid (tables, track->thread);
  result.global_pid = lns_tables_global_pid (tables, track->process);
  result.ordinal = lanes[lane].ordinal;
  result.track_number = (int64_t)track->number;
  result.metric = track->metric;
  result.domain = track->domain;
  result.domain_number = track->domain < n_domains ? domains[track->domain].number : 0;
  describe_place (tables->report, track, &result);
  return result;
}

/* What by_thread is sorted by. */
static int64_t
thread_key (const LnsTableLane *lane)
{
  return lane->global_tid != 0 ? lane->global_tid : lane->global_pid;
}

static int
compare_by_thread (const void *a, const void *b, void *data)
{
  const LnsTableLane *lanes = data;
  uint32_t ia = *(const uint32_t *)a, ib = *(const uint32_t *)b;
  int64_t ka = thread_key (&lanes[ia]), kb = thread_key (&lanes[ib]);

  if (ka != kb)
    return ka < kb ? -1 : 1;
  return ia < ib ? -1 : ia > ib;
}

/* Whether events of LANE are rows of TABLE. */
static bool
has_lane (LnsReport *report, const LnsTable *table, const LnsLane *lane)
{
  uint32_t n_tracks;
  const LnsTrack *tracks = lns_report_tracks (report, &n_tracks);

  if (lane->kind >= LNS_N_LANE_KINDS || (table->kinds >> lane->kind & 1) == 0)
    return false;
  return table->tracks == 0 ||
         (lane->track < n_tracks && (table->tracks >> tracks[lane->track].kind & 1) != 0);
}

static bool
collect_lanes (const LnsTables *tables, const LnsTable *table, LnsTableLanes *ret_lanes)
{
  uint32_t n, n_rows_lanes = 0;
  const LnsLane *lanes = lns_report_lanes (tables->report, &n);

  for (uint32_t i = 0; i < n; i++)
    n_rows_lanes += has_lane (tables->report, table, &lanes[i]);
  ret_lanes->lanes = calloc ((size_t)n_rows_lanes + 1, sizeof *ret_lanes->lanes);
  ret_lanes->by_thread = calloc ((size_t)n_rows_lanes + 1, sizeof *ret_lanes->by_thread);
  if (ret_lanes->lanes == NULL || ret_lanes->by_thread == NULL)
    return false;
  for (uint32_t i = 0; i < n; i++)
    if (has_lane (tables->report, table, &lanes[i]))
      {
        LnsTableLane *lane = &ret_lanes->lanes[ret_lanes->n_lanes];
        *lane = describe_lane (tables, lanes, i);
        lane->first = ret_lanes->n_events;
        ret_lanes->n_events += lane->n_events;
        ret_lanes->by_thread[ret_lanes->n_lanes] = ret_lanes->n_lanes;
        ret_lanes->n_lanes++;
      }
  qsort_r (ret_lanes->by_thread, ret_lanes->n_lanes, sizeof *ret_lanes->by_thread,
           compare_by_thread, ret_lanes->lanes);
  return true;
}

/* The lanes of all tables. False without memory. */
static bool
collect_all_lanes (LnsTables *tables)
{
  tables->lanes = calloc (tables->n_all, sizeof *tables->lanes);
  for (unsigned i = 0; tables->lanes != NULL && i < tables->n_all; i++)
    if (lns_table_has_events (&tables->all[i]) &&
        !collect_lanes (tables, &tables->all[i], &tables->lanes[i]))
      return false;
  tables->nvtx =
      tables->lanes != NULL ? _lns_tables_lanes (tables, lns_table_find ("NVTX_EVENTS")) : NULL;
  return tables->lanes != NULL;
}

LnsTables *
lns_tables_new (LnsReport *report, LnsError *error)
{
  LnsTables *tables = calloc (1, sizeof *tables);

  if (tables != NULL)
    {
      tables->report = report;
      pthread_mutex_init (&tables->lock, NULL);
      for (LnsLaneKind kind = 0; kind < LNS_N_LANE_KINDS; kind++)
        for (LnsColumnId column = 0; column < LNS_N_COLUMNS; column++)
          tables->extra[kind][column] = (int8_t)lns_lane_kind_extra (kind, column);
      tables->payloads = lns_payload_decoder_new (report);
      if (tables->payloads != NULL && !_lns_tables_make_all (tables, error))
        {
          lns_tables_free (tables);
          return NULL;
        }
      if (tables->payloads != NULL &&
          (tables->cells = calloc (tables->n_all, sizeof *tables->cells)) != NULL &&
          collect_all_lanes (tables))
        return tables;
    }
  lns_tables_free (tables);
  lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                 "not enough memory for the tables of this report; close other programs");
  return NULL;
}

void
lns_tables_free (LnsTables *tables)
{
  if (tables == NULL)
    return;
  for (unsigned i = 0; tables->cells != NULL && i < tables->n_all; i++)
    {
      free (tables->cells[i].values);
      for (unsigned column = 0; column < 64; column++)
        free (tables->cells[i].index[column]);
    }
  for (size_t i = 0; i < tables->n_kept; i++)
    free (tables->kept[i]);
  free (tables->kept);
  free (tables->cells);
  free (tables->payload_strings);
  free (tables->hidden_strings);
  free (tables->strings_by_hash);
  for (unsigned i = 0; tables->lanes != NULL && i < tables->n_all; i++)
    {
      free (tables->lanes[i].lanes);
      free (tables->lanes[i].by_thread);
    }
  free (tables->lanes);
  free (tables->all);
  free (tables->has_remainders);
  free (tables->absent);
  free (tables->remainders);
  free (tables->n_kept_rows);
  free (tables->is_streamed);
  lns_payload_decoder_free (tables->payloads);
  pthread_mutex_destroy (&tables->lock);
  free (tables);
}

LnsReport *
lns_tables_report (const LnsTables *tables)
{
  return tables->report;
}

uint64_t
lns_tables_n_rows (LnsTables *tables, const LnsTable *table)
{
  const LnsTableLanes *lanes = _lns_tables_lanes (tables, table);

  table = &tables->all[_lns_tables_position (tables, table)];
  if (table->source == LNS_ROWS_STRINGS)
    return lns_report_n_strings (tables->report);
  if (_lns_tables_is_streamed (tables, table))
    return tables->n_kept_rows[table->kept];
  const LnsTableCells *cells = _lns_tables_cells (tables, table, NULL);
  return (lanes != NULL ? lanes->n_events : 0) + (cells != NULL ? cells->n_rows : 0);
}

int64_t
lns_tables_rowid (const LnsTables *tables, const LnsTable *table, uint32_t lane, uint64_t ordinal)
{
  const LnsTableLanes *lanes = _lns_tables_lanes (tables, table);
  uint32_t low = 0, high = lanes != NULL ? lanes->n_lanes : 0;

  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;
      if (lanes->lanes[middle].lane < lane)
        low = middle + 1;
      else
        high = middle;
    }
  if (lanes == NULL || low == lanes->n_lanes || lanes->lanes[low].lane != lane)
    return 0;
  return (int64_t)(lanes->lanes[low].first + ordinal + 1);
}

/* ---- What is built when first asked for ---------------------------------------------------- */

const LnsTableCells *
_lns_tables_cells (LnsTables *tables, const LnsTable *table, LnsError *error)
{
  const size_t position = _lns_tables_position (tables, table);
  LnsTableCells *cells = &tables->cells[position];

  pthread_mutex_lock (&tables->lock);
  if (!cells->built)
    cells->built = _lns_cells_build (tables, &tables->all[position], cells);
  bool built = cells->built;
  pthread_mutex_unlock (&tables->lock);
  if (!built)
    lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                   "not enough memory for the table %s; close other programs", table->name);
  return built ? cells : NULL;
}

typedef struct
{
  const LnsTableCells *cells;
  unsigned n_columns, column;
} IndexOrder;

static int64_t
index_key (const IndexOrder *order, uint32_t row)
{
  const LnsValue *value = &order->cells->values[(size_t)row * order->n_columns + order->column];
  return value->type == LNS_VALUE_INTEGER ? value->integer : INT64_MIN;
}

static int
compare_rows (const void *a, const void *b, void *data)
{
  uint32_t ra = *(const uint32_t *)a, rb = *(const uint32_t *)b;
  int64_t ka = index_key (data, ra), kb = index_key (data, rb);

  if (ka != kb)
    return ka < kb ? -1 : 1;
  return ra < rb ? -1 : ra > rb;
}

const uint32_t *
_lns_tables_index (LnsTables *tables, const LnsTable *table, unsigned column, LnsError *error)
{
  const size_t position = _lns_tables_position (tables, table);
  LnsTableCells *cells = &tables->cells[position];
  IndexOrder order = { cells, tables->all[position].n_columns, column };

  if (_lns_tables_cells (tables, table, error) == NULL)
    return NULL;
  pthread_mutex_lock (&tables->lock);
  uint32_t *index = cells->index[column];
  if (index == NULL && (index = calloc (cells->n_rows + 1, sizeof *index)) != NULL)
    {
      for (uint32_t row = 0; row < cells->n_rows; row++)
        index[row] = row;
      qsort_r (index, cells->n_rows, sizeof *index, compare_rows, &order);
      cells->index[column] = index;
    }
  pthread_mutex_unlock (&tables->lock);
  if (index == NULL)
    lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                   "not enough memory for an index of %s; close other programs", table->name);
  return index;
}

static bool
mark_payloads_of_lane (LnsTables *tables,
                       const LnsTableLane *lane,
                       uint64_t *bitmap,
                       LnsError *error)
{
  uint32_t n_strings = lns_report_n_strings (tables->report);
  int type = lns_lane_kind_extra (lane->kind, LNS_COLUMN_PAYLOAD_TYPE);
  int payload = lns_lane_kind_extra (lane->kind, LNS_COLUMN_PAYLOAD);
  LnsError local = { 0 };
  const LnsChunk *chunk;

  if (type < 0 || payload < 0)
    return true;
  LnsChunkWalker *walker = lns_chunk_walker_new (tables->report, lane->lane,
                                                 LNS_COLUMN_BIT (LNS_COLUMN_PAYLOAD_TYPE) |
                                                     LNS_COLUMN_BIT (LNS_COLUMN_PAYLOAD));
  while (walker != NULL && (chunk = lns_chunk_walker_next (walker, &local)) != NULL)
    for (uint32_t i = 0;
         chunk->extra[type] != NULL && chunk->extra[payload] != NULL && i < chunk->n; i++)
      if (chunk->extra[type][i] == LNS_PAYLOAD_TYPED && chunk->extra[payload][i] < n_strings)
        bitmap[chunk->extra[payload][i] / 64] |= UINT64_C (1) << (chunk->extra[payload][i] % 64);
  lns_chunk_walker_free (walker);
  if (walker == NULL)
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                          "not enough memory to read the payloads; close other programs");
  if (local.domain != LNS_ERROR_NONE && error != NULL)
    *error = local;
  return local.domain == LNS_ERROR_NONE;
}

static void
mark_kept_blocks (LnsTables *tables, uint64_t *bitmap)
{
  uint32_t n_tables, n_rows, n_strings = lns_report_n_strings (tables->report);
  const LnsKeptTable *kept = lns_report_kept_tables (tables->report, &n_tables);
  const LnsKeptRows *rows = lns_report_kept_rows (tables->report, &n_rows);

  for (uint32_t i = 0; i < n_tables + n_rows; i++)
    {
      uint32_t id = i < n_tables ? kept[i].columns : rows[i - n_tables].rows;
      if (id < n_strings)
        bitmap[id / 64] |= UINT64_C (1) << (id % 64);
    }
  bitmap[0] &= ~UINT64_C (1); /* the empty string stays one                                       */
}

bool
_lns_tables_payload_strings (LnsTables *tables, const uint64_t **ret_bitmap, LnsError *error)
{
  bool good = true;

  pthread_mutex_lock (&tables->lock);
  if (tables->payload_strings == NULL)
    {
      uint64_t *bitmap = calloc (lns_report_n_strings (tables->report) / 64 + 1, sizeof *bitmap);
      good = bitmap != NULL;
      if (good)
        mark_kept_blocks (tables, bitmap);
      for (uint32_t i = 0; good && i < tables->nvtx->n_lanes; i++)
        good = mark_payloads_of_lane (tables, &tables->nvtx->lanes[i], bitmap, error);
      if (good)
        tables->payload_strings = bitmap;
      else
        free (bitmap);
    }
  *ret_bitmap = tables->payload_strings;
  pthread_mutex_unlock (&tables->lock);
  if (!good)
    lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                   "not enough memory to tell payloads from strings; close other programs");
  return good;
}
