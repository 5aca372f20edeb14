// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exchanges small messages between ranks on the host, for setup. Ranks are threads of one process, or processes
// connected by TCP.
//
//   rank 0: exchange("pointers", x) ─┐
//   rank 1: exchange("pointers", y) ─┼─▶ each gets {x, y}
//
// Every exchange has a time limit, and fails on all ranks if their subjects or sizes differ.
#pragma once

#include "Runtime/Result.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tile::dist {

class HostGroup {
public:
  HostGroup(int rank, int size, std::chrono::milliseconds limit) : rank(rank), size(size), limit(limit) {}
  virtual ~HostGroup() = default;

  /// Sends the bytes of each rank to all ranks, and returns them in the order of ranks. `subject` names the exchange in
  /// messages. It must be equal on all ranks, as must the number of bytes.
  virtual runtime::Result<std::string> exchange(std::string_view subject, std::string_view mine) = 0;
  using Handler = std::function<void(const runtime::Error &)>;
  /// Calls `handler` once, in another thread, if a rank dies before leaving the group, or abandons it.
  virtual void watch(Handler handler) = 0;
  /// Ends the group because of a failure, which is reported to the other ranks.
  virtual void abandon(const runtime::Error &reason) = 0;
  /// Returns true if all ranks are threads of this process.
  virtual bool isOneProcess() const = 0;

  const int rank, size;
  const std::chrono::milliseconds limit;
};

/// The state shared by the threads of a group.
struct ThreadMeeting {
  explicit ThreadMeeting(int size) : messages(size) {}

  struct Message {
    std::string subject, bytes[2]; ///< of the last two exchanges, since a rank can be one exchange ahead
    uint64_t count = 0;            ///< number of exchanges that the rank has begun
    bool isConnected = false;
    std::function<void(const runtime::Error &)> handler; ///< called when another rank fails
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Message> messages; ///< by rank
  std::string failure;           ///< the first error of any rank; later exchanges fail with it
};

runtime::Result<std::unique_ptr<HostGroup>> joinThreads(ThreadMeeting &meeting, int rank,
                                                        std::chrono::milliseconds limit);
/// Connects processes: rank 0 listens at "HOST:PORT", the others connect to it.
runtime::Result<std::unique_ptr<HostGroup>> joinProcesses(const std::string &address, int rank, int size,
                                                          std::chrono::milliseconds limit);

} // namespace tile::dist
