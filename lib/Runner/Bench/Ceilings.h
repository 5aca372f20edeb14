// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What this card gives at most, measured on it: figures that are compared with its data sheet tell little about a card
// whose power is limited.
//
//   memory   a device-to-device copy of a large buffer, bytes read and written; in no graph, where copy engines do it
//   product  cuBLAS on square matrices of normal numbers, for each type that is asked for
//   launch   the shortest node of a CUDA graph
#pragma once

#include "Runner/Bench/Stopwatch.h"

#include <map>

namespace tile::runner {

struct Ceilings {
  double memoryBytes = 0; ///< a second; 0: not measured, as all of these
  double flops = 0;       ///< of the type of the kernel's product
  std::string flopsBy;
  double launchMicroseconds = 0;
};

class CeilingMeter {
public:
  CeilingMeter(CudaContext &context, std::string cublas) : context(&context), cublas(std::move(cublas)) {}

  /// Each is measured when it is first asked for. Without a type, or where cuBLAS cannot multiply it, `flops` stays 0.
  Result<Ceilings> measure(std::optional<DataType> type);

private:
  struct Product {
    double flops = 0;
    std::string by;
  };
  Status measureMemory(const Stopwatch &watch);
  Result<Product> measureProduct(const Stopwatch &watch, DataType type);

  CudaContext *context;
  std::string cublas;
  std::optional<Ceilings> common;
  std::map<DataType, Product> products;
};

} // namespace tile::runner
