/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/python/layout.h"

#include "capture/session/python/memory.h"

bool
_lns_python_layout_read (int32_t pid,
                         const LnsPythonPlace *place,
                         LnsPythonLayout *ret_layout,
                         LnsError *error)
{
  const unsigned major = place->version >> 24, minor = place->version >> 16 & 255;
  uint8_t runtime[LNS_PYTHON_MOST_RUNTIME_BYTES];
  const size_t n_bytes = lns_python_layout_runtime_bytes (place->version);

  if (n_bytes > 0 && !_lns_remote_read (pid, place->runtime, runtime, n_bytes))
    runtime[0] = '\0';
  switch (lns_python_layout (place->version, runtime, ret_layout))
    {
    case LNS_PYTHON_LAYOUT_IS_KNOWN:
      return true;
    case LNS_PYTHON_LAYOUT_OF_NO_VERSION:
      return lns_error_set (error, LNS_ERROR_UNSUPPORTED, 0,
                            "process %d runs Python %u.%u, and Lanescope can sample the functions "
                            "of CPython 3.9 to 3.14",
                            pid, major, minor);
    case LNS_PYTHON_LAYOUT_IS_UNTOLD:
      return lns_error_set (error, LNS_ERROR_UNSUPPORTED, 0,
                            "the Python interpreter of process %d does not describe its memory as "
                            "CPython 3.%u does",
                            pid, minor);
    case LNS_PYTHON_LAYOUT_IS_FREE_THREADED:
      return lns_error_set (error, LNS_ERROR_UNSUPPORTED, 0,
                            "the Python interpreter of process %d is free-threaded, and Lanescope "
                            "cannot sample its functions",
                            pid);
    case LNS_PYTHON_LAYOUT_IS_TOO_LARGE:
      break;
    }
  return lns_error_set (error, LNS_ERROR_UNSUPPORTED, 0,
                        "the Python interpreter of process %d has structures that are larger than "
                        "those of CPython 3.%u",
                        pid, minor);
}
