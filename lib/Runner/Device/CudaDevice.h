// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA device: a kernel loaded through libtilert, with its buffers in device memory.
//
// `CudaSession` owns the device copies of one set of arguments. `run` creates a session, launches the kernel once and
// copies everything back; a benchmark keeps a session and launches the kernel many times.
#pragma once

#include "Runner/Device/Device.h"
#include "Runtime/Artifact.h"
#include "Runtime/Driver.h"

#include <functional>
#include <memory>

namespace tile::runner {

class CudaStream;
class CudaTimer;

using runtime::Driver;

/// Device memory that is freed when its owner is destroyed.
class CudaMemory {
public:
  static Result<CudaMemory> allocate(const Driver &driver, size_t bytes);
  /// Refers to memory that another object owns.
  static CudaMemory borrow(runtime::CUdeviceptr pointer);
  CudaMemory() = default;
  CudaMemory(CudaMemory &&other) noexcept { *this = std::move(other); }
  CudaMemory &operator=(CudaMemory &&other) noexcept;
  ~CudaMemory();
  runtime::CUdeviceptr address() const { return pointer; }

private:
  const Driver *driver = nullptr;
  runtime::CUdeviceptr pointer = 0;
};

struct CudaDeviceInfo {
  int ordinal = 0;
  std::string name;
  std::string pciBusId;
  int major = 0, minor = 0;
  int multiprocessors = 0;
  int clockKhz = 0, memoryClockKhz = 0;
  int memoryBusBits = 0;
  size_t l2Bytes = 0;
  size_t memoryBytes = 0;
  int sharedBytes = 0;   ///< maximum per thread block
  int driverVersion = 0; ///< 13000 = CUDA 13.0
};

/// The libtilert runtime and the selected device. Keeps the driver loaded as long as anything uses it.
class CudaContext {
public:
  static Result<std::unique_ptr<CudaContext>> open(int ordinal);
  ~CudaContext();
  const Driver &driver() const;
  tile_runtime *runtime() const { return handle; }
  const CudaDeviceInfo &info() const { return deviceInfo; }
  /// Returns the number of bytes of device memory that all processes use, or nullopt if the driver does not report it.
  std::optional<size_t> usedMemory() const;
  /// Returns "cuda:0 NVIDIA H200".
  std::string name() const { return fmt::format("cuda:{} {}", deviceInfo.ordinal, deviceInfo.name); }

private:
  tile_runtime *handle = nullptr;
  CudaDeviceInfo deviceInfo;
};

/// Lists all CUDA devices of the machine.
Result<std::vector<CudaDeviceInfo>> listCudaDevices();

/// The other ranks of a run on several GPUs. All ranks must make the same calls in the same order.
class CudaPeers {
public:
  virtual ~CudaPeers() = default;
  virtual int rank() const = 0;
  /// Allocates a buffer that all ranks can access. Returns the addresses of this buffer on all ranks.
  virtual Result<std::vector<runtime::CUdeviceptr>> allocate(const std::string &name, size_t bytes) = 0;
  /// Returns when all ranks have called this function.
  virtual Status meet() = 0;
  /// Waits for the work of a stream, but no longer than the time limit, because that work may wait for other ranks.
  virtual Status wait(runtime::CUstream stream) = 0;
  /// Frees the buffers.
  virtual Status release() = 0;
};

class CudaSession {
public:
  Status launch(const Grid &grid, runtime::CUstream stream);
  Status download(std::span<DeviceArgument> arguments) const;
  /// Returns the address of the first element of pointer argument `index`.
  runtime::CUdeviceptr address(size_t index) const { return values[index]; }
  /// Returns the value of any argument: the address of a buffer, or the bits of a scalar.
  uint64_t value(size_t index) const { return values[index]; }
  /// Returns the addresses that tables of addresses refer to.
  Addresses addresses() const { return {values, {valuesOfRanks.begin(), valuesOfRanks.end()}}; }

private:
  friend class CudaDevice;
  CudaDevice *device = nullptr;
  std::vector<CudaMemory> buffers; ///< one per pointer argument, in order
  std::vector<uint64_t> values;    ///< one per argument
  /// For each rank, one value per argument, if tables contain addresses of peers; otherwise empty.
  std::vector<std::vector<uint64_t>> valuesOfRanks;
  std::vector<void *> pointers; ///< pointers to `values`, in the form that a launch takes
};

class CudaDevice : public Device {
public:
  /// Loads an artifact with one variant on the device of the context.
  static Result<std::unique_ptr<CudaDevice>> load(CudaContext &context, const runtime::Artifact &artifact);
  ~CudaDevice() override;

  std::string name() const override;
  int multiprocessorCount() const override { return context->info().multiprocessors; }
  CudaDevice *asCuda() override { return this; }
  Result<RunTiming> run(const runtime::Manifest &manifest, const Grid &grid,
                        std::span<DeviceArgument> arguments) override;

  /// The reaction to a run that does not end in time.
  struct Watchdog {
    double seconds = 0;
    std::function<void()> onHang; ///< must not return: driver calls would hang as well
  };
  void watch(Watchdog dog) { watchdog = std::move(dog); }
  /// Allows launches to start before previous ones have ended, if the kernel supports it.
  void overlapLaunches(bool value) { overlap = value; }
  bool overlapsLaunches() const { return overlap; }
  /// Makes this device one rank of a run on several GPUs in all following runs. `others` connects it to the other
  /// ranks.
  void join(CudaPeers &others) { peers = &others; }

  /// Copies the buffers to the device.
  Result<CudaSession> prepare(std::span<DeviceArgument> arguments);
  CudaContext &cudaContext() const { return *context; }
  tile_kernel *kernelHandle() const { return kernel; }

private:
  Status upload(const CudaSession &session, std::span<DeviceArgument> arguments) const;
  /// Returns memory for a buffer. Peers can access it if their tables contain its address.
  Result<CudaMemory> allocate(std::span<const DeviceArgument> arguments, size_t index, CudaSession &session) const;
  /// Waits until `timer` has stopped, supervised by the watchdog if there is one.
  Status wait(const CudaTimer &timer) const;

  CudaContext *context = nullptr;
  tile_kernel *kernel = nullptr;
  std::unique_ptr<CudaStream> stream; ///< shared by all runs, since a kernel may keep memory for each stream
  Watchdog watchdog;
  CudaPeers *peers = nullptr; ///< null for a run on one device
  bool overlap = false;
};

/// Converts the calling thread's last libtilert error to an Error.
Error lastRuntimeError(tile_status status);

} // namespace tile::runner
