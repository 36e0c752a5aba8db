/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/python/memory.h"

#include <errno.h>
#include <sys/uio.h>

/* Pieces of one call. The kernel takes up to 1,024 (UIO_MAXIOV). */
#define MOST_PIECES 256

size_t
_lns_remote_read_some (int32_t pid, uint64_t address, void *bytes, size_t size)
{
  const struct iovec local = { bytes, size };
  const struct iovec remote = { (void *)(uintptr_t)address, size };
  const ssize_t n = process_vm_readv (pid, &local, 1, &remote, 1, 0);

  return n < 0 ? 0 : (size_t)n;
}

bool
_lns_remote_read (int32_t pid, uint64_t address, void *bytes, size_t size)
{
  const size_t n = _lns_remote_read_some (pid, address, bytes, size);

  if (n != size && n != 0)
    errno = EFAULT;
  return n == size;
}

uint64_t
_lns_remote_pointer (int32_t pid, uint64_t address)
{
  uint64_t pointer;

  return _lns_remote_read (pid, address, &pointer, sizeof pointer) ? pointer : 0;
}

void
_lns_remote_read_pieces (int32_t pid, LnsRemotePiece *pieces, size_t n)
{
  struct iovec local[MOST_PIECES], remote[MOST_PIECES];

  for (size_t at = 0; at < n;)
    {
      size_t n_call = 0;
      for (; n_call < MOST_PIECES && at + n_call < n; n_call++)
        {
          LnsRemotePiece *piece = &pieces[at + n_call];
          local[n_call] = (struct iovec){ piece->bytes, piece->size };
          remote[n_call] = (struct iovec){ (void *)(uintptr_t)piece->address, piece->size };
          piece->is_read = false;
        }
      const ssize_t got = process_vm_readv (pid, local, n_call, remote, n_call, 0);
      size_t left = got < 0 ? 0 : (size_t)got, n_read = 0;
      while (n_read < n_call && left >= pieces[at + n_read].size)
        {
          left -= pieces[at + n_read].size;
          pieces[at + n_read++].is_read = true;
        }
      /* The kernel stops at the first piece that it cannot read; the next call begins after that one. */
      at += n_read < n_call ? n_read + 1 : n_read;
    }
}
