// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The artifact of one kernel in memory: the bytes that the driver loads, and their manifest. If there are several
// variants, these members describe the first variant, and the pack of all variants is kept as well.
#pragma once

#include "Runtime/Pack.h"

namespace tile::runtime {

enum class ArtifactFormat { Cubin, Ptx };

struct Artifact {
  ArtifactFormat format = ArtifactFormat::Cubin;
  /// The bytes that the driver loads. PTX text must end with a NUL for the driver, which std::string guarantees.
  std::string image;
  std::string manifestText;
  Manifest manifest;
  /// For a cubin from a pack: the PTX from which it was assembled, if the pack has it.
  std::string ptx;
  std::shared_ptr<const Pack> pack; ///< pack of all variants; null if there is only one
};

/// Returns the number of variants, at least one.
size_t variantCount(const Artifact &artifact);

/// Returns the manifest of a variant.
const Manifest &variantManifest(const Artifact &artifact, size_t index);

/// Returns true if a driver can compile the variant for later devices: the variant is PTX, or a cubin that comes with
/// its PTX.
bool hasPtx(const Artifact &artifact, size_t index);

/// Returns a variant as a separate artifact, with its image, manifest and, if available, PTX.
Result<Artifact> selectVariant(const Artifact &artifact, size_t index);

/// Returns the index of the variant called `name`. If there are several for different targets, `target` selects one.
/// The error lists the existing variants.
Result<size_t> findVariant(const Artifact &artifact, std::string_view name, std::string_view target = {});

/// Returns the PTX, which is the artifact itself, a section of a cubin, or a frame of its pack.
Result<std::string> findPtx(const Artifact &artifact);

/// Reads the artifact of a kernel. In a bundle (Bundle.h), `kernel` names the kernel to read and may be empty if there
/// is only one. For any other artifact, `kernel` is empty or the name of its kernel.
Result<Artifact> readArtifact(Bytes bytes, std::string_view kernel = {});
/// Reads a file. `path` may be "FILE:KERNEL", which names a kernel of a bundle.
Result<Artifact> readArtifactFile(const std::string &path);

/// Returns the contents of a file; the error names the file and the reason. Rejects directories and files of more than
/// `limit` bytes.
Result<std::string> readFile(const std::string &path, uint64_t limit);

} // namespace tile::runtime
