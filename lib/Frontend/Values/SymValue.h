// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Symbolic values: a value is known at compile time, known at run time, unknown, or a container of values. An
// environment maps names to values.

#pragma once

#include "Frontend/Values/ConstEval.h"

#include "Tile/TileDialect.h"

#include <map>

namespace tile::frontend {

/// Triton's limit on the elements of a block.
constexpr int64_t maxBlockElements = 1 << 20;

struct SymValue {
  enum class Kind : uint8_t {
    Error,         // already reported; uses report nothing more
    Constant,      // compile time
    Tensor,        // run-time scalar or block
    Tuple,         // a tuple of any values
    Descriptor,    // tensor descriptor
    BlockPointer,  // from make_block_ptr: elements are base, then sizes, strides and offsets; dims is the block
    BlockType,     // the ".type" of a block: element type and shape
    ConstantType,  // the ".type" of a constant, which is its only element
    TupleType,     // the ".type" of a tuple: elements are types
    Object,        // instance of an aggregate class: elements by name
    Method,        // a function (constant) bound to a value, its only element
    Dictionary,    // alternating keys and values; only in functions that run at compile time
    Arguments,     // arguments of a heuristic: elements by name; decorators only
    Configuration, // triton.Config(...): dims is its index among those created; decorators only
    Range,         // range(...): elements are lower, upper, step and, if given, the number of stages
  };

  Kind kind = Kind::Error;
  Value constant;                    // Constant, Method
  mlir::Value value;                 // Tensor, Descriptor
  DType type;                        // element type of Tensor, Descriptor, BlockType; the pointer of BlockPointer
  std::vector<SymValue> elements;    // Tuple, BlockPointer; sizes and strides of a Descriptor
  std::vector<int64_t> dims;         // BlockType, BlockPointer, Configuration
  std::vector<std::string> names;    // Arguments, Object; Tuple and TupleType with named elements; name of an enum
                                     // member
  const ClassStmt *record = nullptr; // class of an Object, of a named Tuple, or of an enum member (Constant)

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
  static SymValue makeTuple(std::vector<SymValue> elements) { return make(Kind::Tuple, std::move(elements)); }
  /// Makes a dictionary of alternating keys and values.
  static SymValue makeDictionary(std::vector<SymValue> entries = {}) {
    return make(Kind::Dictionary, std::move(entries));
  }
  static SymValue make(Kind kind, std::vector<SymValue> elements) {
    SymValue out;
    out.kind = kind;
    out.elements = std::move(elements);
    return out;
  }

  bool isError() const { return kind == Kind::Error; }
  bool isConstant() const { return kind == Kind::Constant; }
  bool isTensor() const { return kind == Kind::Tensor; }
  bool isTuple() const { return kind == Kind::Tuple; }
  bool isDictionary() const { return kind == Kind::Dictionary; }
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

/// Describes a value for messages: "fp16[128, 64]", "int32", "the integer 3", "a tuple".
std::string describe(const SymValue &value);
/// Describes two different values. Includes their elements if the short descriptions would be equal.
std::pair<std::string, std::string> describeApart(const SymValue &a, const SymValue &b);
/// Prints constants as Python does, and run-time values by their type.
std::string printed(const SymValue &value);

/// Returns Python's truth value; nullopt for run-time and unknown values, and for functions and types.
std::optional<bool> truthOf(const SymValue &value);
/// Evaluates Python's < for compile-time values; nullopt if the values cannot be ordered.
std::optional<bool> isLess(const SymValue &a, const SymValue &b);

/// Appends the run-time values inside 'value' to 'leaves', in order.
void flatten(const SymValue &value, llvm::SmallVectorImpl<mlir::Value> &leaves);
/// Returns 'value' with its run-time values replaced by 'leaves', consumed from the front.
SymValue rebuild(const SymValue &value, llvm::ArrayRef<mlir::Value> &leaves);
/// Returns true if both values have the same structure, types and constants, so that they can be joined at the end of
/// an if or a loop.
bool sameType(const SymValue &a, const SymValue &b);
/// Returns true for identical values: constants bit by bit (0.0 is not -0.0), run-time values by definition.
bool sameValue(const SymValue &a, const SymValue &b);
/// Evaluates Python's == for compile-time values: 1, True and 1.0 are equal, and so are tuples with equal elements.
bool isEqual(const SymValue &a, const SymValue &b);

struct Binding {
  Binding() = default;
  Binding(SymValue value, SourceRange defined) : value(std::move(value)), defined(defined) {}

  SymValue value;
  SourceRange defined;
  /// Explains why the name must not be used here ("it is only assigned in ..."); empty if it may.
  std::string unusable;
  SourceRange unusableAt;
};

/// The names in scope. Branches work on copies of the environment.
using Environment = std::map<std::string, Binding>;

} // namespace tile::frontend
