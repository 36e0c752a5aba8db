/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The records of calls of the C library; layout.h has the rules. */

#pragma once

#include "capture/wire/layout.h"

/* LnsWireType, from LNS_WIRE_OS_FIRST on. */
typedef enum
{
  LNS_WIRE_OS_CALL = LNS_WIRE_OS_FIRST, /* DOMAIN: LnsOsFunction; STRING: the id, in the target's
                                           eyes, of the thread that held the lock, or 0 */
  /* About the process, told like a definition. */
  LNS_WIRE_OS_REFUSED = 0xd0, /* LnsWireOsRefusedBytes: its calls are not recorded */
  LNS_WIRE_OS_UNREAD = 0xd1,  /* the same: callers of some calls are missing */
} LnsWireOsType;

/* Sanitizers, which have wrappers of their own and must come first. */
typedef enum
{
  LNS_OS_ADDRESS_SANITIZER = 1,
  LNS_OS_THREAD_SANITIZER = 2,
  LNS_OS_MEMORY_SANITIZER = 3,
} LnsOsSanitizer;

/* A number for each function whose calls are recorded. */
typedef enum
{
#define LNS_OS_CALL(n, result, name)             LNS_OS_##name,
#define LNS_OS_FILE(n, result, name, file, size) LNS_OS_##name,
#define LNS_OS_OWN(name)                         LNS_OS_##name,
#include "capture/wire/os-functions.h"
#undef LNS_OS_CALL
#undef LNS_OS_FILE
#undef LNS_OS_OWN
  LNS_N_OS_FUNCTIONS
} LnsOsFunction;

/* A call of the thread that writes the stream, from the head's ticks to END_TICKS. */
typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t
      file; /* path of the file that it opened, read, wrote or closed: a registered string, or 0 */
  uint64_t end_ticks;
  int64_t return_value;
  uint64_t subject; /* with FILE: the bytes that were read or written; else the address of the lock
                       that it waited for, or 0 */
} LnsWireOsCallBytes;
_Static_assert(sizeof (LnsWireOsCallBytes) % LNS_WIRE_ALIGN_BYTES == 0, "a record's size");

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t reason; /* LnsOsSanitizer; of callers that are missing: errno */
  uint64_t reserved;
} LnsWireOsRefusedBytes;
_Static_assert(sizeof (LnsWireOsRefusedBytes) % LNS_WIRE_ALIGN_BYTES == 0, "a record's size");
