// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes the index and its frames. The index is untrusted: names, offsets and sizes are checked when it is
// read. Contents are checked by the checksum of their frame when they are decompressed.
#include "Runtime/Bundle.h"

#include "Runtime/JsonReader.h"
#include "Runtime/NearestName.h"
#include "Runtime/Zstd.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace tile::runtime {
namespace {

constexpr std::string_view bundleMagic = "tilepack";
constexpr uint32_t bundleVersion = 2;
constexpr size_t bundleHeaderBytes = 16;
constexpr uint64_t largestBundleIndex = uint64_t(4) << 20, largestBundled = uint64_t(1) << 30;

Error badBundle(std::string message) {
  return Error{TILE_ERROR_NOT_AN_ARTIFACT, "pack of kernels: " + std::move(message)};
}

bool isKernelName(std::string_view name) {
  return !name.empty() && name.size() <= 256 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(".+_-").find(c) != std::string_view::npos;
  });
}

Status checkNames(const std::vector<std::string> &names) {
  if (names.empty() || names.size() > maxKernels)
    return badBundle(fmt::format("{} kernels; expected 1 to {}", names.size(), maxKernels));
  std::set<std::string> seen;
  for (const std::string &name : names) {
    if (!isKernelName(name))
      return badBundle(fmt::format("a kernel is called '{}'; names consist of letters, digits and .+_-", name));
    if (!seen.insert(name).second)
      return badBundle(fmt::format("two kernels are called '{}'", name));
  }
  return Success{};
}

std::string_view textOf(Bytes bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

uint32_t wordAt(std::string_view text, size_t offset) {
  uint32_t word = 0;
  std::memcpy(&word, text.data() + offset, sizeof(word));
  return word;
}

} // namespace

Result<std::string> writeBundle(std::span<const NamedArtifact> artifacts) {
  std::vector<std::string> names;
  std::string frames;
  Json kernels = Json::array();
  for (const NamedArtifact &artifact : artifacts) {
    const std::string frame = compressFrame(artifact.bytes);
    kernels.push_back({{"name", artifact.name}, {"frame", {frames.size(), frame.size(), artifact.bytes.size()}}});
    frames += frame;
    names.push_back(artifact.name);
  }
  if (Status status = checkNames(names); !status)
    return status.error();
  const std::string index = compressFrame(Json{{"kernels", std::move(kernels)}}.dump());
  const uint32_t words[] = {bundleVersion, static_cast<uint32_t>(index.size())};
  std::string bytes(bundleMagic);
  bytes.append(reinterpret_cast<const char *>(words), sizeof(words));
  return bytes + index + frames;
}

bool isBundle(Bytes bytes) {
  const std::string_view text = textOf(bytes);
  return text.size() >= bundleHeaderBytes && text.starts_with(bundleMagic) &&
         wordAt(text, bundleMagic.size()) == bundleVersion;
}

Result<Bundle> Bundle::read(Bytes bytes) {
  assert(isBundle(bytes) && "another format");
  const std::string_view text = textOf(bytes);
  const uint32_t indexBytes = wordAt(text, bundleMagic.size() + 4);
  if (indexBytes > text.size() - bundleHeaderBytes)
    return badBundle(
        fmt::format("the index has {} bytes, but only {} are present", indexBytes, text.size() - bundleHeaderBytes));
  Result<std::string> index = decompressFrame(text.substr(bundleHeaderBytes, indexBytes), largestBundleIndex);
  if (!index)
    return badBundle("the index is " + index.error().message);
  const Json json = parseJson(*index);
  if (json.is_discarded())
    return badBundle(fmt::format("the index is not valid JSON ({} bytes)", index->size()));
  Bundle bundle;
  bundle.frames = bytes.subspan(bundleHeaderBytes + indexBytes);
  std::optional<Error> error;
  std::vector<std::string> names;
  const ObjectReader reader(json, "", error);
  reader.forEach("kernels", [&](const Json &element, const std::string &path) {
    if (error || names.size() > maxKernels) // checkNames reports that there are too many
      return;
    const ObjectReader item(element, path, error);
    Entry entry{.name = item.string("name", true)};
    const Json *frame = item.find("frame");
    const bool isFrame =
        frame && frame->is_array() && frame->size() == 3 &&
        std::all_of(frame->begin(), frame->end(), [](const Json &n) { return n.is_number_unsigned(); });
    if (!isFrame)
      return item.fail(path, "expected a frame of three sizes");
    entry.offset = (*frame)[0].get<uint64_t>();
    entry.bytes = (*frame)[1].get<uint64_t>();
    entry.contentBytes = (*frame)[2].get<uint64_t>();
    const uint64_t available = bundle.frames.size();
    const bool isTruncated =
        entry.offset <= largestBundled && entry.bytes <= largestBundled && entry.offset + entry.bytes > available;
    if (isTruncated && entry.contentBytes <= largestBundled)
      return item.fail(path,
                       fmt::format("the pack is truncated: of kernel '{}', {} of {} bytes are missing", entry.name,
                                   std::min(entry.bytes, entry.offset + entry.bytes - available), entry.bytes));
    if (entry.offset > available || entry.bytes > available - entry.offset || entry.contentBytes > largestBundled)
      return item.fail(path, fmt::format("kernel '{}' has {} bytes at offset {}, {} decompressed; there are {} bytes",
                                         entry.name, entry.bytes, entry.offset, entry.contentBytes, available));
    names.push_back(entry.name);
    bundle.entries.push_back(std::move(entry));
  });
  if (error)
    return badBundle("the index: " + error->message);
  if (Status status = checkNames(names); !status)
    return status.error();
  return bundle;
}

Result<size_t> Bundle::find(std::string_view name) const {
  std::vector<std::string> names;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].name == name)
      return i;
    names.push_back(entries[i].name);
  }
  return makeError(TILE_ERROR_INVALID_ARGUMENT, "the pack has no kernel '{}'{}", name,
                   knownNames(name, std::move(names)));
}

Result<std::string> Bundle::artifact(size_t index) const {
  const Entry &entry = entries[index];
  Result<std::string> contents = decompressFrame(textOf(frames).substr(entry.offset, entry.bytes), entry.contentBytes);
  if (!contents)
    return badBundle(fmt::format("kernel '{}' is {}", entry.name, contents.error().message));
  if (contents->size() != entry.contentBytes)
    return badBundle(
        fmt::format("kernel '{}' is damaged: {} bytes; expected {}", entry.name, contents->size(), entry.contentBytes));
  return contents;
}

std::string Bundle::describeNames() const {
  constexpr size_t most = 8;
  std::string text;
  for (size_t i = 0; i < std::min(entries.size(), most); ++i)
    text += (i ? ", " : "") + entries[i].name;
  return entries.size() > most ? text + fmt::format(", ... ({} in all)", entries.size()) : text;
}

} // namespace tile::runtime
