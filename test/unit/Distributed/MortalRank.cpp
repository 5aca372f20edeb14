// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A rank that is a process, for DeathTest.cpp: `tile_mortal_rank RANK SIZE VICTIM ADDRESS PHASE MILLISECONDS`. In the
// phase, the victim prints "reached" and stops; the others wait for it, and print the result of the wait.
#include "Distributed/Communicator.h"
#include "Distributed/Socket.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string_view>
#include <thread>
#include <unistd.h>

using namespace tile::dist;

namespace {

std::string_view phase;
bool isVictim = false;

void reach(std::string_view name) {
  if (phase != name || !isVictim)
    return;
  std::puts("reached");
  std::fflush(stdout);
  for (;;)
    pause();
}

void *find(void *library, const char *symbol) {
  reach("connect"); // the ranks are connected, and exchange their devices next
  return dlsym(library, symbol);
}

/// Waits for the others in a call of the driver or of NCCL, depending on `phase`.
Status wait(Communicator &comm) {
  if (phase == "collective") {
    const Rescue::Call call(*comm.rescue);
    comm.nccl->allGather(nullptr, nullptr, 0, 0, comm.ncclComm, nullptr);
  }
  if (phase == "flag") {
    Result<Window> window = comm.allocate("flags", 4);
    if (!window)
      return window.error();
    comm.rescue->watch(window->mine, 1);
    reach("flag");
    for (int run = 0; run < 3; ++run) { // each run waits for the flag
      comm.driver->streamWaitValue(comm.copies, window->mine, 1, cuda::waitReached);
      comm.driver->streamWriteValue(comm.copies, window->mine, 0, 0);
    }
    // NCCL may be aborted from here on; an earlier abort would wait for this stream.
    *static_cast<std::atomic<bool> *>(dlsym(dlopen(FALSE_NCCL_WAITING, RTLD_NOW), "falseNcclMayAbort")) = true;
  }
  if (phase == "idle")
    for (int tries = 0; tries < 1000 && comm.usable(); ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (phase == "destroy")
    return Success{};
  if (Status status = comm.synchronize(comm.copies); !status)
    return status;
  Result<std::string> met = comm.exchange("barrier", "");
  return met ? Status(Success{}) : Status(met.error());
}

Status live(int rank, int size, const char *address, std::chrono::milliseconds limit, void *simulator) {
  Result<std::unique_ptr<HostGroup>> group = joinProcesses(address, rank, size, limit);
  if (!group)
    return group.error();
  tile_dist_options options = {};
  options.transport = TILE_DIST_NCCL;
  options.nccl_library = FALSE_NCCL_WAITING;
  options.lookup = find;
  options.lookup_user = simulator;
  Result<std::unique_ptr<Communicator>> comm = Communicator::make(std::move(*group), rank, options);
  if (!comm)
    return comm.error();
  if (phase != "flag" && phase != "destroy" && phase != "collective")
    reach(phase);
  return wait(**comm);
}

} // namespace

int main(int count, char **words) {
  if (count != 7)
    return 2;
  const int rank = std::atoi(words[1]), size = std::atoi(words[2]);
  isVictim = rank == std::atoi(words[3]);
  phase = words[5];
  setenv("FALSE_NCCL_WAITS", words[5], 1);
  void *simulator = dlopen(TILE_SIMULATOR, RTLD_NOW | RTLD_LOCAL);
  if (!simulator)
    return 2;
  const Status status = live(rank, size, words[4], std::chrono::milliseconds(std::atoi(words[6])), simulator);
  std::printf("%s\n", status ? "ended" : status.error().message.c_str());
  std::fflush(stdout);
  std::_Exit(status ? 0 : 1);
}
