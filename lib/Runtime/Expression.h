// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer expressions of the manifest: `cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)`, `min(num_sms, tiles) if persistent else
// 1`.
//
// Compiled once, when an artifact is loaded, to stack bytecode of bounded depth. Evaluation does not allocate and
// cannot fail silently: overflow and division by zero are reported. ExpressionTree.h has the grammar.
//
// Division and remainder round towards minus infinity, like Python's `//`; `/` is the same operation here. `2 ** -1` is
// an error, because its value is not an integer. `if`/`else` evaluates only the branch that is taken.
#pragma once

#include "Runtime/DataType.h"
#include "Runtime/Result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tile::runtime {

/// Maps names in an expression to variables and constants. Slots are positions in the array passed to `evaluate`.
struct ExpressionNames {
  struct Variable {
    std::string name;
    bool isInteger = true; ///< pointers and floats are listed only for a better error message
  };
  std::vector<Variable> variables;
  std::vector<std::pair<std::string, int64_t>> constants;
};

enum class EvaluationError { None, DivisionByZero, Overflow, NegativeOperand };
std::string_view evaluationErrorText(EvaluationError error);

struct Evaluation {
  int64_t value = 0;
  EvaluationError error = EvaluationError::None;
};

struct WideEvaluation {
  WideInteger value = 0;
  EvaluationError error = EvaluationError::None;
};

class Expression {
public:
  static Result<Expression> compile(std::string_view text, const ExpressionNames &names);

  /// Evaluates the expression. `slots[i]` is the value of `names.variables[i]`; slots that the expression does not use
  /// may hold anything.
  Evaluation evaluate(std::span<const int64_t> slots) const;
  /// Like evaluate, with wider integers for u64 values.
  WideEvaluation evaluateWide(std::span<const WideInteger> slots) const;

  /// Returns the slots that the expression reads, ascending and unique.
  const std::vector<unsigned> &usedSlots() const { return slots; }
  /// Returns the slot if the expression is just that slot's value; otherwise nullopt.
  std::optional<unsigned> loadedSlot() const { return loaded; }
  const std::string &text() const { return source; }

  /// Returns true if both expressions have the same code, and therefore the same value for the same slots.
  bool operator==(const Expression &other) const { return code == other.code && wideConstants == other.wideConstants; }

private:
  friend class ExpressionCompiler;
  enum class Op : uint8_t {
    Constant,
    WideConstant,
    Load,
    Negate,
    Not,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Power,
    Ceildiv,
    Minimum,
    Maximum,
    NextPowerOf2,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Jump,
    JumpIfFalse,
    JumpIfFalseKeep,
    JumpIfTrueKeep
  };
  struct Instruction {
    Op op;
    int64_t operand = 0; ///< constant, index of a wide constant, slot, or jump target
    bool operator==(const Instruction &) const = default;
  };
  template <typename T> static EvaluationError apply(Op op, T *stack, unsigned &depth);
  template <typename T> EvaluationError run(std::span<const T> values, T &result) const;

  std::optional<unsigned> loaded; ///< the result of loadedSlot(), kept outside the code for fast access at launch
  std::string source;
  std::vector<Instruction> code;
  std::vector<WideInteger> wideConstants; ///< literals of 2^63 and more
  std::vector<unsigned> slots;
};

} // namespace tile::runtime
