// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sources of a kernel, for reports that show source lines. File names in artifacts do not depend on the folder
// (lib/Codegen/SourcePaths.h).
//
// Artifacts are untrusted, and their file names may refer to any file that the user can read. Only two kinds of files
// are shown: a file whose hash is the one in the manifest, since the creator of the artifact knows its contents anyway;
// and sources, recognised by their extension, in designated folders (see Folders).
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tile::runner {

class Sources {
public:
  struct Folders {
    std::vector<std::string> given;           ///< given by the user; .tile and .py files in them are shown
    std::vector<std::string> artifactFolders; ///< folders of artifacts; .tile files in them are shown
    bool areTrusted = false;                  ///< names come from this process's compiler: all files are shown
  };
  /// `hash` is the hash of the source in the manifest, "sha256:…", or "". A file with this hash is also looked for in
  /// the working directory.
  explicit Sources(Folders folders, std::string hash = {}) : folders(std::move(folders)), hash(std::move(hash)) {}

  /// Returns the contents of a file, or "" if it does not exist or must not be shown.
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
