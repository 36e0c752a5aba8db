/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A binary heap in an array, with the first item on top, such as the runs of a merge:
 *
 *   LNS_HEAP_SINK (heap, n, 0, a, b, a->start_ns < b->start_ns);
 *
 * moves the item at place 0 of the N items down to where it belongs. A and B name pointers to two items within the
 * condition that *A goes above *B. Sinking the items of the first half, the last one first, makes a heap of an array.
 * O(log n). */

#pragma once

#include <stddef.h>

#define LNS_HEAP_SINK(items, n, at, a, b, is_before)                                               \
 do                                                                                                \
  {                                                                                                \
   __typeof__ (&(items)[0]) items_ = (items);                                                      \
   size_t at_ = (at);                                                                              \
   const __typeof__ (items_[0]) moved_ = items_[at_];                                              \
   for (size_t child_; (child_ = 2 * at_ + 1) < (n); at_ = child_)                                 \
    {                                                                                              \
     if (child_ + 1 < (n))                                                                         \
      {                                                                                            \
       const __typeof__ (moved_) *a = &items_[child_ + 1], *b = &items_[child_];                   \
       child_ += (is_before);                                                                      \
      }                                                                                            \
     const __typeof__ (moved_) *a = &items_[child_], *b = &moved_;                                 \
     if (!(is_before))                                                                             \
      break;                                                                                       \
     items_[at_] = items_[child_];                                                                 \
    }                                                                                              \
   items_[at_] = moved_;                                                                           \
  }                                                                                                \
 while (0)
