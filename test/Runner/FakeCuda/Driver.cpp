// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A libcuda.so.1 for tests: device memory is host memory, and the kernels that the tests use are C++ functions. It lets
// tile-run's whole CUDA path run on a machine without a GPU. It rejects what a real driver rejects: memory that was not
// allocated, a launch without a context.
//
// A module of PTX with the line `// fake.microseconds: 50 0.5` is reported as 50 us per launch and half a microsecond
// per block slower than its function: events then use a clock that is ahead. FAKE_CUDA_DEVICES is the number of GPUs;
// with FAKE_CUDA_FATAL_GRID=N a launch of N blocks kills the process.
#include "Runtime/Driver.h"
#include "Float8.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

using namespace tile::runtime;

namespace {

constexpr CUresult invalidValue = 1, outOfMemory = 2, noContext = 201, notFound = 500;
constexpr size_t memoryBytes = size_t(256) << 20;

CUcontext currentContext = nullptr;
std::map<CUdeviceptr, size_t> allocations;
size_t allocatedBytes = 0;
bool isHanging = false;   // a kernel that never ends; a real driver would wait for it
bool isCapturing = false; // work is executed immediately, so replaying only takes time

/// A copy to the device that has read the host's memory but has not arrived; the real driver may also return in this
/// state. It arrives when the default stream is awaited or, if it is not, after the next kernel.
struct Copy {
  CUdeviceptr to;
  std::vector<uint8_t> bytes;
};
std::vector<Copy> copiesUnderWay;

void finishCopies() {
  for (const Copy &copy : std::exchange(copiesUnderWay, {}))
    std::copy(copy.bytes.begin(), copy.bytes.end(), reinterpret_cast<uint8_t *>(copy.to));
}

bool isMapped(CUdeviceptr pointer, size_t bytes) {
  auto next = allocations.upper_bound(pointer);
  if (next == allocations.begin())
    return false;
  --next;
  return pointer + bytes <= next->first + next->second;
}

double ahead = 0;    // milliseconds that are only simulated
double captured = 0; // the same for a graph under capture

double now() {
  return ahead + std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Times in microseconds that a module states for its kernel: of a launch, and of each thread block.
struct Module {
  double launch = 0, block = 0;
};

struct Function {
  void (*kernel)(const LaunchConfig &, void **);
  Module times;
};

int numberFromEnvironment(const char *name, int otherwise) {
  const char *text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

template <typename T> T argument(void **arguments, int index) {
  T value;
  std::memcpy(&value, arguments[index], sizeof(T));
  return value;
}

/// y[i] = alpha * x[i] for i < limit; with alpha = -1 it never ends.
void scale(const LaunchConfig &config, void **arguments) {
  const float *x = argument<const float *>(arguments, 0);
  float *y = argument<float *>(arguments, 1);
  const int limit = argument<int>(arguments, 3);
  const float alpha = argument<float>(arguments, 4);
  isHanging = alpha == -1;
  for (unsigned i = 0; i < config.gridX * config.blockX && static_cast<int>(i) < limit; ++i)
    y[i] = alpha * x[i];
}

/// out[i, j] = the element j after address i, for 8 elements.
void rows(const LaunchConfig &config, void **arguments) {
  const float *const *table = argument<const float *const *>(arguments, 0);
  float *out = argument<float *>(arguments, 2);
  for (unsigned i = 0; i < config.gridX * 8; ++i)
    out[i] = table[i / 8][i % 8];
}

/// c[m, n] = max(a[m, k] @ b[k, n] + bias[n], 0) in f32, all contiguous.
void biasRelu(const LaunchConfig &, void **arguments) {
  const float *a = argument<const float *>(arguments, 0), *b = argument<const float *>(arguments, 1);
  const float *bias = argument<const float *>(arguments, 2);
  float *c = argument<float *>(arguments, 3);
  const int m = argument<int>(arguments, 4), n = argument<int>(arguments, 5), k = argument<int>(arguments, 6);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p)
        sum += a[i * k + p] * b[p * n + j];
      c[i * n + j] = std::max(sum + bias[j], 0.0f);
    }
}

/// c[m, n] = a[m, k] @ b[k, n] in f32 with row strides of a, b and c.
void matmul(const LaunchConfig &, void **arguments) {
  const float *a = argument<const float *>(arguments, 0), *b = argument<const float *>(arguments, 1);
  float *c = argument<float *>(arguments, 2);
  const int m = argument<int>(arguments, 3), n = argument<int>(arguments, 4), k = argument<int>(arguments, 5);
  const int strideA = argument<int>(arguments, 6), strideB = argument<int>(arguments, 7),
            strideC = argument<int>(arguments, 8);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p)
        sum += a[i * strideA + p] * b[p * strideB + j];
      c[i * strideC + j] = sum;
    }
}

/// c[z, m, n] = a[z, m, k] @ b[z, k, n] in f32, all contiguous: Inputs/batched.tile.
void batched(const LaunchConfig &, void **arguments) {
  const float *a = argument<const float *>(arguments, 0), *b = argument<const float *>(arguments, 1);
  float *c = argument<float *>(arguments, 2);
  const int m = argument<int>(arguments, 3), n = argument<int>(arguments, 4), k = argument<int>(arguments, 5),
            matrices = argument<int>(arguments, 6);
  for (int row = 0; row < matrices * m; ++row)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p)
        sum += a[row * k + p] * b[(row / m * k + p) * n + j];
      c[row * n + j] = sum;
    }
}

/// c[m, n] = a[m, k] @ b[n, k]^T in f32 of e4m3, all contiguous.
void bytes(const LaunchConfig &, void **arguments) {
  const uint8_t *a = argument<const uint8_t *>(arguments, 0), *b = argument<const uint8_t *>(arguments, 1);
  float *c = argument<float *>(arguments, 2);
  const int m = argument<int>(arguments, 3), n = argument<int>(arguments, 4), k = argument<int>(arguments, 5);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p)
        sum += decodeE4m3(a[i * k + p]) * decodeE4m3(b[j * k + p]);
      c[i * n + j] = sum;
    }
}

/// The fields that the fake encoder keeps of a tensor map of two dimensions.
struct PlainMap {
  const float *base;
  int64_t rows, columns, stride;
  uint32_t boxRows, boxColumns;
};

/// Zero outside, as TMA reads.
float read(const PlainMap &map, int64_t row, int64_t column) {
  return row < map.rows && column < map.columns ? map.base[row * map.stride + column] : 0;
}

/// Computes the same GEMM as a persistent kernel with tensor maps of all three matrices; c is also written only inside.
void persistentMatmul(const LaunchConfig &config, void **arguments) {
  const int depth = argument<int>(arguments, 5);
  const PlainMap a = argument<PlainMap>(arguments, 9), b = argument<PlainMap>(arguments, 10),
                 c = argument<PlainMap>(arguments, 11);
  const int columns = argument<int>(arguments, 12), rows = argument<int>(arguments, 13);
  for (unsigned block = 0; block < config.gridX; ++block)
    for (unsigned program = block; program < static_cast<unsigned>(columns * rows); program += config.gridX)
      for (uint32_t i = 0; i < c.boxRows; ++i)
        for (uint32_t j = 0; j < c.boxColumns; ++j) {
          const int64_t row = int64_t(program) / columns * c.boxRows + i;
          const int64_t column = int64_t(program) % columns * c.boxColumns + j;
          float sum = 0;
          for (int p = 0; p < depth; ++p)
            sum += read(a, row, p) * read(b, p, column);
          if (row < c.rows && column < c.columns)
            const_cast<float *>(c.base)[row * c.stride + column] = sum;
        }
}

/// y[i] = x[i] + x[i], one of them through the block's scratch memory: a flag, then 256 values. Writes nothing if a
/// flag is not zero before.
void twice(const LaunchConfig &config, void **arguments) {
  struct Scratch {
    int flag;
    float partial[256];
  };
  const float *x = argument<const float *>(arguments, 0);
  float *y = argument<float *>(arguments, 1);
  const int n = argument<int>(arguments, 2), programs = argument<int>(arguments, 3);
  Scratch *scratch = argument<Scratch *>(arguments, 6);
  if (!isMapped(reinterpret_cast<CUdeviceptr>(scratch), config.gridX * sizeof(Scratch)))
    return;
  for (int program = 0; program < programs; ++program) {
    Scratch &own = scratch[static_cast<unsigned>(program) % config.gridX];
    if (std::exchange(own.flag, 1) != 0)
      return;
    const int first = program * 256, count = std::min(n - first, 256);
    std::copy_n(x + first, count, own.partial);
    for (int i = 0; i < count; ++i)
      y[first + i] = own.partial[i] + x[first + i];
    own.flag = 0;
  }
}

} // namespace

extern "C" {

CUresult cuInit(unsigned) {
  return 0;
}
CUresult cuGetErrorName(CUresult error, const char **name) {
  *name = error == outOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_INVALID_VALUE";
  return 0;
}
CUresult cuGetErrorString(CUresult error, const char **text) {
  *text = error == outOfMemory ? "out of memory" : "invalid argument";
  return 0;
}
CUresult cuDriverGetVersion(int *version) {
  *version = 13000;
  return 0;
}
CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  *device = ordinal;
  return 0;
}
CUresult cuDeviceGetCount(int *count) {
  *count = numberFromEnvironment("FAKE_CUDA_DEVICES", 1);
  return 0;
}
CUresult cuDeviceGetName(char *name, int length, CUdevice) {
  std::strncpy(name, "Fake GPU", static_cast<size_t>(length));
  return 0;
}
CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice) {
  std::strncpy(text, "0000:00:00.0", static_cast<size_t>(length));
  return 0;
}
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice) {
  *bytes = memoryBytes;
  return 0;
}
CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice) {
  switch (attribute) {
  case cuda::attributeComputeMajor:
    *value = 9;
    return 0;
  case cuda::attributeComputeMinor:
    *value = 0;
    return 0;
  case cuda::attributeMultiprocessorCount:
    *value = 132;
    return 0;
  case cuda::attributeMaxSharedOptin:
    *value = 232448;
    return 0;
  case cuda::attributeL2Bytes:
    *value = 1 << 20;
    return 0;
  default:
    *value = 0;
    return 0;
  }
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
  *context = reinterpret_cast<CUcontext>(0x10);
  return 0;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  return 0;
}
CUresult cuCtxGetCurrent(CUcontext *context) {
  *context = currentContext;
  return 0;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  currentContext = context;
  return 0;
}
CUresult cuCtxGetDevice(CUdevice *device) {
  *device = 0;
  return currentContext ? 0 : noContext;
}
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned, int *, void **) {
  auto *loaded = new Module;
  const auto *text = static_cast<const char *>(image);
  if (const char *line = *text == 0x7F ? nullptr : std::strstr(text, "// fake.microseconds:")) // no ELF
    std::sscanf(line, "// fake.microseconds: %lf %lf", &loaded->launch, &loaded->block);
  *module = reinterpret_cast<CUmodule>(loaded);
  return currentContext ? 0 : noContext;
}
CUresult cuModuleUnload(CUmodule module) {
  delete reinterpret_cast<Module *>(module);
  return 0;
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  constexpr std::pair<const char *, void (*)(const LaunchConfig &, void **)> kernels[] = {
      {"scale", scale}, {"matmul", matmul}, {"bias_relu", biasRelu}, {"persistent", persistentMatmul},
      {"rows", rows},   {"twice", twice},   {"bytes", bytes},        {"batched", batched}};
  for (const auto &[known, kernel] : kernels)
    if (std::strcmp(name, known) == 0) {
      static std::vector<std::unique_ptr<Function>> functions; // lives as long as the process
      functions.push_back(std::make_unique<Function>(Function{kernel, *reinterpret_cast<Module *>(module)}));
      *function = reinterpret_cast<CUfunction>(functions.back().get());
      return 0;
    }
  return notFound;
}
CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction) {
  *value = attribute == cuda::functionMaxThreads ? 1024 : 0;
  return 0;
}
CUresult cuFuncSetAttribute(CUfunction, int, int) {
  return 0;
}
CUresult cuLaunchKernelEx(const LaunchConfig *config, CUfunction function, void **arguments, void **) {
  if (!currentContext || config->gridX == 0 || config->gridY == 0 || config->gridZ == 0)
    return invalidValue;
  static const int fatalGrid = numberFromEnvironment("FAKE_CUDA_FATAL_GRID", -1);
  if (static_cast<int64_t>(config->gridX) == fatalGrid)
    std::raise(SIGKILL);
  const auto &[kernel, times] = *reinterpret_cast<Function *>(function);
  kernel(*config, arguments);
  finishCopies();
  const double blocks = double(config->gridX) * config->gridY * config->gridZ;
  (isCapturing ? captured : ahead) += (times.launch + times.block * blocks) / 1000;
  return 0;
}
CUresult cuTensorMapEncodeTiled(TensorMap *map, int, unsigned rank, void *address, const uint64_t *sizes,
                                const uint64_t *strides, const uint32_t *box, const uint32_t *, int, int, int, int) {
  if (rank != 2 || sizes[0] == 0 || sizes[1] == 0 || strides[0] == 0 || strides[0] % 16 != 0)
    return invalidValue;
  const PlainMap plain = {static_cast<const float *>(address),
                          static_cast<int64_t>(sizes[1]),
                          static_cast<int64_t>(sizes[0]),
                          static_cast<int64_t>(strides[0] / sizeof(float)),
                          box[1],
                          box[0]};
  static_assert(sizeof(plain) <= sizeof(*map));
  std::memcpy(map, &plain, sizeof(plain));
  return 0;
}
CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
  if (bytes == 0 || isCapturing)
    return invalidValue;
  if (allocatedBytes + bytes > memoryBytes)
    return outOfMemory;
  *pointer = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  allocations[*pointer] = bytes;
  allocatedBytes += bytes;
  return 0;
}
CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
  *free = memoryBytes - allocatedBytes;
  *total = memoryBytes;
  return 0;
}
CUresult cuMemFree_v2(CUdeviceptr pointer) {
  finishCopies();
  const auto found = allocations.find(pointer);
  if (found == allocations.end())
    return invalidValue;
  if (isHanging)
    std::abort();
  allocatedBytes -= found->second;
  allocations.erase(found);
  std::free(reinterpret_cast<void *>(pointer));
  return 0;
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  if (!isMapped(to, bytes))
    return invalidValue;
  const auto *first = static_cast<const uint8_t *>(from);
  copiesUnderWay.push_back({to, std::vector<uint8_t>(first, first + bytes)});
  return 0;
}
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  if (!isMapped(from, bytes))
    return invalidValue;
  finishCopies();
  std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
  return 0;
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream) {
  if (!isMapped(to, bytes) || !isMapped(from, bytes))
    return invalidValue;
  std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
  return 0;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream) {
  if (!isMapped(to, bytes))
    return invalidValue;
  // the remaining work only takes time
  std::memset(reinterpret_cast<void *>(to), value, std::min<size_t>(bytes, 1 << 20));
  return 0;
}
CUresult cuStreamCreate(CUstream *stream, unsigned) {
  static uintptr_t streams = 0;
  *stream = reinterpret_cast<CUstream>(0x30 + 8 * streams++); // none is used again
  return 0;
}
CUresult cuStreamDestroy_v2(CUstream) {
  return 0;
}
CUresult cuStreamSynchronize(CUstream stream) {
  if (!stream)
    finishCopies();
  return isCapturing ? invalidValue : 0;
}
CUresult cuStreamIsCapturing(CUstream, int *status) {
  *status = isCapturing;
  return 0;
}
CUresult cuStreamBeginCapture_v2(CUstream stream, int) {
  isCapturing = true;
  captured = 0;
  return stream ? 0 : invalidValue;
}
CUresult cuStreamEndCapture(CUstream, CUgraph *graph) {
  *graph = reinterpret_cast<CUgraph>(new double(captured));
  return std::exchange(isCapturing, false) ? 0 : invalidValue;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph, unsigned long long) {
  if (!graph)
    return invalidValue;
  *executable = reinterpret_cast<CUgraphExec>(new double(*reinterpret_cast<double *>(graph)));
  return 0;
}
CUresult cuGraphLaunch(CUgraphExec executable, CUstream) {
  if (!executable || isCapturing)
    return invalidValue;
  ahead += *reinterpret_cast<double *>(executable);
  return 0;
}
CUresult cuGraphExecDestroy(CUgraphExec executable) {
  delete reinterpret_cast<double *>(executable);
  return 0;
}
CUresult cuGraphDestroy(CUgraph graph) {
  delete reinterpret_cast<double *>(graph);
  return 0;
}
CUresult cuEventCreate(CUevent *event, unsigned) {
  *event = reinterpret_cast<CUevent>(new double(-1));
  return 0;
}
CUresult cuEventDestroy_v2(CUevent event) {
  delete reinterpret_cast<double *>(event);
  return 0;
}
CUresult cuEventRecord(CUevent event, CUstream) {
  *reinterpret_cast<double *>(event) = now();
  return 0;
}
CUresult cuEventQuery(CUevent) {
  return isHanging ? cuda::errorNotReady : 0;
}
CUresult cuEventSynchronize(CUevent) {
  return 0;
}
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  const double from = *reinterpret_cast<double *>(start), to = *reinterpret_cast<double *>(end);
  *milliseconds = static_cast<float>(to - from);
  return from < 0 || to < 0 ? invalidValue : 0;
}

} // extern "C"
