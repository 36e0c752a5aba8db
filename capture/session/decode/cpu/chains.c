/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/cpu/chains.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/symbols/symbols.h"

/* Room for "MODULE+0xOFFSET". */
#define SYMBOL_BYTES 320

/* The id of MODULE in the present report. */
static uint32_t
module_id (LnsDecoder *decoder, LnsCpuModule *module)
{
  if (module->ref.report == decoder->report)
    return module->ref.id;
  lns_id_map_clear (&module->frames);
  const LnsModule definition = {
    .process = module->process,
    .kind = (uint32_t)module->kind,
    .path = _lns_decoder_text (decoder, module->path),
    .build_id = module->n_build_id > 0
                    ? lns_writer_string (decoder->writer, module->build_id, module->n_build_id)
                    : 0,
    .start = module->start,
    .end = module->end,
    .file_offset = module->file_offset,
    .mapped_ns = module->kind == LNS_MODULE_KERNEL ? LNS_TIME_UNKNOWN
                                                   : module->time_ns - decoder->clock.t0_ns,
  };
  module->ref =
      (LnsReportRef){ decoder->report, lns_writer_add_module (decoder->writer, &definition) };
  return module->ref.id;
}

/* The module that stands for the kernel. Its addresses are those of one boot. NULL if memory is short. */
static LnsCpuModule *
kernel_of (LnsCpuTree *tree)
{
  static const char path[] = "[kernel.kallsyms]"; /* as other tools call it */
  LnsCpuModule *kernel = tree->kernel;
  if (kernel != NULL || (kernel = calloc (1, sizeof *kernel + sizeof path)) == NULL)
    return kernel;
  const LnsBuildId boot = lns_symbols_boot_id ();
  kernel->kind = LNS_MODULE_KERNEL;
  kernel->start = kernel->file_offset = LNS_CPU_KERNEL_START;
  kernel->end = UINT64_MAX;
  kernel->n_build_id = boot.n <= sizeof kernel->build_id ? (uint8_t)boot.n : 0;
  memcpy (kernel->build_id, boot.bytes, kernel->n_build_id);
  memcpy (kernel->path, path, sizeof path);
  return tree->kernel = kernel;
}

/* The module of the number I of a chain, ADDRESS, of a process that has MAP, or NULL. */
static LnsCpuModule *
module_at (LnsCpuTree *tree, const LnsCpuMap *map, uint64_t address, size_t i)
{
  return address == LNS_CPU_CUT || address == LNS_CPU_HIDDEN ? NULL
         : address >= LNS_CPU_KERNEL_START                   ? kernel_of (tree)
                                           : _lns_cpu_map_find (map, address - (i > 0));
}

/* Has the report know the jitdump files that a process with MAP has mapped: they name the code that it made. */
static void
tell_jitdumps (LnsDecoder *decoder, const LnsCpuMap *map)
{
  for (size_t i = 0; i < map->n; i++)
    {
      LnsCpuModule *module = map->items[i].module;
      const char *slash = strrchr (module->path, '/');
      const size_t n = slash != NULL ? strlen (slash) : 0;
      if (n > 10 && strncmp (slash, "/jit-", 5) == 0 && strcmp (slash + n - 5, ".dump") == 0)
        module_id (decoder, module);
    }
}

/* What stands for functions of a kernel that Lanescope may not look into. */
#define HIDDEN_SYMBOL "[kernel, not sampled]"

/* The id of the frame at ADDRESS in MODULE, which may be NULL; ADDRESS may be LNS_CPU_CUT or LNS_CPU_HIDDEN. */
static uint32_t
frame_id (LnsCpuTree *tree, LnsDecoder *decoder, LnsCpuModule *module, uint64_t address)
{
  const uint32_t of = module != NULL ? module_id (decoder, module) : LNS_ID_NONE;
  LnsIdMap *frames = module != NULL ? &module->frames : &tree->homeless;
  const uint64_t known = lns_id_map_number (frames, address);
  if (known != 0)
    return (uint32_t)(known - 1);
  char symbol[SYMBOL_BYTES];
  const char *slash = module != NULL ? strrchr (module->path, '/') : NULL;
  const uint64_t offset = module != NULL ? address - module->start + module->file_offset : address;
  int n;
  /* Without a map by who made the code, nothing tells its functions apart: each mapping of a name is one. */
  if (module != NULL && module->kind == LNS_MODULE_ANONYMOUS)
    n = snprintf (symbol, sizeof symbol, "%.*s+0x…", SYMBOL_BYTES - 32,
                  slash != NULL ? slash + 1 : module->path);
  else if (module != NULL)
    n = snprintf (symbol, sizeof symbol, "%.*s+0x%" PRIx64, SYMBOL_BYTES - 32,
                  slash != NULL ? slash + 1 : module->path, offset);
  else if (address == LNS_CPU_CUT || address == LNS_CPU_HIDDEN)
    n = snprintf (symbol, sizeof symbol, "%s",
                  address == LNS_CPU_CUT ? LNS_CALLERS_NOT_RECORDED : HIDDEN_SYMBOL);
  else
    n = snprintf (symbol, sizeof symbol, "0x%" PRIx64, offset);
  const LnsStackFrame definition = {
    .module = of, .symbol = lns_writer_string (decoder->writer, symbol, (size_t)n), .offset = offset
  };
  const uint32_t id = lns_writer_add_frame (decoder->writer, &definition);
  lns_id_map_set (frames, address, (void *)(uintptr_t)(1 + (uint64_t)id));
  return id;
}

static void
forget_ids (LnsCpuTree *tree)
{
  lns_id_map_clear (&tree->nodes);
  lns_id_map_clear (&tree->homeless);
  lns_id_map_clear (&tree->functions);
  lns_id_map_clear (&tree->lines);
}

/* Forgets what was in another report than the present one. */
static void
turn_to_report (LnsCpuTree *tree, const LnsDecoder *decoder)
{
  if (tree->report == decoder->report)
    return;
  forget_ids (tree);
  tree->report = decoder->report;
}

/* The node of FRAME that CALLER called. */
static uint32_t
node_below (LnsCpuTree *tree, LnsDecoder *decoder, uint32_t caller, uint32_t frame)
{
  const uint64_t key = (uint64_t)caller << 32 | frame;
  const uint64_t known = lns_id_map_number (&tree->nodes, key);
  if (known != 0)
    return (uint32_t)(known - 1);
  const uint32_t node = lns_writer_add_call_node (decoder->writer, &(LnsCallNode){ caller, frame });
  lns_id_map_set_number (&tree->nodes, key, 1 + (uint64_t)node);
  return node;
}

uint32_t
_lns_cpu_tree_node (LnsCpuTree *tree,
                    LnsDecoder *decoder,
                    const LnsCpuMap *map,
                    const uint64_t *chain,
                    size_t n,
                    uint32_t caller)
{
  LnsCpuModule *modules[LNS_CPU_MAX_FRAMES];
  size_t n_known = n < LNS_CPU_MAX_FRAMES ? n : LNS_CPU_MAX_FRAMES;
  turn_to_report (tree, decoder);
  for (size_t i = 0; i < n_known; i++)
    {
      modules[i] = module_at (tree, map, chain[i], i);
      /* What lies in no code is no return address: it is not known who called. */
      if (modules[i] == NULL && i > 0)
        n_known = i + 1;
    }
  uint32_t node = caller;
  for (size_t i = n_known; i-- > 0;)
    {
      const uint64_t address = i == 0 ? chain[i] : modules[i] != NULL ? chain[i] - 1 : LNS_CPU_CUT;
      if (modules[i] != NULL && modules[i]->kind == LNS_MODULE_ANONYMOUS &&
          modules[i]->ref.report != decoder->report)
        tell_jitdumps (decoder, map);
      const uint32_t frame = frame_id (tree, decoder, modules[i], address);
      node = node_below (tree, decoder, node, frame);
    }
  return node;
}

uint32_t
_lns_cpu_tree_python_node (LnsCpuTree *tree,
                           LnsDecoder *decoder,
                           const LnsPythonPosition *position,
                           uint32_t caller)
{
  turn_to_report (tree, decoder);
  const LnsStackFrame definition = { .module = LNS_ID_NONE,
                                     .symbol = _lns_decoder_text (decoder, position->name),
                                     .is_resolved = 1,
                                     .file = _lns_decoder_text (decoder, position->file),
                                     .line = (uint32_t)position->line };
  const uint64_t of = (uint64_t)definition.symbol << 32 | definition.file;
  uint64_t function = lns_id_map_number (&tree->functions, of);
  if (function == 0)
    lns_id_map_set_number (&tree->functions, of, function = 1 + tree->functions.n);
  const uint64_t at = function << 32 | definition.line;
  uint64_t frame = lns_id_map_number (&tree->lines, at);
  if (frame == 0)
    {
      frame = 1 + (uint64_t)lns_writer_add_frame (decoder->writer, &definition);
      lns_id_map_set_number (&tree->lines, at, frame);
    }
  return node_below (tree, decoder, caller, (uint32_t)(frame - 1));
}

void
_lns_cpu_tree_clear (LnsCpuTree *tree)
{
  forget_ids (tree);
  if (tree->kernel != NULL)
    lns_id_map_clear (&tree->kernel->frames);
  free (tree->kernel);
  tree->kernel = NULL;
}
