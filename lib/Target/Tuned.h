// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The constants of passes and cost model that are fitted to a GPU, as one row a target: Tuned.def lists them with unit,
// meaning, and where they were measured.
//
//   tunedOf(gpu).producerRegisters     // 40
//   isMeasured(gpu)                    // false on sm_120a: its row is Hopper's
//
// Limits that hold for the architecture are in GpuTarget.h, SharedMemory.h and Engines; limits of the compiler's own
// effort stay in the files that have them.
#pragma once

#include "Target/GpuTarget.h"

namespace tile::target {

/// Rates and costs of a kind of GEMM kernel (GemmTime.h). Where limits meet, time is more than the largest and less
/// than the sum: the 8-norm of them.
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

/// The row of the target; Hopper's if nothing was measured on it.
const Tuned &tunedOf(const GpuTarget &gpu);

/// Whether the row was measured on the target's product.
bool isMeasured(const GpuTarget &gpu);

/// The target whose product the rows were measured on.
const GpuTarget &measuredTarget();

/// A constant as the table of a target shows it.
struct TunedConstant {
  std::string name; ///< "keptRowRegisters", "wgmma.clockGHz"
  std::string_view unit, meaning, measured;
  double value;
};
std::vector<TunedConstant> listTuned(const GpuTarget &gpu);

} // namespace tile::target
