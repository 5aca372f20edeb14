// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What `tile-run tune` has measured so far: a file with one JSON object a line, so that a run that was killed goes on
// where it was, and that several processes can append to.
//
//   {"journal": 1, "pack": "fnv1a64:...", "device": "NVIDIA H200", "driver": 13000, ...}     whose measurements
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
  /// Opens or makes the file. `identity` is a table without entries: what is measured, and where. A journal of
  /// something else is an error. A last line that a kill has cut off is removed.
  static Result<TuneJournal> open(const std::string &path, const runtime::TuningTable &identity);
  /// The table of a journal that is there.
  static Result<runtime::TuningTable> readTable(const std::string &path);

  TuneJournal(TuneJournal &&other) noexcept;
  ~TuneJournal();

  bool has(const std::string &call) const { return calls.contains(call); }
  /// On the disk when it returns.
  Status append(const std::string &call, const runtime::TuningEntry &entry);

private:
  TuneJournal() = default;
  std::string path;
  int file = -1;
  std::set<std::string> calls;
};

} // namespace tile::runner
