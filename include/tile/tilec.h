/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libtilec: the compiler as a library. Compiles source text in memory to an artifact in memory, which libtilert
 * launches.
 *
 *   tilec_compiler *compiler;  tilec_result *result;
 *   tilec_compiler_create(NULL, &compiler);
 *   const char *options[] = {"--target=sm_90a", "-DBLOCK=128"};
 *   tilec_request request = TILEC_REQUEST_INIT;
 *   request.source = text;  request.source_bytes = strlen(text);
 *   request.options = options;  request.option_count = 2;
 *   if (tilec_compile(compiler, &request, &result) != TILEC_OK) puts(tilec_last_error());
 *
 * A compiler may be used by any number of threads concurrently. The library has no global settings, installs no signal
 * handlers, and hides its copies of LLVM and MLIR, so that the program may contain others. No function prints, exits
 * or throws. When LLVM reports a fatal error or an assertion of the compiler fails, the compilation ends with
 * TILEC_INTERNAL and leaks its memory. A memory fault in the compiler still ends the program. To guard against that,
 * and to compile untrusted sources, set `isolate`, which compiles in a separate process.
 */
#ifndef TILE_TILEC_H
#define TILE_TILEC_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TILEC_API __attribute__((visibility("default")))
#else
#define TILEC_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The first five are the exit codes of tilec. */
typedef enum tilec_status {
  TILEC_OK = 0,
  TILEC_REJECTED = 1,    /* the source has errors, or does not fit the target */
  TILEC_USAGE = 2,       /* an option or an argument is invalid */
  TILEC_ENVIRONMENT = 3, /* a file or tool is missing, a process cannot be started, or memory is exhausted */
  TILEC_INTERNAL = 4,    /* a bug of the compiler or of ptxas */
  TILEC_CANCELLED = 5
} tilec_status;

typedef enum tilec_severity { TILEC_NOTE = 0, TILEC_REMARK = 1, TILEC_WARNING = 2, TILEC_ERROR = 3 } tilec_severity;

typedef struct tilec_compiler tilec_compiler;
typedef struct tilec_result tilec_result;
typedef struct tilec_cancellation tilec_cancellation;

/* Structures begin with their size, so that later versions can append fields. */
typedef struct tilec_compiler_options {
  size_t struct_bytes;
  const char *ptxas;     /* path of ptxas; NULL: search cuda_path, PATH and CUDA_HOME. Without it, results are PTX. */
  const char *cuda_path; /* folder of the CUDA toolkit; NULL: CUDA_HOME, CUDA_PATH, /usr/local/cuda */
  /* Folder of the cache, created if needed; NULL: no cache. Processes and machines may share it. Anyone who can write
     to it controls which code is launched, so only its owner should have write access. */
  const char *cache_folder;
  uint64_t cache_bytes; /* maximum size of the cache; 0: 1 GiB. Results larger than 1/16 of it are not cached. */
  /* 1: compile in a separate process, tilec, which takes 10 ms longer. If that process fails or crashes, tilec_compile
     returns an error status. */
  uint32_t isolate;
  const char *worker; /* with isolate: path of tilec; NULL: the one installed with the library */
  /* With isolate: memory limit of that process in bytes; 0: none. Has no effect without isolate. */
  uint64_t memory_bytes;
} tilec_compiler_options;

typedef struct tilec_diagnostic {
  tilec_severity severity;
  const char *message;
  const char *flag; /* "-Wtf32-dot"; "" if there is none */
  const char *file; /* "" if the diagnostic has no file */
  /* Counted from 1, columns in bytes; the end is exclusive. 0: no position. */
  uint32_t line, column, end_line, end_column;
} tilec_diagnostic;

/* Called on the thread of tilec_compile before tilec_compile returns. The strings are valid during the call. Notes
   follow the diagnostic that they explain. */
typedef void (*tilec_diagnostic_callback)(void *user, const tilec_diagnostic *diagnostic);

typedef struct tilec_request {
  size_t struct_bytes;
  const char *source; /* UTF-8; need not be null-terminated */
  size_t source_bytes;
  /* File name of the source, for messages and the artifact. Imported modules and the sidecar, FILE.sig, are searched in
     the same folder. NULL: imports are found only through -I. */
  const char *name;
  /* As on the command line of tilec: "--target=sm_90a", "--signature=x: *fp32, n: i32", "-DBLOCK=128",
     "--variants=none", "--variants-budget=3M", "--emit=ptx". Options that name an output file or print are rejected. */
  const char *const *options;
  size_t option_count;
  tilec_diagnostic_callback on_diagnostic; /* NULL: tilec_last_error() returns the first error */
  void *user;
  tilec_cancellation *cancellation; /* NULL: cannot be cancelled */
} tilec_request;

#define TILEC_COMPILER_OPTIONS_INIT {sizeof(tilec_compiler_options), NULL, NULL, NULL, 0, 0, NULL, 0}
#define TILEC_REQUEST_INIT {sizeof(tilec_request), NULL, 0, NULL, NULL, 0, NULL, NULL, NULL}

/* Returns a description of the last failure in the calling thread; "" if there was none. Valid until the thread's next
   call. */
TILEC_API const char *tilec_last_error(void);
TILEC_API const char *tilec_version(void);
/* Returns the index-th target that --target accepts; NULL past the last. */
TILEC_API const char *tilec_target(size_t index);

/* Creates a compiler. `options` may be NULL. */
TILEC_API tilec_status tilec_compiler_create(const tilec_compiler_options *options, tilec_compiler **compiler);
/* Destroys a compiler. Its compilations must have ended; their results stay valid. */
TILEC_API void tilec_compiler_destroy(tilec_compiler *compiler);

/* Compiles a source. On success the caller owns `*result`; otherwise it is NULL. Thread-safe. */
TILEC_API tilec_status tilec_compile(tilec_compiler *compiler, const tilec_request *request, tilec_result **result);

/* Returns the artifact, or the text that --emit requested. */
TILEC_API const void *tilec_result_data(const tilec_result *result);
TILEC_API size_t tilec_result_bytes(const tilec_result *result);
/* Returns 1 if the result comes from the cache, else 0. */
TILEC_API int tilec_result_is_cached(const tilec_result *result);
/* Returns the index-th file that was read for the result; NULL past the last. */
TILEC_API const char *tilec_result_file(const tilec_result *result, size_t index);
TILEC_API void tilec_result_destroy(tilec_result *result);

/* Cancels compilations from another thread. All current and later compilations whose requests refer to this
   cancellation return TILEC_CANCELLED. A compilation ends after its current pass, or immediately if ptxas is running or
   `isolate` is set. */
TILEC_API tilec_status tilec_cancellation_create(tilec_cancellation **cancellation);
TILEC_API void tilec_cancel(tilec_cancellation *cancellation);
TILEC_API void tilec_cancellation_destroy(tilec_cancellation *cancellation);

#ifdef __cplusplus
}
#endif
#endif
