/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/unit/stack-fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

StackSample *volatile stack_fixture_sample;

const LnsMachine *
stack_fixture_machine (void)
{
#if defined __x86_64__
  return lns_machine_find (EM_X86_64);
#elif defined __aarch64__
  return lns_machine_find (EM_AARCH64);
#endif
}

/* The end of the stack that POINTER lies in: a copy must not go past it. Known once per thread. */
static __thread uintptr_t stack_end;

static void
find_stack_end (void)
{
  FILE *maps = fopen ("/proc/self/maps", "re");
  char line[4300];
  while (maps != NULL && fgets (line, sizeof line, maps) != NULL)
    {
      uintptr_t from, to;
      if (sscanf (line, "%" SCNxPTR "-%" SCNxPTR, &from, &to) == 2 && (uintptr_t)&maps >= from &&
          (uintptr_t)&maps < to)
        stack_end = to;
    }
  if (maps != NULL)
    fclose (maps);
}

/* Like memcpy(), which the address sanitizer does not let read all of a stack. */
__attribute__ ((no_sanitize_address)) static void
copy_stack (uint8_t *ret_bytes, uint64_t sp, size_t n)
{
  const volatile uint8_t *bytes = (const volatile uint8_t *)(uintptr_t)sp;
  for (size_t i = 0; i < n; i++)
    ret_bytes[i] = bytes[i];
}

void
stack_fixture_take (int number, siginfo_t *info, void *context)
{
  StackSample *sample = stack_fixture_sample;
  mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
  if (sample == NULL)
    return;
  stack_fixture_sample = NULL;
  LnsRegisters *registers = &sample->registers;
  registers->known = 0;
#if defined __x86_64__
  static const uint8_t order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                   REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                   REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };
  for (unsigned i = 0; i < sizeof order; i++)
    lns_register_set (registers, i, (uint64_t)machine->gregs[order[i]]);
#elif defined __aarch64__
  for (unsigned i = 0; i < 31; i++)
    lns_register_set (registers, i, machine->regs[i]);
  lns_register_set (registers, 31, machine->sp);
  lns_register_set (registers, 32, machine->pc);
  if (number == SIGTRAP)
    machine->pc += 4; /* past the brk instruction, which this architecture does not skip itself */
#endif
  const uint64_t sp = registers->values[stack_fixture_machine ()->stack_pointer];
  const size_t n = stack_end - sp < STACK_FIXTURE_BYTES ? stack_end - sp : STACK_FIXTURE_BYTES;
  copy_stack (sample->bytes, sp, n);
  sample->stack = (LnsStackCopy){ sample->bytes, n, sp };
}

void
stack_fixture_listen (int number, int flags)
{
  struct sigaction action = { .sa_sigaction = stack_fixture_take, .sa_flags = SA_SIGINFO | flags };
  find_stack_end ();
  sigaction (number, &action, NULL);
}

LnsUnwindMap *
stack_fixture_maps (LnsUnwinder *unwinder, size_t *ret_n)
{
  FILE *file = fopen ("/proc/self/maps", "re");
  LnsUnwindMap *maps = NULL;
  size_t n = 0;
  char line[4300];
  const LnsBuildId any = { .n = 0 };
  while (file != NULL && fgets (line, sizeof line, file) != NULL)
    {
      LnsUnwindMap map;
      char access[5], path[4100] = "";
      const int n_fields =
          sscanf (line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %4095[^\n]", &map.start,
                  &map.end, access, &map.file_offset, path);
      if (n_fields < 4 || access[2] != 'x')
        continue;
      map.file =
          path[0] != '\0' ? lns_unwinder_add_file (unwinder, path, &any) : LNS_UNWIND_NO_FILE;
      maps = realloc (maps, (n + 1) * sizeof *maps);
      maps[n++] = map;
    }
  if (file != NULL)
    fclose (file);
  *ret_n = n;
  return maps;
}
