/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libtilert: load and launch kernels compiled by tilec, over the CUDA driver.
 *
 *   tile_runtime *runtime;  tile_kernel *kernel;
 *   tile_runtime_create(NULL, NULL, &runtime);              // dlopen(libcuda.so.1)
 *   tile_kernel_load_file(runtime, "gemm.cubin", &kernel);  // cubin, PTX or .tilepack; carries its own manifest
 *   tile_device_activate(runtime, 0);                       // or any context of the application
 *   void *arguments[] = {&a, &b, &c, &m, &n, &k};
 *   if (tile_launch(kernel, NULL, arguments, 6) != TILE_OK) puts(tile_last_error());
 *
 * Everything that the compiler assumed is checked before a launch: a broken assumption is an error, not a wrong
 * answer. Every function returns a status; tile_last_error() explains the last failure of the calling thread. Nothing
 * here prints, exits or throws. A kernel may be used by many threads and devices at once; creating, destroying and
 * loading are not on the launch path, which neither locks nor allocates once a device has its module and, where the
 * kernel takes scratch memory, a stream its own.
 */
#ifndef TILE_TILERT_H
#define TILE_TILERT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TILE_API __attribute__((visibility("default")))
#else
#define TILE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface and of the manifests that it reads ("abi_version"). */
#define TILE_ABI_VERSION 1

/* Most parameters that a kernel may have. */
#define TILE_MAX_PARAMETERS 128

typedef enum tile_status {
  TILE_OK = 0,
  TILE_ERROR_INVALID_ARGUMENT = 1, /* null pointer, wrong argument count, type or range */
  TILE_ERROR_FILE = 2,             /* a file cannot be read or written */
  TILE_ERROR_NOT_AN_ARTIFACT = 3,  /* neither a cubin nor PTX with a manifest nor a .tilepack, or damaged */
  TILE_ERROR_MANIFEST = 4,         /* the manifest is malformed or of an unknown version */
  TILE_ERROR_NO_DRIVER = 5,        /* libcuda.so.1 is absent, too old or refuses to start */
  TILE_ERROR_NO_DEVICE = 6,        /* no such device, or no context is current */
  TILE_ERROR_ARCHITECTURE = 7,     /* the artifact is for another GPU architecture */
  TILE_ERROR_RESOURCES = 8,        /* more shared memory or threads than the device has */
  TILE_ERROR_ASSUMPTION = 9,       /* an alignment or divisibility that the compiler assumed does not hold */
  TILE_ERROR_GRID = 10,            /* the grid is negative, too large, or cannot be evaluated */
  TILE_ERROR_DRIVER = 11,          /* a CUDA driver call failed */
  TILE_ERROR_OUT_OF_MEMORY = 12,
  TILE_ERROR_UNSUPPORTED = 13,
  TILE_ERROR_CHECK = 14,  /* used by tile-run: a result differs from its reference */
  TILE_ERROR_COMPILE = 15 /* used by tile/jit.h: the source cannot be compiled */
} tile_status;

typedef struct tile_runtime tile_runtime;
typedef struct tile_kernel tile_kernel;

/* Finds a driver function ("cuLaunchKernelEx") for a host application that has loaded the driver itself. */
typedef void *(*tile_symbol_lookup)(void *user, const char *symbol);

typedef enum tile_parameter_kind {
  TILE_POINTER = 0, /* device address, 64 bits */
  TILE_INTEGER = 1, /* i1 (passed as 8 bits), i8..i64, u8..u64 */
  TILE_FLOAT = 2    /* f16, bf16, f32, f64 */
} tile_parameter_kind;

typedef struct tile_parameter {
  const char *name; /* lives as long as the kernel */
  const char *type; /* "ptr<f16>", "i32", ... */
  tile_parameter_kind kind;
  uint32_t size;         /* bytes of the kernel argument */
  uint64_t alignment;    /* pointers: assumed alignment in bytes; 1: nothing assumed */
  uint64_t divisibility; /* integers: assumed divisor; 1: nothing assumed */
} tile_parameter;

typedef struct tile_kernel_info {
  const char *entry;  /* symbol in the module */
  const char *target; /* "sm_90a" */
  uint32_t threads_per_cta;
  uint32_t cluster[3];
  uint32_t shared_static;  /* bytes */
  uint32_t shared_dynamic; /* bytes */
  uint32_t registers;      /* a thread; 0: unknown */
  uint32_t parameter_count;
  uint32_t tensor_map_count; /* made by the launch; the kernel takes them after its parameters */
  uint32_t persistent;       /* 1: few blocks work off the grid of programs; see tile_kernel_blocks */
  uint32_t may_overlap;      /* 1: tile_launch_options.overlap has an effect */
} tile_kernel_info;

/* One of the variants of a kernel, and what it would do with a call; see tile_kernel_estimate. */
typedef struct tile_variant {
  const char *name;    /* "aligned-128x256x64"; "" where there is one variant; lives as long as the kernel */
  const char *target;  /* "sm_90a" */
  double microseconds; /* that the call is expected to take; below 0: no model knows */
  int32_t serves;      /* 1: takes this call */
} tile_variant;

/* One argument with its own tag, for callers that do not know the types at compile time; see tile_launch_values. */
typedef struct tile_value {
  tile_parameter_kind kind;
  union {
    uint64_t pointer;
    int64_t integer; /* range-checked against the parameter; for u64 reinterpreted */
    double real;     /* rounded to the parameter's type */
  } as;
} tile_value;

typedef struct tile_launch_options {
  void *stream;        /* CUstream; NULL: the legacy default stream */
  const int64_t *grid; /* programs, three numbers; NULL: the manifest's grid expressions */
  /* The next two are read only if tile_kernel_scratch_bytes is not zero. */
  void *scratch;        /* device memory, see tile_kernel_scratch_bytes; NULL: the runtime's own for this stream */
  size_t scratch_bytes; /* at `scratch` */
  /* 1: the kernel may begin before the work before it in the stream has ended, if that is a kernel too: it then
     initialises itself, and awaits the end before it accesses memory (programmatic dependent launch; in a captured
     stream, an edge of that kind in the graph). Kernels of which tile_kernel_info.may_overlap is 0 ignore this. 0: it
     begins when the work before it has ended. */
  uint32_t overlap;
} tile_launch_options;

/* Text about the last failure of the calling thread; "" if there was none. Valid until the thread's next call. */
TILE_API const char *tile_last_error(void);
TILE_API const char *tile_status_name(tile_status status);
TILE_API const char *tile_version(void);

/* Loads the driver with dlopen, or through `lookup` when it is not NULL. */
TILE_API tile_status tile_runtime_create(tile_symbol_lookup lookup, void *user, tile_runtime **runtime);
/* Kernels of the runtime must have been destroyed before: while there are some it stays, and this is an error. */
TILE_API tile_status tile_runtime_destroy(tile_runtime *runtime);

TILE_API tile_status tile_device_count(tile_runtime *runtime, int *count);
/* Retains the device's primary context and makes it current on the calling thread. */
TILE_API tile_status tile_device_activate(tile_runtime *runtime, int device);

/* Writes the architecture of the current context's device, "sm_90", to `name`. */
TILE_API tile_status tile_device_target(tile_runtime *runtime, char *name, size_t bytes);

/* `runtime` may be NULL: such a kernel can be described but not launched. `data` is copied. `*kernel` is NULL where
   they fail. */
TILE_API tile_status tile_kernel_load_memory(tile_runtime *runtime, const void *data, size_t size,
                                             tile_kernel **kernel);
TILE_API tile_status tile_kernel_load_file(tile_runtime *runtime, const char *path, tile_kernel **kernel);
/* The contexts in which the kernel was launched must still exist. Its launches must have ended. */
TILE_API void tile_kernel_destroy(tile_kernel *kernel);

/* The manifest as JSON text; lives as long as the kernel. */
TILE_API tile_status tile_kernel_manifest(const tile_kernel *kernel, const char **json);
TILE_API tile_status tile_kernel_describe(const tile_kernel *kernel, tile_kernel_info *info);
TILE_API tile_status tile_kernel_parameter(const tile_kernel *kernel, uint32_t index, tile_parameter *parameter);

/* Loads the module into the current context now instead of at the first launch; checks architecture and limits. Of
   several variants all that run on the device, so that no later launch loads one. */
TILE_API tile_status tile_kernel_prepare(tile_kernel *kernel);

/* Scratch memory: thread blocks of some persistent kernels pass partial results to each other in global memory. By
   default the runtime makes it, one buffer for each stream that the kernel is launched in (128 at most) and, for the
   per-thread default stream, each thread, and keeps it as long as the kernel. The first launch of a variant in a
   stream allocates; while a stream is captured that is refused, so call tile_kernel_prepare_stream before. A graph
   keeps the buffer of the stream that it was captured in, so that it must not overlap with launches there. A stream
   that is destroyed leaves its buffer to the next stream with the same handle; its work must have ended by then. Each
   variant has a buffer of its own; tile_launch_options.scratch is divided among them. */

/* tile_kernel_prepare, and makes the scratch memory for launches in `stream` (a CUstream) if the kernel takes any. */
TILE_API tile_status tile_kernel_prepare_stream(tile_kernel *kernel, void *stream);
/* Size of tile_launch_options.scratch on a device with `num_sms` multiprocessors, for any variant that a launch may
   take; 0: the kernel takes none. The memory must be aligned to 128 bytes and zero before the first launch that uses
   it. A launch leaves it so that a next one of the same kernel can use it as it is; launches that may overlap must not
   share it. */
TILE_API tile_status tile_kernel_scratch_bytes(const tile_kernel *kernel, int num_sms, size_t *bytes);

/* The grid of programs for these arguments; `num_sms` is the number of multiprocessors of the device. */
TILE_API tile_status tile_kernel_grid(const tile_kernel *kernel, void *const *arguments, size_t count, int num_sms,
                                      int64_t grid[3]);

/* Launches in the current context. `arguments[i]` points at the value of parameter i, as for cuLaunchKernel; tensor
   maps, the grid's size and scratch memory are added where the kernel takes them. A grid with a zero dimension succeeds
   without a launch. `options` may be NULL. */
TILE_API tile_status tile_launch(tile_kernel *kernel, const tile_launch_options *options, void *const *arguments,
                                 size_t count);
/* The same with tagged values, converted and range-checked. */
TILE_API tile_status tile_launch_values(tile_kernel *kernel, const tile_launch_options *options,
                                        const tile_value *values, size_t count);

/* For debugging, since it asks the driver, which a launch does not: whether these arguments could be launched with, and
   each pointer is memory of the current context's device, with room for all that the kernel may access as its manifest
   says ("buffer"; pointers without one need only be device memory). */
TILE_API tile_status tile_check_arguments(tile_kernel *kernel, void *const *arguments, size_t count);

/* Variants. An artifact may have the kernel compiled in several ways: for pointers and sizes that divide by something,
   for classes of sizes, for several GPUs. A launch takes, of the variants that serve the call and run on the device,
   the one that a tuning table names, else the one that is expected to be the fastest; the same for the same call.
   A thread remembers what it chose for the last sizes; others take some microseconds. If options->grid is given,
   variants with other constants than variant 0 are left out. A launch that no variant serves is an error that says
   what fails for each. Variant 0 is the general one: it has all parameters and promises the least. What
   tile_kernel_describe, manifest, grid, blocks and encode_tensor_map say of a kernel with variants is about that
   one; tile_kernel_scratch_bytes is for all. */

/* 1 where the artifact has one. */
TILE_API tile_status tile_kernel_variant_count(const tile_kernel *kernel, uint32_t *count);
/* A variant as a kernel of its own, which all functions take; to launch it forces it. It has its own parameters: those
   of the kernel but for some that may be fixed (see its manifest's "constants"). It belongs to the kernel: destroying
   it does nothing, and it lives as long. */
TILE_API tile_status tile_kernel_variant(tile_kernel *kernel, uint32_t index, tile_kernel **variant);
/* The variant that a launch with these arguments takes on a device with `num_sms` multiprocessors: that of the current
   context, or, without one, the device for which variant 0 is compiled. */
TILE_API tile_status tile_kernel_choice(const tile_kernel *kernel, void *const *arguments, size_t count, int num_sms,
                                        uint32_t *index);
/* What variant `index` would do with these arguments, on that device. If it does not serve them (which is no error),
   tile_last_error() says why. */
TILE_API tile_status tile_kernel_estimate(const tile_kernel *kernel, uint32_t index, void *const *arguments,
                                          size_t count, int num_sms, tile_variant *variant);
/* Launches on devices like that of the current context follow the table of measurements in the file, as `tile-run tune`
   writes it, from now on. A table of another kernel, other variants, another device or another major version of the
   driver is refused. A table in the artifact is used without this call, if it is the right one. Allocates; may be
   called while other threads launch. */
TILE_API tile_status tile_kernel_use_tuning(tile_kernel *kernel, const char *path);
/* Which table launches in the current context follow, or why they do not follow the artifact's, in words for people;
   lives as long as the kernel. */
TILE_API tile_status tile_kernel_tuning(const tile_kernel *kernel, const char **text);

/* For callers with a launcher of their own. The kernel takes, in this order: its parameters; each tensor map by value;
   if it is persistent, three int32_t: the grid of programs; if tile_kernel_scratch_bytes is not zero, the address of
   so much memory. Its grid of thread blocks is tile_kernel_blocks. What tile_launch checks of the arguments is then the
   caller's matter, but for what concerns tensor maps. */

/* The thread blocks that run a grid of programs: the same grid, or, if the kernel is persistent, as many as `num_sms`
   multiprocessors hold, {n, 1, 1}. */
TILE_API tile_status tile_kernel_blocks(const tile_kernel *kernel, const int64_t grid[3], int num_sms,
                                        int64_t blocks[3]);
/* Writes tensor map `index` for these arguments to `map`: a CUtensorMap, 128 bytes. No device is touched. */
TILE_API tile_status tile_kernel_encode_tensor_map(const tile_kernel *kernel, uint32_t index, void *const *arguments,
                                                   size_t count, void *map);

#ifdef __cplusplus
}
#endif
#endif
