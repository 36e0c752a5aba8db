/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads JSON (RFC 8259) token by token, from a stream of any size or from a text in memory. The source is not trusted.
 *
 * Memory is bounded by the longest text that is kept, and time is linear in the size of the source, however it is
 * divided into pieces. Bytes of texts are not checked for UTF-8, because names in traces may hold any bytes.
 *
 * Two things that JSON forbids and traces contain are read: NaN, inf and infinity, of either sign and in any case, are
 * null, and a control character in a text is a space. Half of a surrogate pair becomes U+FFFD. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buffer.h"

/* A source that opens more lists and objects at one time is invalid. */
#define LNS_JSON_DEPTH_MAX 10000

typedef enum
{
  LNS_JSON_END, /* no token follows; `end` has the reason */
  LNS_JSON_NULL,
  LNS_JSON_FALSE,
  LNS_JSON_TRUE,
  LNS_JSON_NUMBER,
  LNS_JSON_STRING,
  LNS_JSON_KEY, /* of an object's member; its value follows */
  LNS_JSON_LIST,
  LNS_JSON_LIST_END,
  LNS_JSON_OBJECT,
  LNS_JSON_OBJECT_END
} LnsJsonToken;

typedef enum
{
  LNS_JSON_READING,
  LNS_JSON_COMPLETE,
  LNS_JSON_CUT_OFF,          /* the source ends between two tokens, before the value does */
  LNS_JSON_CUT_OFF_IN_TOKEN, /* the source ends in a text, a number or a word */
  LNS_JSON_INVALID
} LnsJsonEnd;

/* Writes up to SIZE_BYTES more bytes of the source to BYTES. Returns how many; 0 at the end, also where the source
 * cannot be read. It is not called again after that. */
typedef size_t (*LnsJsonFill) (void *data, uint8_t *bytes, size_t size_bytes);

/* One thread uses a reader. */
typedef struct
{
  /* The last token. The text of a key or string is decoded, that of a number is as it is written; it is terminated, and
   * is valid until the next call. SIZE_BYTES is 0 for other tokens. */
  const char *text;
  size_t size_bytes;
  bool is_escaped;  /* the key or string is written with escapes */
  bool is_too_long; /* the key or string has more bytes than the reader keeps: the text is empty */

  unsigned depth;      /* lists and objects that are open after the token */
  LnsJsonEnd end;      /* why LNS_JSON_END was returned */
  char complaint[128]; /* what is wrong with the source; "" = nothing */

  /* The rest is the reader's own. */
  LnsJsonFill fill; /* NULL: all bytes are there */
  void *data;
  size_t text_max_bytes;
  uint8_t *bytes; /* owned; followed by zeros */
  size_t allocated_bytes;
  size_t start, out;   /* the text of this token, as far as it is decoded */
  size_t at, n_bytes;  /* unread bytes */
  size_t n_text_bytes; /* of this token, as they are written */
  uint64_t n_filled;   /* bytes of the source so far */
  int state;           /* what may follow */
  bool in_object;      /* the innermost open list or object is an object */
  bool has_replaced;   /* the byte at `at` stands in `replaced` */
  bool is_at_end;      /* `fill` has no more */
  uint8_t replaced;
  uint8_t objects[LNS_JSON_DEPTH_MAX / 8 + 1]; /* a bit for each depth: an object, not a list */
} LnsJsonReader;

/* Prepares to read what FILL gives. Keys and strings of more than TEXT_MAX_BYTES, as they are written, are not kept; a
 * number of more is invalid. */
void
lns_json_reader_init (LnsJsonReader *reader, LnsJsonFill fill, void *data, size_t text_max_bytes);

/* Prepares to read a copy of SIZE_BYTES of TEXT. Texts of keys and strings are valid until the reader is cleared. */
void lns_json_reader_init_text (LnsJsonReader *reader, const char *text, size_t size_bytes);

void lns_json_reader_clear (LnsJsonReader *reader);

/* Reads the next token. After LNS_JSON_END, at the end of the value or of what can be read, it returns that forever. */
LnsJsonToken lns_json_next (LnsJsonReader *reader);

/* Reads to the end of the value that began with TOKEN, the last one. */
void lns_json_skip (LnsJsonReader *reader, LnsJsonToken token);

/* Appends TOKEN, the last one, to OUT, which holds those before it: JSON without white space and with as few escapes as
 * possible. A text takes no more bytes than it does in the source. */
void lns_json_append (const LnsJsonReader *reader, LnsJsonToken token, LnsBuffer *out);
