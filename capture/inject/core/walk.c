/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/core/walk.h"
#include "capture/inject/core/maps.h"
#include "capture/inject/core/system.h"

#include <string.h>
#include <sys/uio.h>

/* Linux keeps 128 MiB below the top of the first thread's stack free of other mappings (MIN_GAP in mmap_base()), into
 * which it grows. Half of that is certain to be nothing but stack, whatever its size was when it was looked at. */
#define FIRST_STACK_BYTES (UINT64_C (64) << 20)

/* glibc puts a thread's own data at the top of the stack that it makes. Beyond them lies no more than the program's
 * thread-local storage on AArch64; where there is more, the thread's stack is a part of something else. */
#define BEYOND_MAX_BYTES (64u << 10)

/* Two frames of one stack are not further apart. */
#define FRAME_MAX_BYTES (16u << 20)

/* How often the kernel is asked for a part of another stack, for one walk. */
#define READS_MAX 16

#define PAGE_BYTES 4096u

#define SCRATCH_BYTES 2048u /* of a part */

/* A frame record: both x86-64 and AArch64 have it so. */
typedef struct
{
  uintptr_t caller; /* the caller's frame record */
  uintptr_t address;
} Frame;

/* A part of a stack, LOW to HIGH, whose bytes can be read at BYTES. */
typedef struct
{
  uintptr_t low, high;
  const uint8_t *bytes;
  uint8_t *scratch; /* for another part; NULL: all can be read */
  int n_reads;
  int error; /* -errno of the last read, or 0 */
} Part;

/* Where the program's first frame began, says glibc. Above it lie the arguments and the environment. */
extern void *__libc_stack_end __attribute__ ((weak));

/* Of the library that Valgrind preloads, whichever of its tools runs. */
extern void _vgnU_freeres (void) __attribute__ ((weak));

bool
lns_walk_is_checked (void)
{
  return &_vgnU_freeres != NULL;
}

LnsStack
lns_walk_find_stack (bool is_first, void *scratch)
{
  static const char first_name[] = "[stack]";
  const uintptr_t self = (uintptr_t)__builtin_thread_pointer ();
  LnsStack stack = { 0 };
  LnsMapping mapping;
  LnsMaps maps;
  _Static_assert(LNS_WALK_SCRATCH_BYTES >= LNS_MAPS_BUFFER_BYTES, "the buffer has room");
  if (lns_walk_is_checked () || !lns_maps_open (&maps, scratch, LNS_MAPS_BUFFER_BYTES))
    return stack;
  while (stack.high == 0 && lns_maps_next (&maps, &mapping))
    if (is_first)
      {
        if (mapping.n_path_bytes == sizeof first_name - 1 &&
            memcmp (mapping.path, first_name, sizeof first_name - 1) == 0)
          {
            const uintptr_t top = &__libc_stack_end != NULL ? (uintptr_t)__libc_stack_end : 0;
            const bool is_known = top > mapping.start && top < mapping.end;
            stack = (LnsStack){ mapping.end - FIRST_STACK_BYTES, is_known ? top : mapping.end };
          }
      }
    else if (mapping.start <= self && self < mapping.end)
      {
        if (mapping.end - self > BEYOND_MAX_BYTES)
          break;
        stack = (LnsStack){ mapping.start, self };
      }
  lns_maps_close (&maps);
  return stack;
}

/* Has the kernel copy what can be read of the stack from AT on. It stops at the first page that can not be. */
static void
read_part (Part *part, uintptr_t at)
{
  const size_t n_first = PAGE_BYTES - at % PAGE_BYTES;
  const struct iovec here = { part->scratch, SCRATCH_BYTES };
  const struct iovec there[] = { { (void *)at, n_first < SCRATCH_BYTES ? n_first : SCRATCH_BYTES },
                                 { (void *)(at + n_first),
                                   n_first < SCRATCH_BYTES ? SCRATCH_BYTES - n_first : 0 } };
  const long n = LNS_SYSCALL (SYS_process_vm_readv, LNS_SYSCALL (SYS_getpid), &here, 1, there,
                              there[1].iov_len > 0 ? 2 : 1, 0);
  part->low = at;
  part->high = n > 0 ? at + (uintptr_t)n : at;
  part->bytes = part->scratch;
  part->error = n < 0 ? (int)n : 0;
  part->n_reads++;
}

static bool
read_frame (Part *part, uintptr_t at, Frame *ret_frame)
{
  if (at % sizeof (uintptr_t) != 0)
    return false;
  if ((at < part->low || at >= part->high || part->high - at < sizeof *ret_frame) &&
      part->scratch != NULL && part->n_reads < READS_MAX)
    read_part (part, at);
  if (at < part->low || at >= part->high || part->high - at < sizeof *ret_frame)
    return false;
  memcpy (ret_frame, part->bytes + (at - part->low), sizeof *ret_frame);
  return true;
}

long
lns_walk (LnsStack own,
          uintptr_t frame,
          void *scratch,
          uint64_t *ret_addresses,
          size_t n_max,
          bool *ret_is_cut)
{
  const bool is_own = frame >= own.low && frame < own.high;
  Part part = is_own ? (Part){ own.low, own.high, (const uint8_t *)own.low, NULL, 0, 0 }
                     : (Part){ .scratch = scratch };
  size_t n = 0;
  Frame found;
  *ret_is_cut = false;
  while (read_frame (&part, frame, &found) && found.address != 0)
    {
      if (n == n_max)
        {
          *ret_is_cut = true;
          break;
        }
      ret_addresses[n++] = lns_walk_without_signature (found.address);
      if (found.caller <= frame || found.caller - frame > FRAME_MAX_BYTES)
        break;
      frame = found.caller;
    }
  return n > 0 ? (long)n : part.error;
}
