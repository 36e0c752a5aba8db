// Copyright the Lanescope authors
//
// SPDX-License-Identifier: Apache-2.0

// Says of its own functions where they are: see symbols-note.h.

use std::ffi::{c_char, c_int, CString};
use std::hint::black_box;

extern "C" {
    fn symbols_note(file: *const c_char, frames: *const c_char, n_lines: c_int, line: c_int, caller_line: c_int, outer_line: c_int);
}

mod shapes {
    use super::*;

    pub struct Square {
        pub side: i32,
    }

    pub trait Area {
        fn area(&self, frames: &CString, file: &CString) -> i32;
    }

    impl Area for Square {
        #[inline(never)]
        fn area(&self, frames: &CString, file: &CString) -> i32 {
            unsafe { symbols_note(file.as_ptr(), frames.as_ptr(), 1, line!() as c_int, 0, 0) };
            black_box(self.side) * self.side // not known before: the call above must not become a jump
        }
    }
}

use shapes::Area;

#[inline(always)]
fn inner<T: Into<i64>>(n: T, frames: &CString, file: &CString, caller: c_int) -> i64 {
    unsafe { symbols_note(file.as_ptr(), frames.as_ptr(), 2, line!() as c_int, caller, 0) };
    black_box(n.into()) + 1
}

#[inline(never)]
fn outer(n: i32, frames: &CString, file: &CString) -> i64 {
    inner(n, frames, file, line!() as c_int) * 2
}

fn main() {
    let file = CString::new("symbols-rust.rs").unwrap();
    let area = CString::new("<symbols_rust::shapes::Square as symbols_rust::shapes::Area>::area").unwrap();
    let frames = CString::new("symbols_rust::inner::<i32>;symbols_rust::outer").unwrap();
    let n = shapes::Square { side: 3 }.area(&area, &file);
    std::process::exit((outer(n, &frames, &file) < 0) as i32);
}
