/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/core/intern.h"
#include "capture/inject/core/system.h"

/* The longest text that one record takes. */
#define TEXT_MAX_BYTES                                                                             \
 (LNS_WIRE_RECORD_MAX_BYTES - sizeof (LnsWireTextBytes) - LNS_WIRE_ALIGN_BYTES)

uint32_t
lns_inject_stream_intern (LnsInjectStream *stream,
                          const char *text,
                          size_t n_bytes,
                          const char *pointer)
{
  LnsStrings *strings = &stream->strings;
  const bool is_kept = n_bytes <= LNS_STRINGS_CACHED_MAX;
  const uint64_t hash = is_kept ? lns_strings_hash (text, n_bytes) : 0;
  uint32_t id = is_kept ? lns_strings_look_up (strings, hash, text, n_bytes, pointer) : 0;
  if (id != 0)
    return id;
  if (n_bytes > TEXT_MAX_BYTES)
    n_bytes = TEXT_MAX_BYTES;
  id = lns_strings_add (strings, hash, n_bytes);
  LnsWireTextBytes head = { .head = { .type = LNS_WIRE_STRING, .string = id },
                            .n_text_bytes = (uint32_t)n_bytes };
  LnsPart parts[] = { { .bytes = &head, .n_bytes = sizeof head },
                      { .bytes = text, .n_bytes = n_bytes } };
  if (lns_inject_stream_write_parts (stream, parts, 2) < 0)
    {
      /* Whatever was told of it is worth nothing: the loss that is counted next empties the cache. */
      lns_strings_drop (strings, id);
      return LNS_STRINGS_NO_ROOM;
    }
  if (is_kept)
    lns_strings_keep (strings, id, text, pointer);
  return id;
}

uint32_t
lns_inject_stream_intern_wide (LnsInjectStream *stream, const wchar_t *text)
{
  char *wide = stream->strings.memory->wide;
  size_t n_bytes = lns_utf8_from_wide (text, wide, LNS_STRINGS_WIDE_BYTES);
  if (n_bytes <= LNS_STRINGS_WIDE_BYTES)
    return lns_inject_stream_intern (stream, wide, n_bytes, NULL);

  char *whole = lns_inject_map (n_bytes);
  if (whole == NULL)
    return LNS_STRINGS_NO_ROOM;
  lns_utf8_from_wide (text, whole, n_bytes);
  uint32_t id = lns_inject_stream_intern (stream, whole, n_bytes, NULL);
  lns_inject_unmap (whole, n_bytes);
  return id;
}
