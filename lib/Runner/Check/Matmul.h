// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix multiplication in double precision for references. It packs panels and uses all cores.
#pragma once

#include <cstdint>
#include <functional>

namespace tile::runner {

/// A function that each thread calls with the number of operations it has done. If it returns false, the multiplication
/// stops, because the result is no longer needed.
using Multiplied = std::function<bool(double flops)>;

/// Computes c[m, n] = a[m, k] @ b[k, n], all row-major and contiguous.
void multiplyMatrices(const double *a, const double *b, double *c, int64_t m, int64_t n, int64_t k,
                      const Multiplied &multiplied = {});

} // namespace tile::runner
