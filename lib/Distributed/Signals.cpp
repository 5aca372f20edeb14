// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Distributed/Signals.h"

namespace tile::dist {

Result<std::unique_ptr<Signals>> Signals::make(Communicator &comm, size_t count) {
  std::unique_ptr<Signals> made(new Signals(comm));
  // The window ends with two more words: one that peers write as a test, and one with the value 1.
  Result<Window> window = comm.allocate("plan_create flags", (count + 2) * wordBytes);
  if (!window)
    return window.error();
  made->window = std::move(*window);
  made->one = made->addressOf(count + 1);
  const CUdeviceptr tried = made->window.all[(comm.rank() + 1) % comm.size()] + count * wordBytes;
  made->writesPeers = comm.driver->streamWriteValue(comm.copies, tried, 1, 0) == cuda::success;
  Status status = comm.driver->check(comm.driver->fillWords(made->one, 1, 1, comm.copies), "cuMemsetD32Async");
  if (status)
    status = comm.driver->check(comm.driver->streamSynchronize(comm.copies), "cuStreamSynchronize");
  if (!status)
    return status.error();
  comm.rescue->watch(made->window.mine, count);
  return made;
}

Status Signals::set(CUstream stream, int rank, size_t flag) const {
  const CUdeviceptr address = window.all[rank] + flag * wordBytes;
  if (!writesPeers && rank != comm.rank())
    return comm.driver->check(comm.driver->copy(address, one, wordBytes, stream), "cuMemcpyDtoDAsync");
  return comm.driver->check(comm.driver->streamWriteValue(stream, address, 1, 0), "cuStreamWriteValue32");
}

Status Signals::take(CUstream stream, size_t flag) const {
  Status status = comm.driver->check(comm.driver->streamWaitValue(stream, addressOf(flag), 1, cuda::waitReached),
                                     "cuStreamWaitValue32");
  if (status)
    status = comm.driver->check(comm.driver->streamWriteValue(stream, addressOf(flag), 0, 0), "cuStreamWriteValue32");
  return status;
}

Status Signals::fill(CUstream stream, size_t first, size_t count, unsigned value) const {
  // A fill is a kernel, which takes longer to start than several individual writes.
  constexpr size_t few = 8;
  if (count > few)
    return comm.driver->check(comm.driver->fillWords(addressOf(first), value, count, stream), "cuMemsetD32Async");
  for (size_t flag = first; flag < first + count; ++flag)
    if (Status status = comm.driver->check(comm.driver->streamWriteValue(stream, addressOf(flag), value, 0),
                                           "cuStreamWriteValue32");
        !status)
      return status;
  return Success{};
}

} // namespace tile::dist
