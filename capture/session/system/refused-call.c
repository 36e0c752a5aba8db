/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/system/refused-call.h"

#include <errno.h>
#include <string.h>

bool
lns_refused_call (LnsError *error, int errno_code, const char *call)
{
  if (errno_code == EPERM || errno_code == ENOSYS || errno_code == EACCES)
    return lns_error_set (error, LNS_ERROR_UNSUPPORTED, errno_code,
                          "cannot start the session (%s: %s); allow %s in the container's seccomp "
                          "profile, or run outside the container",
                          call, strerror (errno_code), call);
  return lns_error_set (error, LNS_ERROR_IO, errno_code,
                        "cannot start the session (%s: %s); raise the limits that `ulimit -a` "
                        "shows",
                        call, strerror (errno_code));
}
