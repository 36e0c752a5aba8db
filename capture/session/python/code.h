/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The code objects of a process, copied when they are seen first. CPython reuses the memory of objects, so a copy is compared
 * with the object each time before it is used: names, files and the addresses of both. */

#pragma once

#include "capture/session/decode/python/line-table.h"
#include "capture/session/python/layout.h"
#include "src/base/id-map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A str object. */
typedef struct
{
  uint64_t address;
  uint8_t *raw; /* owned; the object from its length on, as it was read */
  uint32_t n_raw;
  uint32_t data; /* where in RAW the characters begin */
  char *utf8;    /* owned; cut with "…" after 1,024 characters */
} LnsPythonText;

/* The characters of the str at ADDRESS of PID, cut with "…" after 1,024; to be freed. NULL if it is none, or memory is short. */
char *_lns_python_text_read (int32_t pid, const LnsPythonLayout *layout, uint64_t address);

typedef struct
{
  LnsPythonText text;
  uint64_t checked;
  bool is_replaced; /* its address has another text by now */
} LnsPythonFile;

/* A copy never changes; if the object does, a new copy takes its place. */
typedef struct
{
  uint64_t address;
  uint64_t id; /* from 1 on; no other copy of the cache ever has it */
  LnsPythonText name;
  LnsPythonFile *file;
  int32_t first_line;
  uint64_t lines_address;
  LnsPythonLines lines;
  uint64_t since, checked; /* times of the cache's clock: when it was copied, and compared last */
} LnsPythonCode;

typedef struct
{
  int32_t pid;
  uint64_t code_type;
  const LnsPythonLayout *layout;
  LnsIdMap codes, files;                 /* by address */
  LNS_ARRAY (LnsPythonCode *) retired;   /* may still be in use until the next sample */
  LNS_ARRAY (LnsPythonFile *) old_files; /* copies of code objects may still point to them */
  uint64_t n_codes_made;
  uint64_t n_freed; /* times that copies were freed */
  uint8_t *room;    /* owned; what is read for comparison */
} LnsPythonCodes;

bool _lns_python_codes_init (LnsPythonCodes *codes,
                             int32_t pid,
                             uint64_t code_type,
                             const LnsPythonLayout *layout);
void _lns_python_codes_clear (LnsPythonCodes *codes);

/* Begins a sample: frees copies that were replaced, and all of them if there are more than 65,536. What earlier calls
 * returned is invalid then. */
void _lns_python_codes_begin (LnsPythonCodes *codes);

/* Compares the copies of the N objects at ADDRESSES with the objects, and copies those that are new or have changed. An object
 * is compared once at each time NOW. Two or three pieces of memory are read for each. */
void
_lns_python_codes_check (LnsPythonCodes *codes, const uint64_t *addresses, size_t n, uint64_t now);

/* The copy of the object at ADDRESS if it was found to be right at NOW, else NULL. Until it was found right at two times, the
 * frame that was read between them may have had another: see `since`. */
const LnsPythonCode *
_lns_python_codes_get (const LnsPythonCodes *codes, uint64_t address, uint64_t now);
