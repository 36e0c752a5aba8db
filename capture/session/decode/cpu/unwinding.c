/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/cpu/unwinding.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Whether PID has another root folder than Lanescope: it runs in a container, say. */
static bool
has_other_root (int32_t pid)
{
  char path[64];
  struct stat own, other;
  snprintf (path, sizeof path, "/proc/%d/root/", pid);
  return stat (path, &other) == 0 && stat ("/", &own) == 0 &&
         (own.st_dev != other.st_dev || own.st_ino != other.st_ino);
}

uint32_t
_lns_unwinding_add_file (LnsUnwinder *unwinder,
                         int32_t pid,
                         const char *path,
                         const LnsBuildId *build_id)
{
  char other[4096 + 64];
  if (path[0] != '/' || !has_other_root (pid))
    return lns_unwinder_add_file (unwinder, path, build_id);
  snprintf (other, sizeof other, "/proc/%d/root%s", pid, path);
  return lns_unwinder_add_file (unwinder, other, build_id);
}

/* The number of MODULE's file, which it keeps. */
static uint32_t
number_of (LnsUnwinder *unwinder, int32_t pid, LnsCpuModule *module)
{
  LnsBuildId build_id = { .n = module->n_build_id };
  if (module->kind != LNS_MODULE_VDSO && module->kind != LNS_MODULE_ELF)
    return LNS_UNWIND_NO_FILE;
  memcpy (build_id.bytes, module->build_id, module->n_build_id);
  if (module->unwind_file == 0)
    module->unwind_file = 1 + _lns_unwinding_add_file (unwinder, pid, module->path, &build_id);
  return module->unwind_file - 1;
}

void
_lns_unwinding_list (LnsUnwinder *unwinder, int32_t pid, const LnsCpuMap *map, LnsUnwindMaps *maps)
{
  maps->n = 0;
  for (size_t i = 0; i < map->n; i++)
    {
      const LnsCpuSpan *span = &map->items[i];
      LnsCpuModule *module = span->module;
      *lns_array_add (maps) = (LnsUnwindMap){ span->start, span->end,
                                              module->file_offset + (span->start - module->start),
                                              number_of (unwinder, pid, module) };
    }
}

size_t
_lns_unwinding_chain (LnsUnwinder *unwinder,
                      const LnsRegisters *registers,
                      const LnsStackCopy *stack,
                      const LnsUnwindMaps *maps,
                      uint64_t *ret_chain,
                      size_t most,
                      LnsUnwindEnd *ret_end)
{
  static const LnsUnwindMap nothing[1];
  uint64_t interrupted;
  const size_t n =
      lns_unwinder_unwind (unwinder, registers, stack, maps->n > 0 ? maps->items : nothing, maps->n,
                           ret_chain, most, &interrupted, ret_end);
  /* What a signal interrupted is the instruction itself, not the one behind a call. So is the code that its handler returns
   * to, which has called nothing. */
  for (size_t i = 1; i < n && i < 63; i++)
    ret_chain[i] += (interrupted >> i | interrupted >> (i + 1)) & 1;
  return n;
}
