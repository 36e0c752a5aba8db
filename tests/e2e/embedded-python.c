/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A program with a Python interpreter of its own, which runs the text that is its argument. */

#include <Python.h>

int
main (int n_arguments, char **arguments)
{
  Py_Initialize ();
  const int result = n_arguments > 1 ? PyRun_SimpleString (arguments[1]) : 0;
  return Py_FinalizeEx () < 0 ? 120 : result;
}
