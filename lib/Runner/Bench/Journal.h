// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file of measurements that a benchmark goes on with after it was interrupted: the keys of its lines. A last line
// that was cut off is removed.
#pragma once

#include "Runner/Options.h"
#include "Runtime/Result.h"

#include <set>

namespace tile::runner {

class Journal {
public:
  /// Empty unless the options say to resume.
  static runtime::Result<Journal> open(const RunOptions &options);
  bool has(const std::string &key) const { return keys.contains(key); }
  /// An error if another card than that of the device has made one of the lines.
  runtime::Status checkDevice(const std::string &device) const;

private:
  std::set<std::string> keys, devices;
  std::string file;
};

} // namespace tile::runner
