// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

/// The model's answer for sizes, on `numSms` multiprocessors (0: what the target's product has).
target::ScheduleFormula formulaOf(const CostSpec &cost, const target::GpuTarget &gpu, int numSms);

/// A spec's sizes as compiled expressions.
class CostSizes {
public:
  static Result<CostSizes> compile(const CostSpec &spec, const ExpressionNames &names);

  /// `slots` as the names of compile say; nothing if the sizes cannot be evaluated. Touches no heap.
  std::optional<target::GemmSize> evaluate(std::span<const int64_t> slots) const;

  /// m, n, k.
  std::span<const Expression> all() const { return expressions; }

  bool operator==(const CostSizes &) const = default;

private:
  std::vector<Expression> expressions;
};

/// What the model relies on; the error names the key.
Status validateCost(const CostSpec &cost, const ExpressionNames &names);

} // namespace tile::runtime
