// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads, writes, checks and merges tables, and stores them in artifacts.
#include "Runtime/Tuning.h"

#include "Runtime/Artifact.h"
#include "Runtime/JsonReader.h"
#include "Runtime/TunedChoice.h"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <map>

namespace tile::runtime {
namespace {

constexpr uint64_t largestTable = uint64_t(64) << 20; // maximum file size in bytes

Error invalidTuning(std::string message) {
  return Error{TILE_ERROR_MANIFEST, "tuning table: " + std::move(message)};
}

TuningEntry readEntry(const Json &json, const std::string &path, size_t parameters, std::optional<Error> &error) {
  const ObjectReader reader(json, path, error);
  TuningEntry entry{reader.integers("sizes"), reader.string("serves", true), reader.string("variant", true),
                    reader.number("microseconds")};
  if (entry.sizes.size() != parameters)
    reader.fail(reader.pathOf("sizes"),
                fmt::format("{} sizes; expected one for each of {} parameters", entry.sizes.size(), parameters));
  if (!std::isfinite(entry.microseconds) || entry.microseconds < 0)
    reader.fail(reader.pathOf("microseconds"), fmt::format("{} is not a time", entry.microseconds));
  if (!parseHex(entry.serves))
    reader.fail(reader.pathOf("serves"), fmt::format("'{}'; expected hexadecimal digits", entry.serves));
  return entry;
}

/// Returns sorted entries. If entries differ only in time, keeps the fastest.
std::vector<TuningEntry> normalised(const std::vector<TuningEntry> &entries) {
  std::map<std::tuple<std::vector<int64_t>, std::string, std::string>, double> times;
  for (const TuningEntry &entry : entries) {
    const auto [known, isNew] = times.try_emplace({entry.sizes, entry.serves, entry.variant}, entry.microseconds);
    if (!isNew)
      known->second = std::min(known->second, entry.microseconds);
  }
  std::vector<TuningEntry> result;
  for (const auto &[key, time] : times)
    result.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), time});
  return result;
}

std::string driverName(int version) {
  return version == 0 ? "an unknown driver"
                      : fmt::format("a driver for CUDA {}.{}", version / 1000, version % 1000 / 10);
}

} // namespace

Result<TuningTable> parseTuning(std::string_view text) {
  const Json json = parseJson(text);
  if (json.is_discarded())
    return invalidTuning(fmt::format("not valid JSON, or nested too deeply or too large ({} bytes)", text.size()));
  std::optional<Error> error;
  const ObjectReader reader(json, "", error);
  if (const int64_t schema = reader.integer("schema", 0, true); !error && schema != tuningSchema)
    return invalidTuning(fmt::format("schema {} is unknown; this version reads schema {}", schema, tuningSchema));
  TuningTable table;
  table.kernel = reader.string("kernel", true);
  table.source = reader.string("source", true);
  table.pack = reader.string("pack", true);
  table.device = reader.string("device", true);
  const int64_t driver = reader.integer("driver", 0);
  if (driver < 0 || driver > INT32_MAX)
    reader.fail("driver", fmt::format("{} is not a version", driver));
  table.driver = static_cast<int>(driver);
  table.parameters = reader.strings("parameters", true);
  if (table.parameters.size() > TILE_MAX_PARAMETERS)
    reader.fail("parameters",
                fmt::format("{} names; at most {} are allowed", table.parameters.size(), TILE_MAX_PARAMETERS));
  table.variants = reader.strings("variants");
  reader.forEach("entries", [&](const Json &element, const std::string &path) {
    if (!error)
      table.entries.push_back(readEntry(element, path, table.parameters.size(), error));
  });
  if (error)
    return invalidTuning(error->message);
  table.entries = normalised(table.entries);
  return table;
}

Result<TuningTable> readTuningFile(const std::string &path) {
  Result<std::string> text = readFile(path, largestTable);
  if (!text)
    return text.error();
  Result<TuningTable> table = parseTuning(*text);
  return table ? table : Result<TuningTable>(withContext("'" + path + "'", table.error()));
}

std::string toJson(const TuningTable &table) {
  const auto quoted = [](const std::string &text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  std::string text =
      fmt::format("{{\"schema\": {}, \"kernel\": {}, \"source\": {}, \"pack\": {},\n \"device\": {}, "
                  "\"driver\": {}, \"parameters\": {},\n \"variants\": {},\n \"entries\": [",
                  tuningSchema, quoted(table.kernel), quoted(table.source), quoted(table.pack), quoted(table.device),
                  table.driver, Json(table.parameters).dump(), Json(table.variants).dump());
  const char *separator = "\n";
  for (const TuningEntry &entry : normalised(table.entries)) {
    text += fmt::format("{}  {{\"sizes\": {}, \"serves\": {}, \"variant\": {}, \"microseconds\": {}}}", separator,
                        Json(entry.sizes).dump(), quoted(entry.serves), quoted(entry.variant),
                        Json(entry.microseconds).dump());
    separator = ",\n";
  }
  return text + "\n]}\n";
}

Result<TuningTable> mergeTuning(const TuningTable &a, const TuningTable &b) {
  const std::tuple<const char *, const std::string *, const std::string *> names[] = {{"kernel", &a.kernel, &b.kernel},
                                                                                      {"source", &a.source, &b.source},
                                                                                      {"pack", &a.pack, &b.pack},
                                                                                      {"device", &a.device, &b.device}};
  for (const auto &[key, mine, other] : names)
    if (*mine != *other)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "tuning tables differ in {}: '{}' and '{}'", key, *mine, *other);
  if (a.driver / 1000 != b.driver / 1000)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "tuning tables were measured with {} and {}", driverName(a.driver),
                     driverName(b.driver));
  if (a.parameters != b.parameters)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "tuning tables have sizes of different parameters: {} and {}",
                     fmt::join(a.parameters, ", "), fmt::join(b.parameters, ", "));
  TuningTable merged = a;
  merged.driver = std::max(a.driver, b.driver);
  merged.entries.insert(merged.entries.end(), b.entries.begin(), b.entries.end());
  merged.entries = normalised(merged.entries);
  return merged;
}

Status checkTuning(const TuningTable &table, const Pack &pack, std::string_view device, int driver) {
  const Manifest &general = pack.manifest(0);
  if (table.kernel != general.kernel)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "the tuning table is for kernel '{}', not for '{}'", table.kernel,
                     general.kernel);
  if (table.pack != pack.hash())
    return makeError(TILE_ERROR_INVALID_ARGUMENT,
                     "the tuning table is for other variants of kernel '{}' ({}, source {}), not for these ({}, source "
                     "{}); tune again",
                     table.kernel, table.pack, table.source, pack.hash(), general.sourceHash);
  if (table.device != device)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "the tuning table is for device '{}', not for '{}'", table.device,
                     device);
  if (table.driver != 0 && driver != 0 && table.driver / 1000 != driver / 1000)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "the tuning table was measured with {}, not with {}; tune again",
                     driverName(table.driver), driverName(driver));
  return Success{};
}

std::vector<std::string> namesOfVariants(const Pack &pack) {
  std::vector<std::string> names;
  for (size_t i = 0; i < pack.size(); ++i)
    names.push_back(pack.manifest(i).target + " " + pack.manifest(i).variant);
  return names;
}

Result<TuningTable> transferTuning(const TuningTable &table, const Pack &pack) {
  const Manifest &general = pack.manifest(0);
  if (table.kernel != general.kernel)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "it is for kernel '{}', not for '{}'", table.kernel, general.kernel);
  if (table.source != general.sourceHash)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "kernel '{}' has changed since it was measured; tune again",
                     table.kernel);
  const std::vector<std::string> names = namesOfVariants(pack);
  std::vector<size_t> indices; // for each variant of the pack, its index among the measured variants
  for (const std::string &name : names) {
    const auto found = std::find(table.variants.begin(), table.variants.end(), name);
    if (found == table.variants.end())
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "variant '{}' was not measured; tune again",
                       name.substr(name.find(' ') + 1));
    indices.push_back(static_cast<size_t>(found - table.variants.begin()));
  }
  TuningTable transferred = table;
  transferred.pack = pack.hash();
  transferred.variants = names;
  transferred.entries.clear();
  for (TuningEntry entry : table.entries) {
    const bool isKnown = std::any_of(names.begin(), names.end(), [&](const std::string &name) {
      return std::string_view(name).substr(name.find(' ') + 1) == entry.variant;
    });
    const std::optional<VariantSet> serves = parseHex(entry.serves);
    if (!isKnown || !serves)
      continue;
    VariantSet serving;
    for (size_t i = 0; i < indices.size(); ++i)
      serving[i] = indices[i] < serves->size() && (*serves)[indices[i]];
    entry.serves = toHex(serving);
    transferred.entries.push_back(std::move(entry));
  }
  if (transferred.entries.empty())
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "none of the variants that it chooses is in the artifact");
  return transferred;
}

Result<std::string> withTuning(std::span<const uint8_t> bytes, const TuningTable &table) {
  Result<Artifact> artifact = readArtifact(bytes);
  if (!artifact)
    return artifact.error();
  if (!artifact->pack)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "kernel '{}' has one variant; there is nothing to choose",
                     artifact->manifest.kernel);
  const Pack &pack = *artifact->pack;
  if (Status status = checkTuning(table, pack, table.device, table.driver); !status)
    return status.error();
  std::vector<const Manifest *> manifests;
  for (size_t i = 0; i < pack.size(); ++i)
    manifests.push_back(&pack.manifest(i));
  if (Result<TunedChoice> tuned = TunedChoice::compile(table, manifests); !tuned)
    return tuned.error();
  std::map<std::string, std::string> texts; // keyed by device, so that the result does not depend on the order of calls
  for (const Result<std::string> &text : pack.tuning()) {
    if (!text)
      return text.error();
    Result<TuningTable> other = parseTuning(*text);
    if (!other)
      return other.error();
    texts.emplace(other->device, *text);
  }
  texts[table.device] = toJson(table);
  std::vector<std::string> list;
  for (auto &[device, text] : texts)
    list.push_back(std::move(text));
  const std::string changed = pack.withTuning(list);
  return isElf(bytes) ? replaceLastSection(bytes, {variantsSectionName, changed}) : Result<std::string>(changed);
}

} // namespace tile::runtime
