// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/TuningTables.h"

#include "Runtime/Artifact.h"

#include "llvm/ADT/STLExtras.h"

namespace tile::driver {

llvm::Expected<TuningTables> TuningTables::read(const std::vector<std::string> &paths) {
  TuningTables read;
  for (const std::string &path : paths) {
    runtime::Result<runtime::TuningTable> table = runtime::readTuningFile(path);
    if (!table)
      return llvm::createStringError("--tuning: " + table.error().message);
    read.tables.emplace_back(path, std::move(*table));
  }
  return read;
}

/// Returns true if `holds` returns true for the name of a variant that the tables choose for some call.
static bool anyChoice(llvm::ArrayRef<std::pair<std::string, runtime::TuningTable>> tables,
                      llvm::function_ref<bool(llvm::StringRef)> holds) {
  return llvm::any_of(tables, [&](const auto &table) {
    return llvm::any_of(table.second.entries, [&](const auto &entry) { return holds(entry.variant); });
  });
}

bool TuningTables::choose(llvm::StringRef variant) const {
  return anyChoice(tables, [&](llvm::StringRef chosen) { return chosen == variant; });
}

bool TuningTables::chooseFurther(llvm::StringRef variant) const {
  return anyChoice(tables, [&](llvm::StringRef chosen) { return chosen.starts_with((variant + "+").str()); });
}

static runtime::Result<std::string> withTable(const std::string &artifact, const runtime::TuningTable &table) {
  std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t *>(artifact.data()), artifact.size());
  runtime::Result<runtime::Artifact> read = runtime::readArtifact(bytes);
  if (!read)
    return read.error();
  if (!read->pack)
    return runtime::makeError(TILE_ERROR_INVALID_ARGUMENT, "the artifact has one variant");
  runtime::Result<runtime::TuningTable> transferred = runtime::transferTuning(table, *read->pack);
  return transferred ? runtime::withTuning(bytes, *transferred) : runtime::Result<std::string>(transferred.error());
}

std::vector<TuningTables::Stale> TuningTables::embed(std::string &artifact) const {
  std::vector<Stale> stale;
  for (const auto &[path, table] : tables)
    if (runtime::Result<std::string> with = withTable(artifact, table))
      artifact = std::move(*with);
    else
      stale.push_back({path, with.error().message});
  return stale;
}

} // namespace tile::driver
