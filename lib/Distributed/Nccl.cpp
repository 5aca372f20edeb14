// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opens NCCL. The library stays open for the life of the process, because its threads may outlive the communicators.
#include "Distributed/Nccl.h"

#include <dlfcn.h>

namespace tile::dist {

Status Nccl::check(int result, std::string_view call) const {
  if (result == nccl::success || result == nccl::inProgress)
    return Success{};
  return makeError(TILE_ERROR_NCCL, "{}: {} (NCCL error {})", call, getErrorString(result), result);
}

std::string formatNcclVersion(int version) {
  // Versions before 2.9 are encoded as major · 1000 + minor · 100 + patch.
  const int ofMajor = version < 10000 ? 1000 : 10000;
  return fmt::format("{}.{}.{}", version / ofMajor, version % ofMajor / 100, version % 100);
}

int ncclType(tile_dist_type type) {
  return type == TILE_DIST_F16 ? nccl::float16 : type == TILE_DIST_BF16 ? nccl::bfloat16 : nccl::float32;
}

Result<std::unique_ptr<Nccl>> loadNccl(const char *library) {
  const char *name = library ? library : "libnccl.so.2";
  void *opened = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!opened) {
    const char *reason = dlerror();
    return makeError(TILE_ERROR_NCCL, "NCCL not found: {}; give its path as nccl_library", reason ? reason : name);
  }
  auto table = std::make_unique<Nccl>();
  // Check the version first, because an old library lacks some functions.
  table->getVersion = reinterpret_cast<decltype(table->getVersion)>(dlsym(opened, "ncclGetVersion"));
  if (!table->getVersion || table->getVersion(&table->version) != nccl::success)
    return makeError(TILE_ERROR_NCCL, "{} is not NCCL: it has no ncclGetVersion", name);
  if (table->version < nccl::oldestVersion)
    return makeError(TILE_ERROR_NCCL, "{} is NCCL {}; {} or later is needed", name, formatNcclVersion(table->version),
                     formatNcclVersion(nccl::oldestVersion));
  void *found = nullptr;
#define NCCL_FUNCTION(member, symbol, ...)                                                                             \
  if (!(found = dlsym(opened, symbol)))                                                                                \
    return makeError(TILE_ERROR_NCCL, "{} has no {}", name, symbol);                                                   \
  table->member = reinterpret_cast<decltype(table->member)>(found);
#include "Distributed/Nccl.def"
  table->getErrorString = reinterpret_cast<decltype(table->getErrorString)>(dlsym(opened, "ncclGetErrorString"));
  if (!table->getErrorString)
    return makeError(TILE_ERROR_NCCL, "{} has no ncclGetErrorString", name);
  return table;
}

} // namespace tile::dist
