/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Kernels from source text at run time: tile/tilec.h compiles, tile/tilert.h launches, libtilejit is between them.
 *
 *   tile_jit *jit;  tile_jit_kernel *kernel;
 *   tile_jit_create(compiler, runtime, NULL, &jit);
 *   const char *options[] = {"--signature=x: *fp32, y: *fp32, n: i32"};
 *   tile_jit_get(jit, text, strlen(text), options, 1, &kernel);        // once; or see tile_jit_run
 *   void *arguments[] = {&x, &y, &n};
 *   if (tile_jit_launch(kernel, NULL, arguments, 3) != TILE_OK) puts(tile_jit_last_error());
 *
 * The first use of a source compiles its general kernel, and waits for that; so does the first launch with a pointer
 * that is no multiple of 16. Each set of parameters that are multiples of 16 has a kernel of its own, compiled in
 * another thread when it is first launched with; until it is there the general one serves. Compiled kernels are kept in
 * memory, and on disk if the compiler has a cache.
 */
#ifndef TILE_JIT_H
#define TILE_JIT_H

#include "tile/tilec.h"
#include "tile/tilert.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tile_jit tile_jit;
typedef struct tile_jit_kernel tile_jit_kernel;

typedef struct tile_jit_options {
  size_t struct_bytes;
  /* 1: also one kernel for each power of two below which the integers lie, which chooses what the source leaves open
     ('auto') for such sizes. */
  uint32_t sizes;
  /* Most kernels of one source beside the general one; 0: 32, which is the most. */
  uint32_t specializations;
} tile_jit_options;

#define TILE_JIT_OPTIONS_INIT {sizeof(tile_jit_options), 0, 0}

/* What failed last in the calling thread in a function of this file. */
TILE_API const char *tile_jit_last_error(void);

/* Compiler and runtime are the caller's, and live longer. `options` may be NULL. */
TILE_API tile_status tile_jit_create(tilec_compiler *compiler, tile_runtime *runtime, const tile_jit_options *options,
                                     tile_jit **jit);
/* Ends compilations under way, and destroys all kernels; their launches must have ended. */
TILE_API void tile_jit_destroy(tile_jit *jit);

/* The kernel of a source with options as tilec_request has them. For another GPU than that of the current context give
   --target. The same source and options give the same kernel, which lives as long as `jit`. */
TILE_API tile_status tile_jit_get(tile_jit *jit, const char *source, size_t source_bytes, const char *const *options,
                                  size_t option_count, tile_jit_kernel **kernel);

/* As tile_launch. A kernel takes scratch memory from the runtime, not from `options`. Within a capture nothing can be
   loaded: launch with such arguments before, and see tile_jit_wait. */
TILE_API tile_status tile_jit_launch(tile_jit_kernel *kernel, const tile_launch_options *options,
                                     void *const *arguments, size_t count);

/* Both in one call. */
TILE_API tile_status tile_jit_run(tile_jit *jit, const char *source, const char *const *options, size_t option_count,
                                  const tile_launch_options *launch, void *const *arguments, size_t count);

/* Waits until all compilations that launches have asked for have ended. */
TILE_API tile_status tile_jit_wait(tile_jit *jit);

/* The kernel that a launch with these arguments takes now, to describe it; it belongs to `kernel`. */
TILE_API tile_status tile_jit_choice(tile_jit_kernel *kernel, void *const *arguments, size_t count,
                                     tile_kernel **choice);

#ifdef __cplusplus
}
#endif
#endif
