// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NCCL as a table of function pointers, filled by dlopen: neither building nor running requires it.
#pragma once

#include "Distributed/Driver.h"
#include "tile/tile_dist.h"

#include <string>

namespace tile::dist {

/// ncclUniqueId.
struct NcclUniqueId {
  char bytes[128];
};
using NcclComm = struct ncclComm *;

// Constants of nccl.h (NCCL API, "Types").
namespace nccl {
constexpr int success = 0, inProgress = 7;
constexpr int int8 = 0, float16 = 6, float32 = 7, bfloat16 = 9; // ncclDataType_t
constexpr int sum = 0;                                          // ncclRedOp_t
constexpr int oldestVersion = 21900;                            // 2.19.0: major · 10000 + minor · 100 + patch
} // namespace nccl

struct Nccl {
#define NCCL_FUNCTION(member, symbol, ...) int (*member)(__VA_ARGS__) = nullptr;
#include "Distributed/Nccl.def"
  const char *(*getErrorString)(int result) = nullptr;
  int version = 0;

  /// Returns success, or an error with NCCL's description of `result`.
  Status check(int result, std::string_view call) const;
};

/// Opens NCCL and checks its version.
Result<std::unique_ptr<Nccl>> loadNccl(const char *library);

int ncclType(tile_dist_type type);
/// Formats 22809 as "2.28.9".
std::string formatNcclVersion(int version);

} // namespace tile::dist
