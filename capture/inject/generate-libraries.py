#!/usr/bin/env python3
# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0
#
# Writes a function for each one of cuBLAS, cuBLASLt, cuDNN, cuSPARSE and cuSOLVER that has work done, of the
# same name and parameters, which notes the call and passes it on: generate-libraries.py OUTPUT FOLDER…, of
# which the first that has a header counts. Those that only set, get, create or destroy are left alone, so
# that nothing changes for a program that looks whether a library is there.

import os
import re
import sys

LIBRARIES = (
    # enum, header to include, headers to read, prefix of names and handle, function that returns a handle's stream
    ('CUBLAS', 'cublas_v2.h', ('cublas_api.h',), 'cublas', 'cublasGetStream_v2'),
    ('CUBLAS_LT', 'cublasLt.h', ('cublasLt.h',), 'cublasLt', None),
    ('CUDNN', 'cudnn.h', ('cudnn_graph.h', 'cudnn_ops.h', 'cudnn_cnn.h', 'cudnn_adv.h'), 'cudnn', 'cudnnGetStream'),
    ('CUSPARSE', 'cusparse.h', ('cusparse.h',), 'cusparse', 'cusparseGetStream'),
    ('CUSOLVER', 'cusolverDn.h', ('cusolverDn.h',), 'cusolverDn', 'cusolverDnGetStream'),
    ('CUSOLVER', 'cusolverSp.h', ('cusolverSp.h',), 'cusolverSp', 'cusolverSpGetStream'),
    ('CUSOLVER', 'cusolverSp_LOWLEVEL_PREVIEW.h', ('cusolverSp_LOWLEVEL_PREVIEW.h',), 'cusolverSp', 'cusolverSpGetStream'),
    ('CUSOLVER', 'cusolverRf.h', ('cusolverRf.h',), 'cusolverRf', None),
    ('CUSOLVER_MG', 'cusolverMg.h', ('cusolverMg.h',), 'cusolverMg', None),
)
NO_WORK = (r'(Get|Set(?!up)|Create|Destroy|Query|Logger|DeviceSelect|\w*Get(\w*(Size|Space)|Sweeps|Residual)$|'
           r'\w*(_bufferSize|BufferInfo)(Ext|Batched|Host)?$)')


def read(folders, name):
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path, encoding='utf-8', errors='replace') as file:
                return re.sub(r'/\*.*?\*/|//[^\n]*', ' ', file.read(), flags=re.S)
    return ''


def functions(folders, headers, prefix):
    """(status type, name, [(declaration, name of parameter)]) of each function that has work done."""
    for header in headers:
        for status, name, text in re.findall(r'\b(cu[a-z]+Status_t)\s+\w*API\s+(\w+)\s*\(([^;{}()]*)\)\s*;', read(folders, header)):
            declarations = [re.sub(r'\s+', ' ', part).strip() for part in text.split(',')]
            names = [re.search(r'(\w+) ?(\[\w*\] ?)*$', declaration) for declaration in declarations]
            if not re.match(prefix + r'Handle_t\b', declarations[0]) or re.match(prefix + NO_WORK, name) or not all(names):
                continue
            yield status, name, [(d, n.group(1)) for d, n in zip(declarations, names)]


def write(library, getter, status, name, parameters):
    stream = next((n for d, n in parameters if re.match(r'cudaStream_t\b', d)), None)
    names = ', '.join(n for _, n in parameters)
    declarations = ', '.join(d for d, _ in parameters)
    # Of the parameters only the stream is looked at, or the handle that is bound to one.
    where = f'0, (uint64_t)(uintptr_t){stream}' if stream else f'(void *){parameters[0][1]}, 0'
    more = f', .stream_getter_name = "{getter}"' if getter else ''
    # In C the headers leave out those of half precision; to us they are pointers like others.
    declared = f'\nLNS_LIBRARY_FUNCTION {status} {name} ({declarations});' \
        if re.search(r'__half|__nv_bfloat16', declarations) else ''
    return f'''{declared}
static LnsLibraryFunction lns_of_{name} = {{ .name = "{name}", .library = LNS_WIRE_{library}{more} }};
LNS_LIBRARY_FUNCTION {status}
{name} ({declarations})
{{
  __typeof__ (&{name}) lns_real = (__typeof__ (&{name}))lns_library_find (&lns_of_{name}, __builtin_return_address (0));
  if (lns_real == NULL)
    return {status.replace('Status_t', '').upper()}_STATUS_NOT_INITIALIZED;
  LnsLibraryCall lns_call = lns_library_begin (&lns_of_{name});
  {status} lns_status = lns_real ({names});
  lns_library_end (&lns_of_{name}, &lns_call, {where}, (uint32_t)lns_status);
  return lns_status;
}}'''


def main():
    output, folders = sys.argv[1], sys.argv[2:]
    lines = ['/* Made by generate-libraries.py from the headers of these libraries. */', '',
             '#include "capture/inject/preload/lookup.h"', '',
             # The headers leave these out of C, but programs may call them.
             '#define CUSPARSE_ENABLE_EXPERIMENTAL_API', '']
    bodies, names = [], set()
    for library, include, headers, prefix, getter in LIBRARIES:
        found = list(functions(folders, headers, prefix)) if read(folders, include) else []
        if found:
            lines.append(f'#include <{include}>')
        bodies += [write(library, getter, *function) for function in found]
        names |= {name for _, name, _ in found}
    lines += ['', 'typedef struct __half __half;', 'typedef struct __nv_bfloat16 __nv_bfloat16;']
    bodies += ['', 'const LnsLibraryWrapper lns_library_wrappers[] = {',
               *(f'  {{ &lns_of_{name}, (void *){name} }},' for name in sorted(names)), '};',
               'const size_t lns_n_library_wrappers = sizeof lns_library_wrappers / sizeof *lns_library_wrappers;']
    with open(output, 'w', encoding='utf-8') as file:
        file.write('\n'.join(lines + bodies) + '\n')


main()
