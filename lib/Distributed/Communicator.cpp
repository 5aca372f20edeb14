// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Distributed/Communicator.h"

#include "Distributed/Bounded.h"
#include "Distributed/Socket.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <unistd.h>

namespace tile::dist {

namespace {

/// A rank's memory, as announced to the other ranks.
struct Address {
  CUdeviceptr pointer = 0; ///< for ranks in the same process
  IpcHandle handle = {};   ///< for ranks in other processes
  int failed = 0;
};

/// A rank's device, as announced to the other ranks.
struct Place {
  char busId[32] = {};
  char host[64] = {};
  int hasDriver = 0; ///< the driver has the functions for peer access
};

template <typename T> std::string_view bytesOf(const T &value) {
  return {reinterpret_cast<const char *>(&value), sizeof(T)};
}

template <typename T> std::vector<T> valuesOf(const std::string &bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

} // namespace

Result<std::unique_ptr<Communicator>> Communicator::make(std::unique_ptr<HostGroup> host, int device,
                                                         const tile_dist_options &options) {
  std::unique_ptr<Communicator> made(new Communicator());
  made->host = std::move(host);
  made->device = device;
  made->runtime = options.runtime;
  const std::string place = fmt::format("rank {}: connect", made->rank());
  Status status = made->openDevice(options);
  if (status)
    status = made->connectPeers();
  if (status)
    status = made->connectNccl(options);
  if (!status)
    return runtime::withContext(place, status.error());
  if (made->size() > 1 && options.transport == TILE_DIST_COPIES && !made->hasPeers)
    return makeError(TILE_ERROR_UNSUPPORTED, "{}: the GPUs cannot access each other's memory; use NCCL", place);
  if (made->size() > 1 && !made->nccl && !made->hasPeers)
    return makeError(
        TILE_ERROR_UNSUPPORTED,
        "{}: the GPUs cannot access each other's memory, and NCCL, which does not need that, was not found", place);
  return made;
}

Communicator::~Communicator() {
  if (!rescue)
    return;
  const auto deadline = [&] { return std::chrono::steady_clock::now() + host->limit; };
  if (NcclComm ended = rescue->takeNccl()) {
    const auto end = [library = nccl, driver = driver, context = context, ended] {
      driver->contextSetCurrent(context);
      return library->commDestroy(ended);
    };
    if (!callBounded(end, deadline(), [&] { return rescue->hasFailed(); }))
      rescue->fail(makeError(TILE_ERROR_TIMEOUT, "rank {}: ncclCommDestroy: not finished", rank()));
  }
  // After a failure the driver may block, and the rescue thread still uses the streams.
  if (rescue->hasFailed()) {
    host->abandon(rescue->status().error());
    rescue->stop(deadline());
    host.reset(); // the host group's thread refers to this object
    return;
  }
  if (driver->contextSetCurrent(context) != cuda::success)
    return;
  // First leave the group: from then on, no rank can be reported dead.
  host.reset();
  if (rescue->hasFailed())
    return;
  for (CUstream stream : {copies, writes})
    driver->streamDestroy(stream);
  // The context stays current on the caller's thread, as after a call to libtilert, because the application may use it.
}

void Communicator::watchRanks() {
  host->watch([rescue = rescue, rank = rank(), operation = &lastOperation](const Error &error) {
    rescue->fail(makeError(error.code, "rank {}: {}: {}", rank, operation->load(), error.message));
  });
}

Result<std::string> Communicator::exchange(std::string_view subject, std::string_view mine) {
  if (Status status = usable(); !status)
    return status.error();
  Result<std::string> told = host->exchange(subject, mine);
  if (!told && rescue)
    rescue->fail(told.error());
  return told;
}

Status Communicator::openDevice(const tile_dist_options &options) {
  Result<std::unique_ptr<Driver>> loaded = loadDriver(options.lookup, options.lookup_user);
  if (!loaded)
    return loaded.error();
  driver = std::move(*loaded);
  int count = 0;
  if (Status status = driver->check(driver->deviceGetCount(&count), "cuDeviceGetCount"); !status)
    return status;
  if (device < 0 || device >= count)
    return makeError(TILE_ERROR_NO_DEVICE, "device {} does not exist; this host has {}", device, count);
  Status status = driver->check(driver->deviceGet(&handle, device), "cuDeviceGet");
  if (status)
    status = driver->check(driver->primaryContextRetain(&context, handle), "cuDevicePrimaryCtxRetain");
  if (status)
    status = activate();
  if (status)
    status = driver->check(driver->deviceGetAttribute(&multiprocessors, cuda::attributeMultiprocessorCount, handle),
                           "cuDeviceGetAttribute");
  // Streams for copies and flags have the highest priority.
  constexpr int highest = -5;
  for (CUstream *stream : {&copies, &writes})
    if (status)
      status = driver->check(driver->streamCreate(stream, cuda::streamNonBlocking, highest), "cuStreamCreate");
  if (!status)
    return status;
  rescue = std::make_shared<Rescue>(driver, context, copies, writes);
  watchRanks();
  return Success{};
}

Status Communicator::connectPeers() {
  Place mine;
  if (driver->deviceGetPciBusId(mine.busId, sizeof(mine.busId), handle) != cuda::success)
    mine.busId[0] = '\0';
  // Containers on one host may have different host names, but then they cannot share memory either.
  if (!host->isOneProcess())
    gethostname(mine.host, sizeof(mine.host) - 1);
  mine.hasDriver = driver->hasPeers(!host->isOneProcess());
  Result<std::string> told = exchange("connect devices", bytesOf(mine));
  if (!told)
    return told.error();
  const std::vector<Place> places = valuesOf<Place>(*told);
  hasPeers = true;
  for (int other = 0; other < size(); ++other) {
    const Place &place = places[other];
    hasPeers &= place.hasDriver && std::strcmp(place.host, mine.host) == 0;
    if (other != rank() && hasPeers && std::strcmp(place.busId, mine.busId) == 0)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "ranks {} and {} have the same device {}", std::min(rank(), other),
                       std::max(rank(), other), mine.busId);
  }
  // Device ordinals may differ between processes.
  int count = 0;
  driver->deviceGetCount(&count);
  for (int other = 0; other < size() && hasPeers; ++other) {
    if (other == rank())
      continue;
    int ordinal = 0, can = 0;
    char busId[sizeof(Place::busId)] = {};
    for (; ordinal < count; ++ordinal) {
      CUdevice peer = 0;
      if (driver->deviceGet(&peer, ordinal) == cuda::success &&
          driver->deviceGetPciBusId(busId, sizeof(busId), peer) == cuda::success &&
          std::strcmp(busId, places[other].busId) == 0 &&
          driver->deviceCanAccessPeer(&can, handle, peer) == cuda::success && can)
        break;
    }
    hasPeers = ordinal < count && can;
    CUdevice peer = 0;
    CUcontext theirs = nullptr;
    if (!hasPeers || !host->isOneProcess())
      continue; // opening the memory of another process makes it accessible
    Status status = driver->check(driver->deviceGet(&peer, ordinal), "cuDeviceGet");
    if (status)
      status = driver->check(driver->primaryContextRetain(&theirs, peer), "cuDevicePrimaryCtxRetain");
    if (!status)
      return status;
    const CUresult enabled = driver->contextEnablePeer(theirs, 0);
    if (enabled != cuda::errorPeerAccessEnabled)
      if (Status done = driver->check(enabled, "cuCtxEnablePeerAccess"); !done)
        return done;
  }
  // Either all ranks use peer access, or none.
  Result<std::string> answers = exchange("connect peers", hasPeers ? "1" : "0");
  if (!answers)
    return answers.error();
  hasPeers = answers->find('0') == std::string::npos;
  return Success{};
}

Status Communicator::connectNccl(const tile_dist_options &options) {
  if (options.transport == TILE_DIST_COPIES || size() == 1)
    return Success{};
  Result<std::unique_ptr<Nccl>> loaded = loadNccl(options.nccl_library);
  struct {
    NcclUniqueId id = {};
    int isLoaded = 0;
  } mine;
  mine.isLoaded = bool(loaded);
  Status status = Success{};
  if (loaded && rank() == 0)
    status = (*loaded)->check((*loaded)->getUniqueId(&mine.id), "ncclGetUniqueId");
  mine.isLoaded &= bool(status);
  Result<std::string> told = exchange("connect NCCL", bytesOf(mine));
  if (!told)
    return told.error();
  const auto all = valuesOf<decltype(mine)>(*told);
  for (int other = 0; other < size(); ++other)
    if (!all[other].isLoaded) {
      if (options.transport == TILE_DIST_ANY)
        return Success{};
      if (!loaded)
        return loaded.error();
      return !status ? status : makeError(TILE_ERROR_NCCL, "rank {} has no usable NCCL", other);
    }
  nccl = std::move(*loaded);
  // commInitRank may block forever, so it runs in a separate thread. NCCL's non-blocking communicators would make this
  // thread unnecessary, but they start a thread for each collective.
  struct Made {
    int result;
    NcclComm comm;
  };
  const auto init = [library = nccl, driver = driver, context = context, id = all[0].id, size = size(), rank = rank()] {
    driver->contextSetCurrent(context);
    Made made = {};
    made.result = library->commInitRank(&made.comm, size, id, rank);
    return made;
  };
  const auto made =
      callBounded(init, std::chrono::steady_clock::now() + host->limit, [&] { return rescue->hasFailed(); });
  if (!made)
    rescue->fail(makeError(TILE_ERROR_TIMEOUT, "ncclCommInitRank: not finished within {} ms", host->limit.count()));
  if (rescue->hasFailed())
    return usable();
  if (Status done = nccl->check(made->result, "ncclCommInitRank"); !done)
    return done;
  ncclComm = made->comm;
  rescue->setNccl(nccl, ncclComm);
  return Success{};
}

Status Communicator::activate() const {
  CUcontext current = nullptr;
  if (driver->contextGetCurrent(&current) == cuda::success && current == context)
    return Success{};
  return driver->check(driver->contextSetCurrent(context), "cuCtxSetCurrent");
}

Result<std::vector<CUdeviceptr>> Communicator::exchangeAddresses(std::string_view subject, CUdeviceptr mine) {
  Address own;
  own.pointer = mine;
  own.failed = mine == 0;
  if (mine && !host->isOneProcess() && hasPeers)
    own.failed = driver->ipcGetHandle(&own.handle, mine) != cuda::success;
  Result<std::string> told = exchange(subject, bytesOf(own));
  if (!told)
    return told.error();
  std::vector<CUdeviceptr> all;
  for (const Address &address : valuesOf<Address>(*told)) {
    const int other = int(all.size());
    if (address.failed)
      return makeError(TILE_ERROR_OUT_OF_MEMORY, "rank {}: {}: rank {} is out of memory", rank(), subject, other);
    all.push_back(other == rank() ? mine : host->isOneProcess() ? address.pointer : 0);
    if (all.back() == 0 && hasPeers)
      if (Status status = driver->check(driver->ipcOpenHandle(&all.back(), address.handle, cuda::ipcLazyPeerAccess),
                                        "cuIpcOpenMemHandle");
          !status)
        return status.error();
  }
  return all;
}

Result<Window> Communicator::allocate(std::string_view subject, size_t bytes) {
  Window window;
  constexpr size_t granule = size_t(2) << 20; // IPC shares whole pages of the driver
  bytes = (std::max<size_t>(bytes, 1) + granule - 1) / granule * granule;
  Status status = driver->check(driver->memoryAllocate(&window.mine, bytes), "cuMemAlloc");
  if (status)
    status = driver->check(driver->fillWords(window.mine, 0, bytes / 4, copies), "cuMemsetD32");
  if (status)
    status = driver->check(driver->streamSynchronize(copies), "cuStreamSynchronize");
  Result<std::vector<CUdeviceptr>> all = exchangeAddresses(subject, status ? window.mine : 0);
  if (!all) {
    if (window.mine && !rescue->hasFailed())
      driver->memoryFree(window.mine);
    return !status ? status.error() : all.error();
  }
  window.all = std::move(*all);
  return window;
}

Status Communicator::release(std::string_view subject, Window &window) {
  if (!window.mine)
    return Success{};
  if (Status status = usable(); !status)
    return status;
  for (int other = 0; other < size(); ++other)
    if (other != rank() && !host->isOneProcess() && window.all[other])
      driver->ipcCloseHandle(window.all[other]);
  Result<std::string> ended = exchange(subject, "");
  if (!ended)
    return ended.error();
  Status freed = driver->check(driver->memoryFree(window.mine), "cuMemFree");
  window = Window();
  return freed;
}

Status Communicator::synchronize(CUstream stream) {
  const Deadline deadline = std::chrono::steady_clock::now() + host->limit;
  const auto place = [&] { return fmt::format("rank {}: {}", rank(), lastOperation.load()); };
  for (unsigned tries = 0; !rescue->hasFailed(); ++tries) {
    const CUresult result = driver->streamQuery(stream);
    if (result == cuda::success)
      return report();
    if (result != cuda::errorNotReady)
      rescue->fail(driver->check(result, place()).error());
    else if (Status status = rescue->checkNccl(); !status)
      rescue->fail(runtime::withContext(place(), status.error()));
    else if (std::chrono::steady_clock::now() > deadline)
      rescue->fail(
          makeError(TILE_ERROR_TIMEOUT,
                    "{}: not finished within {} ms: has another rank died, or does it not run the same operation?",
                    place(), host->limit.count()));
    constexpr unsigned busyTries = 10000;
    if (tries > busyTries)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  // Work that has still not ended by then is stuck in the driver.
  rescue->waitFor(stream, std::chrono::steady_clock::now() + host->limit + std::chrono::seconds(1));
  return usable();
}

Status Communicator::report() {
  Status status = usable(); // a rescue may have ended the work with an error
  if (!status)
    return status; // the driver may block
  for (Reporter *reporter : reporters)
    if (Status reported = reporter->report(); !reported && status)
      status = runtime::withContext(fmt::format("rank {}", rank()), reported.error());
  return status;
}

Status Communicator::read(void *to, CUdeviceptr from, size_t bytes) const {
  Status status = driver->check(driver->download(to, from, bytes, writes), "cuMemcpyDtoHAsync");
  return status ? driver->check(driver->streamSynchronize(writes), "cuStreamSynchronize") : status;
}

Status Communicator::write(CUdeviceptr to, const void *from, size_t bytes) const {
  Status status = driver->check(driver->upload(to, from, bytes, writes), "cuMemcpyHtoDAsync");
  return status ? driver->check(driver->streamSynchronize(writes), "cuStreamSynchronize") : status;
}

} // namespace tile::dist
