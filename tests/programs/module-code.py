# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Works outside of functions: first in code that is made of strings, two deep, whose frames are called "<module>" as the program's
own are, and then, most of the time, in one line of its own."""

import time

end = time.monotonic() + 0.1
exec("exec('while time.monotonic() < end: sum(range(10000))')")
end = time.monotonic() + 0.6
while time.monotonic() < end:
    sum(range(10000))
