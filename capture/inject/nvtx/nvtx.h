/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shared by the handlers of NVTX's core and extensions: turns an event with attributes and typed payloads into a
 * record, and gives the result of a call that is not recorded. */

#pragma once

#include "capture/inject/core/nvtx-abi.h"
#include "capture/inject/core/stream.h"

#include <stdbool.h>

/* An event that is more than a name. */
typedef struct
{
  LnsWireType type;
  uint32_t domain;
  uint32_t depth;
  uint32_t string;
  uint64_t range; /* 0: none */
  uint8_t color_type;
  uint32_t color;
  uint32_t category;
  uint8_t payload_type;
  uint64_t payload;
  const LnsNvtxPayloadData *payloads;
  size_t n_payloads;
} LnsNvtxEvent;

/* The number of the domain that has HANDLE; 0, the default domain, if HANDLE is not one of ours. */
static inline uint32_t
lns_nvtx_domain (const void *handle)
{
  uintptr_t number = (uintptr_t)handle;
  return number < LNS_WIRE_DOMAINS ? (uint32_t)number : 0;
}

/* Write one event of each kind. EVENT's type, depth and range are filled in. If its string is LNS_STRINGS_NO_ROOM, the
 * name could not be written and the event is lost. STREAM was entered and is left; if it is null, nothing is recorded.
 * They return the result of the NVTX call. */
int lns_nvtx_push (LnsInjectStream *stream, LnsNvtxEvent *event);
int lns_nvtx_pop (LnsInjectStream *stream, LnsNvtxEvent *event);
void lns_nvtx_mark (LnsInjectStream *stream, LnsNvtxEvent *event);
uint64_t lns_nvtx_start (LnsInjectStream *stream, LnsNvtxEvent *event);
void lns_nvtx_end (LnsInjectStream *stream, LnsNvtxEvent *event, uint64_t range);

/* The results of calls that are not recorded: levels are counted all the same. */
int lns_nvtx_pass_push (uint32_t domain);
int lns_nvtx_pass_pop (uint32_t domain);
uint64_t lns_nvtx_pass_start (void);

/* Sends new definitions now if this thread can, so that they are there if the process is killed. */
void lns_nvtx_send_definitions (void);

/* Names CATEGORY of the domain with the handle DOMAIN. */
void lns_nvtx_name_category (const void *domain, uint32_t category, const char *name);

/* Defines the payload that ATTRIBUTES describe. Returns its id, or 0. */
uint64_t lns_nvtx_define_schema (const void *domain, const LnsNvtxSchemaAttributes *attributes);

/* Writes, once, that the program uses WHAT, which is not recorded. */
void lns_nvtx_miss (const char *what);

/* The same with the next event, without joining the session for it. */
void lns_nvtx_note_missing (const char *what);

/* --- Handlers -------------------------------------------------------------------------------- */

/* A handler, and the slot that it is for: of the program's table of a module, or of an extension's one segment. */
typedef struct
{
  uint16_t module; /* LNS_NVTX_MODULE_…, or LNS_NVTX_EXTENSION_… */
  uint16_t slot;
  LnsNvtxFunction handler;
} LnsNvtxHandler;

#define LNS_NVTX_HANDLER(Module, slot, handler)                                                    \
 {                                                                                                 \
  LNS_NVTX_MODULE_##Module, LNS_NVTX_##Module##_##slot, (LnsNvtxFunction)(handler)                 \
 }
#define LNS_NVTX_EXTENSION_HANDLER(Extension, slot, handler)                                       \
 {                                                                                                 \
  LNS_NVTX_EXTENSION_##Extension, LNS_NVTX_##Extension##_##slot, (LnsNvtxFunction)(handler)        \
 }

/* The handlers of modules: of events, and of functions that name and create things. A null handler ends each list. */
extern const LnsNvtxHandler lns_core_handlers[];
extern const LnsNvtxHandler lns_name_handlers[];

/* The handlers of extensions. */
extern const LnsNvtxHandler lns_payload_handlers[];
extern const LnsNvtxHandler lns_schema_handlers[];
extern const LnsNvtxHandler lns_counter_handlers[];
