// Copyright the Lanescope authors
//
// SPDX-License-Identifier: Apache-2.0

// Says of its own functions where they are: see symbols-note.h.

#include "tests/programs/symbols-note.h"

namespace shapes
{
namespace
{
volatile int sink;
}

template <typename T> struct Box
{
  T side;

  __attribute__ ((noinline)) T
  area (T scale) const
  {
    SYMBOLS_NOTE ("shapes::Box<int>::area(int) const", 1, 0, 0);
    return side * side * scale;
  }

  __attribute__ ((always_inline)) inline T
  grow (int caller_line)
  {
    SYMBOLS_NOTE ("shapes::Box<int>::grow(int);shapes::fold<3, int>(shapes::Box<int>&)", 2, caller_line, 0);
    return side += sink + 1;
  }
};

template <int N, typename T>
__attribute__ ((noinline)) T
fold (Box<T> &box)
{
  T sum = sink;
  for (int i = 0; i < N; i++)
    sum += box.grow (__LINE__);
  return sum;
}

struct Base
{
  virtual ~Base () = default;
  virtual int run () = 0;
};

struct Derived final : Base
{
  __attribute__ ((noinline)) int
  run () override
  {
    SYMBOLS_NOTE ("shapes::Derived::run()", 1, 0, 0);
    return sink;
  }
};
}

int
main ()
{
  shapes::Box<int> box{ 3 };
  shapes::sink = shapes::sink + box.area (2);
  shapes::sink = shapes::sink + shapes::fold<3> (box);
  shapes::Derived derived;
  shapes::sink = shapes::sink + derived.run ();
  symbols_note_self ();
  SYMBOLS_NOTE ("main", 1, 0, 0);
  return shapes::sink < 0;
}
