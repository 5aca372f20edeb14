// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each line is appended with a single write, so that processes do not interleave. Only the first line needs the lock.
#include "Lab/Tune/TuneJournal.h"

#include "Runtime/Artifact.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace tile::runner {

using runtime::makeError;
using runtime::TuningEntry;
using runtime::TuningTable;
using OrderedJson = nlohmann::ordered_json;

namespace {

constexpr int journalVersion = 1;
constexpr uint64_t largestJournal = uint64_t(1) << 30;

std::string headerLine(const TuningTable &identity) {
  const OrderedJson json = {{"journal", journalVersion},         {"kernel", identity.kernel},
                            {"source", identity.source},         {"pack", identity.pack},
                            {"device", identity.device},         {"driver", identity.driver},
                            {"parameters", identity.parameters}, {"variants", identity.variants}};
  return json.dump() + "\n";
}

std::string entryLine(const std::string &call, const TuningEntry &entry) {
  const OrderedJson json = {{"call", call},
                            {"sizes", entry.sizes},
                            {"serves", entry.serves},
                            {"variant", entry.variant},
                            {"microseconds", entry.microseconds}};
  return json.dump() + "\n";
}

struct Contents {
  TuningTable table;
  std::set<std::string> calls;
  size_t completeBytes = 0; ///< size of the file up to the end of its last complete line
};

/// Returns the value of a key, or nullopt if the key is missing or its value has another type.
template <typename T> std::optional<T> valueOf(const OrderedJson &json, const char *key) {
  const auto found = json.find(key);
  if (found == json.end())
    return std::nullopt;
  if constexpr (std::is_same_v<T, std::string>)
    return found->is_string() ? std::optional<T>(found->get<T>()) : std::nullopt;
  else if constexpr (std::is_arithmetic_v<T>)
    return found->is_number() ? std::optional<T>(found->get<T>()) : std::nullopt;
  else {
    for (const OrderedJson &item : found->is_array() ? *found : OrderedJson::array({nullptr}))
      if (std::is_same_v<typename T::value_type, std::string> ? !item.is_string() : !item.is_number_integer())
        return std::nullopt;
    return found->get<T>();
  }
}

bool readHeader(const OrderedJson &json, TuningTable &table) {
  const auto version = valueOf<int>(json, "journal"), driver = valueOf<int>(json, "driver");
  const auto kernel = valueOf<std::string>(json, "kernel"), source = valueOf<std::string>(json, "source"),
             pack = valueOf<std::string>(json, "pack"), device = valueOf<std::string>(json, "device");
  const auto parameters = valueOf<std::vector<std::string>>(json, "parameters");
  if (version != journalVersion || !driver || !kernel || !source || !pack || !device || !parameters)
    return false;
  table = {*kernel, *source, *pack, *device, *driver, *parameters, {}};
  table.variants = valueOf<std::vector<std::string>>(json, "variants").value_or(std::vector<std::string>());
  return true;
}

bool readEntry(const OrderedJson &json, Contents &contents) {
  const auto call = valueOf<std::string>(json, "call"), serves = valueOf<std::string>(json, "serves"),
             variant = valueOf<std::string>(json, "variant");
  const auto sizes = valueOf<std::vector<int64_t>>(json, "sizes");
  const auto microseconds = valueOf<double>(json, "microseconds");
  if (!call || !serves || !variant || !sizes || !microseconds || sizes->size() != contents.table.parameters.size())
    return false;
  contents.table.entries.push_back({*sizes, *serves, *variant, *microseconds});
  contents.calls.insert(*call);
  return true;
}

Result<Contents> parse(const std::string &path, std::string_view text) {
  Contents contents;
  size_t begin = 0;
  for (unsigned number = 1; begin < text.size(); ++number) {
    const size_t end = text.find('\n', begin);
    if (end == std::string_view::npos)
      break; // truncated because the process was killed
    const OrderedJson json = OrderedJson::parse(text.substr(begin, end - begin), nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || !(number == 1 ? readHeader(json, contents.table) : readEntry(json, contents)))
      return makeError(TILE_ERROR_FILE, "'{}' line {} is damaged; remove the file to measure everything again", path,
                       number);
    begin = end + 1;
    contents.completeBytes = begin;
  }
  return contents;
}

Status writeAll(int file, std::string_view text, const std::string &path) {
  const ssize_t written = ::write(file, text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size()) && fdatasync(file) == 0)
    return runtime::Success{};
  return makeError(TILE_ERROR_FILE, "cannot write '{}': {}", path,
                   written < 0 || written == static_cast<ssize_t>(text.size()) ? std::strerror(errno) : "disk full");
}

} // namespace

TuneJournal::TuneJournal(TuneJournal &&other) noexcept
    : path(std::move(other.path)), file(std::exchange(other.file, -1)), calls(std::move(other.calls)) {}

TuneJournal::~TuneJournal() {
  if (file >= 0)
    ::close(file); // also releases the lock
}

Result<TuneJournal> TuneJournal::open(const std::string &path, const TuningTable &identity) {
  TuneJournal journal;
  journal.path = path;
  journal.file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (journal.file < 0 || flock(journal.file, LOCK_EX) != 0)
    return makeError(TILE_ERROR_FILE, "cannot open '{}': {}", path, std::strerror(errno));
  Result<std::string> text = runtime::readFile(path, largestJournal);
  if (!text)
    return text.error();
  Result<Contents> contents = parse(path, *text);
  if (!contents)
    return contents.error();
  if (contents->completeBytes < text->size() && ftruncate(journal.file, static_cast<off_t>(contents->completeBytes)))
    return makeError(TILE_ERROR_FILE, "cannot write '{}': {}", path, std::strerror(errno));
  if (contents->completeBytes == 0) {
    if (Status status = writeAll(journal.file, headerLine(identity), path); !status)
      return status.error();
  } else if (const TuningTable &other = contents->table;
             other.pack != identity.pack || other.device != identity.device ||
             other.driver / 1000 != identity.driver / 1000 || other.parameters != identity.parameters) {
    return makeError(
        TILE_ERROR_INVALID_ARGUMENT,
        "'{}' has measurements of {} on {} with driver {}, but this is {} on {} with driver {}; remove it, "
        "or name another file with -o",
        path, other.pack, other.device, other.driver, identity.pack, identity.device, identity.driver);
  }
  journal.calls = std::move(contents->calls);
  flock(journal.file, LOCK_UN);
  return journal;
}

Result<TuneJournal::Measured> TuneJournal::read(const std::string &path) {
  Result<std::string> text = runtime::readFile(path, largestJournal);
  if (!text)
    return text.error();
  Result<Contents> contents = parse(path, *text);
  if (!contents)
    return contents.error();
  return Measured{std::move(contents->table), std::move(contents->calls)};
}

Status TuneJournal::append(const std::string &call, const TuningEntry &entry) {
  calls.insert(call);
  flock(file, LOCK_EX); // another process may be removing a truncated line
  const Status status = writeAll(file, entryLine(call, entry), path);
  flock(file, LOCK_UN);
  return status;
}

} // namespace tile::runner
