/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libtilec: the compiler as a library. Source text in memory becomes an artifact in memory, which libtilert launches.
 *
 *   tilec_compiler *compiler;  tilec_result *result;
 *   tilec_compiler_create(NULL, &compiler);
 *   const char *options[] = {"--target=sm_90a", "-DBLOCK=128"};
 *   tilec_request request = TILEC_REQUEST_INIT;
 *   request.source = text;  request.source_bytes = strlen(text);
 *   request.options = options;  request.option_count = 2;
 *   if (tilec_compile(compiler, &request, &result) != TILEC_OK) puts(tilec_last_error());
 *
 * A compiler may be used by any number of threads at a time. The library has no settings of its own, takes no handlers
 * of signals, and has its copies of LLVM and MLIR hidden, so that another may be in the same program. Every function
 * returns; nothing here prints, exits or throws. Where LLVM gives up, or an assertion of the compiler fails, the
 * compilation ends with TILEC_INTERNAL, and its memory is lost. A violation of memory would still end the program: who
 * cannot have that, and who compiles sources of strangers, asks for `isolate`, which compiles in a process apart.
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
  TILEC_USAGE = 2,       /* an option or an argument is wrong */
  TILEC_ENVIRONMENT = 3, /* a file or tool is missing, a process cannot be started, memory is short */
  TILEC_INTERNAL = 4,    /* a bug of the compiler or of ptxas */
  TILEC_CANCELLED = 5
} tilec_status;

typedef enum tilec_severity { TILEC_NOTE = 0, TILEC_REMARK = 1, TILEC_WARNING = 2, TILEC_ERROR = 3 } tilec_severity;

typedef struct tilec_compiler tilec_compiler;
typedef struct tilec_result tilec_result;
typedef struct tilec_cancellation tilec_cancellation;

/* Structures begin with their size, so that later versions can append to them. */
typedef struct tilec_compiler_options {
  size_t struct_bytes;
  const char *ptxas;     /* the assembler; NULL: from cuda_path, else PATH and CUDA_HOME. Without one, PTX is made. */
  const char *cuda_path; /* folder of the CUDA toolkit; NULL: CUDA_HOME, CUDA_PATH, /usr/local/cuda */
  /* Results are kept in this folder, which is made if need be, and may be shared by processes and machines; NULL: they
     are not kept. Who can write there decides what is launched: it belongs to its owner alone. */
  const char *cache_folder;
  uint64_t cache_bytes; /* most that it holds; 0: 1 GiB. Results of more than a sixteenth are not kept. */
  /* 1: compile in a process apart, the program tilec, at the cost of 10 ms. Whatever happens there is a status here. */
  uint32_t isolate;
  const char *worker; /* with isolate: the file of tilec; NULL: the one that is installed with the library */
  /* With isolate: most memory of that process, in bytes; 0: no limit. Without isolate there is none. */
  uint64_t memory_bytes;
} tilec_compiler_options;

typedef struct tilec_diagnostic {
  tilec_severity severity;
  const char *message;
  const char *flag; /* "-Wtf32-dot"; "" where it has none */
  const char *file; /* "" where it is about no file */
  /* From 1, columns in bytes; the range ends in front of its end. 0: about no place. */
  uint32_t line, column, end_line, end_column;
} tilec_diagnostic;

/* Called in the thread of tilec_compile before that returns; the texts live as long as the call. Notes follow what they
   explain. */
typedef void (*tilec_diagnostic_callback)(void *user, const tilec_diagnostic *diagnostic);

typedef struct tilec_request {
  size_t struct_bytes;
  const char *source; /* UTF-8; need not end with 0 */
  size_t source_bytes;
  /* Name of the source in messages and in the artifact; modules that it imports are searched beside it, and so is its
     signature, FILE.sig. NULL: it imports only what -I finds. */
  const char *name;
  /* Words as on the command line of tilec: "--target=sm_90a", "--signature=x: *fp32, n: i32", "-DBLOCK=128",
     "--variants=none", "--variants-budget=3M", "--emit=ptx". Those that name an output or print are refused. */
  const char *const *options;
  size_t option_count;
  tilec_diagnostic_callback on_diagnostic; /* NULL: the first error is tilec_last_error() */
  void *user;
  tilec_cancellation *cancellation; /* NULL: cannot be cancelled */
} tilec_request;

#define TILEC_COMPILER_OPTIONS_INIT {sizeof(tilec_compiler_options), NULL, NULL, NULL, 0, 0, NULL, 0}
#define TILEC_REQUEST_INIT {sizeof(tilec_request), NULL, 0, NULL, NULL, 0, NULL, NULL, NULL}

/* What failed last in the calling thread; "" if nothing did. Valid until the thread's next call. */
TILEC_API const char *tilec_last_error(void);
TILEC_API const char *tilec_version(void);
/* The names that --target takes, until NULL. */
TILEC_API const char *tilec_target(size_t index);

/* `options` may be NULL. */
TILEC_API tilec_status tilec_compiler_create(const tilec_compiler_options *options, tilec_compiler **compiler);
/* Its compilations must have ended. Results live on. */
TILEC_API void tilec_compiler_destroy(tilec_compiler *compiler);

/* On success `*result` is the caller's, else NULL. */
TILEC_API tilec_status tilec_compile(tilec_compiler *compiler, const tilec_request *request, tilec_result **result);

/* The artifact, or the text that --emit asked for. */
TILEC_API const void *tilec_result_data(const tilec_result *result);
TILEC_API size_t tilec_result_bytes(const tilec_result *result);
/* Whether it comes from the cache. */
TILEC_API int tilec_result_is_cached(const tilec_result *result);
/* Files that were read for it, until NULL. */
TILEC_API const char *tilec_result_file(const tilec_result *result, size_t index);
TILEC_API void tilec_result_destroy(tilec_result *result);

/* Ends compilations from another thread: those that have it, now and later, return TILEC_CANCELLED soon: when the pass
   that runs has ended, and at once where ptxas runs, or with `isolate`. */
TILEC_API tilec_status tilec_cancellation_create(tilec_cancellation **cancellation);
TILEC_API void tilec_cancel(tilec_cancellation *cancellation);
TILEC_API void tilec_cancellation_destroy(tilec_cancellation *cancellation);

#ifdef __cplusplus
}
#endif
#endif
