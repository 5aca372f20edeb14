// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks every driver call. If the kernel fails asynchronously (for example, because of an illegal address), the error
// appears at the next synchronization and is reported as the kernel's.
#include "Runner/Device/CudaDevice.h"

#include "Runner/Device/CudaEvents.h"
#include "Runtime/Kernel.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace tile::runner {

using runtime::CUdevice;
using runtime::CUdeviceptr;
using runtime::CUresult;
using runtime::CUstream;
using runtime::makeError;
using runtime::Success;
namespace cuda = runtime::cuda;

Error lastRuntimeError(tile_status status) {
  return Error{status, tile_last_error()};
}

Result<CudaMemory> CudaMemory::allocate(const Driver &driver, size_t bytes) {
  // `unaligned` loads may read the whole word in which a buffer ends. memcheck would report the bytes of that word
  // after the buffer, so the size is rounded up.
  constexpr size_t wordBytes = 16;
  size_t wholeWords = (bytes + wordBytes - 1) / wordBytes * wordBytes;
  CudaMemory memory;
  if (Status status = driver.check(driver.memoryAllocate(&memory.pointer, wholeWords),
                                   fmt::format("cuMemAlloc of {} bytes", bytes));
      !status)
    return status.error();
  memory.driver = &driver;
  return memory;
}

CudaMemory CudaMemory::borrow(CUdeviceptr pointer) {
  CudaMemory memory;
  memory.pointer = pointer;
  return memory;
}

CudaMemory &CudaMemory::operator=(CudaMemory &&other) noexcept {
  std::swap(driver, other.driver);
  std::swap(pointer, other.pointer);
  return *this;
}

CudaMemory::~CudaMemory() {
  // After a fault in a kernel the context is unusable and this call fails. The fault itself has already been reported.
  if (driver)
    (void)driver->memoryFree(pointer);
}

namespace {

Result<CudaDeviceInfo> queryInfo(const Driver &driver, int ordinal) {
  CudaDeviceInfo info;
  info.ordinal = ordinal;
  CUdevice device = 0;
  if (Status status = driver.check(driver.deviceGet(&device, ordinal), "cuDeviceGet"); !status)
    return status.error();
  char name[256] = "", bus[32] = "";
  if (Status status = driver.check(driver.deviceGetName(name, sizeof(name), device), "cuDeviceGetName"); !status)
    return status.error();
  info.name = name;
  if (driver.deviceGetPciBusId(bus, sizeof(bus), device) == cuda::success)
    info.pciBusId = bus;
  int l2Bytes = 0;
  const std::pair<int, int *> required[] = {{cuda::attributeComputeMajor, &info.major},
                                            {cuda::attributeComputeMinor, &info.minor},
                                            {cuda::attributeMultiprocessorCount, &info.multiprocessors},
                                            {cuda::attributeMaxSharedOptin, &info.sharedBytes},
                                            {cuda::attributeL2Bytes, &l2Bytes}};
  for (const auto &[attribute, value] : required)
    if (Status status = driver.check(driver.deviceGetAttribute(value, attribute, device), "cuDeviceGetAttribute");
        !status)
      return status.error();
  info.l2Bytes = static_cast<size_t>(l2Bytes);
  // These values are only informative, and drivers may stop reporting clocks, so errors are ignored.
  (void)driver.deviceGetAttribute(&info.clockKhz, cuda::attributeClockRate, device);
  (void)driver.deviceGetAttribute(&info.memoryClockKhz, cuda::attributeMemoryClockRate, device);
  (void)driver.deviceGetAttribute(&info.memoryBusBits, cuda::attributeMemoryBusBits, device);
  (void)driver.driverGetVersion(&info.driverVersion);
  if (Status status = driver.check(driver.deviceTotalMemory(&info.memoryBytes, device), "cuDeviceTotalMem"); !status)
    return status.error();
  return info;
}

} // namespace

Result<std::unique_ptr<CudaContext>> CudaContext::open(int ordinal) {
  auto context = std::make_unique<CudaContext>();
  if (const tile_status status = tile_runtime_create(nullptr, nullptr, &context->handle); status != TILE_OK)
    return lastRuntimeError(status);
  if (Status status = context->driver().requireAll(); !status)
    return status.error();
  if (const tile_status status = tile_device_activate(context->handle, ordinal); status != TILE_OK)
    return lastRuntimeError(status);
  Result<CudaDeviceInfo> info = queryInfo(context->driver(), ordinal);
  if (!info)
    return info.error();
  context->deviceInfo = std::move(*info);
  return context;
}

CudaContext::~CudaContext() {
  tile_runtime_destroy(handle);
}

std::optional<size_t> CudaContext::usedMemory() const {
  size_t free = 0, total = 0;
  if (!driver().memoryInfo || driver().memoryInfo(&free, &total) != cuda::success)
    return std::nullopt;
  return total - free;
}

const Driver &CudaContext::driver() const {
  return *handle->driver;
}

Result<std::vector<CudaDeviceInfo>> listCudaDevices() {
  Result<std::unique_ptr<Driver>> driver = runtime::loadDriver(nullptr, nullptr);
  if (!driver)
    return driver.error();
  if (Status status = (*driver)->requireAll(); !status)
    return status.error();
  int count = 0;
  if (Status status = (*driver)->check((*driver)->deviceGetCount(&count), "cuDeviceGetCount"); !status)
    return status.error();
  std::vector<CudaDeviceInfo> devices;
  for (int i = 0; i < count; ++i) {
    Result<CudaDeviceInfo> info = queryInfo(**driver, i);
    if (!info)
      return info.error();
    devices.push_back(std::move(*info));
  }
  return devices;
}

Result<std::unique_ptr<CudaDevice>> CudaDevice::load(CudaContext &context, const runtime::Artifact &artifact) {
  auto device = std::make_unique<CudaDevice>();
  device->context = &context;
  Result<std::unique_ptr<tile_kernel>> kernel = runtime::makeKernel(context.runtime(), artifact);
  if (!kernel)
    return kernel.error();
  device->kernel = kernel->release();
  if (const tile_status status = tile_kernel_prepare(device->kernel); status != TILE_OK)
    return lastRuntimeError(status);
  Result<CudaStream> stream = CudaStream::create(context.driver());
  if (!stream)
    return stream.error();
  device->stream = std::make_unique<CudaStream>(std::move(*stream));
  return device;
}

CudaDevice::~CudaDevice() {
  tile_kernel_destroy(kernel);
}

std::string CudaDevice::name() const {
  return context->name();
}

Status CudaDevice::upload(const CudaSession &session, std::span<DeviceArgument> arguments) const {
  const Addressed addressed(arguments, session.addresses());
  size_t next = 0;
  for (const DeviceArgument &argument : arguments) {
    if (!argument.buffer)
      continue;
    const std::span<const uint8_t> storage = static_cast<const HostBuffer &>(*argument.buffer).storage();
    if (Status status = context->driver().check(
            context->driver().copyToDevice(session.buffers[next++].address(), storage.data(), storage.size()),
            fmt::format("copy of buffer '{}' to the device", argument.parameter->name));
        !status)
      return status;
  }
  return Success{};
}

Result<CudaMemory> CudaDevice::allocate(std::span<const DeviceArgument> arguments, size_t index,
                                        CudaSession &session) const {
  const HostBuffer &buffer = *arguments[index].buffer;
  const bool isShared = std::any_of(arguments.begin(), arguments.end(), [&](const DeviceArgument &table) {
    return table.pointsInto && table.pointsInto->isOfPeers && table.pointsInto->parameter == index;
  });
  if (!peers || !isShared)
    return CudaMemory::allocate(context->driver(), buffer.storageBytes());
  Result<std::vector<CUdeviceptr>> addresses = peers->allocate(arguments[index].parameter->name, buffer.storageBytes());
  if (!addresses)
    return addresses.error();
  session.valuesOfRanks.resize(addresses->size(), std::vector<uint64_t>(arguments.size()));
  for (size_t rank = 0; rank < addresses->size(); ++rank)
    session.valuesOfRanks[rank][index] = (*addresses)[rank] + buffer.frontBytes();
  return CudaMemory::borrow((*addresses)[static_cast<size_t>(peers->rank())]);
}

Result<CudaSession> CudaDevice::prepare(std::span<DeviceArgument> arguments) {
  const Driver &driver = context->driver();
  CudaSession session;
  session.device = this;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const DeviceArgument &argument = arguments[i];
    uint64_t value = argument.bits;
    if (argument.buffer) {
      Result<CudaMemory> memory = allocate(arguments, i, session);
      if (!memory)
        return runtime::withContext(fmt::format("buffer '{}'", argument.parameter->name), memory.error());
      value = memory->address() + argument.buffer->frontBytes();
      session.buffers.push_back(std::move(*memory));
    }
    session.values.push_back(value);
  }
  if (Status status = upload(session, arguments); !status)
    return status.error();
  // A copy from pageable memory may return before its bytes arrive, and the kernel's stream does not wait for the
  // default stream (CUDA driver API, "API synchronization behavior"). Without this synchronization, the copy sometimes
  // overwrote a kernel's result.
  if (Status status = driver.check(driver.streamSynchronize(nullptr), "copy of buffers to the device"); !status)
    return status.error();
  for (uint64_t &value : session.values)
    session.pointers.push_back(&value);
  return session;
}

Status CudaSession::launch(const Grid &grid, CUstream stream) {
  const tile_launch_options options = {stream, grid.data(), nullptr, 0, device->overlapsLaunches()};
  const tile_status status = tile_launch(device->kernelHandle(), &options, pointers.data(), pointers.size());
  return status == TILE_OK ? Status(Success{}) : Status(lastRuntimeError(status));
}

Status CudaSession::download(std::span<DeviceArgument> arguments) const {
  const Driver &driver = device->cudaContext().driver();
  size_t next = 0;
  for (const DeviceArgument &argument : arguments) {
    if (!argument.buffer)
      continue;
    const std::span<uint8_t> storage = argument.buffer->storage();
    if (Status status = driver.check(driver.copyToHost(storage.data(), buffers[next++].address(), storage.size()),
                                     fmt::format("copy of buffer '{}' to the host", argument.parameter->name));
        !status)
      return status;
    if (argument.pointsInto)
      addAddresses(*argument.buffer, [&](size_t element) { return -addresses().of(argument, element); });
  }
  return Success{};
}

Status CudaDevice::wait(const CudaTimer &timer) const {
  if (peers)
    return peers->wait(stream->get());
  if (watchdog.onHang) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(watchdog.seconds);
    for (Result<bool> stopped = timer.hasStopped(); !stopped || !*stopped; stopped = timer.hasStopped()) {
      if (!stopped)
        return stopped.error();
      if (std::chrono::steady_clock::now() > deadline)
        watchdog.onHang();
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  return context->driver().check(context->driver().streamSynchronize(stream->get()), "cuStreamSynchronize");
}

Result<RunTiming> CudaDevice::run(const runtime::Manifest &manifest, const Grid &grid,
                                  std::span<DeviceArgument> arguments) {
  const Driver &driver = context->driver();
  Result<CudaSession> session = prepare(arguments);
  if (!session)
    return session.error();
  Result<CudaTimer> timer = CudaTimer::create(driver);
  if (!timer)
    return timer.error();
  if (Status status = peers ? peers->meet() : Status(Success{}); !status)
    return status.error();
  if (Status status = timer->start(stream->get()); !status)
    return status.error();
  if (Status status = session->launch(grid, stream->get()); !status)
    return status.error();
  if (Status status = timer->stop(stream->get()); !status)
    return status.error();
  if (Status status = wait(*timer); !status)
    return runtime::withContext(fmt::format("while kernel '{}' was running", manifest.kernel), status.error());
  Result<double> milliseconds = timer->milliseconds();
  if (!milliseconds)
    return milliseconds.error();
  // Other ranks may write to this rank's buffers until their kernels have ended.
  if (Status status = peers ? peers->meet() : Status(Success{}); !status)
    return status.error();
  if (Status status = session->download(arguments); !status)
    return status.error();
  if (Status status = peers ? peers->release() : Status(Success{}); !status)
    return status.error();
  return RunTiming{*milliseconds};
}

} // namespace tile::runner
