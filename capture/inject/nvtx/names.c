/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The handlers of functions that name and create things. All texts may be null, which counts as empty. Handles are
 * numbers: a domain's is its id (null for the default domain), a string's is its wire id, a resource's is a serial
 * number. So they are the same in all link units and in the child of a fork. */

#include "capture/inject/cuda/cuda.h"
#include "capture/inject/core/definitions.h"
#include "capture/inject/nvtx/nvtx.h"
#include "capture/inject/core/system.h"

/* The maximum length of a name; the rest is cut. Leaves room for the other parts of a record. */
#define NAME_MAX_BYTES (LNS_WIRE_RECORD_MAX_BYTES - 1024u)

/* A name in UTF-8. */
typedef struct
{
  const char *bytes;
  size_t n_bytes;
  void *memory; /* to be unmapped: a wide name's conversion */
  size_t n_memory_bytes;
} Name;

static Name
narrow (const char *text)
{
  if (text == NULL)
    text = "";
  return (Name){ .bytes = text, .n_bytes = strnlen (text, NAME_MAX_BYTES) };
}

static Name
wide (const wchar_t *text)
{
  Name name = { .bytes = "" };
  if (text == NULL || *text == L'\0')
    return name;
  size_t n_bytes = lns_utf8_from_wide (text, NULL, 0);
  name.memory = lns_inject_map (n_bytes);
  if (name.memory == NULL)
    return name;
  name.n_memory_bytes = n_bytes;
  lns_utf8_from_wide (text, name.memory, n_bytes);
  name.bytes = name.memory;
  name.n_bytes = n_bytes < NAME_MAX_BYTES ? n_bytes : NAME_MAX_BYTES;
  return name;
}

static void
release (Name *name)
{
  if (name->memory != NULL)
    lns_inject_unmap (name->memory, name->n_memory_bytes);
}

/* Names the object of HEAD, and frees NAME. */
static void
define (LnsWireHead head, Name name)
{
  (void)lns_definitions_name (head, name.bytes, name.n_bytes);
  release (&name);
  lns_nvtx_send_definitions ();
}

static const void *
create_domain (Name name)
{
  uint32_t id = lns_definitions_domain (name.bytes, name.n_bytes);
  release (&name);
  lns_nvtx_send_definitions ();
  return (const void *)(uintptr_t)id;
}

static const void *
create_domain_a (const char *name)
{
  return create_domain (narrow (name));
}

static const void *
create_domain_w (const wchar_t *name)
{
  return create_domain (wide (name));
}

static void
destroy_domain (const void *domain)
{
  uint32_t id = lns_nvtx_domain (domain);
  if (id != 0)
    define ((LnsWireHead){ .type = LNS_WIRE_DOMAIN_END, .domain = (uint16_t)id }, narrow (NULL));
}

static const void *
register_string (const void *domain, Name text)
{
  uint32_t id = lns_definitions_string (lns_nvtx_domain (domain), text.bytes, text.n_bytes);
  release (&text);
  lns_nvtx_send_definitions ();
  return (const void *)(uintptr_t)id;
}

static const void *
register_string_a (const void *domain, const char *text)
{
  return register_string (domain, narrow (text));
}

static const void *
register_string_w (const void *domain, const wchar_t *text)
{
  return register_string (domain, wide (text));
}

static void
name_category (const void *domain, uint32_t category, Name name)
{
  define ((LnsWireHead){ .type = LNS_WIRE_CATEGORY,
                         .domain = (uint16_t)lns_nvtx_domain (domain),
                         .string = category },
          name);
}

void
lns_nvtx_name_category (const void *domain, uint32_t category, const char *name)
{
  name_category (domain, category, narrow (name));
}

static void
domain_name_category_w (const void *domain, uint32_t category, const wchar_t *name)
{
  name_category (domain, category, wide (name));
}

static void
name_category_a (uint32_t category, const char *name)
{
  name_category (NULL, category, narrow (name));
}

static void
name_category_w (uint32_t category, const wchar_t *name)
{
  name_category (NULL, category, wide (name));
}

static void
name_thread_a (uint32_t tid, const char *name)
{
  define ((LnsWireHead){ .type = LNS_WIRE_THREAD_NAME, .string = tid }, narrow (name));
}

static void
name_thread_w (uint32_t tid, const wchar_t *name)
{
  define ((LnsWireHead){ .type = LNS_WIRE_THREAD_NAME, .string = tid }, wide (name));
}

/* --- Resources, and objects of CUDA and OpenCL. ---------------------------------------------- */

/* The name of a resource. A resource that is named by a registered string has the string's id instead. */
static Name
message_name (int32_t type, LnsNvtxMessage message)
{
  if (type == LNS_NVTX_MESSAGE_ASCII)
    return narrow (message.ascii);
  if (type == LNS_NVTX_MESSAGE_WIDE)
    return wide (message.wide);
  return narrow (NULL);
}

static void
add_resource (LnsWireResourceBytes *record, Name name)
{
  record->n_text_bytes = (uint32_t)name.n_bytes;
  LnsPart parts[] = { { .bytes = record, .n_bytes = sizeof *record },
                      { .bytes = name.bytes, .n_bytes = name.n_bytes } };
  (void)lns_definitions_add (parts, 2);
  release (&name);
  lns_nvtx_send_definitions ();
}

static const void *
create_resource (const void *domain, const LnsNvtxResourceAttributes *attributes)
{
  LnsNvtxResourceAttributes own = { 0 };
  if (attributes == NULL)
    return NULL;
  memcpy (&own, attributes, attributes->size < sizeof own ? attributes->size : sizeof own);
  uint64_t handle = lns_definitions_serial ();
  LnsWireResourceBytes record = {
    .head = { .type = LNS_WIRE_RESOURCE, .domain = (uint16_t)lns_nvtx_domain (domain) },
    .handle = handle,
    .identifier = own.identifier,
    .identifier_type = (uint32_t)own.identifier_type,
  };
  if (own.message_type == LNS_NVTX_MESSAGE_REGISTERED)
    record.head.string = (uint32_t)(uintptr_t)own.message.registered;
  Name name = message_name (own.message_type, own.message);
  lns_cuda_name_object (record.identifier_type, record.identifier, name.bytes, name.n_bytes);
  add_resource (&record, name);
  return (const void *)(uintptr_t)handle;
}

/* Marks the handles of objects that NVTX gives none, apart from the small numbers of resources. */
#define NAMED_BY_IDENTIFIER (UINT64_C (1) << 63)

static void
name_object (uint32_t type, uint64_t identifier, Name name)
{
  const uint64_t key[] = { type, identifier };
  LnsWireResourceBytes record = {
    .head.type = LNS_WIRE_RESOURCE,
    .handle = lns_strings_hash ((const char *)key, sizeof key) | NAMED_BY_IDENTIFIER,
    .identifier = identifier,
    .identifier_type = type,
  };
  lns_cuda_name_object (type, identifier, name.bytes, name.n_bytes);
  add_resource (&record, name);
}

/* The objects that programs name: module, kind, and type of identifier. */
#define OBJECTS(X)                                                                                 \
 X (CUDA, DEVICE, int)                                                                             \
 X (CUDA, CONTEXT, const void *)                                                                   \
 X (CUDA, STREAM, const void *)                                                                    \
 X (CUDA, EVENT, const void *)                                                                     \
 X (CUDART, DEVICE, int)                                                                           \
 X (CUDART, STREAM, const void *)                                                                  \
 X (CUDART, EVENT, const void *)                                                                   \
 X (OPENCL, DEVICE, const void *)                                                                  \
 X (OPENCL, CONTEXT, const void *)                                                                 \
 X (OPENCL, COMMAND_QUEUE, const void *)                                                           \
 X (OPENCL, MEM_OBJECT, const void *)                                                              \
 X (OPENCL, SAMPLER, const void *)                                                                 \
 X (OPENCL, PROGRAM, const void *)                                                                 \
 X (OPENCL, EVENT, const void *)

#define DEFINE_OBJECT_HANDLERS(Module, Kind, Identifier)                                           \
 static void name_##Module##_##Kind##_a (Identifier object, const char *name)                      \
 {                                                                                                 \
  name_object (LNS_NVTX_RESOURCE_##Module##_##Kind, (uintptr_t)object, narrow (name));             \
 }                                                                                                 \
 static void name_##Module##_##Kind##_w (Identifier object, const wchar_t *name)                   \
 {                                                                                                 \
  name_object (LNS_NVTX_RESOURCE_##Module##_##Kind, (uintptr_t)object, wide (name));               \
 }
OBJECTS (DEFINE_OBJECT_HANDLERS)

static void
destroy_resource (const void *resource)
{
  if (resource == NULL)
    return;
  LnsWireResourceBytes record = { .head.type = LNS_WIRE_RESOURCE_END,
                                  .handle = (uintptr_t)resource };
  add_resource (&record, narrow (NULL));
}

/* --- What is not recorded. ------------------------------------------------------------------- */

void
lns_nvtx_note_missing (const char *what)
{
  const LnsWireHead head = { .type = LNS_WIRE_UNRECORDED,
                             .string = (uint32_t)lns_strings_hash (what, strlen (what)) };
  (void)lns_definitions_name (head, what, strlen (what));
}

void
lns_nvtx_miss (const char *what)
{
  lns_nvtx_note_missing (what);
  lns_nvtx_send_definitions ();
}

/* Returns a lock's handle, as without a tool. */
static const void *
create_lock (const void *domain, const void *attributes)
{
  lns_nvtx_miss ("NVTX's events of locks");
  return NULL;
}

#define OBJECT(Module, Kind, Identifier)                                                           \
 LNS_NVTX_HANDLER (Module, NAME_##Kind##_A, name_##Module##_##Kind##_a),                           \
     LNS_NVTX_HANDLER (Module, NAME_##Kind##_A + 1, name_##Module##_##Kind##_w),

const LnsNvtxHandler lns_name_handlers[] = {
  LNS_NVTX_HANDLER (CORE, NAME_CATEGORY_A, name_category_a),
  LNS_NVTX_HANDLER (CORE, NAME_CATEGORY_W, name_category_w),
  LNS_NVTX_HANDLER (CORE, NAME_OS_THREAD_A, name_thread_a),
  LNS_NVTX_HANDLER (CORE, NAME_OS_THREAD_W, name_thread_w),
  LNS_NVTX_HANDLER (CORE2, DOMAIN_RESOURCE_CREATE, create_resource),
  LNS_NVTX_HANDLER (CORE2, DOMAIN_RESOURCE_DESTROY, destroy_resource),
  LNS_NVTX_HANDLER (CORE2, DOMAIN_NAME_CATEGORY_A, lns_nvtx_name_category),
  LNS_NVTX_HANDLER (CORE2, DOMAIN_NAME_CATEGORY_W, domain_name_category_w),
  LNS_NVTX_HANDLER (CORE2, DOMAIN_REGISTER_STRING_A, register_string_a),
  LNS_NVTX_HANDLER (CORE2, DOMAIN_REGISTER_STRING_W, register_string_w),
  LNS_NVTX_HANDLER (CORE2, DOMAIN_CREATE_A, create_domain_a),
  LNS_NVTX_HANDLER (CORE2, DOMAIN_CREATE_W, create_domain_w),
  LNS_NVTX_HANDLER (CORE2, DOMAIN_DESTROY, destroy_domain),
  LNS_NVTX_HANDLER (SYNC, CREATE, create_lock),
  OBJECTS (OBJECT) /* with a comma behind each */
  { 0 },
};
