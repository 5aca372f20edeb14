// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a name or an expression denotes during semantic analysis: a compile-time value, a run-time value, or a tuple of
// such; and the environment that maps names to them.

#pragma once

#include "Frontend/Syntax/ConstEval.h"

#include "Tile/TileDialect.h"

#include <map>

namespace tile::frontend {

/// Triton's limit on the elements of one block.
constexpr int64_t maxBlockElements = 1 << 20;

struct SymValue {
  enum class Kind : uint8_t {
    Error,         // an error was reported; using it reports nothing more
    Constant,      // compile time
    Tensor,        // run-time scalar or block
    Tuple,         // of any of these
    Descriptor,    // tensor descriptor
    BlockPointer,  // of make_block_ptr: elements are base, then sizes, strides and offsets; dims the block
    BlockType,     // the ".type" of a block: element type and shape
    ConstantType,  // the ".type" of a constant, which is its only element
    TupleType,     // the ".type" of a tuple: elements are types
    Object,        // of a class that is an aggregate: elements by names
    Method,        // a function (constant) with the value that it is called on, its only element
    Dictionary,    // keys and values in turn; functions that run at compile time only
    Arguments,     // what a heuristic is given: elements by names; decorators only
    Configuration, // triton.Config(...): its place among those that were made, in dims; decorators only
  };

  Kind kind = Kind::Error;
  Value constant;                    // Constant, Method
  mlir::Value value;                 // Tensor, Descriptor
  DType type;                        // element type of Tensor, Descriptor, BlockType; the pointer of BlockPointer
  std::vector<SymValue> elements;    // Tuple, BlockPointer; sizes and strides of a Descriptor
  std::vector<int64_t> dims;         // BlockType, BlockPointer, Configuration
  std::vector<std::string> names;    // Arguments, Object; Tuple and TupleType, if the elements have names; a member's
  const ClassStmt *record = nullptr; // Object; Tuple, if it is a named one of a class; Constant, if a member of an enum

  static SymValue makeConstant(Value value) {
    SymValue out;
    out.kind = Kind::Constant;
    out.constant = std::move(value);
    return out;
  }
  static SymValue makeTensor(mlir::Value value, DType type) {
    SymValue out;
    out.kind = Kind::Tensor;
    out.value = value;
    out.type = type;
    return out;
  }
  static SymValue makeTuple(std::vector<SymValue> elements) {
    SymValue out;
    out.kind = Kind::Tuple;
    out.elements = std::move(elements);
    return out;
  }

  bool isError() const { return kind == Kind::Error; }
  bool isConstant() const { return kind == Kind::Constant; }
  bool isTensor() const { return kind == Kind::Tensor; }
  bool isTuple() const { return kind == Kind::Tuple; }
  bool isNoneValue() const { return isConstant() && isNone(constant); }
  bool isBlock() const { return isTensor() && llvm::isa<mlir::RankedTensorType>(value.getType()); }
  bool isScalar() const { return isTensor() && !isBlock(); }

  /// Shape of a tensor; empty for scalars.
  llvm::ArrayRef<int64_t> shape() const {
    if (auto tensor = isTensor() ? llvm::dyn_cast<mlir::RankedTensorType>(value.getType()) : mlir::RankedTensorType())
      return tensor.getShape();
    return {};
  }
};

/// "fp16[128, 64]", "int32", "the integer 3", "a tuple": for messages.
std::string describe(const SymValue &value);
/// The same for two values that differ: with their elements, if the short form does not tell them apart.
std::pair<std::string, std::string> describeApart(const SymValue &a, const SymValue &b);
/// Constants as Python prints them; run-time values by their type.
std::string printed(const SymValue &value);

/// Run-time values inside 'value', in order, appended to 'leaves'.
void flatten(const SymValue &value, llvm::SmallVectorImpl<mlir::Value> &leaves);
/// 'value' with its run-time values replaced by 'leaves', consumed from the front.
SymValue rebuild(const SymValue &value, llvm::ArrayRef<mlir::Value> &leaves);
/// Same structure, same types, same constants: what may flow together at the end of an if or a loop.
bool sameType(const SymValue &a, const SymValue &b);
/// The very same values: constants bit by bit (0.0 is not -0.0), run-time values by what defines them.
bool sameValue(const SymValue &a, const SymValue &b);
/// Python's == of values that are known at compile time: 1, True and 1.0 are equal, and tuples whose elements are.
bool isEqual(const SymValue &a, const SymValue &b);

struct Binding {
  Binding() = default;
  Binding(SymValue value, SourceRange defined) : value(std::move(value)), defined(defined) {}

  SymValue value;
  SourceRange defined;
  /// Why the name must not be used here ("it is only assigned in ..."); empty when it may.
  std::string unusable;
  SourceRange unusableAt;
};

/// Names in scope, by value: branches work on copies.
using Environment = std::map<std::string, Binding>;

} // namespace tile::frontend
