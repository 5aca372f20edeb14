// An artifact in memory: the bytes that the driver loads, and the manifest found in them.
#pragma once

#include "Runtime/ElfSection.h"
#include "Runtime/Manifest.h"

namespace tile::runtime {

enum class ArtifactFormat { Cubin, Ptx };

struct Artifact {
  ArtifactFormat format = ArtifactFormat::Cubin;
  std::string image; ///< the file's bytes; a PTX text ends in NUL as the driver wants it (std::string guarantees that)
  std::string manifestText;
  Manifest manifest;
};

/// The PTX text: all of a PTX artifact, a section of a cubin. The view points into the artifact.
Result<std::string_view> findPtx(const Artifact &artifact);

Result<Artifact> readArtifact(Bytes bytes);
Result<Artifact> readArtifactFile(const std::string &path);

/// The whole file; an error that names the file and the reason. Refuses directories and more than `limit` bytes.
Result<std::string> readFile(const std::string &path, uint64_t limit);

} // namespace tile::runtime
