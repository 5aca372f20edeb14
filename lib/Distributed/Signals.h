// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Flags that order the work of ranks: words in a window, which streams write and wait for. A flag is 1 from its signal
// until the wait, which clears it. Flags therefore do not depend on the number of runs, and a captured graph can be
// replayed.
#pragma once

#include "Distributed/Communicator.h"

namespace tile::dist {

class Signals {
public:
  /// Collective: allocates `count` flags on every rank.
  static Result<std::unique_ptr<Signals>> make(Communicator &comm, size_t count);
  ~Signals() { comm.rescue->unwatch(window.mine); }

  /// Sets a flag of `rank` when the stream's preceding work is complete and visible to that rank.
  Status set(CUstream stream, int rank, size_t flag) const;
  /// Makes the stream wait for a flag of this rank and then clear it.
  Status take(CUstream stream, size_t flag) const;
  /// Sets `count` flags of this rank to `value`.
  Status fill(CUstream stream, size_t first, size_t count, unsigned value) const;
  CUdeviceptr addressOf(size_t flag) const { return window.mine + flag * wordBytes; }

  /// Collective; must be called before destruction.
  Status release() {
    comm.rescue->unwatch(window.mine);
    return comm.release("plan_destroy flags", window);
  }

private:
  static constexpr size_t wordBytes = 4;

  explicit Signals(Communicator &comm) : comm(comm) {}

  Communicator &comm;
  Window window;
  CUdeviceptr one = 0;     ///< address of a word with the value 1
  bool writesPeers = true; ///< true if streams can write to peers; otherwise flags are copied
};

} // namespace tile::dist
