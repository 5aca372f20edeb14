// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names for a debugger: which variable has which value at an instruction, and which calls it stands in.
//
// Helpers are inlined. Their calls survive in locations: an operation of `f`, called in line 7 of kernel `k`, has the
// location callsite(file:2 at file:7), and its frame is named by the location that it is inlined at, file:7.
#pragma once

#include "Interpreter/DebugExpression.h"
#include "Interpreter/Machine.h"

#include <set>

namespace tile::interp {

/// A name has this value after the operation `after` (null: from the start) of `block` (null: wherever the value is
/// known), until a later entry of the same name and frame.
struct Variable {
  std::string name;
  mlir::Value value;    ///< null for a constant
  std::string constant; ///< its text
  bool isUnsigned = false;
  unsigned line = 0;     ///< of the assignment
  mlir::Attribute frame; ///< where the function is inlined; null: the kernel itself
  mlir::Block *block = nullptr;
  mlir::Operation *after = nullptr;
};

struct StackFrame {
  std::string file;
  unsigned line = 0, column = 0;
  mlir::Attribute key; ///< where the function is inlined; null: the kernel itself

  bool operator==(const StackFrame &other) const { return line == other.line && key == other.key; }
};

struct DebugInfo {
  std::vector<Variable> variables; ///< in the order of assignment
  llvm::DenseMap<mlir::Attribute, std::string> functions;
  std::string kernel;
  std::vector<std::string> lines; ///< of the source file
  std::set<unsigned> codeLines;   ///< their numbers, where a program can stop

  /// Innermost first. Empty if the operation has no place in a file.
  std::vector<StackFrame> stackOf(mlir::Operation *op) const;
  std::string functionOf(const StackFrame &frame) const;
  /// Why no program comes to this line; empty if one may.
  std::string explainMissing(double line) const;
  /// Before the operation, or after it, in this frame.
  const Variable *find(mlir::Operation *op, mlir::Attribute frame, llvm::StringRef name, bool behind = false) const;
  /// All, by name; the variables of tuples stand for their elements.
  std::vector<const Variable *> visible(mlir::Operation *op, mlir::Attribute frame) const;
};

/// `f32[64, 32]`, `i32`, or nothing for a constant.
std::string typeOf(const Variable &variable);
/// The whole value, with the middle of long dimensions left out.
void printValue(llvm::raw_ostream &stream, const Machine &machine, const Variable &variable);
/// One element. False if there is none at this index.
bool printElement(llvm::raw_ostream &stream, const Machine &machine, const Variable &variable,
                  llvm::ArrayRef<int64_t> index);
/// Of an expression, as printValue.
void printNumbers(llvm::raw_ostream &stream, const NumberArray &numbers);
/// All elements; nothing if they are not numbers.
std::optional<NumberArray> numbersOf(const Machine &machine, const Variable &variable);
/// A scalar as a number.
std::optional<double> numberOf(const Machine &machine, const Variable &variable);

} // namespace tile::interp
