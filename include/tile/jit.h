/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libtilejit: compiles kernels from source text when they are first launched, on top of tile/tilec.h and tile/tilert.h.
 *
 *   tile_jit *jit;  tile_jit_kernel *kernel;
 *   tile_jit_create(compiler, runtime, NULL, &jit);
 *   const char *options[] = {"--signature=x: *fp32, y: *fp32, n: i32"};
 *   tile_jit_get(jit, text, strlen(text), options, 1, &kernel);        // once, or use tile_jit_run
 *   void *arguments[] = {&x, &y, &n};
 *   if (tile_jit_launch(kernel, NULL, arguments, 3) != TILE_OK) puts(tile_jit_last_error());
 *
 * The first use of a source compiles its general kernel and waits for it. The first launch with a pointer that is not a
 * multiple of 16 also compiles and waits. Each set of parameters that are multiples of 16 gets a specialized kernel,
 * which is compiled on a background thread when it is first needed; until it is ready, launches use the general kernel.
 * Compiled kernels are kept in memory, and on disk if the compiler has a cache.
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
  /* 1: also specialize on the bit lengths of integer arguments; 'auto' parameters are then chosen for these sizes. */
  uint32_t sizes;
  /* Maximum number of specialized kernels per source, at most 32; 0: 32. */
  uint32_t specializations;
} tile_jit_options;

#define TILE_JIT_OPTIONS_INIT {sizeof(tile_jit_options), 0, 0}

/* Returns a description of the last failure of a function of this file in the calling thread. */
TILE_API const char *tile_jit_last_error(void);

/* Creates a JIT compiler. The caller keeps ownership of `compiler` and `runtime`, which must outlive `jit`. `options`
   may be NULL. */
TILE_API tile_status tile_jit_create(tilec_compiler *compiler, tile_runtime *runtime, const tile_jit_options *options,
                                     tile_jit **jit);
/* Cancels pending compilations and destroys all kernels. All launches of the kernels must have ended. */
TILE_API void tile_jit_destroy(tile_jit *jit);

/* Returns the kernel of a source in `*kernel`; options are those of tilec_request. The kernel is compiled for the GPU
   of the current context unless the options have --target. The same source and options give the same kernel, which
   lives as long as `jit`. */
TILE_API tile_status tile_jit_get(tile_jit *jit, const char *source, size_t source_bytes, const char *const *options,
                                  size_t option_count, tile_jit_kernel **kernel);

/* Like tile_launch, but scratch memory always comes from the runtime, not from `options`. No module can be loaded while
   a stream is being captured: launch with the same arguments before the capture, and call tile_jit_wait. */
TILE_API tile_status tile_jit_launch(tile_jit_kernel *kernel, const tile_launch_options *options,
                                     void *const *arguments, size_t count);

/* Calls tile_jit_get and tile_jit_launch. `source` is null-terminated. */
TILE_API tile_status tile_jit_run(tile_jit *jit, const char *source, const char *const *options, size_t option_count,
                                  const tile_launch_options *launch, void *const *arguments, size_t count);

/* Waits until all pending compilations have ended. */
TILE_API tile_status tile_jit_wait(tile_jit *jit);

/* Returns in `*choice` the kernel that a launch with these arguments would use now, for inspection. `kernel`
   owns it. */
TILE_API tile_status tile_jit_choice(tile_jit_kernel *kernel, void *const *arguments, size_t count,
                                     tile_kernel **choice);

#ifdef __cplusplus
}
#endif
#endif
