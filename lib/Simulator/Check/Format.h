// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reports as text:
//
//   race: write of 4 bytes at shared+1024 and read of the same byte: no barrier between the two warps
//     at gemm.ptx:123 (gemm.tile:29:9) in CTA (0,1,0) warp 3 lane 7: st.shared.b32
//         29 | accumulator += dot(a, b)
//     read here: at gemm.ptx:140 (gemm.tile:30:5) in CTA (0,1,0) warp 1 lane 0: ld.shared.b32
//     this happened 31 more times
#pragma once

#include "Simulator/Machine/Report.h"

#include <functional>

namespace tile::sim {

struct SourceText {
  std::string ptxName; ///< name of the PTX: "gemm.ptx"
  /// Returns the given line (from 1) of a file of Module::files; empty if it is unknown. May be null.
  std::function<std::string(const std::string &file, unsigned line)> line;
};

/// Returns the report as several lines, each with its newline.
std::string formatReport(const Report &report, const Module &module, const SourceText &source);

} // namespace tile::sim
