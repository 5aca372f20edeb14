/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libtilert: load and launch kernels compiled by tilec, over the CUDA driver.
 *
 *   tile_runtime *runtime;  tile_kernel *kernel;
 *   tile_runtime_create(NULL, NULL, &runtime);              // dlopen(libcuda.so.1)
 *   tile_kernel_load_file(runtime, "gemm.cubin", &kernel);  // cubin, PTX or .tilepack; carries its manifest; from a
 *                                                           // pack of several kernels: "engine.tilepack:gemm"
 *   tile_device_activate(runtime, 0);                       // or any context of the application
 *   void *arguments[] = {&a, &b, &c, &m, &n, &k};
 *   if (tile_launch(kernel, NULL, arguments, 6) != TILE_OK) puts(tile_last_error());
 *
 * A launch checks everything that the compiler assumed: a violated assumption is an error, not a wrong result.
 * Functions return a status; tile_last_error() describes the last failure of the calling thread. No function prints,
 * exits or throws. A kernel may be used by many threads and devices concurrently. A launch neither locks nor
 * allocates once its module is loaded in the context and, for kernels with scratch memory, the stream has a buffer.
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

/* The maximum number of parameters of a kernel. */
#define TILE_MAX_PARAMETERS 128

typedef enum tile_status {
  TILE_OK = 0,
  TILE_ERROR_INVALID_ARGUMENT = 1, /* null pointer, wrong argument count, type or range */
  TILE_ERROR_FILE = 2,             /* a file cannot be read or written */
  TILE_ERROR_NOT_AN_ARTIFACT = 3,  /* not a cubin or PTX with a manifest or a .tilepack, or corrupt */
  TILE_ERROR_MANIFEST = 4,         /* the manifest is malformed or of an unknown version */
  TILE_ERROR_NO_DRIVER = 5,        /* libcuda.so.1 is absent or too old, or does not initialize */
  TILE_ERROR_NO_DEVICE = 6,        /* no such device, or no context is current */
  TILE_ERROR_ARCHITECTURE = 7,     /* the artifact is for another GPU architecture */
  TILE_ERROR_RESOURCES = 8,        /* more shared memory or threads than the device has */
  TILE_ERROR_ASSUMPTION = 9,       /* an alignment, divisibility or requirement of the kernel does not hold */
  TILE_ERROR_GRID = 10,            /* the grid is negative, too large, or cannot be evaluated */
  TILE_ERROR_DRIVER = 11,          /* a CUDA driver call failed */
  TILE_ERROR_OUT_OF_MEMORY = 12,
  TILE_ERROR_UNSUPPORTED = 13,
  TILE_ERROR_CHECK = 14,   /* returned by tile-run only: a result differs from its reference */
  TILE_ERROR_COMPILE = 15, /* returned by tile/jit.h only: the source cannot be compiled */
  /* Returned by tile/tile_dist.h only. */
  TILE_ERROR_PEER = 16,    /* another rank has failed, or has made a different call */
  TILE_ERROR_TIMEOUT = 17, /* a time limit has expired */
  TILE_ERROR_NCCL = 18     /* NCCL is absent or too old, or a call failed */
} tile_status;

typedef struct tile_runtime tile_runtime;
typedef struct tile_kernel tile_kernel;
typedef struct tile_pack tile_pack;

/* Returns a driver function by name ("cuLaunchKernelEx"), for applications that have loaded the driver themselves. */
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
  uint64_t alignment;    /* pointers: alignment in bytes that a launch checks, at least that of an element */
  uint64_t divisibility; /* integers: assumed divisor; 1: no assumption */
} tile_parameter;

typedef struct tile_kernel_info {
  const char *entry;  /* symbol in the module */
  const char *target; /* "sm_90a" */
  uint32_t threads_per_cta;
  uint32_t cluster[3];
  uint32_t shared_static;  /* bytes */
  uint32_t shared_dynamic; /* bytes */
  uint32_t registers;      /* per thread; 0: unknown */
  uint32_t parameter_count;
  uint32_t tensor_map_count; /* created by the launch; the kernel takes them after its parameters */
  uint32_t persistent;       /* 1: a fixed number of thread blocks computes all programs; see tile_kernel_blocks */
  uint32_t may_overlap;      /* 1: tile_launch_options.overlap has an effect */
} tile_kernel_info;

/* A variant of a kernel and its estimate for a call; see tile_kernel_estimate. */
typedef struct tile_variant {
  const char *name;    /* "aligned-128x256x64"; "" for a kernel without variants; lives as long as the kernel */
  const char *target;  /* "sm_90a" */
  double microseconds; /* expected duration of the call; negative: unknown */
  int32_t serves;      /* 1: accepts this call */
} tile_variant;

/* An argument tagged with its kind, for callers that do not know the types at compile time; see tile_launch_values. */
typedef struct tile_value {
  tile_parameter_kind kind;
  union {
    uint64_t pointer;
    int64_t integer; /* range-checked against the parameter; for u64 reinterpreted */
    double real;     /* rounded to the parameter's type */
  } as;
} tile_value;

/* Bits of 16-bit float arguments. As structures, they exclude implicit conversions from C's arithmetic types. */
typedef struct tile_f16 {
  uint16_t bits;
} tile_f16;
typedef struct tile_bf16 {
  uint16_t bits;
} tile_bf16;
/* Elements of buffers of 8-bit floats, in typed pointers of generated headers. */
typedef struct tile_f8e4m3 {
  uint8_t bits;
} tile_f8e4m3;
typedef struct tile_f8e5m2 {
  uint8_t bits;
} tile_f8e5m2;

typedef struct tile_launch_options {
  void *stream;        /* CUstream; NULL: the legacy default stream */
  const int64_t *grid; /* three sizes, counted in programs; NULL: the manifest's grid expressions */
  /* The next two are read only if tile_kernel_scratch_bytes is not zero. */
  void *scratch;        /* device memory, see tile_kernel_scratch_bytes; NULL: the runtime's buffer for this stream */
  size_t scratch_bytes; /* size of `scratch` */
  /* 1: programmatic dependent launch. If the previous work in the stream is a kernel, this kernel may start before that
     one has ended; before it accesses memory, it waits for the previous kernel to end. In a captured stream, the
     dependence becomes the corresponding edge of the graph. Kernels whose tile_kernel_info.may_overlap is 0 ignore
     this. 0: the kernel starts when the previous work has ended. */
  uint32_t overlap;
} tile_launch_options;

/* Returns a description of the last failure in the calling thread; "" if there was none. Valid until the thread's next
   call. */
TILE_API const char *tile_last_error(void);
TILE_API const char *tile_status_name(tile_status status);
TILE_API const char *tile_version(void);

/* Creates a runtime. Loads the driver with dlopen, or through `lookup` if that is not NULL. */
TILE_API tile_status tile_runtime_create(tile_symbol_lookup lookup, void *user, tile_runtime **runtime);
/* Destroys a runtime. Fails without effect while kernels of the runtime exist: destroy them first. */
TILE_API tile_status tile_runtime_destroy(tile_runtime *runtime);

TILE_API tile_status tile_device_count(tile_runtime *runtime, int *count);
/* Retains the device's primary context and makes it current on the calling thread. */
TILE_API tile_status tile_device_activate(tile_runtime *runtime, int device);

/* Writes the architecture of the current context's device, for example "sm_90", to `name`, a buffer of `bytes` bytes.
 */
TILE_API tile_status tile_device_target(tile_runtime *runtime, char *name, size_t bytes);

/* Load an artifact. If `runtime` is NULL, the kernel can be described but not launched. `data` is copied. On failure,
   `*kernel` is NULL. "FILE:NAME" loads one kernel from a pack of several; see also tile_pack_load. */
TILE_API tile_status tile_kernel_load_memory(tile_runtime *runtime, const void *data, size_t size,
                                             tile_kernel **kernel);
TILE_API tile_status tile_kernel_load_file(tile_runtime *runtime, const char *path, tile_kernel **kernel);
/* Destroys a kernel. The contexts in which it was launched must still exist, and its launches must have ended. */
TILE_API void tile_kernel_destroy(tile_kernel *kernel);

/* Packs: several kernels in one artifact (`tilec a.tile b.tile -o engine.tilepack`), each loaded by its name. Any other
   artifact can be opened as a pack of one kernel. tile_pack_open_memory does not copy `data`, which must outlive the
   pack; loaded kernels need neither. An opened pack may be used by several threads. */
TILE_API tile_status tile_pack_open_file(const char *path, tile_pack **pack);
TILE_API tile_status tile_pack_open_memory(const void *data, size_t size, tile_pack **pack);
TILE_API void tile_pack_close(tile_pack *pack);
TILE_API tile_status tile_pack_kernel_count(const tile_pack *pack, uint32_t *count);
/* Returns the name of kernel `index`, which lives as long as the pack. */
TILE_API tile_status tile_pack_kernel_name(const tile_pack *pack, uint32_t index, const char **name);
/* Loads the kernel with this name; the error lists the names that exist. On failure, `*kernel` is NULL. */
TILE_API tile_status tile_pack_load(const tile_pack *pack, tile_runtime *runtime, const char *name,
                                    tile_kernel **kernel);

/* Returns the manifest as JSON text, which lives as long as the kernel. */
TILE_API tile_status tile_kernel_manifest(const tile_kernel *kernel, const char **json);
TILE_API tile_status tile_kernel_describe(const tile_kernel *kernel, tile_kernel_info *info);
TILE_API tile_status tile_kernel_parameter(const tile_kernel *kernel, uint32_t index, tile_parameter *parameter);

/* Loads the module into the current context instead of at the first launch, and checks architecture and limits. Loads
   every variant that runs on the device, so that no later launch loads a module. */
TILE_API tile_status tile_kernel_prepare(tile_kernel *kernel);

/* Scratch memory: thread blocks of some persistent kernels exchange partial results in global memory. By default the
   runtime allocates one buffer for each stream in which the kernel is launched (at most 128) and, for the per-thread
   default stream, for each thread. It keeps the buffer as long as the kernel. The first launch of a variant in a stream
   allocates the buffer. This fails while the stream is being captured, so call tile_kernel_prepare_stream first. A
   graph keeps using the buffer of the stream in which it was captured, so the graph must not overlap with launches in
   that stream. The buffer of a destroyed stream is reused for the next stream with the same handle; the work of the old
   stream must have ended by then. Each variant has a separate buffer; tile_launch_options.scratch is divided among
   them. */

/* Like tile_kernel_prepare, but also allocates scratch memory for launches in `stream` (a CUstream) if the kernel needs
   any. */
TILE_API tile_status tile_kernel_prepare_stream(tile_kernel *kernel, void *stream);
/* Returns the size in bytes of tile_launch_options.scratch on a device with `num_sms` multiprocessors, for any variant
   that a launch may use; 0: the kernel needs none. The memory must be aligned to 128 bytes and zero before the first
   launch that uses it. A launch leaves it in a state in which the next launch of the same kernel can use it; launches
   that may overlap must not share it. */
TILE_API tile_status tile_kernel_scratch_bytes(const tile_kernel *kernel, int num_sms, size_t *bytes);

/* Computes the grid of programs for these arguments; `num_sms` is the device's number of multiprocessors. */
TILE_API tile_status tile_kernel_grid(const tile_kernel *kernel, void *const *arguments, size_t count, int num_sms,
                                      int64_t grid[3]);

/* Computes the size in bytes of the buffer that the kernel declares for pointer parameter `index` (`#: buffer`), for
   the integers in `arguments`. `arguments` must also contain entries for pointers, but these are not read. */
TILE_API tile_status tile_kernel_buffer_bytes(const tile_kernel *kernel, uint32_t index, void *const *arguments,
                                              size_t count, int num_sms, size_t *bytes);

/* Launches in the current context. `arguments[i]` points to the value of parameter i, as for cuLaunchKernel. Tensor
   maps, the size of the grid and scratch memory are appended if the kernel takes them. A grid with a zero dimension
   succeeds without a launch. `options` may be NULL. Thread-safe. */
TILE_API tile_status tile_launch(tile_kernel *kernel, const tile_launch_options *options, void *const *arguments,
                                 size_t count);
/* Like tile_launch, with tagged values, which are converted and range-checked. */
TILE_API tile_status tile_launch_values(tile_kernel *kernel, const tile_launch_options *options,
                                        const tile_value *values, size_t count);

/* Convert with rounding to nearest, ties to even. Values that are too large become infinity. */
TILE_API tile_f16 tile_f16_from(double value);
TILE_API tile_bf16 tile_bf16_from(double value);
/* Returns an error that names the parameter and the value if the integer type of the parameter cannot represent it.
   Generated headers return this error instead of launching. */
TILE_API tile_status tile_check_integer(const tile_kernel *kernel, uint32_t index, int64_t value);

/* Checks arguments with the help of the driver, for debugging; a launch does not query the driver. Succeeds if a launch
   would accept these arguments and every pointer refers to memory of the current context's device that is large enough
   for the buffer declared for the parameter. If no buffer is declared, the pointer need only refer to device memory. */
TILE_API tile_status tile_check_arguments(tile_kernel *kernel, void *const *arguments, size_t count);

/* Variants. An artifact may contain several builds of a kernel: for aligned pointers and divisible sizes, for classes
   of sizes, for several GPUs. Among the variants that accept the call and run on the device, a launch uses the one that
   a tuning table names, or else the one expected to be fastest; the same call always gets the same variant. Each thread
   remembers its choice for recent sizes; new sizes take a few microseconds. If options->grid is given, only variants
   with the constants of variant 0 are considered. If no variant accepts a launch, the error gives the reason for each
   variant. Variant 0 is the general one: it has all parameters and makes the fewest assumptions. For a kernel with
   variants, tile_kernel_describe, manifest, grid, blocks and encode_tensor_map describe variant 0;
   tile_kernel_scratch_bytes covers all of them. */

/* Returns the number of variants; 1 for a kernel without variants. */
TILE_API tile_status tile_kernel_variant_count(const tile_kernel *kernel, uint32_t *count);
/* Returns a variant as a separate kernel, which all functions accept; launching it forces this variant. Its parameters
   are those of the kernel, except for any that it fixes (see "constants" in its manifest). The kernel owns it, so it
   lives as long as the kernel, and destroying it has no effect. */
TILE_API tile_status tile_kernel_variant(tile_kernel *kernel, uint32_t index, tile_kernel **variant);
/* Returns the variant that a launch with these arguments would use on a device with `num_sms` multiprocessors. The
   device is that of the current context or, without a context, the one for which variant 0 was compiled. */
TILE_API tile_status tile_kernel_choice(const tile_kernel *kernel, void *const *arguments, size_t count, int num_sms,
                                        uint32_t *index);
/* Estimates the time of variant `index` for these arguments, on the device described for tile_kernel_choice. If the
   variant does not accept the arguments, the status is still TILE_OK, and tile_last_error() gives the reason. */
TILE_API tile_status tile_kernel_estimate(const tile_kernel *kernel, uint32_t index, void *const *arguments,
                                          size_t count, int num_sms, tile_variant *variant);
/* Makes later launches on devices like that of the current context follow the tuning table in this file, written by
   `tile-run tune`. Rejects a table for another kernel, other variants, another device or another major version of the
   driver. A matching table in the artifact is used without this call. Allocates; may be called while other threads
   launch. */
TILE_API tile_status tile_kernel_use_tuning(tile_kernel *kernel, const char *path);
/* Returns a human-readable text: the table that launches in the current context follow, or the reason why they do not
   follow the table of the artifact. The string lives as long as the kernel. */
TILE_API tile_status tile_kernel_tuning(const tile_kernel *kernel, const char **text);

/* For callers that launch kernels themselves. The kernel takes, in this order: its parameters; each tensor map by
   value; if it is persistent, the grid of programs as three int32_t; if tile_kernel_scratch_bytes is not zero, the
   address of a buffer of that size. tile_kernel_blocks returns the grid of thread blocks. The caller is then
   responsible for the checks that tile_launch makes, except for those of tensor maps. */

/* Returns the thread blocks that run a grid of programs: the same grid or, if the kernel is persistent, as many as fit
   on `num_sms` multiprocessors, {n, 1, 1}. */
TILE_API tile_status tile_kernel_blocks(const tile_kernel *kernel, const int64_t grid[3], int num_sms,
                                        int64_t blocks[3]);
/* Writes tensor map `index` for these arguments to `map`: a CUtensorMap, 128 bytes. Does not access a device. */
TILE_API tile_status tile_kernel_encode_tensor_map(const tile_kernel *kernel, uint32_t index, void *const *arguments,
                                                   size_t count, void *map);

#ifdef __cplusplus
}
#endif
#endif
