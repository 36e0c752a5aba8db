/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Imports tables of events row by row. A row becomes an event column by column: `export` makes rows from events by the
 * cells of the schema, and this applies each rule of a cell backwards. Values that no column of the lane holds are kept
 * beside the event (LNS_COLUMN_REMAINDER). */

#include <limits.h>
#include <string.h>

#include "src/base/format.h"
#include "src/base/hash.h"
#include "src/base/memory.h"
#include "src/import/nsys/remainder.h"
#include "src/tables/enums.h"

#define COLUMNS_MAX LNS_KEPT_MAX_COLUMNS

/* Ranges, start/end ranges and marks. */
#define N_NVTX_KINDS (LNS_LANE_NVTX_MARK - LNS_LANE_NVTX_PUSH_POP + 1)

/* What an event belongs to, by the numbers of the file. Events of one owner lie in one track. */
typedef struct
{
  int64_t thread, process, domain, device, context, stream, green, track_number, metric;
  uint32_t kind;       /* LnsLaneKind                                                             */
  uint32_t value_type; /* LnsPayloadType of a counter's sample                                   */
  uint32_t track_name, track_unit;
} Owner;

typedef struct
{
  LnsImport *import;
  LnsLaneKind kind;
  LnsEvent event;
  LnsCudaLaunch launch;
  bool has_launch, has_start, has_end, has_text;
  bool is_open; /* the end is NULL                                                               */
  int64_t end_ns, nesting;
  int64_t end_thread;
  Owner owner;
} Row;

/* A column of the file, and the place that its values get in an event. */
typedef struct
{
  const LnsTableColumn *column;
  int extra; /* of LnsEvent, or -1                                                               */
  bool is_null_by_itself; /* an export writes NULL if no value was put                           */
  bool is_of_reals;       /* whole numbers among its reals stay reals                            */
} Cell;

/* How rows become events of one kind. */
typedef struct
{
  LnsLaneKind kind;
  int remainder, thread; /* of LnsEvent.extra, or -1                                             */
  Cell cells[COLUMNS_MAX];
} Form;

static bool
is_null_by_itself (LnsCellRule rule)
{
  switch (rule)
    {
    case LNS_CELL_NONE:
    case LNS_CELL_END_IF_KNOWN:
    case LNS_CELL_NAME_TEXT:
    case LNS_CELL_PLAIN_NAME:
    case LNS_CELL_REGISTERED_NAME:
    case LNS_CELL_BITS_OR_NULL:
    case LNS_CELL_BITS_IF_ANY:
    case LNS_CELL_PAYLOAD:
    case LNS_CELL_PAYLOAD_JSON:
    case LNS_CELL_PAYLOAD_BINARY:
    case LNS_CELL_THREAD:
    case LNS_CELL_ENDER:
      return true;
    default:
      return false;
    }
}

static Cell
cell_of (const LnsTableColumn *column, LnsLaneKind kind)
{
  const LnsCellRule rule = column->cell.rule;
  LnsColumnId id = column->cell.column;

  if (rule == LNS_CELL_CUDA_CALL_CLASS)
    id = LNS_COLUMN_CALLBACK;
  /* An export writes no jsonTextId: the string is the payload.                                    */
  else if (rule == LNS_CELL_PAYLOAD || rule == LNS_CELL_PAYLOAD_JSON ||
           strcmp (column->name, "jsonTextId") == 0)
    id = LNS_COLUMN_PAYLOAD;
  return (Cell){ .column = column,
                 .extra = id != 0 ? lns_lane_kind_extra (kind, id) : -1,
                 .is_null_by_itself = is_null_by_itself (rule),
                 .is_of_reals = rule == LNS_CELL_VALUE && column->type[0] != 'I' };
}

/* Returns whether it depends on the whole row, or on the event's lane, if an export writes a cell of RULE again. */
static bool
depends_on_row (LnsCellRule rule)
{
  return rule == LNS_CELL_END_IF_KNOWN || rule == LNS_CELL_PLAIN_NAME ||
         rule == LNS_CELL_BITS_IF_ANY || rule == LNS_CELL_GRAPH_CLASS ||
         rule == LNS_CELL_PAYLOAD_JSON || rule == LNS_CELL_ENDER || rule == LNS_CELL_DEPTH ||
         rule == LNS_CELL_DEVICE;
}

/* Clears ROW for the next row, an event of FORM. */
static void
begin_row (Row *row, const Form *form)
{
  if (row->has_launch)
    memset (&row->launch, 0, sizeof row->launch);
  row->kind = form->kind;
  row->event = (LnsEvent){ 0 };
  row->has_launch = row->has_start = row->has_end = row->has_text = false;
  row->is_open = true;
  row->end_thread = row->nesting = 0;
  row->owner = (Owner){ 0 };
  if (form->thread >= 0)
    row->event.extra[form->thread] = LNS_ID_NONE;
}

/* ---- The rules of cells, backwards ----------------------------------------------------------- */

/* Puts NUMBER into the bits of CELL. Returns false if they are too few for it. */
static bool
put_bits (Row *row, const Cell *cell, uint64_t number)
{
  const LnsCell *rule = &cell->column->cell;
  uint64_t mask = rule->n_bits < 64 ? (UINT64_C (1) << rule->n_bits) - 1 : UINT64_MAX;

  if (cell->extra < 0)
    return false;
  row->event.extra[cell->extra] |= (number & mask) << rule->shift;
  return (number & ~mask) == 0;
}

/* Converts a kind of overhead from ENUM_CUPTI_OVERHEAD_TYPE to CUPTI's numbers, which exports without that table have. */
static bool
put_overhead_kind (Row *row, const Cell *cell, int64_t type)
{
  const bool is_of_cupti = type >= 1 << 16 && type <= 8 << 16;
  uint64_t kind = is_of_cupti             ? (uint64_t)type
                  : type == 2             ? 1
                  : type > 2 && type <= 8 ? (uint64_t)(type - 2) << 16
                  : type != 0             ? 99 << 16
                                          : 0;

  return put_bits (row, cell, kind) && type >= 0 && (type <= 8 || is_of_cupti);
}

/* Puts the class of a call: a bit tells calls of the runtime from those of the driver, and the other classes are in the
 * bits above it. */
static bool
put_call_class (Row *row, const Cell *cell, int64_t class)
{
  if (cell->extra < 0 || class < 0 || class > UINT16_MAX)
    return false;
  row->event.extra[cell->extra] |= class == LNS_CLASS_RUNTIME ? UINT64_C (1) << 32
                                   : class > LNS_CLASS_DRIVER ? (uint64_t) class << 40
                                                              : 0;
  return true;
}

static bool
put_launch (Row *row, const LnsCell *cell, const LnsKeptValue *value, int64_t number)
{
  char *at = (char *)&row->launch + cell->argument;
  uint32_t narrow;

  row->has_launch = true;
  if (cell->n_bits == 64)
    {
      memcpy (at, &number, sizeof number);
      return true;
    }
  memcpy (&narrow, at, sizeof narrow);
  bool is_name = cell->argument == offsetof (LnsCudaLaunch, short_name) ||
                 cell->argument == offsetof (LnsCudaLaunch, mangled_name);
  narrow |= is_name ? _lns_import_string (row->import, value) : (uint32_t)number << cell->shift;
  memcpy (at, &narrow, sizeof narrow);
  return is_name || (number >= 0 && number <= UINT32_MAX >> cell->shift);
}

/* Converts VALUE to the bits of a payload of TYPE. Returns false if they cannot hold all of it. */
static bool
bits_of (LnsImport *import, const LnsKeptValue *value, LnsPayloadType type, uint64_t *ret_bits)
{
  const double wide = _lns_import_real (value);
  const float single = (float)wide;
  int64_t number = 0;
  const bool is_number = _lns_import_integer (value, &number);

  *ret_bits = (uint64_t)number;
  switch (type)
    {
    case LNS_PAYLOAD_JSON:
      *ret_bits = is_number ? _lns_import_string (import, value) : _lns_import_text (import, value);
      return true;
    case LNS_PAYLOAD_DOUBLE:
      memcpy (ret_bits, &wide, sizeof wide);
      return value->type == LNS_KEPT_REAL;
    case LNS_PAYLOAD_FLOAT:
      *ret_bits = 0;
      memcpy (ret_bits, &single, sizeof single);
      return value->type == LNS_KEPT_REAL && (double)single == wide;
    case LNS_PAYLOAD_UINT32:
    case LNS_PAYLOAD_INT32:
      *ret_bits = (uint32_t)number;
      return is_number &&
             (type == LNS_PAYLOAD_UINT32 ? number == (uint32_t)number : number == (int32_t)number);
    default:
      return is_number;
    }
}

/* Returns where the type of the event's payload is. */
static uint64_t *
payload_type (Row *row)
{
  return &row->event.extra[lns_lane_kind_extra (row->kind, LNS_COLUMN_PAYLOAD_TYPE)];
}

/* Puts VALUE as the event's payload. The first one of a row is its only one. */
static bool
put_payload (Row *row, const Cell *cell, const LnsKeptValue *value, LnsPayloadType type)
{
  uint64_t *held = payload_type (row);

  if (*held != LNS_PAYLOAD_NONE)
    return false;
  *held = type;
  return bits_of (row->import, value, type, &row->event.extra[cell->extra]);
}

/* Notes a number that says to which thread, stream or track the row belongs. Returns false for rules that do not
 * say. */
static bool
put_owner (Row *row, LnsCellRule rule, int64_t number)
{
  switch (rule)
    {
    case LNS_CELL_GLOBAL_TID:
    case LNS_CELL_STARTER:
      row->owner.thread = row->end_thread = number;
      return true;
    case LNS_CELL_ENDER:
      row->end_thread = number;
      return row->kind == LNS_LANE_NVTX_START_END && number != row->owner.thread;
    case LNS_CELL_GLOBAL_PID:
      row->owner.process = number;
      return true;
    case LNS_CELL_DOMAIN:
      row->owner.domain = number;
      return true;
    case LNS_CELL_DEVICE:
      row->owner.device = number;
      return number >= 0 && number <= UINT32_MAX;
    case LNS_CELL_CONTEXT:
      row->owner.context = number;
      return number >= 0 && number <= UINT32_MAX;
    case LNS_CELL_GREEN_CONTEXT:
      row->owner.green = number;
      return number == 0 || number == row->owner.context;
    case LNS_CELL_STREAM:
      row->owner.stream = number;
      return number >= 0 && number <= UINT32_MAX;
    case LNS_CELL_STREAM_OR_ALL:
      row->owner.stream = number == UINT32_MAX ? 0 : number;
      return number > 0 && number <= UINT32_MAX;
    case LNS_CELL_DEPTH:
      row->nesting = number;
      return true;
    case LNS_CELL_TRACK_NUMBER:
      row->owner.track_number = number;
      return true;
    case LNS_CELL_TRACK_METRIC:
      row->owner.metric = number;
      return number >= 0 && number <= UINT32_MAX;
    default:
      return false;
    }
}

static bool
is_time (int64_t number)
{
  return number >= -LNS_IMPORT_TIME_MAX && number <= LNS_IMPORT_TIME_MAX;
}

static bool
put_number (Row *row, const Cell *cell, const LnsKeptValue *value, int64_t number)
{
  const LnsCell *rule = &cell->column->cell;

  switch (rule->rule)
    {
    case LNS_CELL_NONE:
      if (cell->extra >=
          0) /* jsonTextId                                                          */
        put_payload (row, cell, value, LNS_PAYLOAD_JSON);
      return false;
    case LNS_CELL_CONSTANT:
      return number == rule->argument;
    case LNS_CELL_START:
      row->event.start_ns = number;
      return row->has_start = is_time (number);
    case LNS_CELL_END:
    case LNS_CELL_END_IF_KNOWN:
      row->end_ns = number;
      row->is_open = false;
      return row->has_end = is_time (number) && number >= row->event.start_ns;
    case LNS_CELL_START_PLUS:
      return put_bits (row, cell, (uint64_t)number - (uint64_t)row->event.start_ns);
    case LNS_CELL_NAME:
      row->event.name = _lns_import_string (row->import, value);
      return true;
    case LNS_CELL_REGISTERED_NAME:
      if (row->has_text)
        return false;
      row->event.name = _lns_import_string (row->import, value);
      row->event.flags |= LNS_EVENT_REGISTERED;
      return true;
    case LNS_CELL_PAYLOAD:
      return put_payload (row, cell, value, rule->argument);
    case LNS_CELL_EVENT_TYPE: /* follows from the kind of the lane                                */
      return true;
    case LNS_CELL_VALUE:
      row->owner.value_type = LNS_PAYLOAD_INT64;
      return put_bits (row, cell, (uint64_t)number);
    case LNS_CELL_BITS_OR_NULL:
      return put_bits (row, cell, (uint64_t)number) && number != 0;
    case LNS_CELL_BITS:
    case LNS_CELL_BITS_IF_ANY:
      return put_bits (row, cell, (uint64_t)number);
    case LNS_CELL_BITS_PLUS:
      return put_bits (row, cell, (uint64_t)number - rule->argument);
    case LNS_CELL_BITS_LESS_ONE:
      return put_bits (row, cell, (uint64_t)number + 1);
    case LNS_CELL_MEMORY_KIND:
      return put_bits (row, cell, number == LNS_MEMORY_KIND_UNKNOWN ? 0 : (uint64_t)number + 1);
    case LNS_CELL_OVERHEAD_KIND:
      return put_overhead_kind (row, cell, number);
    case LNS_CELL_CUDA_CALL_CLASS:
      return put_call_class (row, cell, number);
    case LNS_CELL_GRAPH_CLASS: /* follows from the graph's ids                                    */
      return true;
    case LNS_CELL_LAUNCH:
      return put_launch (row, rule, value, number);
    case LNS_CELL_THREAD:
      row->owner.process = number;
      if (cell->extra >= 0)
        row->event.extra[cell->extra] = _lns_import_thread (row->import, number);
      return cell->extra >= 0 && number != 0;
    default:
      return put_owner (row, rule->rule, number);
    }
}

/* Puts a text or a number with a fraction. */
static bool
put_other (Row *row, const Cell *cell, const LnsKeptValue *value)
{
  const bool is_text = value->type == LNS_KEPT_TEXT || value->type == LNS_KEPT_BLOB;
  double real = _lns_import_real (value);
  uint64_t bits;

  switch (cell->column->cell.rule)
    {
    case LNS_CELL_END_IF_KNOWN:
      row->is_open = false;
      return false;
    case LNS_CELL_NAME_TEXT:
      row->event.name = _lns_import_text (row->import, value);
      return row->event.name != 0;
    case LNS_CELL_PLAIN_NAME:
      row->event.name = _lns_import_text (row->import, value);
      return row->has_text = is_text;
    case LNS_CELL_TRACK_NAME_TEXT:
      row->owner.track_name = _lns_import_text (row->import, value);
      return is_text;
    case LNS_CELL_TRACK_UNIT:
      row->owner.track_unit = _lns_import_text (row->import, value);
      return is_text;
    case LNS_CELL_EMPTY_LIST:
      return value->type == LNS_KEPT_TEXT && value->size_bytes == 2 &&
             memcmp (value->bytes, "[]", 2) == 0;
    case LNS_CELL_PAYLOAD:
      return put_payload (row, cell, value, cell->column->cell.argument);
    case LNS_CELL_PAYLOAD_JSON: /* the text of jsonTextId, if the row has one                     */
      return is_text && (*payload_type (row) == LNS_PAYLOAD_JSON ||
                         put_payload (row, cell, value, LNS_PAYLOAD_JSON));
    case LNS_CELL_VALUE:
      if (value->type != LNS_KEPT_REAL)
        return false;
      row->owner.value_type = LNS_PAYLOAD_DOUBLE;
      memcpy (&bits, &real, sizeof bits);
      return put_bits (row, cell, bits);
    default:
      return false;
    }
}

/* Puts VALUE of CELL's column into ROW. Returns false if the event cannot hold all of it. */
static bool
put (Row *row, const Cell *cell, const LnsKeptValue *value)
{
  int64_t number;

  if (value->type == LNS_KEPT_NULL)
    return cell->is_null_by_itself;
  if (!_lns_import_integer (value, &number) || (value->type == LNS_KEPT_REAL && cell->is_of_reals))
    return put_other (row, cell, value);
  return put_number (row, cell, value, number);
}

/* ---- Cells that depend on the whole row ----------------------------------------------------- */

static int64_t
graph_class (const LnsEvent *event)
{
  const LnsLaneKind kind = LNS_LANE_CUDA_GRAPH_NODE;

  if (event->extra[lns_lane_kind_extra (kind, LNS_COLUMN_GRAPH_EXEC)] != 0)
    return LNS_CLASS_GRAPH_EXEC;
  return event->extra[lns_lane_kind_extra (kind, LNS_COLUMN_ORIGINAL)] != 0 ? LNS_CLASS_GRAPH_CLONE
                                                                            : LNS_CLASS_GRAPH;
}

/* Returns CUDA's number of the device of TRACK. */
static int64_t
device_of (const LnsImport *import, uint32_t track)
{
  const uint32_t device = import->tracks.items[track].track.device;
  return device < import->devices.n ? import->devices.items[device].number : 0;
}

/* Returns whether an export writes VALUE again, for cells that depend on the whole row and on the event's lane. Returns
 * true for other cells. */
static bool
says (Row *row, const Cell *cell, const LnsKeptValue *value, const LnsImportPlace *place)
{
  const bool is_null = value->type == LNS_KEPT_NULL;

  switch (cell->column->cell.rule)
    {
    case LNS_CELL_END_IF_KNOWN: /* marks have none                                                */
      return is_null || row->kind != LNS_LANE_NVTX_MARK;
    case LNS_CELL_ENDER:
      return is_null || row->has_end;
    case LNS_CELL_PLAIN_NAME:
      return is_null == ((row->event.flags & LNS_EVENT_REGISTERED) != 0);
    case LNS_CELL_PAYLOAD_JSON:
      return !is_null || *payload_type (row) != LNS_PAYLOAD_JSON;
    case LNS_CELL_BITS_IF_ANY:
      return cell->extra < 0 || is_null == (row->event.extra[cell->extra] == 0);
    case LNS_CELL_GRAPH_CLASS:
      return !is_null && _lns_import_number (value) == graph_class (&row->event);
    case LNS_CELL_DEPTH:
      return !is_null && row->nesting == place->ordinal;
    case LNS_CELL_DEVICE:
      return is_null || row->owner.device == device_of (row->import, place->track);
    default:
      return true;
    }
}

/* ---- The table's rows ------------------------------------------------------------------------ */

/* A cache of the tracks of the last rows' owners. */
#define N_SLOTS 64

typedef struct
{
  Owner owner;
  uint32_t track;
  bool is_used;
} Slot;

typedef struct
{
  LnsImport *import;
  const LnsImportTable *how;
  const LnsTable *schema;
  bool is_nvtx;
  int filter; /* of LnsEvent.extra: tells tables of one kind of lanes apart; or -1              */
  /* Which columns the table has: starts, ends, and those that say to what its rows belong. */
  bool has_starts, has_ends, of_thread, of_domain, of_device, of_stream;
  uint64_t n_unknown;  /* rows of unknown types                                                  */
  uint64_t n_repeated; /* rows that create or destroy a domain once more                        */
  unsigned n_cells, n_checked, type; /* the cell of the event's type                             */
  uint8_t checked[COLUMNS_MAX];      /* the cells that depend on the whole row                   */
  Form forms[N_NVTX_KINDS];          /* of NVTX by kind; of other tables the first one           */
  Row row;
  LnsImportRemainder beside;
  Slot slots[N_SLOTS];
  /* Where rows have no starts: the position of each call that a row belongs to in `call_starts_ns`. */
  LnsStringTable *calls;
  LNS_ARRAY (int64_t) call_starts_ns; /* 0: the call is not in the file */
} Rows;

/* ---- Rows without starts --------------------------------------------------------------------- */

/* Exports of schemas before 3.24 do not say when CUDA events were recorded, but which call recorded them. */

/* Identifies a call. */
typedef struct
{
  uint64_t process;
  int64_t correlation;
} Call;

/* GLOBAL_ID is the id of its process or of its thread. */
static Call
call_of (LnsImport *import, int64_t global_id, int64_t correlation)
{
  return (Call){ _lns_import_process (import, global_id), correlation };
}

/* Returns where the start of CALL is kept, or NULL if no row belongs to it. */
static int64_t *
find_call (Rows *rows, Call call)
{
  const uint32_t i = rows->calls != NULL
                         ? lns_string_table_find (rows->calls, &call, sizeof call, LNS_ID_NONE)
                         : LNS_ID_NONE;

  return i < rows->call_starts_ns.n ? &rows->call_starts_ns.items[i] : NULL;
}

static bool
wanted_cb (void *data, const LnsKeptValue *values)
{
  Rows *rows = data;
  const Call call =
      call_of (rows->import, _lns_import_number (&values[0]), _lns_import_number (&values[1]));
  const uint32_t n = (uint32_t)rows->call_starts_ns.n;

  if (lns_string_table_intern (rows->calls, &call, sizeof call, n) == n)
    lns_array_add (&rows->call_starts_ns);
  return true;
}

static bool
call_cb (void *data, const LnsKeptValue *values)
{
  Rows *rows = data;
  int64_t start_ns,
      *kept_ns = find_call (rows, call_of (rows->import, _lns_import_number (&values[0]),
                                           _lns_import_number (&values[1])));

  if (kept_ns != NULL && _lns_import_time (&values[2], &start_ns))
    *kept_ns = start_ns;
  return true;
}

/* Reads the start times of the calls that TABLE's rows belong to. */
static bool
read_call_times (Rows *rows, LnsForeignTable *table)
{
  static const char *const wanted[] = { "globalPid", "correlationId" };
  static const char *const told[] = { "globalTid", "correlationId", "start" };
  LnsImport *import = rows->import;
  LnsForeignTable *calls = lns_foreign_find (import->foreign, "CUPTI_ACTIVITY_KIND_RUNTIME");

  if (calls == NULL)
    return true;
  if ((rows->calls = lns_string_table_new ()) == NULL)
    lns_out_of_memory ();
  return lns_foreign_read (import->foreign, table, wanted, 2, LNS_FOREIGN_AS_IT_LIES, wanted_cb,
                           rows, import->error) &&
         lns_foreign_read (import->foreign, calls, told, 3, LNS_FOREIGN_AS_IT_LIES, call_cb, rows,
                           import->error);
}

/* Sets the start of the row to that of its call, or to 0 if that is unknown. */
static void
set_start_of_call (Rows *rows)
{
  LnsEvent *event = &rows->row.event;
  const int correlation = lns_lane_kind_extra (rows->row.kind, LNS_COLUMN_CORRELATION);
  const int64_t *start_ns = find_call (
      rows, call_of (rows->import, rows->row.owner.process, (int64_t)event->extra[correlation]));
  if (start_ns != NULL)
    event->start_ns = *start_ns;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Marks the context as green, because one of its rows has a green-context id. */
static void
note_green (LnsImport *import, uint32_t id)
{
  LnsCudaContext *context = &import->contexts.items[id];

  if (context->is_green)
    return;
  context->is_green = 1;
  lns_writer_set_context (import->writer, id, context);
}

/* Describes the track that the row belongs to. Ranges that may end in another thread belong to the process. */
static LnsTrack
track_of (Rows *rows)
{
  LnsImport *import = rows->import;
  const Row *row = &rows->row;
  LnsTrack track = { .thread = LNS_ID_NONE,
                     .domain = LNS_ID_NONE,
                     .name = row->owner.track_name,
                     .unit = row->owner.track_unit,
                     .value_type = row->owner.value_type,
                     .number = (uint64_t)row->owner.track_number,
                     .device = LNS_ID_NONE,
                     .stream = LNS_ID_NONE,
                     .metric = (uint32_t)row->owner.metric };

  if (rows->of_thread)
    track.thread = _lns_import_thread (import, row->owner.thread);
  track.process = rows->of_thread ? import->threads.items[track.thread].process
                                  : _lns_import_process (import, row->owner.process);
  if (row->kind == LNS_LANE_NVTX_START_END)
    track.thread = LNS_ID_NONE;
  if (rows->of_domain)
    track.domain = _lns_import_domain (import, track.process, row->owner.domain);
  if (rows->of_device)
    track.device = _lns_import_device (import, track.process, row->owner.device);
  if (rows->of_stream)
    {
      if (rows->how->track == LNS_TRACK_CUDA_SYNC)
        track.device =
            _lns_import_context_device (import, track.process, row->owner.context, track.device);
      uint32_t context =
          _lns_import_context (import, track.process, track.device, row->owner.context);
      if (row->owner.green != 0)
        note_green (import, context);
      track.stream = _lns_import_stream (import, context, row->owner.stream);
    }
  return track;
}

static uint32_t
find_track (Rows *rows)
{
  Row *row = &rows->row;
  LnsLaneKind kind = row->kind;
  LnsTrackKind track_kind = rows->is_nvtx ? lns_lane_kind_info (kind)->track : rows->how->track;

  if (rows->how->finish != NULL)
    rows->how->finish (rows->import, &row->event, &track_kind, &kind);
  row->owner.kind = kind;
  Slot *slot = &rows->slots[lns_hash (&row->owner, sizeof row->owner) % N_SLOTS];
  if (!slot->is_used || memcmp (&slot->owner, &row->owner, sizeof row->owner) != 0)
    {
      LnsTrack track = track_of (rows);
      track.kind = track_kind;
      *slot = (Slot){ row->owner, _lns_import_track (rows->import, &track, kind), true };
    }
  return slot->track;
}

/* A range of NVTX without an end lasts until the end of the report. */
static void
set_times (Rows *rows)
{
  LnsEvent *event = &rows->row.event;
  const bool has_end = rows->row.has_end;

  if (rows->row.kind == LNS_LANE_NVTX_MARK)
    return;
  if (has_end)
    event->duration_ns = rows->row.end_ns - event->start_ns;
  else if (rows->has_ends)
    event->flags |= LNS_EVENT_END_UNKNOWN;
  if (has_end || !rows->is_nvtx || !rows->row.is_open)
    return;
  event->flags |= LNS_EVENT_OPEN_END;
  if (rows->import->end_ns > event->start_ns)
    event->duration_ns = rows->import->end_ns - event->start_ns;
}

/* Sets what refers to other objects of the report. */
static void
set_links (Rows *rows)
{
  Row *row = &rows->row;
  LnsImport *import = rows->import;
  uint64_t *extra = row->event.extra;

  if (row->has_launch)
    extra[lns_lane_kind_extra (row->kind, LNS_COLUMN_LAUNCH)] =
        _lns_import_launch (import, &row->launch);
  if (row->kind != LNS_LANE_NVTX_START_END)
    return;
  extra[lns_lane_kind_extra (row->kind, LNS_COLUMN_THREAD)] =
      _lns_import_thread (import, row->owner.thread);
  extra[lns_lane_kind_extra (row->kind, LNS_COLUMN_END_THREAD)] =
      _lns_import_thread (import, row->end_thread);
}

static void
put_all (Rows *rows, const Form *form, const LnsKeptValue *values)
{
  begin_row (&rows->row, form);
  for (unsigned i = 0; i < rows->n_cells; i++)
    if (!put (&rows->row, &form->cells[i], &values[i]))
      _lns_import_remainder_tell (&rows->beside, i, &values[i]);
}

static bool
add_event (Rows *rows, const Form *form, const LnsKeptValue *values)
{
  LnsImport *import = rows->import;
  Row *row = &rows->row;

  _lns_import_remainder_begin (&rows->beside);
  put_all (rows, form, values);
  if (rows->filter >= 0)
    row->event.extra[rows->filter] = (uint64_t)__builtin_ctzll (rows->schema->passes);
  if (!rows->has_starts)
    set_start_of_call (rows);
  if ((!row->has_start && rows->has_starts) ||
      (rows->how->track == LNS_TRACK_COUNTER && row->owner.value_type == LNS_PAYLOAD_NONE))
    {
      import->n_bad++;
      return true;
    }
  set_times (rows);
  set_links (rows);
  LnsImportPlace place;
  if (!_lns_import_take_place (import, find_track (rows), row->event.start_ns, &place))
    return true;
  for (unsigned k = 0; k < rows->n_checked; k++)
    {
      const unsigned i = rows->checked[k];
      if (!says (row, &form->cells[i], &values[i], &place))
        _lns_import_remainder_tell (&rows->beside, i, &values[i]);
    }
  if (form->remainder >= 0)
    row->event.extra[form->remainder] = _lns_import_remainder_id (&rows->beside);
  return _lns_import_append (import, &place, &row->event);
}

/* ---- Rows of NVTX_EVENTS that name something ------------------------------------------------- */

static void
name_thread (Rows *rows)
{
  const Row *row = &rows->row;
  const uint32_t id = _lns_import_thread (rows->import, row->owner.thread);
  LnsThread *thread = &rows->import->threads.items[id];

  thread->name = row->event.name;
  thread->is_named = 1;
  /* When it was named: not when it began, which nothing tells (thread-states.c). */
  thread->start_ns = row->has_start ? row->event.start_ns : LNS_TIME_UNKNOWN;
  lns_writer_set_thread (rows->import->writer, id, thread);
}

static void
name_domain (Rows *rows, int64_t type)
{
  LnsImport *import = rows->import;
  const Row *row = &rows->row;
  const uint32_t thread = _lns_import_thread (import, row->owner.thread),
                 id = _lns_import_domain (import, import->threads.items[thread].process,
                                          row->owner.domain);
  LnsDomain *domain = &import->domains.items[id];

  if (type == LNS_EVENT_TYPE_CATEGORY)
    {
      const int category = lns_lane_kind_extra (row->kind, LNS_COLUMN_CATEGORY);
      lns_writer_add_category (import->writer,
                               &(LnsCategory){ .domain = id,
                                               .category = (uint32_t)row->event.extra[category],
                                               .name = row->event.name });
      return;
    }
  int64_t *time_ns =
      type == LNS_EVENT_TYPE_DOMAIN_CREATE ? &domain->created_ns : &domain->destroyed_ns;
  /* A report has one creation and one destruction of each domain. */
  rows->n_repeated += *time_ns != LNS_TIME_UNKNOWN;
  *time_ns = row->has_start ? row->event.start_ns : 0;
  if (type == LNS_EVENT_TYPE_DOMAIN_CREATE)
    domain->name = row->event.name;
  if (type == LNS_EVENT_TYPE_DOMAIN_CREATE || domain->thread == LNS_ID_NONE)
    domain->thread = thread;
  lns_writer_set_domain (import->writer, id, domain);
}

/* Takes a row of NVTX_EVENTS. */
static bool
take_nvtx (Rows *rows, const LnsKeptValue *values)
{
  const int64_t type = rows->type < rows->n_cells ? _lns_import_number (&values[rows->type]) : 0;

  switch (type)
    {
    case LNS_EVENT_TYPE_PUSH_POP:
      return add_event (rows, &rows->forms[0], values);
    case LNS_EVENT_TYPE_START_END:
      return add_event (rows, &rows->forms[1], values);
    case LNS_EVENT_TYPE_MARK:
      return add_event (rows, &rows->forms[2], values);
    case LNS_EVENT_TYPE_THREAD_NAME:
      put_all (rows, rows->forms, values);
      name_thread (rows);
      return true;
    case LNS_EVENT_TYPE_CATEGORY:
    case LNS_EVENT_TYPE_DOMAIN_CREATE:
    case LNS_EVENT_TYPE_DOMAIN_DESTROY:
      put_all (rows, rows->forms, values);
      name_domain (rows, type);
      return true;
    default:
      rows->n_unknown++;
      return true;
    }
}

static void
tell_left_out (const Rows *rows)
{
  const char *table = rows->schema->name;

  if (rows->n_unknown > 0)
    _lns_import_leave_out (
        rows->import, "%s: %llu %s", table, (unsigned long long)rows->n_unknown,
        lns_plural (rows->n_unknown, "row of an unknown type", "rows of unknown types"));
  if (rows->n_repeated > 0)
    _lns_import_leave_out (rows->import, "%s: %llu %s a domain once more", table,
                           (unsigned long long)rows->n_repeated,
                           lns_plural (rows->n_repeated, "row that creates or destroys",
                                       "rows that create or destroy"));
}

/* ---- The table ------------------------------------------------------------------------------- */

static bool
row_cb (void *data, const LnsKeptValue *values)
{
  Rows *rows = data;

  rows->import->n_done++;
  return rows->is_nvtx ? take_nvtx (rows, values) : add_event (rows, rows->forms, values);
}

/* The start and the end are read first, because rows are sorted by the first columns. */
static unsigned
place_of (LnsCellRule rule)
{
  return rule == LNS_CELL_START ? 0 : rule == LNS_CELL_END || rule == LNS_CELL_END_IF_KNOWN ? 1 : 2;
}

/* Adds COLUMN as the next cell of each form. */
static void
add_cell (Rows *rows, const LnsTableColumn *column)
{
  for (unsigned i = 0; i < (rows->is_nvtx ? N_NVTX_KINDS : 1); i++)
    rows->forms[i].cells[rows->n_cells] = cell_of (column, rows->forms[i].kind);
  if (column->cell.rule == LNS_CELL_EVENT_TYPE)
    rows->type = rows->n_cells;
  if (depends_on_row (column->cell.rule))
    rows->checked[rows->n_checked++] = (uint8_t)rows->n_cells;
  rows->n_cells++;
}

/* Notes what COLUMN of the schema says of all rows, even if the table lacks it. */
static void
note_column (Rows *rows, const LnsTableColumn *column)
{
  const LnsCellRule rule = column->cell.rule;

  rows->has_ends |= place_of (rule) == 1;
  rows->of_thread |= rule == LNS_CELL_GLOBAL_TID || rule == LNS_CELL_STARTER;
  rows->of_domain |= rule == LNS_CELL_DOMAIN;
  rows->of_device |= rule == LNS_CELL_DEVICE;
  rows->of_stream |= rule == LNS_CELL_STREAM || rule == LNS_CELL_STREAM_OR_ALL;
}

/* Decides how rows become events. */
static void
choose_forms (Rows *rows)
{
  const LnsTable *schema = rows->schema;
  /* If another table has several kinds of lanes, the last kind has all columns of the others. */
  const LnsLaneKind first =
      rows->is_nvtx ? LNS_LANE_NVTX_PUSH_POP : (LnsLaneKind)(31 - __builtin_clz (schema->kinds));

  for (unsigned i = 0; i < (rows->is_nvtx ? N_NVTX_KINDS : 1); i++)
    {
      const LnsLaneKind kind = first + i;
      rows->forms[i].kind = kind;
      rows->forms[i].thread = lns_lane_kind_extra (kind, LNS_COLUMN_THREAD);
      /* All of LNS_COUNTERS, our own table, is in events. */
      rows->forms[i].remainder = rows->how->track == LNS_TRACK_COUNTER
                                     ? -1
                                     : lns_lane_kind_extra (kind, LNS_COLUMN_REMAINDER);
    }
  rows->filter = schema->filter.rule == LNS_CELL_BITS && __builtin_popcountll (schema->passes) == 1
                     ? lns_lane_kind_extra (first, schema->filter.column)
                     : -1;
  rows->type = UINT_MAX;
}

bool
_lns_import_events (LnsImport *import, LnsForeignTable *table, const LnsImportTable *how)
{
  const LnsTable *schema = lns_table_find (how->name);
  const char *columns[COLUMNS_MAX], *start = "", *end = "";
  Rows rows = { .import = import, .how = how, .schema = schema, .row.import = import };

  rows.is_nvtx = schema->source == LNS_ROWS_NVTX;
  choose_forms (&rows);
  for (unsigned place = 0; place < 3; place++)
    for (unsigned i = 0; i < schema->n_columns; i++)
      {
        const LnsTableColumn *column = &schema->columns[i];
        if (place != place_of (column->cell.rule))
          continue;
        if (place == 0)
          start = column->name;
        else if (place == 1)
          end = column->name;
        note_column (&rows, column);
        /* The key of NVTX_EVENTS is a row's position in the table. */
        if (lns_foreign_use_column (table, column->name) && column->rule != LNS_COLUMN_KEY)
          {
            columns[rows.n_cells] = column->name;
            add_cell (&rows, column);
          }
      }
  /* A column that the schema does not know is kept beside the event under its own name.           */
  static const LnsTableColumn unknown = { .name = "", .cell = { .rule = LNS_CELL_NONE } };
  for (unsigned i = 0; i < table->columns.n && rows.n_cells < COLUMNS_MAX; i++)
    if (!table->columns.items[i].is_used && rows.forms[0].remainder >= 0)
      {
        columns[rows.n_cells] = table->columns.items[i].name;
        add_cell (&rows, &unknown);
      }
  if (rows.forms[0].remainder >= 0)
    _lns_import_remainder_init (&rows.beside, import, schema->name, columns, rows.n_cells, table);
  const bool has_start = lns_foreign_use_column (table, start);
  rows.has_starts =
      has_start || lns_lane_kind_extra (rows.forms[0].kind, LNS_COLUMN_CORRELATION) < 0;
  const LnsForeignOrder order = !has_start                            ? LNS_FOREIGN_AS_IT_LIES
                                : lns_foreign_use_column (table, end) ? LNS_FOREIGN_BY_START_AND_END
                                                                      : LNS_FOREIGN_BY_START;
  bool good = (rows.has_starts || read_call_times (&rows, table)) &&
              lns_foreign_read (import->foreign, table, columns, rows.n_cells, order, row_cb, &rows,
                                import->error);
  tell_left_out (&rows);
  _lns_import_remainder_clear (&rows.beside);
  lns_string_table_free (rows.calls);
  lns_array_clear (&rows.call_starts_ns);
  return good;
}
