// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The measurements that `tile-run tune` has made so far, in a file with one JSON object per line. After being killed,
// the command resumes from this file. Several processes can append to it.
//
//   {"journal": 1, "pack": "fnv1a64:...", "device": "NVIDIA H200", "driver": 13000, ...}     identity
//   {"call": "M=16 N=4096 K=4096", "sizes": [16, 4096, 4096], "serves": "3f", "variant": "...", "microseconds": 9.1}
#pragma once

#include "Runtime/Result.h"
#include "Runtime/Tuning.h"

#include <set>

namespace tile::runner {

using runtime::Result;
using runtime::Status;

class TuneJournal {
public:
  /// Opens or creates the file and removes a truncated last line. `identity` is a table without entries that describes
  /// the kernel, its variants and the device. Fails if the journal has another identity.
  static Result<TuneJournal> open(const std::string &path, const runtime::TuningTable &identity);
  struct Measured {
    runtime::TuningTable table;
    std::set<std::string> calls;
  };
  /// Returns the contents of an existing journal.
  static Result<Measured> read(const std::string &path);

  TuneJournal(TuneJournal &&other) noexcept;
  ~TuneJournal();

  bool has(const std::string &call) const { return calls.contains(call); }
  /// Appends an entry. When the function returns, the entry is on disk.
  Status append(const std::string &call, const runtime::TuningEntry &entry);

private:
  TuneJournal() = default;
  std::string path;
  int file = -1;
  std::set<std::string> calls;
};

} // namespace tile::runner
