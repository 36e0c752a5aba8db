/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/python/thread-name.h"

#include "capture/session/python/code.h"
#include "capture/session/python/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A thread has 16 attributes of its own. */
#define MOST_ATTRIBUTES 128

/* Fields that are at the same place from 3.9 to 3.13 (cpython/object.h, cpython/dictobject.h). */
enum
{
  TYPE_BASIC_SIZE = 32,
  TYPE_FLAGS = 168,
  TYPE_DICT_OFFSET = 288,
  DICT_KEYS = 32,
  DICT_VALUES = 40,
};

/* Bits of tp_flags */
#define MANAGED_DICT  (UINT64_C (1) << 4)
#define INLINE_VALUES (UINT64_C (1) << 2)

/* Where an object has its attributes. */
typedef struct
{
  uint64_t keys;   /* a PyDictKeysObject */
  uint64_t values; /* an array, by the numbers of the keys; 0: the values lie beside the keys */
} Attributes;

/* An entry of a PyDictKeysObject. */
typedef struct
{
  uint64_t key, value;
} Entry;

/* Where the values of a split dict begin whose ma_values is at VALUES: struct _dictvalues has four bytes before them from 3.13
 * on (internal/pycore_dict.h). */
static uint64_t
skip_head (const LnsPythonLayout *layout, uint64_t values)
{
  return values != 0 && layout->minor >= 13 ? values + 8 : values;
}

static Attributes
of_dict (int32_t pid, const LnsPythonLayout *layout, uint64_t dict)
{
  return (Attributes){ _lns_remote_pointer (pid, dict + DICT_KEYS),
                       skip_head (layout, _lns_remote_pointer (pid, dict + DICT_VALUES)) };
}

/* Where OBJECT, whose type is at TYPE, has its attributes: in a dict, or from 3.11 on in an array until somebody asks for the dict
 * (internal/pycore_object.h). */
static Attributes
find_attributes (int32_t pid, const LnsPythonLayout *layout, uint64_t object, uint64_t type)
{
  const uint64_t keys = _lns_remote_pointer (pid, type + layout->type_keys),
                 flags = _lns_remote_pointer (pid, type + TYPE_FLAGS);
  if (layout->minor <= 10)
    {
      const uint64_t offset = _lns_remote_pointer (pid, type + TYPE_DICT_OFFSET);
      return offset > 0 && offset < 4096
                 ? of_dict (pid, layout, _lns_remote_pointer (pid, object + offset))
                 : (Attributes){ 0 };
    }
  if ((flags & MANAGED_DICT) == 0)
    return (Attributes){ 0 };
  const uint64_t dict = _lns_remote_pointer (pid, object - 24);
  if (layout->minor == 11)
    {
      const uint64_t values = _lns_remote_pointer (pid, object - 32);
      return values != 0 ? (Attributes){ keys, values } : of_dict (pid, layout, dict);
    }
  if (layout->minor == 12) /* the lowest bit tells which of them it is */
    return (dict & 1) != 0 ? (Attributes){ keys, dict + 1 } : of_dict (pid, layout, dict);
  const uint64_t values = object + (_lns_remote_pointer (pid, type + TYPE_BASIC_SIZE) & 0xffff);
  const uint64_t about = _lns_remote_pointer (pid, values);
  const bool is_valid = (flags & INLINE_VALUES) != 0 && (about >> 24 & 0xff) != 0;
  return is_valid ? (Attributes){ keys, skip_head (layout, values) } : of_dict (pid, layout, dict);
}

/* Reads the entries of the PyDictKeysObject at KEYS into ENTRIES, and where the value of the first lies into RET_FIRST, the
 * distance to the next into RET_STEP. Returns how many there are. */
static size_t
read_entries (int32_t pid,
              const LnsPythonLayout *layout,
              uint64_t keys,
              Entry entries[static MOST_ATTRIBUTES],
              uint64_t *ret_first,
              size_t *ret_step)
{
  uint8_t head[40], bytes[24 * MOST_ATTRIBUTES];
  uint64_t at, n, index_bytes;
  size_t step = 24; /* hash, key and value */
  if (!_lns_remote_read (pid, keys, head, sizeof head))
    return 0;
  if (layout->minor <= 10)
    {
      const uint64_t size = _lns_python_pointer_at (head, 8);
      n = _lns_python_pointer_at (head, 32);
      index_bytes = size <= 0xff ? size : size <= 0xffff ? 2 * size : 4 * size;
      at = keys + 40;
    }
  else
    {
      n = _lns_python_pointer_at (head, 24);
      index_bytes = head[9] < 32 ? UINT64_C (1) << head[9] : 0;
      at = keys + 32;
      if (head[10] != 0) /* all keys are str: there are no hashes */
        step = 16;
    }
  if (n > MOST_ATTRIBUTES)
    n = MOST_ATTRIBUTES;
  at += index_bytes;
  if (!_lns_remote_read (pid, at, bytes, n * step))
    return 0;
  for (size_t i = 0; i < n; i++)
    entries[i] = (Entry){ _lns_python_pointer_at (bytes, i * step + step - 16),
                          _lns_python_pointer_at (bytes, i * step + step - 8) };
  *ret_first = at + step - 8;
  *ret_step = step;
  return n;
}

/* Whether the str at ADDRESS is "_name". */
static bool
is_key (int32_t pid, const LnsPythonLayout *layout, uint64_t address)
{
  char *text = address != 0 ? _lns_python_text_read (pid, layout, address) : NULL;
  const bool is_it = text != NULL && strcmp (text, "_name") == 0;
  free (text);
  return is_it;
}

/* The address at which the value of "_name" lies; 0 if there is none. */
static uint64_t
find_value (LnsPythonNameKey *key,
            int32_t pid,
            const LnsPythonLayout *layout,
            Attributes attributes)
{
  Entry entries[MOST_ATTRIBUTES];
  uint64_t first = 0;
  size_t step = 0;
  const size_t n = attributes.keys != 0
                       ? read_entries (pid, layout, attributes.keys, entries, &first, &step)
                       : 0;
  for (size_t i = 0; i < n; i++)
    {
      if (key->key == 0 && is_key (pid, layout, entries[i].key))
        key->key = entries[i].key;
      if (entries[i].key == key->key && key->key != 0)
        return attributes.values != 0 ? attributes.values + 8 * i : first + step * i;
    }
  return 0;
}

char *
_lns_python_thread_name (LnsPythonNameKey *key,
                         int32_t pid,
                         const LnsPythonLayout *layout,
                         uint64_t frame,
                         uint64_t code)
{
  if (layout->type_keys == 0)
    return NULL;
  const uint64_t thread = _lns_remote_pointer (pid, frame + layout->frame_locals), /* self */
      type = thread != 0 ? _lns_remote_pointer (pid, thread + layout->object_type) : 0;
  if (type == 0)
    return NULL;
  const Attributes attributes = find_attributes (pid, layout, thread, type);
  const uint64_t place = find_value (key, pid, layout, attributes);
  const uint64_t value = place != 0 ? _lns_remote_pointer (pid, place) : 0;
  char *name = value != 0 ? _lns_python_text_read (pid, layout, value) : NULL;
  const Attributes after = find_attributes (pid, layout, thread, type);
  const bool is_same =
      (_lns_remote_pointer (pid, frame + layout->frame_code) & ~UINT64_C (7)) == code &&
      _lns_remote_pointer (pid, frame + layout->frame_locals) == thread &&
      after.keys == attributes.keys && after.values == attributes.values &&
      (place == 0 || _lns_remote_pointer (pid, place) == value);
  if (is_same)
    return name;
  free (name);
  return NULL;
}
