#!/usr/bin/env python3
# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0
#
# Writes the numbers of the CUDA calls that matter to the engine, and the names of all, as the headers of CUPTI have them:
# generate-cuda-calls.py NUMBERS NAMES FOLDER…, of which the first that has them counts. Each release adds some, such as 505,
# __cudaLaunchKernel of CUDA 13, and a list made by hand would miss them.

import os
import re
import sys

# What each list holds, by the names in the enumerations, without prefix and version.
LISTS = {
    'launches': (r'_*cudaLaunch(Kernel|CooperativeKernel)\w*|cudaGraphLaunch\w*',
                 r'cuLaunch|cuLaunchGrid\w*|cuLaunch(Kernel|CooperativeKernel)\w*|cuGraphLaunch\w*'),
    # Of these, those that launch one kernel and no more.
    'single_launches': (r'_*cudaLaunchKernel\w*|cudaLaunchCooperativeKernel(_ptsz)?',
                        r'cuLaunch|cuLaunchGrid\w*|cuLaunchKernel\w*|cuLaunchCooperativeKernel(_ptsz)?'),
    # Between these, what a thread launches goes into a graph.
    'captures': (r'cudaStreamBeginCapture\w*', r'cuStreamBeginCapture\w*'),
    'captured': (r'cudaStreamEndCapture\w*', r'cuStreamEndCapture\w*'),
    'range_begins': (r'cudaProfilerStart', r'cuProfilerStart'),
    'range_ends': (r'cudaProfilerStop', r'cuProfilerStop'),
    # After these, what CUPTI has of a context may be gone.
    'resets': (r'cudaDeviceReset', r'cuCtxDestroy|cuDevicePrimaryCtx(Release|Reset)'),
    # With one of these programs begin, in a fork's child too; none is called often.
    'beginnings': (r'cudaMalloc\w*|cudaStreamCreate\w*',
                   r'cuInit|cuCtxCreate|cuDevicePrimaryCtxRetain|cuMemAlloc\w*'),
    # Classes of calls, with the launches, for those who ask where calls come from.
    'memory': (r'cuda(Malloc|Free|Mem|Host(Alloc|Register|Unregister))\w*', r'cu(64)?Mem\w+|cuArray\w+|cuMipmappedArray\w+'),
    'waits': (r'cuda\w*Synchronize\w*|cudaStreamWait\w+', r'cu\w*Synchronize\w*|cuStreamWait\w+'),
    # The engine calls the driver's to learn how far CUPTI has counted correlations.
    'versions': (r'cudaDriverGetVersion', r'cuDriverGetVersion'),
    # They only ask, and programs call them all the time.
    'questions': (r'cudaGetDevice|cudaGetLastError|cudaPeekAtLastError|cudaStreamIsCapturing(_ptsz)?',
                  r'cuCtxGetCurrent|cuDevicePrimaryCtxGetState|cuKernelGetAttribute'
                  r'|cuPointerGetAttributes?|cuStreamGetCtx(_ptsz)?'),
}


def numbers(path, prefix, pattern):
    text = open(path, encoding='utf-8').read()
    for name, number in re.findall(prefix + r'_TRACE_CBID_(\w+)\s*=\s*(\d+)', text):
        if re.fullmatch(pattern, re.sub(r'_v\d+$', '', name)):
            yield number, name


def write(path, lines):
    with open(path, 'w', encoding='utf-8') as file:
        file.write('\n'.join(lines))


def main():
    (numbers_path, names_path), folders = sys.argv[1:3], sys.argv[3:]
    headers = [(os.path.join(folder, 'cupti_runtime_cbid.h'), os.path.join(folder, 'cupti_driver_cbid.h'))
               for folder in folders]
    runtime, driver = next(pair for pair in headers if os.path.exists(pair[0]))
    lines = ['/* Made by generate-cuda-calls.py from the headers of CUPTI. A call of number 0 ends each list. */', '',
             '#pragma once', '', 'typedef struct', '{', '  uint16_t is_runtime, cbid;', '} LnsCudaCall;', '']
    for name, patterns in LISTS.items():
        lines.append(f'static const LnsCudaCall lns_cuda_{name}[] = {{')
        for api, path, pattern in (('RUNTIME', runtime, patterns[0]), ('DRIVER', driver, patterns[1])):
            found = list(numbers(path, 'CUPTI_' + api, pattern))
            if not found:
                sys.exit(f'{path}: no call matches {pattern}: its form has changed')
            lines += [f'  {{ {int(api == "RUNTIME")}, {number} }}, /* {call} */' for number, call in found]
        lines += ['  { 0, 0 },', '};', '']
    write(numbers_path, lines)
    lines = ['/* Made by generate-cuda-calls.py from the headers of CUPTI. Calls of the driver, then of the runtime. */', '',
             '#pragma once', '', 'static const char *const lns_cuda_call_names[2][LNS_WIRE_CUPTI_CALLS] = {']
    for api, path in (('DRIVER', driver), ('RUNTIME', runtime)):
        found = [(number, name) for number, name in numbers(path, 'CUPTI_' + api, r'_*cu\w+')]
        lines += ['  {'] + [f'    [{number}] = "{name}",' for number, name in found] + ['  },']
    write(names_path, lines + ['};', ''])


main()
