// How long a call of a kernel is expected to take: what its manifest says about that, and the model that it is for.
//
//   "cost": {"model": "gemm", "m": "M", "n": "N", "k": "K", "element": "bf16", "output_bytes": 2, "block": [128, 256,
//   64],
//            "group_m": 12, "warps": 8, "stages": 4, "wgmma": true, "persistent": true, ...}
//
// The compiler writes what it knows about the product; launcher and compiler then ask the same model (lib/Target), so
// that they agree about which variant is the fastest.
#pragma once

#include "Runtime/Expression.h"
#include "Target/ScheduleTime.h"

#include <optional>

namespace tile::runtime {

/// c[m, n] = a[m, k] @ b[k, n].
struct CostSpec {
  std::string m, n, k; ///< expressions over integer parameters and constants
  /// Of this, the types and how operands are read; sizes and numSms come with the call.
  target::GemmProblem problem;
  target::GemmConfig config = {};
  target::GemmSchedule schedule;
};

/// Microseconds of a product of this size on `numSms` multiprocessors (0: what the target's product has).
double microseconds(const CostSpec &cost, int64_t m, int64_t n, int64_t k, const target::GpuTarget &gpu, int numSms);

/// A spec with compiled expressions.
class CostModel {
public:
  static Result<CostModel> compile(const CostSpec &spec, const ExpressionNames &names);

  /// `slots` as the names of compile say; nothing if the sizes cannot be evaluated. Touches no heap.
  std::optional<double> microseconds(std::span<const int64_t> slots, const target::GpuTarget &gpu, int numSms) const;

  /// The sizes: m, n, k.
  std::span<const Expression> sizes() const { return expressions; }

private:
  CostSpec spec;
  std::vector<Expression> expressions;
};

/// What the model relies on; the error names the key.
Status validateCost(const CostSpec &cost, const ExpressionNames &names);

} // namespace tile::runtime
