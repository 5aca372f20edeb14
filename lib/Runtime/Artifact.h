// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An artifact in memory: the bytes that the driver loads, and the manifest found in them. Of several variants it shows
// the first, and keeps the pack of all.
#pragma once

#include "Runtime/Pack.h"

namespace tile::runtime {

enum class ArtifactFormat { Cubin, Ptx };

struct Artifact {
  ArtifactFormat format = ArtifactFormat::Cubin;
  /// What the driver loads; a PTX text ends in NUL as the driver wants it (std::string guarantees that).
  std::string image;
  std::string manifestText;
  Manifest manifest;
  std::string ptx;                  ///< of a cubin out of a pack, if known
  std::shared_ptr<const Pack> pack; ///< of all variants; null if there is one
};

/// At least one.
size_t variantCount(const Artifact &artifact);

/// The manifest of one of them.
const Manifest &variantManifest(const Artifact &artifact, size_t index);

/// Whether a driver could compile one of them for later devices: it is PTX, or comes with the PTX that it was made
/// from.
bool hasPtx(const Artifact &artifact, size_t index);

/// One of them as an artifact by itself, with its image, manifest and, if the artifact has it, PTX.
Result<Artifact> selectVariant(const Artifact &artifact, size_t index);

/// The number of the variant with this name, for `target` if several have it and a target is given; an error that lists
/// those that there are.
Result<size_t> findVariant(const Artifact &artifact, std::string_view name, std::string_view target = {});

/// The PTX text: all of a PTX artifact, a section of a cubin or a part of its pack.
Result<std::string> findPtx(const Artifact &artifact);

Result<Artifact> readArtifact(Bytes bytes);
Result<Artifact> readArtifactFile(const std::string &path);

/// The whole file; an error that names the file and the reason. Refuses directories and more than `limit` bytes.
Result<std::string> readFile(const std::string &path, uint64_t limit);

} // namespace tile::runtime
