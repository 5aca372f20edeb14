// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Source: NVIDIA's data sheets and architecture white papers of the GPUs that GpuTarget.cpp names.
#include "Target/Rates.h"

#include "Target/Card/CardTarget.h"
#include "Target/Engines/BufferEngines.h"

#include <algorithm>

namespace tile::target {

static Rates dataSheetOf(const GpuTarget &target) {
  switch (target.capability) {
  case 75: // T4: 65 TFLOP/s
    return {.clockGHz = 1.59, .memory = 320, .l2 = 4, .multiplyAdds16 = 512, .lanes = 64};
  case 80: // A100, 40 GB: 312 TFLOP/s
    return {.clockGHz = 1.41, .memory = 1555, .l2 = 40, .multiplyAdds16 = 1024, .lanes = 64};
  case 86: // RTX 3090: 71 TFLOP/s
    return {.clockGHz = 1.70, .memory = 936, .l2 = 6, .multiplyAdds16 = 256};
  case 87: // Jetson AGX Orin
    return {.clockGHz = 1.30, .memory = 205, .l2 = 4, .multiplyAdds16 = 512};
  case 89: // RTX 4090: 165 TFLOP/s
    return {.clockGHz = 2.52, .memory = 1008, .l2 = 72, .multiplyAdds16 = 256};
  case 100: // B200: 2250 TFLOP/s
    return {.clockGHz = 1.85, .memory = 8000, .l2 = 126, .multiplyAdds16 = 4096};
  case 103: // B300: 2500 TFLOP/s
    return {.clockGHz = 1.90, .memory = 8000, .l2 = 126, .multiplyAdds16 = 4096};
  case 110: // Jetson Thor: 259 TFLOP/s
    return {.clockGHz = 1.58, .memory = 273, .l2 = 32, .multiplyAdds16 = 4096};
  case 121: // DGX Spark: 62 TFLOP/s
    return {.clockGHz = 2.53, .memory = 273, .l2 = 24, .multiplyAdds16 = 256};
  case 120: // RTX 5090: 210 TFLOP/s
    return {.clockGHz = 2.41, .memory = 1792, .l2 = 96, .multiplyAdds16 = 256};
  default: // H200: 989 TFLOP/s
    return {.clockGHz = 1.83, .memory = 4800, .l2 = 50, .multiplyAdds16 = 2048};
  }
}

Rates ratesOf(const GpuTarget &target) {
  if (target.card)
    return target.card->rates;
  Rates rates = dataSheetOf(target);
  // Without another engine, mma.sync reaches the tensor cores' rate. sm_90 is the exception: it has no wgmma, but its
  // data sheet is that of sm_90a.
  if (!hasBufferEngine(target))
    rates.ofMmaSync16 = std::min(rates.ofMmaSync16, rates.multiplyAdds16);
  return rates;
}

unsigned operandBits(std::string_view type) {
  if (type == "f64")
    return 64;
  if (type == "tf32" || type == "f32")
    return 32;
  if (type == "f16" || type == "bf16")
    return 16;
  return 8; // e4m3, e5m2, s8, u8
}

} // namespace tile::target
