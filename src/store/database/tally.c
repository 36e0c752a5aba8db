/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/database/tally.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/xattr.h>

/* Three numbers and what separates them. */
#define TEXT_BYTES 64

/* More events than any computer records; sums of them do not overflow. */
#define MOST (UINT64_C (1) << 60)

void
lns_tally_write (int fd, const LnsTally *tally)
{
  char text[TEXT_BYTES];
  const int n = snprintf (text, sizeof text, "%" PRId64 " %" PRIu64 " %" PRIu64, tally->seen_ns,
                          tally->n_begun, tally->n_lost);
  (void)fsetxattr (fd, LNS_TALLY_ATTRIBUTE, text, (size_t)n, 0);
}

void
lns_tally_remove (int fd)
{
  (void)fremovexattr (fd, LNS_TALLY_ATTRIBUTE);
}

bool
lns_tally_read (const char *path, LnsTally *ret_tally)
{
  char text[TEXT_BYTES + 1];
  const ssize_t n = getxattr (path, LNS_TALLY_ATTRIBUTE, text, TEXT_BYTES);
  if (n <= 0)
    return false;
  text[n] = '\0';
  return sscanf (text, "%" SCNd64 " %" SCNu64 " %" SCNu64, &ret_tally->seen_ns, &ret_tally->n_begun,
                 &ret_tally->n_lost) == 3 &&
         ret_tally->seen_ns >= 0 && ret_tally->n_begun < MOST && ret_tally->n_lost < MOST;
}
