/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Plays the records that say what keeps CUDA, or a part of it, from being recorded. */

#include "capture/session/decode/cuda/problems.h"
#include "capture/session/decode/cuda/flight.h"
#include "capture/session/system/cupti.h"
#include "src/base/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The meaning of the CUptiResult RESULT for the user. */
static const char *
result_text (uint32_t result)
{
  switch (result)
    {
    case 8: /* OUT_OF_MEMORY */
      return "there was not enough memory";
    case 15: /* NOT_INITIALIZED */
      return "CUPTI could not be started with this driver, which may be too old for it";
    case 21: /* INVALID_KIND */
      return "this CUPTI is too old for it";
    case 27: /* NOT_SUPPORTED */
    case 28: /* UM_PROFILING_NOT_SUPPORTED */
    case 29: /* UM_PROFILING_NOT_SUPPORTED_ON_DEVICE */
    case 38: /* LEGACY_PROFILER_NOT_SUPPORTED */
      return "this GPU or its driver does not support it";
    case 31: /* UM_PROFILING_NOT_SUPPORTED_WITH_MPS */
      return "the Multi-Process Service (MPS) does not allow it";
    case 33: /* VIRTUALIZED_DEVICE_NOT_SUPPORTED */
      return "a virtual GPU does not support it";
    case 35: /* INSUFFICIENT_PRIVILEGES */
      return "the user may not use it; ask the administrator to allow profiling to all users "
             "(NVreg_RestrictProfilingToAdminUsers=0)";
    case 36: /* OLD_PROFILER_API_INITIALIZED */
    case 39: /* MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED */
      return "another tool uses CUPTI already";
    case 40: /* VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES */
      return "the virtual GPU may not use it; ask the administrator to allow profiling on its host";
    case 41: /* CONFIDENTIAL_COMPUTING_NOT_SUPPORTED */
      return "Confidential Computing does not allow it";
    case 42: /* CMP_DEVICE_NOT_SUPPORTED */
      return "a GPU for mining (CMP) does not support it";
    case 43: /* MIG_DEVICE_NOT_SUPPORTED */
      return "a part of a GPU (MIG) does not support it; record on a whole one";
    case 44: /* SLI_DEVICE_NOT_SUPPORTED */
      return "GPUs joined by SLI do not support it";
    case 45: /* WSL_DEVICE_NOT_SUPPORTED */
      return "the Windows Subsystem for Linux does not support it";
    case 999: /* UNKNOWN */
      return "CUPTI found no driver that it can work with";
    default:
      return "CUPTI refused it";
    }
}

/* The activity of the CUpti_ActivityKind KIND. */
static const char *
kind_text (uint32_t kind)
{
  static const char *const names[] = {
    [1] = "copies",
    [2] = "memory sets",
    [4] = "calls of the driver",
    [5] = "calls of the runtime",
    [8] = "devices",
    [9] = "contexts",
    [10] = "kernels",
    [17] = "CUPTI's own overhead",
    [22] = "copies between GPUs",
    [25] = "unified memory",
    [36] = "CUDA events",
    [37] = "streams",
    [38] = "synchronisation",
    [49] = "memory usage",
    [50] = "memory pools",
    [51] = "whole graphs",
    [52] = "just-in-time compilation",
    [53] = "graphs that the GPU launches",
    [54] = "decompression",
    [57] = "GPU context switches",
  };
  const char *name = kind < sizeof names / sizeof *names ? names[kind] : NULL;
  return name != NULL ? name : "some of its activity";
}

/* Adds the diagnostic of a problem that is not about an activity. The N bytes of TEXT belong to it. */
static void
say_other_problem (LnsDecoder *decoder,
                   LnsDecodedProcess *process,
                   const LnsWireCudaProblemBytes *said,
                   int n,
                   const char *text)
{
  unsigned result = said->result, detail = said->detail;
  if (said->problem == LNS_WIRE_PROBLEM_CALL)
    _lns_decoder_tell (decoder, process, "LNS-CUDA-020",
                       "CUDA, or a part of it, is not recorded: %.*s failed: %s (CUPTI result %u)",
                       n, text, result_text (result), result);
  else if (said->problem == LNS_WIRE_PROBLEM_THREAD)
    _lns_decoder_tell (
        decoder, process, "LNS-CUDA-021",
        "GPU records come only when the program ends, as it can start no more threads (%s); raise "
        "its limit of processes (`ulimit -u`)",
        strerror ((int)result));
  else if (said->problem == LNS_WIRE_PROBLEM_ATTRIBUTE)
    _lns_decoder_tell (decoder, process, "LNS-CUDA-022",
                       "recording CUDA may cost more than it should, as CUPTI refused setting %u: "
                       "%s (CUPTI result %u)",
                       detail, result_text (result), result);
  else if (said->problem == LNS_WIRE_PROBLEM_CLOCK)
    _lns_decoder_tell (decoder, process, "LNS-CUDA-023",
                       "the machine's time was set while CUPTI took its times from it; GPU work "
                       "about then may be shown too early or too late");
  else if (said->problem == LNS_WIRE_PROBLEM_TAKEN)
    _lns_decoder_tell (
        decoder, process, "LNS-CUDA-026",
        "CUDA calls and GPU work are missing from some time on, and it is not known how "
        "many, as another profiler in the program has taken over CUPTI; record "
        "without it (torch.profiler is one), or use what it has recorded");
  else if (said->problem == LNS_WIRE_PROBLEM_HARDWARE)
    _lns_decoder_tell (
        decoder, process, "LNS-CUDA-027",
        "CUPTI times GPU work in software, although --cuda-trace=hw asks for the GPU's own "
        "times: %s (CUPTI result %u)",
        result_text (result), result);
  else if (said->problem == LNS_WIRE_PROBLEM_STACK)
    _lns_decoder_tell (decoder, process, "LNS-CUDA-032",
                       "CUDA calls that coroutines and signal handlers make on stacks of their own "
                       "have no callers, as the system call process_vm_readv is refused here (%s); "
                       "let the container or sandbox allow it",
                       strerror ((int)result));
  else if (said->problem == LNS_WIRE_PROBLEM_PYTHON)
    _lns_decoder_tell (decoder, process, "LNS-CUDA-033",
                       "CUDA calls have no Python callers, as this process runs Python %u.%u; "
                       "Lanescope can read the functions of CPython 3.9 to 3.14 with a GIL",
                       detail >> 24, detail >> 16 & 255);
  else
    _lns_decoder_tell (decoder, process, "LNS-CUDA-010",
                       "CUPTI reported something unknown (problem %u, detail %u, result %u); a "
                       "newer Lanescope may "
                       "know it",
                       (unsigned)said->problem, detail, result);
}

void
_lns_cuda_problem (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record)
{
  LnsWireCudaProblemBytes said;
  _lns_record_take (record, &said, sizeof said);
  /* A failed call is identified by its name, other problems by their detail. */
  uint64_t key = (uint64_t)said.problem << 32 |
                 (said.problem == LNS_WIRE_PROBLEM_CALL ? said.head.string : said.detail);
  if (lns_id_map_get (&_lns_cuda_process (process)->problems, 1 + key) != NULL ||
      !lns_id_map_set (&_lns_cuda_process (process)->problems, 1 + key, process))
    return;
  _lns_cuda_session (decoder)->state = LNS_CUDA_RECORDED; /* as far as it can be */
  LnsName *name = lns_id_map_get (&process->registered, said.head.string);
  int n = name != NULL ? (int)(name->n_bytes < 120 ? name->n_bytes : 120) : 0;
  const char *text = name != NULL ? name->bytes : "";
  unsigned result = said.result, detail = said.detail;
  char packages[256];
  switch (said.problem)
    {
    case LNS_WIRE_PROBLEM_NO_CUPTI:
      lns_cupti_packages ((int)_lns_cuda_process (process)->info.driver_version, packages,
                          sizeof packages);
      _lns_decoder_tell (decoder, process, "LNS-CUDA-001",
                         "CUDA is not recorded: libcupti cannot be loaded (%.*s); install it with "
                         "%s, or name its folder with --cupti-path",
                         n, text, packages);
      break;
    case LNS_WIRE_PROBLEM_OLD_CUPTI:
      _lns_decoder_tell (
          decoder, process, "LNS-CUDA-002",
          "CUDA is not recorded: CUPTI %u is too old; CUDA 11.0 or newer brings one that works",
          result);
      break;
    case LNS_WIRE_PROBLEM_BUSY:
      _lns_decoder_tell (
          decoder, process, "LNS-CUDA-003",
          "CUDA is not recorded: another profiler holds CUPTI in this process%s%.*s; end it, or "
          "leave out its switch",
          n > 0 ? ": " : "", n, text);
      break;
    case LNS_WIRE_PROBLEM_SUBSCRIBE:
      _lns_decoder_tell (decoder, process, "LNS-CUDA-004",
                         "CUDA is not recorded: %s (CUPTI result %u)", result_text (result),
                         result);
      break;
    case LNS_WIRE_PROBLEM_ENABLE:
      _lns_decoder_tell (decoder, process, "LNS-CUDA-005",
                         "CUDA is recorded without %s: %s (CUPTI result %u)", kind_text (detail),
                         result_text (result), result);
      break;
    case LNS_WIRE_PROBLEM_BUFFERS:
      _lns_decoder_tell (decoder, process, "LNS-CUDA-006",
                         "CUPTI had no memory for %u %s lost; record with a "
                         "larger --buffer-size",
                         detail,
                         lns_plural (detail, "buffer of GPU records, which is",
                                     "buffers of GPU records, which are"));
      break;
    case LNS_WIRE_PROBLEM_FORK:
      _lns_decoder_tell (decoder, process, "LNS-CUDA-007",
                         "this process is not recorded, as it uses CUDA after a fork, which CUDA "
                         "does not support");
      break;
    case LNS_WIRE_PROBLEM_FLUSH:
      _lns_decoder_tell (decoder, process, "LNS-CUDA-008",
                         "GPU records may be missing at the end: %s (CUPTI "
                         "result %u)",
                         result_text (result), result);
      break;
    case LNS_WIRE_PROBLEM_STATE:
      _lns_decoder_tell (decoder, process, "LNS-CUDA-009", "CUPTI says: %.*s (result %u)", n, text,
                         result);
      break;
    case LNS_WIRE_PROBLEM_LIBRARY:
      _lns_decoder_tell (decoder, process, "LNS-CUDA-012",
                         "a library's calls are not recorded: %.*s", n, text);
      break;
    default:
      say_other_problem (decoder, process, &said, n, text);
    }
}

void
_lns_cuda_dropped (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record)
{
  LnsWireCudaDroppedBytes said;
  _lns_record_take (record, &said, sizeof said);
  if (said.reason == LNS_WIRE_DROPPED_UNFINISHED)
    {
      _lns_flight_unfinished (decoder, said.count);
      return;
    }
  const uint64_t n_mistimed = said.reason == LNS_WIRE_DROPPED_MISTIMED ? said.count : 0;
  const uint64_t n_dropped = said.count - n_mistimed;
  if (decoder->writer == NULL)
    {
      _lns_cuda_process (process)->n_dropped_between += n_dropped;
      _lns_cuda_process (process)->n_mistimed_between += n_mistimed;
      decoder->between.n_dropped += n_dropped;
      decoder->between.n_mistimed += n_mistimed;
      return;
    }
  _lns_cuda_add_dropped (decoder, process, n_dropped, n_mistimed,
                         lns_clock_line_ns (&decoder->clock, said.head.ticks));
}
