// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The expected time of a GEMM call: the cost description in the manifest, and the model that evaluates it.
//
//   "cost": {"model": "gemm", "m": "M", "n": "N", "k": "K", "element": "bf16", "output_bytes": 2,
//            "block": [128, 256, 64], "group_m": 12, "warps": 8, "stages": 4, "wgmma": true, "persistent": true, ...}
//
// The compiler describes the GEMM. Runtime and compiler evaluate the same model (lib/Target), so they agree about which
// variant is the fastest.
#pragma once

#include "Runtime/Expression.h"
#include "Target/ScheduleTime.h"

#include <optional>

namespace tile::runtime {

/// The GEMM c[m, n] = a[m, k] @ b[k, n].
struct CostSpec {
  std::string m, n, k; ///< expressions over integer parameters and constants
  /// Only types and operand access are used; sizes and numSms come with the call.
  target::GemmProblem problem;
  target::GemmConfig config = {};
  target::GemmSchedule schedule;
};

/// Returns the model of the schedule on `numSms` multiprocessors (0: as many as the target GPU has).
target::ScheduleFormula formulaOf(const CostSpec &cost, const target::GpuTarget &gpu, int numSms);

/// The sizes of a spec as compiled expressions.
class CostSizes {
public:
  static Result<CostSizes> compile(const CostSpec &spec, const ExpressionNames &names);

  /// Evaluates the sizes. `slots[i]` is the value of variable i of the names that were passed to compile. Returns
  /// nullopt if the sizes cannot be evaluated. Does not allocate.
  std::optional<target::GemmSize> evaluate(std::span<const int64_t> slots) const;

  /// Returns m, n, k.
  std::span<const Expression> all() const { return expressions; }

  bool operator==(const CostSizes &) const = default;

private:
  std::vector<Expression> expressions;
};

/// Checks the preconditions of the model; the error names the key.
Status validateCost(const CostSpec &cost, const ExpressionNames &names);

} // namespace tile::runtime
