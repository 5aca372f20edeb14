// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes the index and its frames. The index is untrusted: offsets, sizes and names are checked when it is
// read. Contents are checked by the checksum of their frame when they are decompressed.
#include "Runtime/Pack.h"

#include "Runtime/Conditions.h"
#include "Runtime/JsonReader.h"
#include "Runtime/Zstd.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace tile::runtime {
namespace {

constexpr std::string_view magic = "tilepack";
constexpr uint32_t packVersion = 1;
constexpr size_t headerBytes = 16;
// Far more than needed: manifests have 3 KB, cubins less than 1 MB.
constexpr uint64_t largestIndex = uint64_t(32) << 20, largestContents = uint64_t(256) << 20;

Error malformed(std::string message) {
  return Error{TILE_ERROR_NOT_AN_ARTIFACT, "pack: " + std::move(message)};
}

/// FNV-1a: distinguishes packs, but does not protect against deliberate collisions.
class ContentHash {
public:
  void add(std::string_view bytes) {
    addByte(bytes.size()); // moving bytes from one string to the next must change the hash
    for (unsigned char byte : bytes)
      addByte(byte);
  }
  std::string text() const { return fmt::format("fnv1a64:{:016x}", state); }

private:
  void addByte(uint64_t byte) { state = (state ^ byte) * 0x100000001b3; }
  uint64_t state = 0xcbf29ce484222325;
};

uint32_t readWord(std::string_view bytes, size_t offset) {
  uint32_t word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof(word));
  return word;
}

std::string assemble(const Json &index, std::string_view frames) {
  const std::string frame = compressFrame(index.dump(-1, ' ', false, Json::error_handler_t::replace));
  const uint32_t words[] = {packVersion, static_cast<uint32_t>(frame.size())};
  std::string bytes(magic);
  bytes.append(reinterpret_cast<const char *>(words), sizeof(words));
  bytes += frame;
  bytes += frames;
  return bytes;
}

/// Checks that a manifest of the pack has the kernel, parameters and types of the general one, and no weaker
/// assumptions. Does not check that both compute the same.
Status checkAgainstGeneral(const Manifest &manifest, const Manifest &general) {
  if (manifest.kernel != general.kernel)
    return malformed(fmt::format("variant {} is of kernel '{}', variant {} of '{}'", variantLabel(manifest),
                                 manifest.kernel, variantLabel(general), general.kernel));
  for (const Parameter &parameter : manifest.parameters) {
    const Parameter *other = general.findParameter(parameter.name);
    if (!other)
      return malformed(fmt::format("variant {} has a parameter '{}', which the general variant {} lacks",
                                   variantLabel(manifest), parameter.name, variantLabel(general)));
    if (other->typeName() != parameter.typeName())
      return malformed(fmt::format(
          "parameter '{}' of variant {} has type {}, but in the general variant {} it has type {}", parameter.name,
          variantLabel(manifest), parameter.typeName(), variantLabel(general), other->typeName()));
    if (parameter.alignment % other->alignment != 0 || parameter.divisibility % other->divisibility != 0)
      return malformed(
          fmt::format("variant {}, the first, is not general: it assumes more about parameter '{}' than {}",
                      variantLabel(general), parameter.name, variantLabel(manifest)));
  }
  for (const Parameter &parameter : general.parameters)
    if (!manifest.findParameter(parameter.name) &&
        (!parameter.isInteger() || !integerConstant(manifest, parameter.name)))
      return malformed(fmt::format("variant {} lacks parameter '{}' and does not fix it to an integer",
                                   variantLabel(manifest), parameter.name));
  return Success{};
}

Status checkVariants(std::span<const Manifest *const> manifests) {
  if (manifests.empty())
    return malformed("no variants; expected at least a general one");
  if (manifests.size() > maxVariants)
    return malformed(fmt::format("{} variants; at most {} are allowed", manifests.size(), maxVariants));
  std::map<std::pair<std::string, std::string>, size_t> seen;
  for (size_t i = 0; i < manifests.size(); ++i) {
    const Manifest &manifest = *manifests[i];
    if (manifest.variant.empty())
      return malformed(fmt::format("variant {} has no name", i));
    if (manifest.format != "cubin" && manifest.format != "ptx")
      return malformed(fmt::format("variant {} has the format '{}'; expected cubin or ptx", variantLabel(manifest),
                                   manifest.format));
    const auto [other, isNew] = seen.try_emplace({manifest.target, manifest.variant}, i);
    if (!isNew)
      return malformed(fmt::format("variants {} and {} for {} are both called {}", other->second, i, manifest.target,
                                   variantLabel(manifest)));
    if (Status status = checkAgainstGeneral(manifest, *manifests[0]); !status)
      return status;
  }
  return Success{};
}

} // namespace

std::string variantLabel(const Manifest &manifest) {
  return fmt::format("'{}'", manifest.variant);
}

/// Collects frames; equal contents share one frame.
class PackWriter {
public:
  size_t add(const std::string &contents) {
    const auto [known, isNew] = indices.try_emplace(contents, list.size());
    if (isNew) {
      const std::string frame = compressFrame(contents);
      list.push_back({frames.size(), frame.size(), contents.size()});
      frames += frame;
    }
    return known->second;
  }

  static Json describe(const std::vector<Pack::Frame> &frames) {
    Json json = Json::array();
    for (const Pack::Frame &frame : frames)
      json.push_back({frame.offset, frame.bytes, frame.contentBytes});
    return json;
  }

  /// Writes the pack. If the first variant has no image in the pack, `elf` is its image.
  Result<std::string> write(std::span<const PackedVariant> variants, std::string_view elf) {
    std::vector<const Manifest *> manifests;
    for (const PackedVariant &variant : variants)
      manifests.push_back(&variant.manifest);
    if (Status status = checkVariants(manifests); !status)
      return status.error();
    ContentHash hash;
    Json described = Json::array();
    for (const PackedVariant &variant : variants) {
      const bool isElf = &variant == &variants.front() && !elf.empty();
      if (variant.image.empty() && !isElf)
        return malformed(fmt::format("variant {} has no image", variantLabel(variant.manifest)));
      const std::string text = toJson(variant.manifest);
      Json entry = {{"manifest", text}};
      if (!isElf)
        entry["image"] = add(variant.image);
      if (!variant.ptx.empty())
        entry["ptx"] = add(variant.ptx);
      hash.add(text);
      hash.add(isElf ? elf : std::string_view(variant.image));
      hash.add(variant.ptx);
      described.push_back(std::move(entry));
    }
    const Json index = {{"hash", hash.text()}, {"frames", describe(list)}, {"variants", std::move(described)}};
    return assemble(index, frames);
  }

private:
  std::string frames;
  std::vector<Pack::Frame> list;
  std::map<std::string, size_t> indices;
};

Result<std::string> writePack(std::span<const PackedVariant> variants) {
  return PackWriter().write(variants, {});
}

Result<std::string> appendVariants(Bytes elfOfVariant0, std::span<const PackedVariant> variants) {
  if (variants.empty())
    return malformed("no variants; expected at least a general one");
  const std::string json = toJson(variants[0].manifest);
  if (variants.size() == 1)
    return appendManifestSection(elfOfVariant0, json, variants[0].ptx);
  const std::string_view elf(reinterpret_cast<const char *>(elfOfVariant0.data()), elfOfVariant0.size());
  Result<std::string> pack = PackWriter().write(variants, elf);
  if (!pack)
    return pack.error();
  return appendManifest(elfOfVariant0, json, NamedSection{variantsSectionName, *pack});
}

bool isPack(Bytes bytes) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

Result<Pack> Pack::read(Bytes bytes) {
  if (!isPack(bytes))
    return malformed(fmt::format("{} bytes that do not begin with '{}'", bytes.size(), magic));
  Pack pack;
  pack.contents = std::make_shared<const std::string>(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  const std::string_view all = *pack.contents;
  if (all.size() < headerBytes)
    return malformed(fmt::format("{} bytes are too few for a header", all.size()));
  if (const uint32_t version = readWord(all, magic.size()); version != packVersion)
    return malformed(fmt::format("version {} is unknown; this version of tile reads versions 1 and 2", version));
  const uint32_t indexBytes = readWord(all, magic.size() + 4);
  if (indexBytes > all.size() - headerBytes)
    return malformed(
        fmt::format("the index has {} bytes, but only {} are present", indexBytes, all.size() - headerBytes));
  pack.firstFrame = headerBytes + indexBytes;
  Result<std::string> index = decompressFrame(all.substr(headerBytes, indexBytes), largestIndex);
  if (!index)
    return malformed("the index is " + index.error().message);
  if (Status status = pack.readIndex(*index, all.size() - pack.firstFrame); !status)
    return status.error();
  return pack;
}

namespace {

/// Returns the index of a frame, if the key is present.
std::optional<size_t> readNumber(const ObjectReader &reader, const char *key, size_t count) {
  if (!reader.find(key))
    return std::nullopt;
  const int64_t number = reader.integer(key, 0);
  if (number < 0 || static_cast<uint64_t>(number) >= count)
    reader.fail(reader.pathOf(key), fmt::format("frame {} does not exist; there are {}", number, count));
  return static_cast<size_t>(number);
}

} // namespace

Status Pack::readIndex(std::string_view text, size_t frameBytes) {
  const Json json = parseJson(text);
  if (json.is_discarded())
    return malformed(
        fmt::format("the index is not valid JSON, or nested too deeply or too large ({} bytes)", text.size()));
  std::optional<Error> error;
  const ObjectReader reader(json, "", error);
  contentHash = reader.string("hash", true);
  uint64_t needed = 0;
  reader.forEach("frames", [&](const Json &element, const std::string &path) {
    const bool isFrame = element.is_array() && element.size() == 3 && element[0].is_number_unsigned() &&
                         element[1].is_number_unsigned() && element[2].is_number_unsigned();
    if (!isFrame)
      return reader.fail(path, "expected three sizes");
    const Frame frame{element[0].get<uint64_t>(), element[1].get<uint64_t>(), element[2].get<uint64_t>()};
    if (frame.contentBytes > largestContents)
      return reader.fail(path,
                         fmt::format("the frame at offset {} has {} bytes after decompression; at most {} are allowed",
                                     frame.offset, frame.contentBytes, largestContents));
    uint64_t end = 0;
    if (__builtin_add_overflow(frame.offset, frame.bytes, &end) || end > UINT64_MAX - firstFrame)
      return reader.fail(path, fmt::format("{} bytes at offset {}", frame.bytes, frame.offset));
    needed = std::max(needed, end);
    frames.push_back(frame);
  });
  if (needed > frameBytes)
    return malformed(
        fmt::format("it is truncated: it has {} bytes and needs {}", firstFrame + frameBytes, firstFrame + needed));
  reader.forEach("variants", [&](const Json &element, const std::string &path) {
    if (error || entries.size() > maxVariants) // checkVariants reports that there are too many
      return;
    const ObjectReader item(element, path, error);
    Entry &entry = entries.emplace_back();
    entry.text = item.string("manifest", true);
    entry.image = readNumber(item, "image", frames.size());
    entry.ptx = readNumber(item, "ptx", frames.size());
    if (error)
      return;
    Result<Manifest> manifest = parseManifest(entry.text);
    if (!manifest)
      return reader.fail(path, manifest.error().message);
    entry.manifest = std::move(*manifest);
    if (!entry.image && entries.size() > 1)
      item.fail(path, fmt::format("variant {} has no image", variantLabel(entry.manifest)));
  });
  reader.forEach("tuning", [&](const Json &element, const std::string &path) {
    if (element.is_number_unsigned() && element.get<uint64_t>() < frames.size())
      tables.push_back(element.get<size_t>());
    else
      reader.fail(path, "expected the index of a frame");
  });
  if (error)
    return malformed("the index: " + error->message);
  std::vector<const Manifest *> manifests;
  for (const Entry &entry : entries)
    manifests.push_back(&entry.manifest);
  return checkVariants(manifests);
}

Result<std::string> Pack::decompress(size_t number) const {
  const Frame &frame = frames[number];
  Result<std::string> decompressed =
      decompressFrame(std::string_view(*contents).substr(firstFrame + frame.offset, frame.bytes), frame.contentBytes);
  if (decompressed && decompressed->size() != frame.contentBytes)
    return makeError(TILE_ERROR_NOT_AN_ARTIFACT, "damaged: {} bytes; expected {}", decompressed->size(),
                     frame.contentBytes);
  return decompressed;
}

Result<std::string> Pack::image(size_t index) const {
  const Entry &entry = entries[index];
  if (!entry.image)
    return malformed(fmt::format("variant {} has no image", variantLabel(entry.manifest)));
  Result<std::string> image = decompress(*entry.image);
  if (!image)
    return malformed(fmt::format("the image of variant {} is {}", variantLabel(entry.manifest), image.error().message));
  return image;
}

Result<std::string> Pack::ptx(size_t index) const {
  const Entry &entry = entries[index];
  if (!entry.ptx)
    return makeError(TILE_ERROR_UNSUPPORTED, "the artifact does not contain the PTX of variant {}",
                     variantLabel(entry.manifest));
  Result<std::string> text = decompress(*entry.ptx);
  if (!text)
    return malformed(fmt::format("the PTX of variant {} is {}", variantLabel(entry.manifest), text.error().message));
  return text;
}

std::vector<Result<std::string>> Pack::tuning() const {
  std::vector<Result<std::string>> texts;
  for (size_t table : tables) {
    Result<std::string> text = decompress(table);
    texts.push_back(text ? text : Result<std::string>(malformed("a tuning table is " + text.error().message)));
  }
  return texts;
}

std::string Pack::withTuning(std::span<const std::string> texts) const {
  // Frames of tables come after all other frames, which do not change.
  size_t used = 0;
  Json variants = Json::array();
  for (const Entry &entry : entries) {
    Json json = {{"manifest", entry.text}};
    for (const auto &[key, number] : {std::pair("image", entry.image), std::pair("ptx", entry.ptx)})
      if (number) {
        json[key] = *number;
        used = std::max(used, *number + 1);
      }
    variants.push_back(std::move(json));
  }
  std::vector<Frame> kept(frames.begin(), frames.begin() + static_cast<ptrdiff_t>(used));
  uint64_t end = 0;
  for (const Frame &frame : kept)
    end = std::max(end, frame.offset + frame.bytes);
  std::string bytes = contents->substr(firstFrame, end);
  Json indices = Json::array();
  for (const std::string &text : texts) {
    const std::string frame = compressFrame(text);
    indices.push_back(kept.size());
    kept.push_back({bytes.size(), frame.size(), text.size()});
    bytes += frame;
  }
  Json index = {{"hash", contentHash}, {"frames", PackWriter::describe(kept)}, {"variants", std::move(variants)}};
  if (!texts.empty())
    index["tuning"] = std::move(indices);
  return assemble(index, bytes);
}

} // namespace tile::runtime
