/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The callers of calls, as the program finds them; layout.h has the rules of records. */

#pragma once

#include "capture/wire/layout.h"

#include <stdbool.h>
#include <stddef.h>

/* LnsWireType. */
typedef enum
{
  /* Definitions: */
  LNS_WIRE_CODE = 0xb8,        /* LnsWireCodeBytes: code that the process has mapped */
  LNS_WIRE_PYTHON_CODE = 0xb9, /* LnsWirePythonCodeBytes: a Python function */
} LnsWireCallersType;

/* A LNS_WIRE_CALL_CHAIN has no room for numbers of its own. The lower half of the call's correlation is in DOMAIN, the
 * upper one above the stream's id in STRING, which has the bytes of the chain: the addresses to which the calls return,
 * uint64_t[], the innermost first. */
enum
{
  LNS_WIRE_CHAIN_RUNTIME = 1 << 0, /* the call is of the runtime's API, not the driver's */
  LNS_WIRE_CHAIN_CUT = 1 << 1,     /* there were more callers than LNS_WIRE_CHAIN_MAX */
  LNS_WIRE_CHAIN_STACK = 1 << 2,   /* instead of addresses, it has words of a stack */
  /* The call is of the C library, and comes next in the stream, with the same ticks. Instead of its correlation: how many callers
   * are wanted. */
  LNS_WIRE_CHAIN_OS = 1 << 3,
  /* The bits from here on change when code was unmapped, so that addresses may be of other code now. */
  LNS_WIRE_CHAIN_CODE = 1 << 4,
};

#define LNS_WIRE_CHAIN_MAX 128u

/* Behind the addresses come the Python functions that called them, the innermost first, each of them a word that is no
 * address: LNS_WIRE_CHAIN_PYTHON, above it the function's number, below the offset of its instruction in bytes. Number 0:
 * callers in between are not known. */
#define LNS_WIRE_CHAIN_PYTHON            (UINT64_C (1) << 62)
#define LNS_WIRE_CHAIN_PYTHON_MAX        128u
#define LNS_WIRE_CHAIN_PYTHON_NUMBER_MAX ((1u << 30) - 1)

static inline uint64_t
lns_wire_chain_python (uint32_t number, int64_t offset)
{
  return LNS_WIRE_CHAIN_PYTHON | (uint64_t)number << 32 | (uint32_t)offset;
}

static inline bool
lns_wire_chain_is_python (uint64_t word)
{
  return word >> 62 == 1;
}

/* A word of a stack, from which callers are to be found: below, a value; above LNS_WIRE_STACK_PLACE_SHIFT, where it was.
 * What is not among the words was neither an address of code nor of the stack. */
enum
{
  LNS_WIRE_STACK_SLOT =
      1, /* and the number of the 8 bytes above the stack pointer, up to LNS_WIRE_STACK_SLOTS */
  LNS_WIRE_STACK_REGISTER = 0x3000, /* and DWARF's number of the register */
  LNS_WIRE_STACK_BYTES = 0x3f00,    /* above the stack pointer, so many were taken */
  /* The code of the Python interpreter, if Python functions follow: these come in place of its frames. */
  LNS_WIRE_STACK_PYTHON_START = 0x3f01,
  LNS_WIRE_STACK_PYTHON_END = 0x3f02,
};

#define LNS_WIRE_STACK_PLACE_SHIFT 48
#define LNS_WIRE_STACK_SLOTS       2048u
#define LNS_WIRE_STACK_WORDS_MAX   380u /* with Python functions, short enough to be kept as a name */

static inline uint64_t
lns_wire_stack_word (uint64_t place, uint64_t value)
{
  return place << LNS_WIRE_STACK_PLACE_SHIFT |
         (value & ((UINT64_C (1) << LNS_WIRE_STACK_PLACE_SHIFT) - 1));
}

static inline uint32_t
lns_wire_stack_place (uint64_t word)
{
  return (uint32_t)(word >> LNS_WIRE_STACK_PLACE_SHIFT);
}

static inline uint64_t
lns_wire_stack_value (uint64_t word)
{
  return word & ((UINT64_C (1) << LNS_WIRE_STACK_PLACE_SHIFT) - 1);
}

/* Whether the file NAME of N_BYTES, without its folder, is a C library. It calls main () and the functions of threads, so
 * that a chain that ends elsewhere misses callers: those of code without frame pointers, or the start of a static program,
 * which cannot be told from them. */
static inline bool
lns_wire_is_c_library (const char *name, size_t n_bytes)
{
  static const char *const names[] = { "libc.so", "libc-", "libpthread", "ld-musl" };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    {
      const size_t n = __builtin_strlen (names[i]);
      if (n_bytes >= n && __builtin_memcmp (name, names[i], n) == 0)
        return true;
    }
  return false;
}

static inline LnsWireHead
lns_wire_chain (uint64_t ticks, uint8_t flags, uint32_t correlation, uint32_t string)
{
  return (LnsWireHead){ .ticks = ticks,
                        .type = LNS_WIRE_CALL_CHAIN,
                        .depth = flags,
                        .domain = (uint16_t)correlation,
                        .string = string | (correlation & UINT32_C (0xffff0000)) };
}

static inline uint32_t
lns_wire_chain_correlation (uint32_t domain, uint32_t string)
{
  return (domain & 0xffff) | (string & UINT32_C (0xffff0000));
}

static inline uint32_t
lns_wire_chain_string (uint32_t string)
{
  return string & 0xffff;
}

/* The path follows, without a terminator. */
typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t n_path_bytes;
  uint64_t start, end, file_offset;
} LnsWireCodeBytes;

/* The characters of the function's name, those of its file's, and the table of its lines follow. */
typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t
      number; /* in chains, at most LNS_WIRE_CHAIN_PYTHON_NUMBER_MAX; no other of the process has it */
  int32_t first_line;
  uint32_t n_line_bytes;
  uint16_t n_name, n_file;      /* characters … */
  uint8_t name_kind, file_kind; /* … of so many bytes each: 1, 2 or 4 */
  uint8_t is_name_cut : 1, is_file_cut : 1, has_lines : 1;
  uint8_t line_format; /* LnsPythonLineFormat */
} LnsWirePythonCodeBytes;
_Static_assert(sizeof (LnsWirePythonCodeBytes) == 40, "it has no padding");
