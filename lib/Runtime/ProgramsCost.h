// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The expected time of kernels that are not recognised as GEMMs: the work of one program, for the model of
// ProgramTime.h.
//
//   "cost": {"model": "programs", "steps": "cdiv(K, 64) + 1", "exchanges": "cdiv(K, 64)",
//            "bytes": "cdiv(K, 64) * 6144 + 2048", "reread_bytes": "0",
//            "tensor_flops": "cdiv(K, 64) * 131072", "operations": "cdiv(K, 64) * 8192", "special": "1024",
//            "unique_bytes": "M * K * 2 + …", "operand_bits": 16, "warps": 4}
//
// Registers, threads, shared memory and the number of programs come from "launch".
#pragma once

#include "Runtime/Expression.h"
#include "Target/ProgramTime.h"

namespace tile::runtime {

struct Manifest;

/// The members of target::ProgramWork as expressions over integer parameters, constants and num_sms.
struct ProgramsCost {
  std::string steps, exchanges, bytes, rereadBytes, tensorFlops, operations, special, uniqueBytes;
  int64_t operandBits = 16; ///< width of dot operands
  int64_t warps = 4;        ///< per program

  bool operator==(const ProgramsCost &) const = default;
};

/// A JSON key, with the member that holds its expression and the member that holds its value. programsKeys lists all
/// keys in order.
struct ProgramsKey {
  const char *key;
  std::string ProgramsCost::*text;
  double target::ProgramWork::*value;
};
std::span<const ProgramsKey> programsKeys();

/// A cost description with compiled expressions.
class ProgramsExpressions {
public:
  static Result<ProgramsExpressions> compile(const ProgramsCost &cost, const ExpressionNames &names);

  /// Evaluates the work. `slots[i]` is the value of variable i of the names that were passed to compile. Returns
  /// nullopt if an expression cannot be evaluated. Does not allocate.
  std::optional<target::ProgramWork> evaluate(std::span<const int64_t> slots, double programs) const;

  std::span<const Expression> all() const { return expressions; }

  bool operator==(const ProgramsExpressions &) const = default;

private:
  std::vector<Expression> expressions;
  int64_t warps = 4;
};

/// Returns the model for a variant on `numSms` multiprocessors (0: as many as the target GPU has).
target::ProgramTime programTimeOf(const Manifest &manifest, const target::GpuTarget &gpu, int numSms);

/// Checks the preconditions of the model; the error names the key.
Status validatePrograms(const ProgramsCost &cost, const ExpressionNames &names);

} // namespace tile::runtime
