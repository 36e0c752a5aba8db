/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The extension module _lanescope_functions: the part of lanescope_functions.py that runs at each call of a traced
 * function and is therefore in C. One binary serves CPython 3.9 to 3.15: it uses the limited API and a few other
 * functions that all of these export. The interpreter's lock protects everything.
 *
 * From 3.12 on, sys.monitoring calls enter() and leave() with the code object, which watch() has noted. Before 3.12,
 * and for functions that are not written in Python, wrap() makes an object that takes the function's place. */

#define Py_LIMITED_API 0x030a0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/wire/python.h"

/* All of these versions export these functions; only later ones have them in the limited API. */
extern PyObject *PyVectorcall_Call (PyObject *callable, PyObject *tuple, PyObject *dict);
extern PyObject *PyMethod_New (PyObject *function, PyObject *self);
typedef int (*TraceFunction) (PyObject *, PyFrameObject *, int, PyObject *);
extern void PyEval_SetTrace (TraceFunction function, PyObject *object);
#define TRACE_CALL                 0
#define TRACE_LINE                 2
#define TRACE_RETURN               3
#define FLAGS_HAVE_VECTORCALL      (1UL << 11)
#define FLAGS_IS_METHOD_DESCRIPTOR (1UL << 17)

#define FUNCTIONS_MAX 4096
#define CODES_MAX     (2 * FUNCTIONS_MAX) /* at most half of them are used; a power of 2 */

PyMODINIT_FUNC PyInit__lanescope_functions (void);

static const LnsPythonHooks *hooks; /* NULL: not connected */
static LnsPythonFunction functions[FUNCTIONS_MAX];
static Py_ssize_t n_functions;

/* --- The session ------------------------------------------------------------------------------ */

/* connect(path): finds the injection at PATH, which the program may have loaded already. */
static PyObject *
connect (PyObject *module, PyObject *path)
{
  const char *text = PyUnicode_AsUTF8AndSize (path, NULL);
  if (text == NULL)
    return NULL;
  void *library = dlopen (text, RTLD_NOW | RTLD_LOCAL);
  const LnsPythonHooks *(*find) (void) = NULL;
  if (library != NULL)
    *(void **)&find = dlsym (library, LNS_PYTHON_HOOKS);
  hooks = find == NULL ? NULL : find ();
  if (hooks != NULL && hooks->abi != LNS_PYTHON_HOOKS_ABI)
    hooks = NULL;
  return PyBool_FromLong (hooks != NULL);
}

/* define(domain, category, color, name): the number of a function, or -1 where none is recorded. */
static PyObject *
define (PyObject *module, PyObject *arguments)
{
  const char *domain, *category, *name;
  unsigned int color;
  if (!PyArg_ParseTuple (arguments, "ssIs", &domain, &category, &color, &name))
    return NULL;
  if (hooks == NULL || n_functions == FUNCTIONS_MAX ||
      !hooks->define (domain, category, color, name, &functions[n_functions]))
    return PyLong_FromLong (-1);
  return PyLong_FromSsize_t (n_functions++);
}

/* say(text): a sentence for the report. */
static PyObject *
say (PyObject *module, PyObject *text)
{
  const char *bytes = PyUnicode_AsUTF8AndSize (text, NULL);
  if (bytes == NULL)
    return NULL;
  if (hooks != NULL)
    hooks->say (bytes);
  Py_RETURN_NONE;
}

/* --- Code objects: CPython 3.12 and later ----------------------------------------------------- */

/* Code objects by address. Each has a reference that is never released, so that no other object takes its place in
 * memory. */
static struct
{
  PyObject *code;
  const LnsPythonFunction *function;
} codes[CODES_MAX];
static size_t n_codes;

/* The slot of CODE, or the empty one where it belongs. */
static inline size_t
find_slot (const PyObject *code)
{
  size_t slot = ((uintptr_t)code >> 4) * UINT64_C (0x9e3779b97f4a7c15) >> 51 & (CODES_MAX - 1);
  while (codes[slot].code != code && codes[slot].code != NULL)
    slot = (slot + 1) & (CODES_MAX - 1);
  return slot;
}

/* watch(code, number): calls of CODE are those of that function. False: there is no room. */
static PyObject *
watch (PyObject *module, PyObject *arguments)
{
  PyObject *code;
  Py_ssize_t number;
  if (!PyArg_ParseTuple (arguments, "On", &code, &number))
    return NULL;
  if (number < 0 || number >= n_functions || n_codes == CODES_MAX / 2)
    Py_RETURN_FALSE;
  size_t slot = find_slot (code);
  if (codes[slot].code == code)
    Py_RETURN_TRUE; /* by another name: the first one stays */
  Py_INCREF (code);
  n_codes++;
  codes[slot].function = &functions[number];
  codes[slot].code = code;
  Py_RETURN_TRUE;
}

/* Called by sys.monitoring. It reports throw and unwind for all code, so they also come for code that is not watched.
 * */
static PyObject *
enter (PyObject *module, PyObject *const *arguments, Py_ssize_t n_arguments)
{
  const LnsPythonFunction *function =
      n_arguments > 0 ? codes[find_slot (arguments[0])].function : NULL;
  if (function != NULL)
    hooks->push (function);
  Py_RETURN_NONE;
}

static PyObject *
leave (PyObject *module, PyObject *const *arguments, Py_ssize_t n_arguments)
{
  const LnsPythonFunction *function =
      n_arguments > 0 ? codes[find_slot (arguments[0])].function : NULL;
  if (function != NULL)
    hooks->pop (function);
  Py_RETURN_NONE;
}

/* --- Stand-ins -------------------------------------------------------------------------------- */

typedef PyObject *(*Vectorcall) (PyObject *, PyObject *const *, size_t, PyObject *);

static Vectorcall vectorcall; /* PyObject_Vectorcall (), or what stands for it */

/* Replaces PyObject_Vectorcall(), which CPython 3.9 and 3.10 have only in their headers. A type has the offset of its
 * objects' vectorcall function as the fourth word after name, sizes and destructor: struct _typeobject,
 * tp_vectorcall_offset. */
static PyObject *
vectorcall_before_3_11 (PyObject *callable,
                        PyObject *const *arguments,
                        size_t nargsf,
                        PyObject *names)
{
  PyTypeObject *type = Py_TYPE (callable);
  if (PyType_GetFlags (type) & FLAGS_HAVE_VECTORCALL)
    {
      const Py_ssize_t offset =
          ((const Py_ssize_t *)((const char *)type + sizeof (PyVarObject)))[4];
      const Vectorcall function = *(const Vectorcall *)((const char *)callable + offset);
      if (function != NULL)
        return function (callable, arguments, nargsf, names);
    }
  const Py_ssize_t n = (Py_ssize_t)(nargsf & ~((size_t)1 << (8 * sizeof nargsf - 1)));
  PyObject *tuple = PyTuple_New (n), *dict = names == NULL ? NULL : PyDict_New (), *result = NULL;
  for (Py_ssize_t i = 0; i < n && tuple != NULL; i++)
    {
      Py_INCREF (arguments[i]);
      PyTuple_SetItem (tuple, i, arguments[i]);
    }
  bool done = tuple != NULL && (names == NULL || dict != NULL);
  for (Py_ssize_t i = 0; dict != NULL && done && i < PyTuple_Size (names); i++)
    done = PyDict_SetItem (dict, PyTuple_GetItem (names, i), arguments[n + i]) == 0;
  if (done)
    result = PyObject_Call (callable, tuple, dict);
  Py_XDECREF (tuple);
  Py_XDECREF (dict);
  return result;
}

typedef struct
{
  PyObject base;
  Vectorcall vectorcall;
  PyObject *callable;
  PyObject *runner; /* takes in what it returns, which runs in stretches; NULL: it runs in one */
  PyObject *references; /* weak ones */
  const LnsPythonFunction *function;
} Traced;

static PyTypeObject *traced_type;

static PyObject *
traced_call (PyObject *self, PyObject *const *arguments, size_t nargsf, PyObject *names)
{
  const Traced *traced = (const Traced *)self;
  if (traced->runner != NULL)
    {
      PyObject *returned = vectorcall (traced->callable, arguments, nargsf, names);
      if (returned == NULL)
        return NULL;
      PyObject *taken = PyObject_CallFunctionObjArgs (traced->runner, returned, NULL);
      Py_DECREF (returned);
      return taken;
    }
  hooks->push (traced->function);
  PyObject *result = vectorcall (traced->callable, arguments, nargsf, names);
  hooks->pop (traced->function);
  return result;
}

static void
traced_free (PyObject *self)
{
  PyTypeObject *type = Py_TYPE (self);
  if (((Traced *)self)->references != NULL)
    PyObject_ClearWeakRefs (self);
  Py_DECREF (((Traced *)self)->callable);
  Py_XDECREF (((Traced *)self)->runner);
  PyObject_Free (self);
  Py_DECREF (type);
}

/* Acts as a function: bound to an instance it becomes a method. */
static PyObject *
traced_get (PyObject *self, PyObject *instance, PyObject *owner)
{
  if (instance != NULL && instance != Py_None)
    return PyMethod_New (self, instance);
  Py_INCREF (self);
  return self;
}

/* Has all attributes of what it stands in for, except the type: inspect and asyncio take it for a function. */
static PyObject *
traced_attribute (PyObject *self, PyObject *name)
{
  static const char *const own[] = { "__call__", "__get__", "__reduce__", "__reduce_ex__" };
  PyObject *callable = ((Traced *)self)->callable;
  const char *text = PyUnicode_AsUTF8AndSize (name, NULL);
  if (text == NULL)
    return NULL;
  if (strcmp (text, "__wrapped__") == 0)
    {
      Py_INCREF (callable);
      return callable;
    }
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    if (strcmp (text, own[i]) == 0)
      return PyObject_GenericGetAttr (self, name);
  return PyObject_GetAttr (callable, name);
}

static int
traced_set_attribute (PyObject *self, PyObject *name, PyObject *value)
{
  return PyObject_SetAttr (((Traced *)self)->callable, name, value);
}

static PyObject *
traced_text (PyObject *self)
{
  return PyObject_Repr (((Traced *)self)->callable);
}

/* Pickled by its name, as a function is. */
static PyObject *
traced_reduce (PyObject *self, PyObject *unused)
{
  return PyObject_GetAttrString (((Traced *)self)->callable, "__qualname__");
}

static PyMethodDef traced_methods[] = { { "__reduce__", traced_reduce, METH_NOARGS, NULL },
                                        { NULL, NULL, 0, NULL } };
static PyMemberDef traced_members[] = {
  { "__vectorcalloffset__", T_PYSSIZET, offsetof (Traced, vectorcall), READONLY, NULL },
  { "__weaklistoffset__", T_PYSSIZET, offsetof (Traced, references), READONLY, NULL },
  { NULL, 0, 0, 0, NULL }
};
static PyType_Slot traced_slots[] = { { Py_tp_dealloc, traced_free },
                                      { Py_tp_call, PyVectorcall_Call },
                                      { Py_tp_descr_get, traced_get },
                                      { Py_tp_getattro, traced_attribute },
                                      { Py_tp_setattro, traced_set_attribute },
                                      { Py_tp_repr, traced_text },
                                      { Py_tp_methods, traced_methods },
                                      { Py_tp_members, traced_members },
                                      { 0, NULL } };
static PyType_Spec traced_spec = {
  .name = "_lanescope_functions.Traced",
  .basicsize = sizeof (Traced),
  .flags = Py_TPFLAGS_DEFAULT | FLAGS_HAVE_VECTORCALL | FLAGS_IS_METHOD_DESCRIPTOR,
  .slots = traced_slots,
};

/* wrap(callable, number, runner): stands in for CALLABLE; each call is one of that function. RUNNER, unless
 * it is None, makes what is returned of what CALLABLE returns, and tells of its calls. */
static PyObject *
wrap (PyObject *module, PyObject *arguments)
{
  PyObject *callable, *runner;
  Py_ssize_t number;
  if (!PyArg_ParseTuple (arguments, "OnO", &callable, &number, &runner))
    return NULL;
  if (number < 0 || number >= n_functions)
    return PyErr_Format (PyExc_ValueError, "no function has this number");
  Traced *traced = PyObject_New (Traced, traced_type);
  if (traced == NULL)
    return NULL;
  Py_INCREF (callable);
  traced->vectorcall = traced_call;
  traced->callable = callable;
  traced->runner = runner == Py_None ? NULL : runner;
  Py_XINCREF (traced->runner);
  traced->references = NULL;
  traced->function = &functions[number];
  return (PyObject *)traced;
}

/* push(number), pop(number): a stretch of that function begins and ends on this thread. */
static PyObject *
push (PyObject *module, PyObject *number)
{
  const Py_ssize_t n = PyLong_AsSsize_t (number);
  if (n >= 0 && n < n_functions)
    hooks->push (&functions[n]);
  Py_RETURN_NONE;
}

static PyObject *
pop (PyObject *module, PyObject *number)
{
  const Py_ssize_t n = PyLong_AsSsize_t (number);
  if (n >= 0 && n < n_functions)
    hooks->pop (&functions[n]);
  Py_RETURN_NONE;
}

/* --- The main module before CPython 3.12 ------------------------------------------------------ */

/* A look for functions follows each line of the main module while it defines them, and no longer, since this slows down
 * all lines of Python. */
static PyFrameObject *main_frame; /* the one that runs now; NULL: not yet */
static const char *main_name;

static bool
is_main (PyFrameObject *frame)
{
  bool result = false;
  PyObject *globals = PyObject_GetAttrString ((PyObject *)frame, "f_globals");
  PyObject *code = PyObject_GetAttrString ((PyObject *)frame, "f_code");
  PyObject *called = code == NULL ? NULL : PyObject_GetAttrString (code, "co_name");
  PyObject *name = globals == NULL ? NULL : PyDict_GetItemString (globals, "__name__");
  if (called != NULL && name != NULL && PyUnicode_Check (name))
    result = PyUnicode_CompareWithASCIIString (called, "<module>") == 0 &&
             PyUnicode_CompareWithASCIIString (name, main_name) == 0;
  Py_XDECREF (called);
  Py_XDECREF (code);
  Py_XDECREF (globals);
  PyErr_Clear ();
  return result;
}

static int
trace (PyObject *look, PyFrameObject *frame, int event, PyObject *argument)
{
  if (main_frame == NULL && event == TRACE_CALL && is_main (frame))
    main_frame = frame;
  if (frame != main_frame || (event != TRACE_LINE && event != TRACE_RETURN))
    return 0;
  PyObject *done = PyObject_CallFunctionObjArgs (look, NULL);
  const bool goes_on = done != NULL && event == TRACE_LINE && PyObject_IsTrue (done) == 0;
  Py_XDECREF (done);
  PyErr_Clear ();
  if (!goes_on)
    PyEval_SetTrace (NULL, NULL);
  return 0;
}

/* follow_main(look, is_spawned): calls LOOK() after each line of the main module, and at its end, until it
 * returns true. IS_SPAWNED: by multiprocessing, which gives that module another name. */
static PyObject *
follow_main (PyObject *module, PyObject *arguments)
{
  PyObject *look;
  int is_spawned;
  if (!PyArg_ParseTuple (arguments, "Op", &look, &is_spawned))
    return NULL;
  main_name = is_spawned ? "__mp_main__" : "__main__";
  main_frame = NULL;
  PyEval_SetTrace (trace, look);
  Py_RETURN_NONE;
}

/* --- The module ------------------------------------------------------------------------------- */

#define FAST(function) ((PyCFunction)(void (*) (void)) (function))

static PyMethodDef methods[] = { { "connect", connect, METH_O, NULL },
                                 { "define", define, METH_VARARGS, NULL },
                                 { "say", say, METH_O, NULL },
                                 { "watch", watch, METH_VARARGS, NULL },
                                 { "enter", FAST (enter), METH_FASTCALL, NULL },
                                 { "leave", FAST (leave), METH_FASTCALL, NULL },
                                 { "push", push, METH_O, NULL },
                                 { "pop", pop, METH_O, NULL },
                                 { "wrap", wrap, METH_VARARGS, NULL },
                                 { "follow_main", follow_main, METH_VARARGS, NULL },
                                 { NULL, NULL, 0, NULL } };

static struct PyModuleDef definition = {
  PyModuleDef_HEAD_INIT,
  .m_name = "_lanescope_functions",
  .m_size = -1,
  .m_methods = methods,
};

PyMODINIT_FUNC
PyInit__lanescope_functions (void)
{
  *(void **)&vectorcall = dlsym (RTLD_DEFAULT, "PyObject_Vectorcall");
  if (vectorcall == NULL)
    vectorcall = vectorcall_before_3_11;
  traced_type = (PyTypeObject *)PyType_FromSpec (&traced_spec);
  return traced_type == NULL ? NULL : PyModule_Create (&definition);
}
