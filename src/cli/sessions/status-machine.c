/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Facts of the machine. */

#include "src/cli/sessions/status.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "capture/session/control/session.h"
#include "capture/session/system/memory-limit.h"
#include "src/base/json.h"
#include "src/cli/profile/profile.h"
#include "src/cli/terminal/terminal.h"

typedef struct
{
  bool is_json;
  size_t n;
} Printer;

static void __attribute__ ((format (printf, 3, 4)))
print (Printer *printer, const char *name, const char *format, ...)
{
  char value[LNS_CUPTI_PATH_BYTES + 512];
  va_list arguments;
  va_start (arguments, format);
  vsnprintf (value, sizeof value, format, arguments);
  va_end (arguments);
  if (printer->is_json)
    {
      printf ("%s\n  {\"name\": \"%s\", \"value\": ", printer->n == 0 ? "" : ",", name);
      lns_json_write_string (stdout, value, strlen (value));
      putchar ('}');
    }
  else
    {
      printf ("%s: ", name);
      lns_cli_print_name (stdout, value, strlen (value));
      putchar ('\n');
    }
  printer->n++;
}

/* --- The kernel ------------------------------------------------------------------------------- */

const char *
lns_status_container (void)
{
  static char kind[64];
  if (access ("/.dockerenv", F_OK) == 0)
    return "Docker";
  if (access ("/run/.containerenv", F_OK) == 0)
    return "Podman";
  if (getenv ("KUBERNETES_SERVICE_HOST") != NULL)
    return "Kubernetes";
  if (getenv ("APPTAINER_CONTAINER") != NULL || getenv ("SINGULARITY_CONTAINER") != NULL)
    return "Apptainer";
  lns_cli_read_value ("/run/systemd/container", "", kind, sizeof kind);
  return kind[0] != '\0' ? kind : NULL;
}

/* Opens an event of CONFIG for this process. Returns 0 or an errno. */
static int
try_event (uint32_t type, uint64_t config)
{
  struct perf_event_attr event = {
    .type = type,
    .size = sizeof event,
    .config = config,
    .disabled = 1,
    .exclude_kernel = 1,
    .exclude_hv = 1,
  };
  const int fd = (int)syscall (SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0)
    return errno;
  close (fd);
  return 0;
}

/* Prints the first line of the file of a kernel's setting. */
static void
print_setting (Printer *printer, const char *name, const char *path)
{
  char text[64];
  lns_cli_read_value (path, "", text, sizeof text);
  print (printer, name, "%s", text[0] != '\0' ? text : "unknown");
}

static void
print_kernel (Printer *printer)
{
  char text[64];
  struct rlimit locked;
  print_setting (printer, "Linux kernel paranoid level", "/proc/sys/kernel/perf_event_paranoid");
  const int clock = try_event (PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
  const int cycles = try_event (PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
  print (printer, "Linux perf_event_open", "%s", clock == 0 ? "OK" : strerror (clock));
  print (printer, "Counter of CPU cycles", "%s",
         cycles == 0                           ? "OK"
         : cycles == ENOENT || cycles == ENXIO ? "none; CPU time is used instead"
                                               : strerror (cycles));
  print_setting (printer, "Samples a second, at most",
                 "/proc/sys/kernel/perf_event_max_sample_rate");
  print_setting (printer, "Memory for events of a CPU, in KiB",
                 "/proc/sys/kernel/perf_event_mlock_kb");
  if (getrlimit (RLIMIT_MEMLOCK, &locked) == 0 && locked.rlim_cur != RLIM_INFINITY)
    print (printer, "Memory that may be locked", "%" PRIu64 " KiB",
           (uint64_t)locked.rlim_cur >> 10);
  lns_cli_read_value ("/proc/self/status", "Seccomp:", text, sizeof text);
  print (printer, "Seccomp filter", "%s",
         text[0] == '\0'           ? "unknown"
         : strcmp (text, "0") == 0 ? "none"
                                   : "yes; it may deny system calls");
  print (printer, "Container", "%s",
         lns_status_container () != NULL ? lns_status_container () : "none is seen");
}

/* --- NVIDIA's driver and CUPTI ---------------------------------------------------------------- */

void
lns_status_find_cuda (LnsStatusCuda *ret_cuda)
{
  char program[LNS_CUPTI_PATH_BYTES];
  lns_cli_read_value ("/proc/driver/nvidia/version", "NVRM version", ret_cuda->version,
                      sizeof ret_cuda->version);
  /* Under Windows the driver is that of Windows. */
  ret_cuda->is_loaded = ret_cuda->version[0] != '\0' || access ("/dev/dxg", F_OK) == 0;
  ret_cuda->cuda = lns_cupti_driver_cuda (ret_cuda->version);
  const bool has_program = lns_cupti_find_program ("python3", program, sizeof program) ||
                           lns_cupti_find_program ("python", program, sizeof program);
  const LnsCuptiAsked asked = { .root = "",
                                .program = has_program ? program : NULL,
                                .driver = ret_cuda->cuda };
  ret_cuda->n_copies = lns_cupti_search (&asked, ret_cuda->copies, LNS_CUPTI_COPIES_MAX);
}

/* Why a program that is started here tries copy I in this place. */
static const char *
why_here (const LnsStatusCuda *cuda, size_t i)
{
  if (cuda->copies[i].fit == LNS_CUPTI_IS_TOO_NEW)
    return "newer than the driver";
  if (i > 0)
    return "used if those above do not work";
  if (cuda->copies[i].fit == LNS_CUPTI_MAY_SUIT)
    return "newer than the driver, which may support it";
  if (cuda->copies[i].fit == LNS_CUPTI_IS_NAMED)
    return "first, as LD_LIBRARY_PATH names it";
  return cuda->cuda != 0 ? "the newest that the driver supports" : "the newest";
}

/* Prints the file of copy I, the CUDA that it came with, where it was found, and why it is used or not. */
static void
print_copy (Printer *printer, const LnsStatusCuda *cuda, size_t i)
{
  static const char *const places[LNS_CUPTI_N_PLACES] = {
    [LNS_CUPTI_IN_LD_LIBRARY_PATH] = "LD_LIBRARY_PATH",
    [LNS_CUPTI_BESIDE_RUNTIME] = "the CUDA runtime",
    [LNS_CUPTI_IN_CUDA_HOME] = "CUDA_HOME",
    [LNS_CUPTI_IN_CUDA_PATH] = "CUDA_PATH",
    [LNS_CUPTI_IN_PROGRAM] = "packages of the Python in PATH",
    [LNS_CUPTI_IN_VIRTUAL_ENV] = "VIRTUAL_ENV",
    [LNS_CUPTI_IN_CONDA_PREFIX] = "CONDA_PREFIX",
    [LNS_CUPTI_IN_PYTHONPATH] = "PYTHONPATH",
    [LNS_CUPTI_IN_USER_PACKAGES] = "packages of the user",
    [LNS_CUPTI_IN_TOOLKIT] = "the CUDA toolkit",
    [LNS_CUPTI_IN_SYSTEM] = "folders of the system",
  };
  const LnsCuptiCopy *copy = &cuda->copies[i];
  char version[32];
  if (copy->has_minor)
    snprintf (version, sizeof version, "%d.%d", copy->cuda / 1000, copy->cuda % 1000 / 10);
  else
    snprintf (version, sizeof version, "%d", copy->cuda / 1000);
  print (printer,
         copy->fit == LNS_CUPTI_IS_TOO_NEW ? "CUPTI, not used"
         : i == 0                          ? "CUPTI"
                                           : "CUPTI, next choice",
         "%s (CUDA %s, from %s): %s", copy->path, version, places[copy->place], why_here (cuda, i));
}

static void
print_cuda (Printer *printer)
{
  static LnsStatusCuda cuda;
  char text[256];
  lns_status_find_cuda (&cuda);
  print (printer, "NVIDIA driver", "%s",
         cuda.version[0] != '\0' ? cuda.version
         : cuda.is_loaded        ? "that of Windows"
                                 : "none is loaded");
  if (cuda.cuda != 0)
    print (printer, "CUDA of the driver", "%d.%d", cuda.cuda / 1000, cuda.cuda % 1000 / 10);
  lns_cli_read_value ("/proc/driver/nvidia/params", "RmProfilingAdminOnly", text, sizeof text);
  if (text[0] != '\0')
    print (printer, "GPU performance counters", "%s",
           strcmp (text, "0") == 0 || geteuid () == 0
               ? "OK"
               : "only for root; set NVreg_RestrictProfilingToAdminUsers=0 for the driver");
  print (printer, "CUDA in this build", "%s",
         lns_session_traces () & LNS_WIRE_TRACE_CUDA ? "OK" : "none");
  lns_cupti_packages (cuda.cuda, text, sizeof text);
  if (cuda.n_copies == 0 || cuda.copies[0].fit == LNS_CUPTI_IS_TOO_NEW)
    print (printer, "CUPTI", "none that suits the driver is found; install it with %s", text);
  for (size_t i = 0; i < cuda.n_copies; i++)
    print_copy (printer, &cuda, i);
}

/* --- All of it -------------------------------------------------------------------------------- */

void
lns_status_print_machine (bool is_json)
{
  Printer printer = { .is_json = is_json };
  struct utsname system;
  char text[256];
  LnsError error = { 0 };
  if (is_json)
    putchar ('[');
  lns_cli_read_value ("/etc/os-release", "PRETTY_NAME", text, sizeof text);
  print (&printer, "Linux distribution", "%s", text[0] != '\0' ? text : "unknown");
  if (uname (&system) == 0)
    print (&printer, "Linux kernel", "%s %s", system.release, system.machine);
  print (&printer, "Root privilege", "%s", geteuid () == 0 ? "enabled" : "disabled");
  print_kernel (&printer);
  print (&printer, "Timestamp counter", "%s",
         lns_wire_clock_detect () == LNS_WIRE_CLOCK_TSC
             ? "OK"
             : "not used; CLOCK_MONOTONIC is used instead");
  print (&printer, "Memory", "%" PRIu64 " MiB", lns_memory_limit () >> 20);
  LnsSession *session = lns_session_new (&(LnsSessionOptions){ 0 }, &error);
  print (&printer, "Recording", "%s", session != NULL ? "OK" : error.message);
  lns_session_free (session);
  print_cuda (&printer);
  if (is_json)
    fputs ("\n]", stdout);
}
