// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The constants of passes and cost model that are fitted to a GPU, in one row per target. Tuned.def lists them with
// unit, meaning, and the source of the measurement.
//
//   tunedOf(gpu).producerRegisters     // 40
//   isMeasured(gpu)                    // false on sm_120a: its row is Hopper's
//
// Limits of the architecture are in GpuTarget.h, SharedMemory.h and Engines; limits of the compiler's effort stay in
// the files that use them.
#pragma once

#include "Target/GpuTarget.h"

namespace tile::target {

/// Rates and costs of one kind of GEMM kernel (GemmTime.h). If several limits take similar times, they are combined
/// into their 8-norm, which lies between the largest time and the sum.
struct GemmConstants {
#define GEMM_CONSTANT(name, unit, meaning) double name;
#include "Target/GemmConstants.def"
#undef GEMM_CONSTANT
};

struct Tuned {
#define TUNED(type, name, value, unit, meaning, measured) type name = value;
#define TUNED_GEMM(name, meaning, measured, ...) GemmConstants name{__VA_ARGS__};
#include "Target/Tuned.def"
#undef TUNED
#undef TUNED_GEMM
};

/// Returns the row of the target, which is Hopper's if nothing was measured on the target.
const Tuned &tunedOf(const GpuTarget &gpu);

/// Returns true if the row was measured on a GPU of this target.
bool isMeasured(const GpuTarget &gpu);

/// Returns the target of the GPU on which the rows were measured.
const GpuTarget &measuredTarget();

/// A constant and its value for a target, for tables.
struct TunedConstant {
  std::string name; ///< "keptRowRegisters", "wgmma.clockGHz"
  std::string_view unit, meaning, measured;
  double value;
};
std::vector<TunedConstant> listTuned(const GpuTarget &gpu);

} // namespace tile::target
