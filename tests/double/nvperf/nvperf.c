/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* libnvperf_host.so, which CUPTI loads to know the metrics of chips. The double of CUPTI looks whether this one is there. */

__attribute__ ((visibility ("default"))) int lns_double_nvperf;
