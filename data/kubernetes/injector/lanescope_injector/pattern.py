# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The regular expressions of injectionMatch, by the library that is preloaded into pods: both decide alike, and no command line
of a pod can keep the service busy, as with the backtracking of re."""

import ctypes


class Pattern:
    """A good pattern, or a ValueError. `is_in` may be called from any thread."""

    def __init__(self, text, library):
        functions = ctypes.CDLL(library)
        functions.lns_pattern_problem.restype = ctypes.c_char_p
        functions.lns_pattern_problem.argtypes = [ctypes.c_char_p]
        functions.lns_pattern_is_in.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
        self._is_in = functions.lns_pattern_is_in
        self.text = text
        self._bytes = text.encode()
        problem = "it has a null byte" if "\0" in text else functions.lns_pattern_problem(self._bytes)
        if problem is not None:
            raise ValueError(f"injectionMatch {text!r}: {problem if isinstance(problem, str) else problem.decode()}")

    def is_in(self, text):
        line = text.encode("utf-8", "surrogatepass")
        return self._is_in(self._bytes, line, len(line)) == 1
