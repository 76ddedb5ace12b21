// SPDX-License-Identifier: BSD-2-Clause
// Recurses 20 deep for 20 seconds.
use std::hint::black_box;
use std::time::{Duration, Instant};

#[inline(never)]
fn burn() -> u64 {
    let mut sum = 0u64;
    for i in 0..3_000_000u64 {
        sum = black_box(sum + i);
    }
    sum
}

#[inline(never)]
fn down(depth: u32) -> u64 {
    if depth == 0 {
        return black_box(burn());
    }
    black_box(down(black_box(depth - 1)) + 1)
}

fn main() {
    let end = Instant::now() + Duration::from_secs(20);
    while Instant::now() < end {
        black_box(down(black_box(20)));
    }
}
