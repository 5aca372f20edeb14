// Finds out what a file is and takes the manifest out of it.
#include "Runtime/Artifact.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace tile::runtime {
namespace {

constexpr uint64_t largestArtifact = uint64_t(1) << 30; // 1 GiB: no artifact comes near, a wrong file may

} // namespace

Result<std::string> readFile(const std::string &path, uint64_t limit) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code))
    return makeError(TILE_ERROR_FILE, "cannot read '{}': it is a directory", path);
  const std::unique_ptr<FILE, int (*)(FILE *)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file)
    return makeError(TILE_ERROR_FILE, "cannot open '{}': {}", path, std::strerror(errno));
  std::string contents;
  const uint64_t size = std::filesystem::file_size(path, code);
  if (!code && size > limit)
    return makeError(TILE_ERROR_FILE, "'{}' has {} bytes; at most {} are read", path, size, limit);
  if (!code)
    contents.reserve(static_cast<size_t>(size));
  char block[1 << 16];
  while (const size_t count = std::fread(block, 1, sizeof(block), file.get())) {
    contents.append(block, count);
    if (contents.size() > limit)
      return makeError(TILE_ERROR_FILE, "'{}' has more than {} bytes", path, limit);
  }
  if (std::ferror(file.get()))
    return makeError(TILE_ERROR_FILE, "cannot read '{}': {}", path, std::strerror(errno));
  return contents;
}

Result<Artifact> readArtifact(Bytes bytes) {
  Artifact artifact;
  artifact.image.assign(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  artifact.format = isElf(bytes) ? ArtifactFormat::Cubin : ArtifactFormat::Ptx;
  Result<std::string_view> text = artifact.format == ArtifactFormat::Cubin ? findElfSection(bytes, manifestSectionName)
                                                                           : findPtxManifest(artifact.image);
  if (!text) {
    if (artifact.format == ArtifactFormat::Cubin)
      return makeError(TILE_ERROR_NOT_AN_ARTIFACT, "not a tile artifact: {}; compile the kernel with tilec",
                       text.error().message);
    const bool looksLikePtx =
        artifact.image.find(".version") != std::string::npos && artifact.image.find(".target") != std::string::npos;
    return looksLikePtx ? makeError(TILE_ERROR_NOT_AN_ARTIFACT,
                                    "not a tile artifact: {}; compile the kernel with tilec", text.error().message)
                        : makeError(TILE_ERROR_NOT_AN_ARTIFACT,
                                    "not a tile artifact: {} bytes that are neither a cubin nor PTX", bytes.size());
  }
  artifact.manifestText = std::string(*text);
  Result<Manifest> manifest = parseManifest(artifact.manifestText);
  if (!manifest)
    return manifest.error();
  artifact.manifest = std::move(*manifest);
  return artifact;
}

Result<std::string_view> findPtx(const Artifact &artifact) {
  if (artifact.format == ArtifactFormat::Ptx)
    return std::string_view(artifact.image);
  const Bytes bytes(reinterpret_cast<const uint8_t *>(artifact.image.data()), artifact.image.size());
  Result<std::string_view> text = findElfSection(bytes, ptxSectionName);
  if (!text)
    return makeError(TILE_ERROR_UNSUPPORTED,
                     "the cubin of kernel '{}' does not contain its PTX ({}); compile it again, or use --emit=ptx",
                     artifact.manifest.kernel, text.error().message);
  return text;
}

Result<Artifact> readArtifactFile(const std::string &path) {
  Result<std::string> contents = readFile(path, largestArtifact);
  if (!contents)
    return contents.error();
  Result<Artifact> artifact = readArtifact({reinterpret_cast<const uint8_t *>(contents->data()), contents->size()});
  if (!artifact)
    return withContext("'" + path + "'", artifact.error());
  return artifact;
}

} // namespace tile::runtime
