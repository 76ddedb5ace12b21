/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BASE_EMBED_H
#define STOKE_BASE_EMBED_H

/*
 * EMBED(flamegraph_js, "flamegraph.js") puts a file into the program: flamegraph_js is its first
 * byte, flamegraph_js_end the one behind its last, which is a NUL. The path is looked up in the
 * assembler's include path (-Wa,-I). A source with EMBED in it is copied by a custom_target that
 * has the file as an input too, or ninja would not see the file change. EMBEDDED() declares it
 * elsewhere.
 */

#define EMBEDDED(symbol) extern const char symbol[], symbol##_end[]

#define EMBED(symbol, path)                                                                        \
	__asm__(".pushsection .rodata, \"a\"\n"                                                    \
		".global " #symbol "\n"                                                            \
		".hidden " #symbol "\n" #symbol ":\n"                                              \
		".incbin \"" path "\"\n"                                                           \
		".global " #symbol "_end\n"                                                        \
		".hidden " #symbol "_end\n" #symbol "_end:\n"                                      \
		".byte 0\n"                                                                        \
		".popsection\n");                                                                  \
	EMBEDDED(symbol)

#endif
