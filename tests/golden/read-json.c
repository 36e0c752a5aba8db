/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads documents from stdin, each behind its length of four bytes, and prints a line for each: the document without
 * white space as the reader of JSON understands it, or "!" and what is wrong. A document is read as a whole, byte by byte,
 * and in two pieces that meet at each of its bytes; the line says so where these do not agree. */

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json-reader.h"

typedef struct
{
  const uint8_t *bytes;
  size_t n_bytes, at;
  size_t first;  /* bytes of the first piece */
  size_t others; /* bytes of each further one */
} Source;

static size_t
give (void *data, uint8_t *bytes, size_t size_bytes)
{
  Source *source = data;
  const size_t wanted = source->at < source->first ? source->first - source->at : source->others,
               rest = source->n_bytes - source->at;
  size_t n = wanted < rest ? wanted : rest;

  n = n < size_bytes ? n : size_bytes;
  memcpy (bytes, source->bytes + source->at, n);
  source->at += n;
  return n;
}

/* Appends what a reader makes of SOURCE to OUT, terminated. */
static void
read_source (Source source, LnsBuffer *out)
{
  static LnsJsonReader json;
  LnsJsonToken token;

  lns_json_reader_init (&json, give, &source, (size_t)16 << 20);
  while ((token = lns_json_next (&json)) != LNS_JSON_END)
    lns_json_append (&json, token, out);
  if (json.end != LNS_JSON_COMPLETE)
    {
      lns_buffer_reset (out);
      lns_buffer_append (out, "!", 1);
      lns_buffer_append (out, json.complaint, strlen (json.complaint));
    }
  lns_buffer_append (out, "", 1);
  lns_json_reader_clear (&json);
}

static void
read_document (const uint8_t *bytes, size_t n_bytes)
{
  LnsBuffer whole = { 0 }, other = { 0 };

  read_source ((Source){ bytes, n_bytes, 0, SIZE_MAX, 1 }, &whole);
  for (size_t i = 0; i <= n_bytes; i++)
    {
      /* A piece of no bytes would be the end: 0 stands for byte by byte.                          */
      lns_buffer_reset (&other);
      read_source ((Source){ bytes, n_bytes, 0, i, i == 0 ? 1 : SIZE_MAX }, &other);
      if (other.size_bytes != whole.size_bytes ||
          memcmp (other.bytes, whole.bytes, whole.size_bytes) != 0)
        {
          printf ("otherwise in two pieces that meet at byte %zu: %s, %s\n", i, (char *)whole.bytes,
                  (char *)other.bytes);
          break;
        }
    }
  puts ((const char *)whole.bytes);
  lns_buffer_clear (&whole);
  lns_buffer_clear (&other);
}

int
main (void)
{
  uint32_t n;

  /* Readers come and go by the thousand: the kernel need not see each.                            */
  mallopt (M_MMAP_THRESHOLD, 1 << 30);
  mallopt (M_TRIM_THRESHOLD, 1 << 30);
  while (fread (&n, sizeof n, 1, stdin) == 1)
    {
      /* Of that size, so that a sanitizer sees what is read behind it.                            */
      uint8_t *bytes = malloc (n > 0 ? n : 1);
      if (bytes == NULL || fread (bytes, 1, n, stdin) != n)
        return 1;
      read_document (bytes, n);
      free (bytes);
    }
  return 0;
}
