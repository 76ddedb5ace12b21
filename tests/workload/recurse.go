// SPDX-License-Identifier: BSD-2-Clause

// Recurses 20 deep for 20 seconds: Go's own stacks, which C's unwind tables say nothing of.
package main

import "time"

var sink uint64
var end time.Time

//go:noinline
func down(depth int) uint64 {
	if depth == 0 {
		return burn()
	}
	return down(depth-1) + 1
}

//go:noinline
func burn() uint64 {
	for i := uint64(0); i < 3000000; i++ {
		sink += i
	}
	return sink
}

func main() {
	end = time.Now().Add(20 * time.Second)
	for time.Now().Before(end) {
		sink += down(20)
	}
}
