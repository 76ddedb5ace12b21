/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_NAMES_CLASSES_H
#define STOKE_NAMES_CLASSES_H

#include <stddef.h>

/* Whose work a thread does. */
enum thread_class {
	THREAD_APPLICATION,
	THREAD_JIT, /* a JVM's compilers */
	THREAD_GC, /* a JVM's collectors */
	THREAD_VM, /* a JVM's thread of all trades: collects where its stack says so */
};

/*
 * By the thread's name, as HotSpot 8 to 25 gives it (os_linux.cpp, gcName of each collector), whole
 * or cut to the kernel's 15 bytes. An application may call a thread the same: that is then taken at
 * its word.
 */
enum thread_class thread_class_of(const char *name, size_t size);
/* 1 when this function, on a THREAD_VM's stack, is what collects: HotSpot's VM operations
 * ("VM_GenCollectForAllocation::doit()", gcVMOperations.hpp) and heaps. */
int thread_collects(const char *function, size_t size);

#endif
