/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/core/stack-words.h"
#include "capture/inject/core/addresses.h"
#include "capture/inject/core/system.h"
#include "capture/wire/call-chains.h"

#include <string.h>
#include <sys/uio.h>

#define PAGE_BYTES 4096u
#define N_PAGES    (LNS_STACK_WORDS_BYTES / PAGE_BYTES)

/* DWARF's numbers of the registers that a call preserves, of the stack pointer and the program counter. */
#if defined(__x86_64__)
# define N_REGISTERS 8
static const uint8_t numbers[N_REGISTERS] = { 3, 6, 12, 13, 14, 15, 7, 16 };
# define STACK_POINTER 6
/* Stores them at VALUES, uint64_t[N_REGISTERS]. */
# define TAKE_REGISTERS(values)                                                                    \
  __asm__ volatile("movq %%rbx, 0(%0)\n\tmovq %%rbp, 8(%0)\n\tmovq %%r12, 16(%0)\n\t"              \
                   "movq %%r13, 24(%0)\n\tmovq %%r14, 32(%0)\n\tmovq %%r15, 40(%0)\n\t"            \
                   "movq %%rsp, 48(%0)\n\tleaq 1f(%%rip), %%rax\n1:\tmovq %%rax, 56(%0)"           \
                   :                                                                               \
                   : "c"(values)                                                                   \
                   : "rax", "memory")
#elif defined(__aarch64__)
# define N_REGISTERS   14
static const uint8_t numbers[N_REGISTERS] = {
  19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32
};
# define STACK_POINTER 12
# define TAKE_REGISTERS(values)                                                                    \
  __asm__ volatile(                                                                                \
      "stp x19, x20, [%0]\n\tstp x21, x22, [%0, #16]\n\tstp x23, x24, [%0, #32]\n\t"               \
      "stp x25, x26, [%0, #48]\n\tstp x27, x28, [%0, #64]\n\tstp x29, x30, [%0, #80]\n\t"          \
      "mov x9, sp\n\tadr x10, 1f\n1:\tstp x9, x10, [%0, #96]"                                      \
      :                                                                                            \
      : "r"(values)                                                                                \
      : "x9", "x10", "memory")
#endif

/* Has the kernel copy what can be read of the N_BYTES of the stack from AT on into SCRATCH. Returns how many bytes, or -errno. */
static long
read_stack (uintptr_t at, size_t n_bytes, void *scratch)
{
  const struct iovec here = { scratch, n_bytes };
  struct iovec there[N_PAGES + 1];
  size_t left = n_bytes;
  unsigned n = 0;
  for (uintptr_t from = at; left > 0; n++)
    {
      const size_t n_page = PAGE_BYTES - from % PAGE_BYTES, n_part = n_page < left ? n_page : left;
      there[n] = (struct iovec){ (void *)from, n_part };
      from += n_part;
      left -= n_part;
    }
  return LNS_SYSCALL (SYS_process_vm_readv, LNS_SYSCALL (SYS_getpid), &here, 1, there, n, 0);
}

/* Has the kernel copy VALUES, so that they count as set. */
static void
copy_registers (uint64_t *values)
{
  uint64_t copies[N_REGISTERS];
  const struct iovec here = { copies, sizeof copies }, there = { values, sizeof copies };
  if (LNS_SYSCALL (SYS_process_vm_readv, LNS_SYSCALL (SYS_getpid), &here, 1, &there, 1, 0) ==
      (long)sizeof copies)
    memcpy (values, copies, sizeof copies);
}

/* Whether VALUE may be an address of the stack between LOW and HIGH, or of code. Most are small numbers, or no addresses. */
static bool
is_needed (uint64_t value, uintptr_t low, uintptr_t high)
{
  return (value >= low && value < high) ||
         (value - PAGE_BYTES < (UINT64_C (1) << LNS_WIRE_STACK_PLACE_SHIFT) - PAGE_BYTES &&
          lns_address_may_be_code (value));
}

long
lns_stack_words (LnsStack own, size_t n_bytes, void *scratch, uint64_t *ret_words, size_t n_max)
{
  uint64_t values[N_REGISTERS];
  TAKE_REGISTERS (values);
  if (lns_walk_is_checked ())
    copy_registers (values);
  if (n_bytes > LNS_STACK_WORDS_BYTES)
    n_bytes = LNS_STACK_WORDS_BYTES;
  const uintptr_t low = values[STACK_POINTER];
  const uint8_t *bytes = (const uint8_t *)low;
  size_t n = 0;
  if (low < own.low || low >= own.high)
    {
      const long n_read = read_stack (low, n_bytes, scratch);
      if (n_read < 0)
        return n_read;
      n_bytes = (size_t)n_read;
      bytes = scratch;
    }
  else if (own.high - low < n_bytes)
    n_bytes = own.high - low;
  const uintptr_t high = low < own.low || low >= own.high ? low + n_bytes : own.high;
  for (int i = 0; i < N_REGISTERS; i++)
    if (is_needed (values[i], low, high))
      ret_words[n++] = lns_wire_stack_word (LNS_WIRE_STACK_REGISTER + numbers[i], values[i]);
  const size_t n_copied = n++;
  size_t at = 0;
  for (; at + sizeof (uint64_t) <= n_bytes && n < n_max; at += sizeof (uint64_t))
    {
      uint64_t value;
      memcpy (&value, bytes + at, sizeof value);
      value = lns_walk_without_signature (value);
      if (is_needed (value, low, high))
        ret_words[n++] = lns_wire_stack_word (LNS_WIRE_STACK_SLOT + at / sizeof (uint64_t), value);
    }
  ret_words[n_copied] = lns_wire_stack_word (LNS_WIRE_STACK_BYTES, at);
  return (long)n;
}
