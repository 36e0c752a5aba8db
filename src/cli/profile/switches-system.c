/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Switches of `profile` about the operating system and hardware. None has an effect yet; they are accepted, so that
 * existing scripts work. */

#include "src/cli/profile/switches.h"
#include "src/cli/terminal/language.h"

#define FTRACE                                                                                     \
 N_ ("kernel events are not recorded yet; `trace-cmd record -e SYSTEM:EVENT` records them")
#define GPU                                                                                        \
 N_ ("GPU counters and engines are not recorded yet; `nvidia-smi dmon` and `dcgmi dmon` show "     \
     "them")
#define NETWORK                                                                                    \
 N_ ("network counters are not recorded yet; `ethtool -S DEVICE` and /sys/class/infiniband show "  \
     "them")
#define STORAGE                                                                                    \
 N_ ("storage counters are not recorded yet; `iostat -x 1` and `nfsiostat 1` show them")

static const LnsOption switches_system_options[] = {
  { LNS_IGNORED_SWITCH ("osrt-threshold", INTEGER, LNS_NO_CALLS), .value_name = "NS",
    .help = N_ ("Record C library calls that take at least this long, in ns.") },
  { LNS_IGNORED_SWITCH ("osrt-backtrace-threshold", INTEGER, LNS_NO_CALLS), .value_name = "NS",
    .help = N_ ("Record call chains of C library calls that take at least this long, in ns.") },
  { LNS_IGNORED_SWITCH ("osrt-backtrace-depth", INTEGER, LNS_NO_CALLS), .value_name = "N",
    .help = N_ ("Maximum number of callers to record.") },
  { LNS_IGNORED_SWITCH ("osrt-backtrace-stack-size", INTEGER, LNS_NO_CALLS), .value_name = "BYTES",
    .help = N_ ("Size of the stack to examine, in bytes.") },
  { LNS_IGNORED_SWITCH ("osrt-file-access", BOOL, LNS_NO_CALLS), .default_text = "false",
    .help = N_ ("Record which files are read and written.") },
  { LNS_IGNORED_SWITCH ("syscall", CHOICE, LNS_NO_CALLS),
    .choices = "process-tree,pid-namespace,none", .default_text = "none",
    .help = N_ ("Record system calls.") },
  { LNS_IGNORED_SWITCH ("ftrace", TEXT, FTRACE), .value_name = "SYSTEM/EVENT,…",
    .help = N_ ("Record kernel events.") },
  { LNS_IGNORED_SWITCH ("ftrace-keep-user-config", BOOL, FTRACE), .default_text = "false",
    .help = N_ ("Leave the settings of ftrace unchanged.") },
};

const LnsOptionGroup lns_profile_switches_system =
    LNS_OPTION_GROUP ("system", N_ ("The operating system"), switches_system_options);

static const LnsOption switches_hardware_options[] = {
  { LNS_IGNORED_SWITCH ("gpu-metrics-devices", TEXT, GPU), .old = "gpu-metrics-device",
    .value_name = "none|all|cuda-visible|ID,…", .default_text = "none",
    .help = N_ ("Sample hardware counters of these GPUs.") },
  { LNS_IGNORED_SWITCH ("gpu-metrics-frequency", TEXT, GPU), .value_name = "HZ,…",
    .help = N_ ("Frequency of GPU counter samples, in Hz.") },
  { LNS_IGNORED_SWITCH ("gpu-metrics-set", TEXT, GPU), .value_name = "NAME,…",
    .help = N_ ("Set of GPU counters to sample.") },
  { LNS_IGNORED_SWITCH ("gpuctxsw", BOOL, GPU), .default_text = "false",
    .help = N_ ("Record which program each GPU works for.") },
  { LNS_IGNORED_SWITCH ("gpu-video-devices", TEXT, GPU), .value_name = "none|all|ID,…",
    .default_text = "none", .help = N_ ("Record the video engines of these GPUs.") },
  { LNS_IGNORED_SWITCH ("nic-metrics", CHOICE, NETWORK),
    .choices = "none,false,lf,hf,hf-via-dts,true", .default_text = "none",
    .help = N_ ("Sample counters of network cards.") },
  { LNS_IGNORED_SWITCH ("dts-api-port", INTEGER, NETWORK), .least = 1, .most = 65535,
    .value_name = "N", .help = N_ ("Port of the DOCA telemetry service.") },
  { LNS_IGNORED_SWITCH ("ib-switch-metrics-devices", TEXT, NETWORK), .value_name = "GUID,…",
    .help = N_ ("InfiniBand switches to sample.") },
  { LNS_IGNORED_SWITCH ("ib-switch-metrics-nic-device", TEXT, NETWORK), .value_name = "NAME,…",
    .help = N_ ("Network card through which switches are sampled.") },
  { LNS_IGNORED_SWITCH ("ib-switch-congestion-devices", TEXT, NETWORK), .value_name = "GUID,…",
    .help = N_ ("InfiniBand switches whose congestion is recorded.") },
  { LNS_IGNORED_SWITCH ("ib-switch-congestion-nic-device", TEXT, NETWORK), .value_name = "NAME,…",
    .help = N_ ("Network card through which congestion is read.") },
  { LNS_IGNORED_SWITCH ("ib-net-info-devices", TEXT, NETWORK), .value_name = "NAME,…",
    .help = N_ ("Network cards whose network is described.") },
  { LNS_IGNORED_SWITCH ("ib-net-info-files", TEXT, NETWORK), .value_name = "NAME,…",
    .help = N_ ("Files that describe networks.") },
  { LNS_IGNORED_SWITCH ("ib-net-info-output", TEXT, NETWORK), .value_name = "NAME,…",
    .help = N_ ("Files to write network descriptions to.") },
  { LNS_IGNORED_SWITCH ("ib-switch-congestion-percent", INTEGER, NETWORK), .least = 1, .most = 100,
    .value_name = "PERCENT", .help = N_ ("Share of congestion events to record.") },
  { LNS_IGNORED_SWITCH ("ib-switch-congestion-threshold-high", INTEGER, NETWORK), .least = 1,
    .most = 1023, .value_name = "PERCENT", .help = N_ ("Load from which congestion is recorded.") },
  { LNS_IGNORED_SWITCH ("storage-metrics", TEXT, STORAGE), .value_name = "SWITCHES",
    .help = N_ ("Sample counters of file systems and disks.") },
  { LNS_IGNORED_SWITCH ("gds-metrics", CHOICE, STORAGE), .choices = "false,none,true,driver",
    .default_text = "false", .help = N_ ("Sample counters of cuFile.") },
  { LNS_IGNORED_SWITCH ("gds-libs-path", TEXT, STORAGE), .value_name = "FOLDER",
    .help = N_ ("Folder of the cuFile library.") },
};

const LnsOptionGroup lns_profile_switches_hardware =
    LNS_OPTION_GROUP ("hardware", N_ ("GPUs, networks and storage"), switches_hardware_options);
