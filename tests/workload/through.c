// SPDX-License-Identifier: BSD-2-Clause
// Deep.through(): native code without frame pointers that calls Java again.
#include <jni.h>

JNIEXPORT jint JNICALL Java_Deep_through(JNIEnv *env, jclass deep, jint left)
{
	volatile jint scratch[16] = {left};
	jmethodID back = (*env)->GetStaticMethodID(env, deep, "back", "(I)I");

	return back ? (*env)->CallStaticIntMethod(env, deep, back, scratch[0]) + 1 : 0;
}
