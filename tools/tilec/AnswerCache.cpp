// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes cache keys. Different builds of the compiler may have the same version, so the linker's build ID is part of
// the key.
#include "AnswerCache.h"

#include "Driver/OutputFile.h"
#include "Driver/TileSource.h"
#include "Driver/Version.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

#include <link.h>

using llvm::StringRef;
namespace fs = llvm::sys::fs;

namespace tile {
namespace {

/// Returns the build ID of the object that contains this code (elf(5), NT_GNU_BUILD_ID).
std::string findBuildId() {
  struct Search {
    uintptr_t address;
    std::string found;
  } search{reinterpret_cast<uintptr_t>(&findBuildId), {}};
  auto visit = [](dl_phdr_info *info, size_t, void *data) {
    auto &search = *static_cast<Search *>(data);
    llvm::ArrayRef<ElfW(Phdr)> headers(info->dlpi_phdr, info->dlpi_phnum);
    if (llvm::none_of(headers, [&](const ElfW(Phdr) & header) {
          return header.p_type == PT_LOAD && search.address - (info->dlpi_addr + header.p_vaddr) < header.p_memsz;
        }))
      return 0;
    for (const ElfW(Phdr) &header : headers) {
      if (header.p_type != PT_NOTE)
        continue;
      StringRef notes(reinterpret_cast<const char *>(info->dlpi_addr + header.p_vaddr), header.p_memsz);
      while (notes.size() >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        std::memcpy(&note, notes.data(), sizeof note);
        size_t nameBytes = llvm::alignTo(note.n_namesz, 4), textBytes = llvm::alignTo(note.n_descsz, 4);
        if (note.n_type == NT_GNU_BUILD_ID)
          search.found = notes.substr(sizeof note + nameBytes, note.n_descsz).str();
        notes = notes.drop_front(std::min(notes.size(), sizeof note + nameBytes + textBytes));
      }
    }
    return 1;
  };
  dl_iterate_phdr(visit, &search);
  return search.found;
}

/// Identifies a tool by path, size and time, because hashing 30 MB would take longer than a cache lookup.
std::string identityOf(const std::optional<std::string> &path) {
  fs::file_status status;
  llvm::SmallString<128> real;
  if (!path || fs::status(*path, status) || fs::real_path(*path, real))
    return {};
  return llvm::formatv("{0} {1} {2}", real, status.getSize(),
                       status.getLastModificationTime().time_since_epoch().count());
}

std::string absolute(StringRef path) {
  llvm::SmallString<128> whole(path);
  return fs::make_absolute(whole) ? std::string() : whole.str().str();
}

/// Returns the checksum of a file's contents; empty if the file cannot be read.
std::string checksumOf(StringRef path) {
  llvm::Expected<std::string> text = driver::readInput(path);
  if (text)
    return driver::DiskCache::keyOf({std::move(*text)});
  llvm::consumeError(text.takeError());
  return {};
}

} // namespace

std::string keyOf(const Request &request, const CommandLine &line) {
  static const std::string buildId = findBuildId();
  llvm::Expected<std::optional<frontend::SourceFile>> sidecar = driver::readSidecar(line.compiler);
  if (!sidecar || buildId.empty()) {
    llvm::consumeError(sidecar.takeError()); // the compilation reports the error
    return {};
  }
  const driver::CompilerOptions &options = line.compiler;
  bool isFile = !StringRef(request.name).starts_with("<");
  std::vector<std::string> parts{driver::compilerVersion,
                                 buildId,
                                 request.name,
                                 isFile ? absolute(request.name) : "",
                                 request.text,
                                 *sidecar ? (*sidecar)->text : "",
                                 options.card ? target::printCard(*options.card) : "",
                                 identityOf(codegen::findPtxas(options.toolkit)),
                                 identityOf(codegen::findLibdevice(options.toolkit))};
  for (const std::string &folder : options.importPaths)
    parts.push_back(absolute(folder));
  parts.insert(parts.end(), request.options.begin(), request.options.end());
  return driver::DiskCache::keyOf(parts);
}

// A cache entry is an answer in which each element of `files` is followed by a checksum. The checksum of the source is
// empty, because the key contains its text.
std::optional<Answer> findAnswer(const driver::DiskCache &cache, StringRef key) {
  std::optional<std::string> bytes = key.empty() ? std::nullopt : cache.find(key);
  std::optional<Answer> kept = bytes ? decodeAnswer(*bytes) : std::nullopt;
  if (!kept || kept->outcome != driver::Outcome::Success || kept->files.size() % 2 != 0)
    return std::nullopt;
  std::vector<std::string> files;
  for (size_t i = 0; i < kept->files.size(); i += 2) {
    if (const std::string &wanted = kept->files[i + 1]; !wanted.empty() && checksumOf(kept->files[i]) != wanted)
      return std::nullopt;
    files.push_back(kept->files[i]);
  }
  kept->files = std::move(files);
  return kept;
}

llvm::Error keepAnswer(const driver::DiskCache &cache, StringRef key, const Request &request, const Answer &answer,
                       std::chrono::system_clock::time_point begin) {
  constexpr std::chrono::seconds coarseClock(2); // resolution of some file systems
  if (key.empty() || answer.outcome != driver::Outcome::Success)
    return llvm::Error::success();
  Answer kept = answer;
  kept.files.clear();
  for (const std::string &file : answer.files) {
    bool isSource = file == request.name;
    std::string checksum = isSource ? "" : checksumOf(file);
    fs::file_status status;
    if (!isSource &&
        (checksum.empty() || fs::status(file, status) || status.getLastModificationTime() + coarseClock > begin))
      return llvm::Error::success();
    kept.files.push_back(file);
    kept.files.push_back(std::move(checksum));
  }
  return cache.store(key, encode(kept));
}

} // namespace tile
