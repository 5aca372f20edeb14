// Matrix product in double for references: packed panels, all cores.
#pragma once

#include <cstdint>

namespace tile::runner {

/// c[m, n] = a[m, k] @ b[k, n], all row-major and contiguous.
void multiplyMatrices(const double *a, const double *b, double *c, int64_t m, int64_t n, int64_t k);

} // namespace tile::runner
