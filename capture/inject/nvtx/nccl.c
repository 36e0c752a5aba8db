/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* NCCL's profiler plug-in: NCCL_PROFILER_PLUGIN names this library, and NCCL tells it what it does inside a call. Each operation
 * becomes an NVTX range of a domain of its own, named after it, with its numbers as a payload. Ranges are of the start/end kind,
 * as NCCL may end an operation on another thread than the one that began it. */

#include "capture/inject/core/definitions.h"
#include "capture/inject/core/system.h"
#include "capture/inject/nvtx/nccl-abi.h"
#include "capture/inject/nvtx/nvtx.h"

#define LNS_EXPORT __attribute__ ((visibility ("default")))

extern const LnsNcclProfiler ncclProfiler_v5, ncclProfiler_v6;

/* Names of operations are cut here: they are put together of words of NCCL and small numbers. */
#define NAME_MAX_BYTES 120

/* What is known of an operation beside its name; what does not apply is 0, or -1 for a rank. */
typedef struct
{
  uint64_t communicator, sequence, n_bytes, n_elements;
  int32_t rank, peer;
  uint32_t n_channels, step;
} Payload;

/* A number that the caller chooses: below what is made by us (LNS_NVTX_DYNAMIC_ID_START), and unlikely to be anybody's. */
#define PAYLOAD_SCHEMA UINT64_C (0x4c4e434c)

/* From nvToolsExtPayload.h: the types of entries, and of a schema whose size is fixed. */
#define ENTRY_INT32   15
#define ENTRY_UINT32  16
#define ENTRY_UINT64  18
#define SCHEMA_STATIC 1

#define ENTRY(type_, member, name_)                                                                \
 {                                                                                                 \
  .type = ENTRY_##type_, .name = (name_), .offset = offsetof (Payload, member)                     \
 }

static const LnsNvtxSchemaEntry entries[] = {
  ENTRY (UINT64, communicator, "communicator"),
  ENTRY (UINT64, sequence, "sequence number"),
  ENTRY (UINT64, n_bytes, "bytes"),
  ENTRY (UINT64, n_elements, "elements"),
  ENTRY (INT32, rank, "rank"),
  ENTRY (INT32, peer, "peer or root"),
  ENTRY (UINT32, n_channels, "channels"),
  ENTRY (UINT32, step, "step"),
};

static const struct
{
  uint32_t bit;
  const char *name;
} kinds[] = {
  { LNS_WIRE_NCCL_GROUP_API, "API: group" },
  { LNS_WIRE_NCCL_COLLECTIVE_API, "API: collective" },
  { LNS_WIRE_NCCL_P2P_API, "API: point to point" },
  { LNS_WIRE_NCCL_GROUP, "group" },
  { LNS_WIRE_NCCL_COLLECTIVE, "collective" },
  { LNS_WIRE_NCCL_P2P, "point to point" },
  { LNS_WIRE_NCCL_KERNEL_LAUNCH, "kernel launch" },
  { LNS_WIRE_NCCL_CE_COLLECTIVE, "copy engine: collective" },
  { LNS_WIRE_NCCL_CE_SYNC, "copy engine: synchronisation" },
  { LNS_WIRE_NCCL_CE_BATCH, "copy engine: batch" },
  { LNS_WIRE_NCCL_PROXY_OP, "proxy: operation" },
  { LNS_WIRE_NCCL_PROXY_STEP, "proxy: step" },
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

/* The handle of the domain; null until the first communicator is made. */
static const void *domain;

/* What is kept of a communicator. */
typedef struct
{
  uint64_t id;
} Communicator;

/* --- Names ------------------------------------------------------------------------------------ */

typedef struct
{
  char text[NAME_MAX_BYTES];
  size_t n_bytes;
} Name;

static void
add (Name *name, const char *text)
{
  while (text != NULL && *text != '\0' && name->n_bytes < sizeof name->text)
    name->text[name->n_bytes++] = *text++;
}

static void
add_number (Name *name, int number)
{
  char digits[12], *at = digits + sizeof digits - 1;
  unsigned left = number < 0 ? 0u - (unsigned)number : (unsigned)number;
  *at = '\0';
  do
    *--at = (char)('0' + left % 10);
  while ((left /= 10) != 0);
  if (number < 0)
    *--at = '-';
  add (name, at);
}

/* "ncclFloat32" without its prefix. */
static const char *
short_type (const char *datatype)
{
  return datatype != NULL && strncmp (datatype, "nccl", 4) == 0 ? datatype + 4 : datatype;
}

/* The bytes of an element of DATATYPE, from the number of bits in its name: ncclBfloat16, ncclFloat8e4m3. 0 = not known. */
static uint64_t
element_bytes (const char *datatype)
{
  uint64_t n_bits = 0;
  while (datatype != NULL && *datatype != '\0' && !(*datatype >= '0' && *datatype <= '9'))
    datatype++;
  for (; datatype != NULL && *datatype >= '0' && *datatype <= '9' && n_bits < 1000; datatype++)
    n_bits = 10 * n_bits + (uint64_t)(*datatype - '0');
  return n_bits / 8;
}

/* "AllReduce (Float32, RING, SIMPLE)". */
static void
name_operation (
    Name *name, Payload *payload, const char *function, const char *datatype, size_t n_elements)
{
  add (name, function != NULL ? function : "operation");
  payload->n_elements = n_elements;
  payload->n_bytes = n_elements * element_bytes (datatype);
  if (datatype != NULL)
    {
      add (name, " (");
      add (name, short_type (datatype));
    }
}

static void
close_name (Name *name, const char *datatype)
{
  if (datatype != NULL)
    add (name, ")");
}

/* Tells EVENT as a name and a payload. */
static void
describe (const LnsNcclEvent *event, Name *name, Payload *payload)
{
  switch (event->type)
    {
    case LNS_WIRE_NCCL_GROUP_API:
      add (name, "group call");
      break;
    case LNS_WIRE_NCCL_GROUP:
      add (name, "group");
      break;
    case LNS_WIRE_NCCL_KERNEL_LAUNCH:
      add (name, "kernel launch");
      break;
    case LNS_WIRE_NCCL_COLLECTIVE_API:
      name_operation (name, payload, event->collective_api.function, event->collective_api.datatype,
                      event->collective_api.n_elements);
      close_name (name, event->collective_api.datatype);
      payload->peer = event->collective_api.root;
      break;
    case LNS_WIRE_NCCL_P2P_API:
      name_operation (name, payload, event->p2p_api.function, event->p2p_api.datatype,
                      event->p2p_api.n_elements);
      close_name (name, event->p2p_api.datatype);
      break;
    case LNS_WIRE_NCCL_COLLECTIVE:
      name_operation (name, payload, event->collective.function, event->collective.datatype,
                      event->collective.n_elements);
      if (event->collective.datatype != NULL && event->collective.algorithm != NULL)
        {
          add (name, ", ");
          add (name, event->collective.algorithm);
          add (name, ", ");
          add (name, event->collective.protocol);
        }
      close_name (name, event->collective.datatype);
      payload->sequence = event->collective.sequence;
      payload->peer = event->collective.root;
      payload->n_channels = event->collective.n_channels;
      break;
    case LNS_WIRE_NCCL_P2P:
      name_operation (name, payload, event->p2p.function, event->p2p.datatype,
                      event->p2p.n_elements);
      close_name (name, event->p2p.datatype);
      payload->peer = event->p2p.peer;
      payload->n_channels = event->p2p.n_channels;
      break;
    case LNS_WIRE_NCCL_CE_COLLECTIVE:
      name_operation (name, payload, event->ce_collective.function, event->ce_collective.datatype,
                      event->ce_collective.n_elements);
      close_name (name, event->ce_collective.datatype);
      add (name, " by copy engines");
      payload->sequence = event->ce_collective.sequence;
      payload->peer = event->ce_collective.root;
      break;
    case LNS_WIRE_NCCL_CE_SYNC:
      add (name,
           event->ce_sync.is_complete ? "wait for all to be done" : "wait for all to be ready");
      break;
    case LNS_WIRE_NCCL_CE_BATCH:
      add (name, "copies");
      payload->n_bytes = event->ce_batch.n_bytes;
      payload->n_elements = (uint64_t)event->ce_batch.n_copies;
      break;
    case LNS_WIRE_NCCL_PROXY_OP:
      add (name, event->proxy_op.is_send ? "send to rank " : "receive from rank ");
      add_number (name, event->proxy_op.peer);
      add (name, ", channel ");
      add_number (name, event->proxy_op.channel);
      payload->peer = event->proxy_op.peer;
      payload->step = (uint32_t)event->proxy_op.n_steps;
      payload->n_bytes = (uint64_t)event->proxy_op.chunk_bytes;
      break;
    case LNS_WIRE_NCCL_PROXY_STEP:
      add (name, "step");
      payload->step = (uint32_t)event->proxy_step.step;
      break;
    default:
      break;
    }
}

/* --- What NCCL calls -------------------------------------------------------------------------- */

/* Defines the domain, the categories and the payload. Does no harm if two threads do it at one time. */
static void
define (void)
{
  const uint32_t id = lns_definitions_domain (LNS_WIRE_NCCL_DOMAIN, strlen (LNS_WIRE_NCCL_DOMAIN));
  const void *handle = (const void *)(uintptr_t)id;
  const LnsNvtxSchemaAttributes schema = {
    .fields = LNS_NVTX_SCHEMA_HAS_NAME | LNS_NVTX_SCHEMA_HAS_TYPE | LNS_NVTX_SCHEMA_HAS_ENTRIES |
              LNS_NVTX_SCHEMA_HAS_N_ENTRIES | LNS_NVTX_SCHEMA_HAS_STATIC_SIZE |
              LNS_NVTX_SCHEMA_HAS_ID,
    .name = "NCCL operation",
    .type = SCHEMA_STATIC,
    .entries = entries,
    .n_entries = sizeof entries / sizeof *entries,
    .static_bytes = sizeof (Payload),
    .id = PAYLOAD_SCHEMA,
  };
  if (id == 0)
    return;
  for (uint32_t i = 0; i < N_KINDS; i++)
    lns_nvtx_name_category (handle, i + 1, kinds[i].name);
  (void)lns_nvtx_define_schema (handle, &schema);
  __atomic_store_n (&domain, handle, __ATOMIC_RELEASE);
}

static const void *
domain_handle (void)
{
  return __atomic_load_n (&domain, __ATOMIC_ACQUIRE);
}

static int
init (void **ret_context,
      uint64_t communicator,
      int *ret_mask,
      const char *name,
      int n_nodes,
      int n_ranks,
      int rank,
      void *log)
{
  (void)name;
  (void)n_nodes;
  (void)n_ranks;
  (void)rank;
  (void)log;
  *ret_context = NULL;
  *ret_mask = 0;
  lns_nvtx_send_definitions (); /* joins the session */
  if (lns_process_generation () < LNS_GENERATION_FIRST || !lns_process_wants_nvtx ())
    return 0;
  if (domain_handle () == NULL)
    define ();
  Communicator *own = domain_handle () != NULL ? lns_inject_map (sizeof *own) : NULL;
  if (own == NULL)
    return 0;
  own->id = communicator;
  *ret_context = own;
  *ret_mask = (int)lns_process.pool.header->options.nccl;
  return 0;
}

static int
start_event (void *context, void **ret_handle, const LnsNcclEvent *event)
{
  const Communicator *communicator = context;
  uint32_t kind = 0;

  *ret_handle = NULL;
  while (kind < N_KINDS && kinds[kind].bit != event->type)
    kind++;
  if (kind == N_KINDS || communicator == NULL)
    return 0;
  LnsInjectStream *stream = lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_START);
  if (stream == NULL || !(lns_process.pool.header->options.nccl & event->type))
    {
      if (stream != NULL)
        lns_inject_stream_leave (stream);
      return 0;
    }
  Name name = { .n_bytes = 0 };
  Payload payload = { .communicator = communicator->id, .rank = event->rank, .peer = -1 };
  describe (event, &name, &payload);
  const LnsNvtxPayloadData data = { PAYLOAD_SCHEMA, sizeof payload, &payload };
  LnsNvtxEvent range = { .domain = lns_nvtx_domain (domain_handle ()),
                         .string = lns_inject_stream_intern (stream, name.text, name.n_bytes, NULL),
                         .category = kind + 1,
                         .payloads = &data,
                         .n_payloads = 1 };
  *ret_handle =
      (void *)(uintptr_t)lns_nvtx_start (stream, &range); /* NOLINT: a number, not a place */
  return 0;
}

static int
stop_event (void *handle)
{
  LnsInjectStream *stream =
      handle != NULL ? lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_END) : NULL;
  if (stream != NULL)
    {
      LnsNvtxEvent range = { .domain = lns_nvtx_domain (domain_handle ()) };
      lns_nvtx_end (stream, &range, (uint64_t)(uintptr_t)handle);
    }
  return 0;
}

/* What a step of the proxy waits for from now on, or NULL. */
static const char *
state_name (int state)
{
  switch (state)
    {
    case LNS_NCCL_STEP_SEND_GPU_WAIT:
      return "send waits for the GPU";
    case LNS_NCCL_STEP_SEND_PEER_WAIT:
      return "send waits for the peer";
    case LNS_NCCL_STEP_SEND_WAIT:
      return "send waits for the network";
    case LNS_NCCL_STEP_RECV_WAIT:
      return "receive waits for the network";
    case LNS_NCCL_STEP_RECV_FLUSH_WAIT:
      return "receive waits for its flush";
    case LNS_NCCL_STEP_RECV_GPU_WAIT:
      return "receive waits for the GPU";
    default:
      return NULL;
    }
}

/* States of steps become marks: which step it is in tells the thread and the time. */
static int
record_state (void *handle, int state, const void *arguments)
{
  const char *text = handle != NULL ? state_name (state) : NULL;
  LnsInjectStream *stream = text != NULL ? lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_MARK) : NULL;
  (void)arguments;
  if (stream != NULL)
    {
      LnsNvtxEvent mark = { .domain = lns_nvtx_domain (domain_handle ()),
                            .string = lns_inject_stream_intern (stream, text, strlen (text), text),
                            .category = N_KINDS };
      lns_nvtx_mark (stream, &mark);
    }
  return 0;
}

static int
finalize (void *context)
{
  if (context != NULL)
    lns_inject_unmap (context, sizeof (Communicator));
  return 0;
}

LNS_EXPORT const LnsNcclProfiler ncclProfiler_v5 = { "Lanescope", init,         start_event,
                                                     stop_event,  record_state, finalize };
LNS_EXPORT const LnsNcclProfiler ncclProfiler_v6 = { "Lanescope", init,         start_event,
                                                     stop_event,  record_state, finalize };
