/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The wrappers that are all alike, made of capture/wire/os-functions.h. They have the names of the C library's functions
 * by an assembler label, as its headers declare those with other types. */

#include "capture/inject/preload/os.h"

#include <string.h>

typedef LnsOsWord Word;

#define WORD(i)           Word a##i
#define PASS(i)           a##i
#define TYPE(i)           Word
#define LIST_0(Item, ...) __VA_ARGS__
#define LIST_1(Item, ...) Item (1)
#define LIST_2(Item, ...) LIST_1 (Item), Item (2)
#define LIST_3(Item, ...) LIST_2 (Item), Item (3)
#define LIST_4(Item, ...) LIST_3 (Item), Item (4)
#define LIST_5(Item, ...) LIST_4 (Item), Item (5)
#define LIST_6(Item, ...) LIST_5 (Item), Item (6)
#define LIST_7(Item, ...) LIST_6 (Item), Item (7)

/* Of fgets() and fputs(). */
static int64_t
n_text_bytes (int64_t text)
{
  return text == 0 ? 0 : (int64_t)strlen ((const char *)(intptr_t)text);
}

static int64_t
n_put_bytes (int64_t result, Word text)
{
  return result < 0 ? 0 : n_text_bytes ((int64_t)text);
}

/* The number of the file of a call with the PARAMETERS and the RESULT. */
static uint32_t
file_of (LnsOsFileOf file, const Word *parameters, int64_t result)
{
  switch (file.by)
    {
    case LNS_OS_BY_RESULT:
      return result < 0 ? 0 : lns_os_file ((int)result, true);
    case LNS_OS_BY_DESCRIPTOR:
      return lns_os_file ((int)parameters[0], false);
    case LNS_OS_BY_RESULT_STREAM:
      return lns_os_file (lns_os_stream_descriptor ((const void *)(intptr_t)result), true);
    default:
      return lns_os_file (
          lns_os_stream_descriptor ((const void *)(uintptr_t)parameters[file.stream - 1]), false);
    }
}

#define DECLARE(n, name)                                                                           \
 LNS_OS_EXPORT Word lns_os_call_##name (LIST_##n (WORD, void)) __asm__(#name);                     \
 LNS_OS_EXPORT Word lns_os_call_##name (LIST_##n (WORD, void))
#define CALL_REAL(n, name)                                                                         \
 ((Word (*) (LIST_##n (TYPE, void)))lns_os_real (LNS_OS_##name)) (LIST_##n (PASS))

#define LNS_OS_CALL(n, type, name)                                                                 \
 DECLARE (n, name)                                                                                 \
 {                                                                                                 \
  const uint64_t begin_ticks = lns_os_begin ();                                                    \
  const Word result = CALL_REAL (n, name);                                                         \
  lns_os_end (LNS_OS_##name, begin_ticks, (int64_t)(type)result, NULL);                            \
  return result;                                                                                   \
 }

#define LNS_OS_FILE(n, type, name, file, size)                                                     \
 DECLARE (n, name)                                                                                 \
 {                                                                                                 \
  const uint64_t begin_ticks = lns_os_begin ();                                                    \
  const Word word = CALL_REAL (n, name);                                                           \
  const int64_t result = (int64_t)(type)word;                                                      \
  if (__builtin_expect (lns_os.has_files, 0))                                                      \
   lns_os_record_file (LNS_OS_##name, __builtin_return_address (0), begin_ticks, result,           \
                       file_of (file, (Word[]){ LIST_##n (PASS) }, result), size);                 \
  else                                                                                             \
   lns_os_end (LNS_OS_##name, begin_ticks, result, NULL);                                          \
  return word;                                                                                     \
 }

#define LNS_OS_OWN(name)

#include "capture/wire/os-functions.h"
