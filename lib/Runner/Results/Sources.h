// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sources of a kernel, for reports that show their lines. Artifacts have names for them that mean the same in any
// folder (lib/Codegen/SourcePaths.h).
//
// An artifact may come from anybody, and its names may lead to any file that the user can read. So only two kinds of
// files are shown: one whose contents have the hash that the manifest gives, which whoever made the artifact knows
// already; and sources by their extension in folders where there is nothing else to find (see Folders).
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tile::runner {

class Sources {
public:
  struct Folders {
    std::vector<std::string> given;  ///< by the user, for sources: .tile and .py files in them are shown
    std::vector<std::string> beside; ///< the artifact: .tile files in them are shown
    bool areTrusted = false;         ///< the names are the compiler's own: all files are shown
  };
  /// `hash`: of the manifest's source, "sha256:…", or "". A file with it is searched in the working directory, too.
  explicit Sources(Folders folders, std::string hash = {}) : folders(std::move(folders)), hash(std::move(hash)) {}

  /// "" if the file is not there, or not one to be shown.
  const std::string &text(const std::string &name);
  std::string line(const std::string &name, uint32_t number);

private:
  bool isShown(const std::string &folder, bool isGiven, const std::string &name) const;
  bool hasHash(const std::string &contents) const;

  Folders folders;
  std::string hash;
  std::map<std::string, std::string> texts;
};

} // namespace tile::runner
