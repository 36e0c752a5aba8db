/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Switches of `profile` about the operating system and hardware. Those of GPU metrics and two of the C library have an effect; the others are
 * accepted, so that existing scripts work. */

#include "src/cli/profile/switches.h"
#include "src/cli/terminal/language.h"

#define FTRACE                                                                                     \
 N_ ("kernel events are not recorded yet; `trace-cmd record -e SYSTEM:EVENT` records them")
#define GPU                                                                                        \
 N_ ("video engines of GPUs are not recorded yet; `nvidia-smi dmon` shows how busy they are")
#define NETWORK                                                                                    \
 N_ ("network counters are not recorded yet; `ethtool -S DEVICE` and /sys/class/infiniband show "  \
     "them")
#define STORAGE                                                                                    \
 N_ ("storage counters are not recorded yet; `iostat -x 1` and `nfsiostat 1` show them")

static const LnsOption switches_system_options[] = {
  { LNS_PROFILE_SWITCH ("osrt-threshold", INTEGER, osrt_threshold_ns), .most = UINT32_MAX,
    .value_name = "NS", .default_text = "1000",
    .help = N_ ("Record C library calls that take at least this long, in ns, with --trace=osrt.") },
  { LNS_PROFILE_SWITCH ("osrt-backtrace-threshold", INTEGER, osrt_callers_ns),
    .most = UINT32_MAX - 1, .value_name = "NS", .default_text = "80000",
    .help = N_ ("Record call chains of C library calls that take at least this long, in ns.") },
  { LNS_PROFILE_SWITCH ("osrt-backtrace-depth", INTEGER, osrt_callers_most), .most = UINT32_MAX,
    .value_name = "N", .default_text = "24",
    .help = N_ ("Maximum number of callers to record. 0: no call chains.") },
  { LNS_PROFILE_SWITCH ("osrt-backtrace-stack-size", INTEGER, osrt_stack_bytes), .most = UINT32_MAX,
    .value_name = "BYTES", .default_text = "16384",
    .help = N_ ("Size of the stack to examine for callers, in bytes, at most 16384.") },
  { LNS_PROFILE_SWITCH ("osrt-file-access", BOOL, osrt_file_access), .default_text = "false",
    .help = N_ ("Record which file each call opens, reads, writes or closes, with --trace=osrt; "
                "also of calls below --osrt-threshold.") },
  { LNS_IGNORED_SWITCH ("ftrace", TEXT, FTRACE), .value_name = "SYSTEM/EVENT,…",
    .help = N_ ("Record kernel events.") },
  { LNS_IGNORED_SWITCH ("ftrace-keep-user-config", BOOL, FTRACE), .default_text = "false",
    .help = N_ ("Leave the settings of ftrace unchanged.") },
};

const LnsOptionGroup lns_profile_switches_system =
    LNS_OPTION_GROUP ("system", N_ ("The operating system"), switches_system_options);

static const LnsOption switches_hardware_options[] = {
  { LNS_PROFILE_SWITCH ("gpu-metrics-devices", TEXT, gpu_metrics_devices),
    .old = "gpu-metrics-device", .value_name = "none|all|cuda-visible|help|ID,…",
    .default_text = "none",
    .help = N_ (
        "Sample hardware counters of these GPUs by CUPTI: how busy SMs, tensor cores, memory, "
        "PCIe and NVLink are. `cuda-visible`: those that CUDA_VISIBLE_DEVICES allows; ID: "
        "number that `nvidia-smi -L` and `help` show. Needs a GPU of Turing or later, CUDA 12.6 or "
        "later, and root, unless the driver lets all users read counters. Sampling may "
        "change the clocks of the GPU.") },
  { LNS_PROFILE_SWITCH ("gpu-metrics-frequency", TEXT, gpu_metrics_frequency), .value_name = "HZ",
    .default_text = "10000",
    .help =
        N_ ("Samples of hardware counters a second, from 10 to 200000. On GPUs of Turing and on "
            "GA100, the rate follows the clock of the GPU.") },
  { LNS_PROFILE_SWITCH ("gpu-metrics-set", CHOICE, gpu_metrics_set),
    .choices = "general,compute,memory,help,tu10x,tu11x,ga100,ga10x,ad10x,gh100,gb10x,gb20x",
    .default_text = "general",
    .help =
        N_ ("Select the hardware counters. `general`: all that can be sampled at once; `compute`: "
            "SMs, tensor cores and launches; `memory`: memory, caches, PCIe and NVLink. Names of "
            "chips mean `general`; `help` lists the names.") },
  { LNS_PROFILE_SWITCH ("gpuctxsw", BOOL, gpuctxsw), .default_text = "false",
    .help = N_ ("Record which CUDA context, and so which program, each GPU works for. Needs CUDA "
                "13.1 or later, and a program that uses CUDA.") },
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
