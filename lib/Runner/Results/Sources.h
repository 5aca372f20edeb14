// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sources of a kernel, for reports that show their lines. Artifacts have names for them that mean the same in any
// folder (lib/Codegen/SourcePaths.h).
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tile::runner {

class Sources {
public:
  /// Names are searched in the working directory, then in these.
  explicit Sources(std::vector<std::string> folders = {}) : folders(std::move(folders)) {}

  /// "" if the file is not there.
  const std::string &text(const std::string &name);
  std::string line(const std::string &name, uint32_t number);

private:
  std::vector<std::string> folders;
  std::map<std::string, std::string> texts;
};

} // namespace tile::runner
