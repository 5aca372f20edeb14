// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits operations on run-time values: arithmetic, conversions, shapes. This is also the interface through which the
// emitters of builtins (Emit*.cpp) use the semantic analysis.
//
// Operations are emitted as MLIR as soon as their operands are known. Names and control flow belong to Sema/, which the
// virtual functions call: for messages, and for user code such as the combine function of a reduction.

#pragma once

#include "Frontend/Frontend.h"
#include "Frontend/Values/SymValue.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

#include <set>

namespace tile::frontend {

class Emitter {
public:
  // ------------------------------------------------------------------------------------------------ diagnostics
  virtual SymValue error(Diag id, SourceRange range, const std::vector<std::string> &arguments = {},
                         std::optional<std::pair<SourceRange, std::string>> note = std::nullopt) = 0;
  virtual DiagnosticEngine::Builder warn(Diag id, SourceRange range,
                                         const std::vector<std::string> &arguments = {}) = 0;
  virtual mlir::Location location(SourceRange range) = 0;

  // -------------------------------------------------------------------------------- EmitArith.cpp, EmitShape.cpp
  mlir::Type mlirType(DType type);
  mlir::Type mlirType(DType type, llvm::ArrayRef<int64_t> shape);
  SymValue makeNumber(const Value &number, DType type, SourceRange range);
  SymValue makeSplat(const Value &number, DType type, llvm::ArrayRef<int64_t> shape, SourceRange range);
  /// Converts constants to scalars of their literal type; anything except numbers and tensors is an error.
  SymValue toTensor(const SymValue &value, SourceRange range);
  SymValue cast(const SymValue &value, DType type, SourceRange range, bool truncateTowardsZero = false);
  SymValue halfOfLegacyFloat8(const SymValue &value, SourceRange range);
  SymValue legacyFloat8OfHalf(const SymValue &value, SourceRange range);
  SymValue bitcast(const SymValue &value, DType type, SourceRange range);
  SymValue castAddress(const SymValue &value, DType type, SourceRange range);
  SymValue binary(BinaryOp op, const SymValue &left, const SymValue &right, SourceRange range);
  SymValue compare(CompareOp op, const SymValue &left, const SymValue &right, SourceRange range);
  SymValue unary(UnaryOp op, const SymValue &operand, SourceRange range);
  SymValue logical(BoolOperator op, const SymValue &left, const SymValue &right, SourceRange range);
  SymValue minimumOrMaximum(bool isMaximum, const SymValue &left, const SymValue &right, bool propagateNan,
                            SourceRange range);
  SymValue select(const SymValue &condition, const SymValue &thenValue, const SymValue &elseValue, SourceRange range);
  /// Converts two operands of arithmetic to a common type and shape. Returns false after an error.
  bool unify(SymValue &left, SymValue &right, bool isDivision, SourceRange range);
  bool broadcastTogether(SymValue &left, SymValue &right, SourceRange range);
  SymValue broadcastTo(const SymValue &value, llvm::ArrayRef<int64_t> shape, SourceRange range);
  SymValue reshape(const SymValue &value, llvm::ArrayRef<int64_t> shape, SourceRange range);
  SymValue expandDims(const SymValue &value, int64_t axis, SourceRange range);
  SymValue makeDescriptor(mlir::Value base, llvm::ArrayRef<mlir::Value> shape, llvm::ArrayRef<mlir::Value> strides,
                          llvm::ArrayRef<int64_t> block, DType element, SourceRange range);
  SymValue permute(const SymValue &value, llvm::ArrayRef<int32_t> order, SourceRange range);
  /// Returns true for powers of two, and for the sizes of blocks that the kernel leaves open.
  bool isBlockSize(int64_t size) const;
  /// Emits a // b or a % b of integers, rounded down (EmitFloor.cpp).
  SymValue floorDivision(bool isRemainder, const SymValue &left, const SymValue &right, SourceRange range);
  /// Emits x[i]: selects the element at an index along one dimension and removes this dimension (EmitFloor.cpp).
  SymValue elementAt(const SymValue &value, size_t axis, const SymValue &index, SourceRange range);
  SymValue arange(int64_t start, int64_t end, SourceRange range);
  /// Returns the only element of a block.
  SymValue toScalar(const SymValue &block, SourceRange range);

  // -------------------------------------------------------------------------------------------------------- Sema
  /// Converts a run-time scalar to i1.
  virtual SymValue condition(const SymValue &value, SourceRange range) = 0;
  /// Calls a function or builtin with positional arguments.
  virtual SymValue callValue(const SymValue &callee, const std::vector<SymValue> &arguments, SourceRange range) = 0;
  virtual SymValue attributeOf(const SymValue &value, const AttributeExpr &expr) = 0;
  virtual bool hasAttribute(const SymValue &value, const std::string &name) = 0;
  virtual SymValue fromResult(const EvalResult &result, SourceRange range) = 0;
  /// Returns a member of "tl", "math" or another built-in module of the language.
  virtual std::optional<Value> namespaceMember(const std::string &space, const std::string &name) = 0;

  /// Binds all names that refer to the value `from` to the value `to`.
  virtual void rebind(mlir::Value from, mlir::Value to) = 0;

  /// Evaluates isinstance() for a type or class; nullopt if 'type' is neither (EmitPython.cpp).
  std::optional<bool> isInstance(const SymValue &value, const SymValue &type);

  bool isTile1() const { return request.standard == Standard::Tile1; }

  /// Emitted operations will be discarded, so emission must not have side effects.
  bool isTrial = false;

  struct OperationCounter : mlir::OpBuilder::Listener {
    void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) override;
    size_t operations = 0;
    int64_t threads = 128;    // per program
    int64_t instructions = 0; // estimated instructions per thread, from the block sizes
  };

  mlir::MLIRContext &context;
  OperationCounter counter;
  mlir::OpBuilder builder;
  const CompileRequest &request;
  std::set<int64_t> openSizes; // allowed block sizes that are not powers of two

protected:
  Emitter(mlir::MLIRContext &context, const CompileRequest &request)
      : context(context), builder(&context, &counter), request(request) {}
  Emitter(const Emitter &) = delete;
  ~Emitter() = default;

  virtual void warnLostWeakness(const SymValue &left, const SymValue &right, DType common, bool isDivision,
                                SourceRange range) = 0;
};

} // namespace tile::frontend
