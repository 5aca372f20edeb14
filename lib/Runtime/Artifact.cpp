// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Detects the format of a file and extracts its manifest.
#include "Runtime/Artifact.h"

#include "Runtime/Bundle.h"
#include "Runtime/NearestName.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace tile::runtime {
namespace {

constexpr uint64_t largestArtifact = uint64_t(1) << 30; // 1 GiB: far above any artifact; rejects wrong files

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
    return makeError(TILE_ERROR_FILE, "'{}' is {} bytes; the limit is {}", path, size, limit);
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

namespace {

Bytes bytesOf(const std::string &image) {
  return {reinterpret_cast<const uint8_t *>(image.data()), image.size()};
}

Error noArtifact(std::string_view reason) {
  return makeError(TILE_ERROR_NOT_AN_ARTIFACT, "not a tile artifact: {}; compile the kernel with tilec", reason);
}

ArtifactFormat formatOf(const Manifest &manifest) {
  return manifest.format == "ptx" ? ArtifactFormat::Ptx : ArtifactFormat::Cubin;
}

/// Reads a .tilepack file.
Result<Artifact> readPack(Bytes bytes) {
  Result<Pack> pack = Pack::read(bytes);
  if (!pack)
    return pack.error();
  Artifact artifact;
  artifact.manifestText = pack->manifestText(0);
  artifact.manifest = pack->manifest(0);
  artifact.format = formatOf(artifact.manifest);
  Result<std::string> image = pack->image(0);
  if (!image)
    return image.error();
  artifact.image = std::move(*image);
  artifact.pack = std::make_shared<const Pack>(std::move(*pack));
  return artifact;
}

/// Reads the pack inside a cubin. The cubin itself is the pack's first variant.
Status readVariants(Artifact &artifact, Bytes bytes) {
  Result<std::string_view> section = findElfSection(bytes, variantsSectionName);
  if (!section)
    return section.error();
  Result<Pack> pack = Pack::read({reinterpret_cast<const uint8_t *>(section->data()), section->size()});
  if (!pack)
    return pack.error();
  if (pack->hasImage(0) || pack->manifestText(0) != artifact.manifestText)
    return makeError(TILE_ERROR_NOT_AN_ARTIFACT,
                     "the pack in section {} belongs to another cubin: its first variant "
                     "is {}, with another manifest",
                     variantsSectionName, variantLabel(pack->manifest(0)));
  artifact.pack = std::make_shared<const Pack>(std::move(*pack));
  return Success{};
}

Result<Artifact> readSingle(Bytes bytes) {
  if (isPack(bytes))
    return readPack(bytes);
  Artifact artifact;
  artifact.image.assign(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  artifact.format = isElf(bytes) ? ArtifactFormat::Cubin : ArtifactFormat::Ptx;
  Result<std::string_view> text = artifact.format == ArtifactFormat::Cubin ? findElfSection(bytes, manifestSectionName)
                                                                           : findPtxManifest(artifact.image);
  if (!text) {
    const bool looksLikePtx =
        artifact.image.find(".version") != std::string::npos && artifact.image.find(".target") != std::string::npos;
    if (artifact.format == ArtifactFormat::Cubin || looksLikePtx)
      return noArtifact(text.error().message);
    return makeError(TILE_ERROR_NOT_AN_ARTIFACT, "not a tile artifact: {} bytes that are neither a cubin nor PTX",
                     bytes.size());
  }
  if (artifact.format == ArtifactFormat::Cubin)
    if (Status status = checkContents(bytes); !status)
      return status.error();
  artifact.manifestText = std::string(*text);
  Result<Manifest> manifest = parseManifest(artifact.manifestText);
  if (!manifest)
    return manifest.error();
  artifact.manifest = std::move(*manifest);
  if (artifact.format == ArtifactFormat::Cubin && hasElfSection(bytes, variantsSectionName))
    if (Status status = readVariants(artifact, bytes); !status)
      return status.error();
  return artifact;
}

Result<Artifact> readBundled(Bytes bytes, std::string_view kernel) {
  Result<Bundle> bundle = Bundle::read(bytes);
  if (!bundle)
    return bundle.error();
  if (kernel.empty() && bundle->size() > 1)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "the pack has {} kernels ({}); name one, as in FILE:{}",
                     bundle->size(), bundle->describeNames(), bundle->name(0));
  Result<size_t> index = kernel.empty() ? Result<size_t>(size_t(0)) : bundle->find(kernel);
  if (!index)
    return index.error();
  Result<std::string> contents = bundle->artifact(*index);
  if (!contents)
    return contents.error();
  Result<Artifact> artifact = readSingle(bytesOf(*contents));
  return artifact ? std::move(artifact)
                  : Result<Artifact>(withContext("kernel '" + bundle->name(*index) + "'", artifact.error()));
}

} // namespace

Result<Artifact> readArtifact(Bytes bytes, std::string_view kernel) {
  if (isBundle(bytes))
    return readBundled(bytes, kernel);
  Result<Artifact> artifact = readSingle(bytes);
  if (artifact && !kernel.empty() && kernel != artifact->manifest.kernel)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "the artifact has no kernel '{}', only '{}'", kernel,
                     artifact->manifest.kernel);
  return artifact;
}

size_t variantCount(const Artifact &artifact) {
  return artifact.pack ? artifact.pack->size() : 1;
}

const Manifest &variantManifest(const Artifact &artifact, size_t index) {
  assert(index < variantCount(artifact) && "no such variant");
  return artifact.pack ? artifact.pack->manifest(index) : artifact.manifest;
}

bool hasPtx(const Artifact &artifact, size_t index) {
  if (variantManifest(artifact, index).format == "ptx")
    return true;
  if (artifact.pack)
    return artifact.pack->hasPtx(index);
  return !artifact.ptx.empty() || hasElfSection(bytesOf(artifact.image), ptxSectionName);
}

Result<Artifact> selectVariant(const Artifact &artifact, size_t index) {
  assert(index < variantCount(artifact) && "no such variant");
  if (!artifact.pack)
    return artifact;
  const Pack &pack = *artifact.pack;
  Artifact selected;
  selected.manifest = pack.manifest(index);
  selected.format = formatOf(selected.manifest);
  selected.manifestText = pack.manifestText(index);
  Result<std::string> image = pack.hasImage(index) ? pack.image(index) : Result<std::string>(artifact.image);
  if (!image)
    return image.error();
  selected.image = std::move(*image);
  if (Result<std::string> ptx = pack.ptx(index); ptx)
    selected.ptx = std::move(*ptx);
  else if (ptx.error().code != TILE_ERROR_UNSUPPORTED) // the cubin contains no PTX
    return ptx.error();
  return selected;
}

Result<size_t> findVariant(const Artifact &artifact, std::string_view name, std::string_view target) {
  std::vector<std::string> known;
  std::optional<size_t> found;
  for (size_t i = 0; i < variantCount(artifact); ++i) {
    const Manifest &manifest = variantManifest(artifact, i);
    known.push_back(manifest.variant);
    if (manifest.variant != name || (!target.empty() && manifest.target != target))
      continue;
    if (found)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "kernel '{}' has variants '{}' for {} and {}; specify the target",
                       manifest.kernel, name, variantManifest(artifact, *found).target, manifest.target);
    found = i;
  }
  if (found)
    return *found;
  if (artifact.manifest.variant.empty())
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "kernel '{}' has no variant '{}'; it has a single unnamed variant",
                     artifact.manifest.kernel, name);
  return makeError(TILE_ERROR_INVALID_ARGUMENT,
                   "kernel '{}' has no variant '{}'{}{}{}; tile-run list-variants prints all", artifact.manifest.kernel,
                   name, target.empty() ? "" : " for ", target, knownNames(name, std::move(known)));
}

Result<std::string> findPtx(const Artifact &artifact) {
  if (artifact.format == ArtifactFormat::Ptx)
    return artifact.image;
  if (!artifact.ptx.empty())
    return artifact.ptx;
  if (artifact.pack)
    return artifact.pack->ptx(0);
  Result<std::string_view> text = findElfSection(bytesOf(artifact.image), ptxSectionName);
  if (!text)
    return makeError(TILE_ERROR_UNSUPPORTED,
                     "the cubin of kernel '{}' does not contain its PTX ({}); compile it again, or use --emit=ptx",
                     artifact.manifest.kernel, text.error().message);
  return std::string(*text);
}

Result<Artifact> readArtifactFile(const std::string &path) {
  std::string file = path, kernel;
  std::error_code code;
  const size_t colon = path.rfind(':');
  if (colon != std::string::npos && !std::filesystem::exists(path, code)) {
    file.resize(colon);
    kernel = path.substr(colon + 1);
  }
  Result<std::string> contents = readFile(file, largestArtifact);
  if (!contents)
    return contents.error();
  Result<Artifact> artifact = readArtifact(bytesOf(*contents), kernel);
  if (!artifact)
    return withContext("'" + file + "'", artifact.error());
  return artifact;
}

} // namespace tile::runtime
