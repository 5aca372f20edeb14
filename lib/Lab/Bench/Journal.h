// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The file of measurements from which an interrupted benchmark resumes. In memory, only the keys of its lines are kept.
// A truncated last line is removed from the file.
#pragma once

#include "Runner/Options.h"
#include "Runtime/Result.h"

#include <set>

namespace tile::runner {

class Journal {
public:
  /// Opens the journal, which is empty unless the options request to resume.
  static runtime::Result<Journal> open(const RunOptions &options);
  bool has(const std::string &key) const { return keys.contains(key); }
  /// Fails if the file has lines that were measured on another device.
  runtime::Status checkDevice(const std::string &device) const;

private:
  std::set<std::string> keys, devices;
  std::string file;
};

} // namespace tile::runner
