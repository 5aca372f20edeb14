// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Debug information: the values of variables at an instruction, and its call stack.
//
// Helpers are inlined. Their calls survive in locations: an operation of `f`, called in line 7 of kernel `k`, has the
// location callsite(file:2 at file:7), and its frame is identified by the location of the call, file:7.
#pragma once

#include "Interpreter/DebugExpression.h"
#include "Interpreter/Machine.h"

#include <set>

namespace tile::interp {

/// The value of a name after the operation `after` (null: from the start) of `block` (null: everywhere), until a later
/// entry with the same name and frame.
struct Variable {
  std::string name;
  mlir::Value value;    ///< null for a constant
  std::string constant; ///< the constant's text
  bool isUnsigned = false;
  unsigned line = 0;     ///< line of the assignment
  mlir::Attribute frame; ///< call site of the inlined function; null: the kernel itself
  mlir::Block *block = nullptr;
  mlir::Operation *after = nullptr;
};

struct StackFrame {
  std::string file;
  unsigned line = 0, column = 0;
  mlir::Attribute key; ///< call site of the inlined function; null: the kernel itself

  bool operator==(const StackFrame &other) const { return line == other.line && key == other.key; }
};

struct DebugInfo {
  std::vector<Variable> variables; ///< in assignment order
  llvm::DenseMap<mlir::Attribute, std::string> functions;
  std::string kernel;
  std::vector<std::string> lines; ///< lines of the source file
  std::set<unsigned> codeLines;   ///< lines at which a program can stop

  /// Returns the call stack, innermost frame first. Empty if the operation has no file location.
  std::vector<StackFrame> stackOf(mlir::Operation *op) const;
  std::string functionOf(const StackFrame &frame) const;
  /// Explains why no program reaches this line; empty if one may.
  std::string explainMissing(double line) const;
  /// Returns the variable of this name that is visible in this frame before the operation or, with `isAfter`, after it.
  const Variable *find(mlir::Operation *op, mlir::Attribute frame, llvm::StringRef name, bool isAfter = false) const;
  /// Returns all visible variables by name; tuples are represented by the variables of their elements.
  std::vector<const Variable *> visible(mlir::Operation *op, mlir::Attribute frame) const;
};

/// Returns the type, such as `f32[64, 32]` or `i32`; empty for a constant.
std::string typeOf(const Variable &variable);
/// Prints a value; the middle of long dimensions is elided.
void printValue(llvm::raw_ostream &stream, const Machine &machine, const Variable &variable);
/// Prints one element. Returns false if the index is out of bounds.
bool printElement(llvm::raw_ostream &stream, const Machine &machine, const Variable &variable,
                  llvm::ArrayRef<int64_t> index);
/// Prints the value of an expression, in the format of printValue.
void printValues(llvm::raw_ostream &stream, const ValueArray &values);
/// Returns all elements; nullopt if they are not numeric.
std::optional<ValueArray> valuesOf(const Machine &machine, const Variable &variable);
/// Returns the value of a scalar as a double.
std::optional<double> numberOf(const Machine &machine, const Variable &variable);

} // namespace tile::interp
