// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks that all operations that need layouts and effects on shared memory declare them, and that layouts agree with
// elements.
#include "Cta/CtaDialect.h"
#include "Layout/Factories.h"
#include "Layout/Movement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace mlir;
using namespace tile;
using layout::LinearLayout;

namespace {

/// An operation that declares no effect on its buffer.
struct ForgetfulOp : Op<ForgetfulOp, OpTrait::ZeroRegions, OpTrait::ZeroResults, OpTrait::ZeroSuccessors,
                        OpTrait::OneOperand, cta::DeclaresAccesses> {
  using Op::Op;
  static StringRef getOperationName() { return "test.forgetful"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
};

struct TestDialect : Dialect {
  explicit TestDialect(MLIRContext *context) : Dialect(getDialectNamespace(), context, TypeID::get<TestDialect>()) {
    addOperations<ForgetfulOp>();
  }
  static constexpr StringLiteral getDialectNamespace() { return StringLiteral("test"); }
};

struct LayoutInterface : testing::Test {
  LayoutInterface() {
    context.loadDialect<TileDialect, cta::CtaDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                        TestDialect>();
  }
  MLIRContext context;
};

TEST_F(LayoutInterface, EveryElementwiseOperationHasIt) {
  unsigned count = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    bool ties = name.hasTrait<OpTrait::Elementwise>() || name.hasInterface<ShapeChange>();
    count += ties;
    EXPECT_TRUE(!ties || name.hasInterface<cta::LayoutInterface>()) << name.getStringRef().str();
  }
  EXPECT_GT(count, 90u);
}

/// Returns blocked layouts of a shape for two warps, with the dimensions in every order.
SmallVector<LinearLayout> layoutsOf(ArrayRef<int64_t> shape) {
  SmallVector<LinearLayout> layouts;
  std::vector<unsigned> order = layout::rowMajorOrder(shape.size());
  std::sort(order.begin(), order.end());
  do
    for (int64_t vector : {1, 4})
      layouts.push_back(layout::defaultBlocked(shape.vec(), order, vector, /*numWarps=*/2));
  while (std::next_permutation(order.begin(), order.end()));
  return layouts;
}

/// Returns the source of the element at `coordinate` of the result, according to the operation's definition.
std::vector<int32_t> sourceOf(Operation *op, const LinearLayout &result, std::vector<int32_t> coordinate) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  std::vector<int32_t> source(shape.size());
  if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    coordinate.erase(coordinate.begin() + expand.getAxis());
    return coordinate;
  }
  if (auto trans = dyn_cast<TransOp>(op)) {
    for (auto [to, from] : llvm::enumerate(trans.getOrder()))
      source[from] = coordinate[to];
    return source;
  }
  if (isa<BroadcastOp>(op)) {
    for (auto [dim, size] : llvm::enumerate(shape))
      source[dim] = size == 1 ? 0 : coordinate[dim];
    return source;
  }
  int64_t flat = 0;
  for (auto [index, size] : llvm::zip(coordinate, result.outShape()))
    flat = flat * size + index;
  for (size_t dim = shape.size(); dim-- > 0; flat /= shape[dim])
    source[dim] = flat % shape[dim];
  return source;
}

TEST_F(LayoutInterface, ThreadsHoldWhatShapesNeed) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
tile.kernel @k() {
  %x = tile.arange 0 to 64 : tensor<64xi32>
  %row = tile.expand_dims %x {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %column = tile.expand_dims %x {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %rows = tile.broadcast %row : tensor<1x64xi32> -> tensor<16x64xi32>
  %columns = tile.broadcast %column : tensor<64x1xi32> -> tensor<64x8xi32>
  %same = tile.broadcast %column : tensor<64x1xi32> -> tensor<64x1xi32>
  %turned = tile.trans %rows {order = array<i32: 1, 0>} : tensor<16x64xi32> -> tensor<64x16xi32>
  %block = tile.reshape %rows : tensor<16x64xi32> -> tensor<4x8x32xi32>
  %three = tile.trans %block {order = array<i32: 2, 0, 1>} : tensor<4x8x32xi32> -> tensor<32x4x8xi32>
  %all = tile.expand_dims %turned {axis = 1 : i32} : tensor<64x16xi32> -> tensor<64x1x16xi32>
  tile.return
})",
                                                             &context);
  ASSERT_TRUE(module);
  unsigned count = 0;
  module->walk([&](cta::LayoutInterface op) {
    auto change = dyn_cast<ShapeChange>(op.getOperation());
    if (!change)
      return;
    for (const LinearLayout &result : layoutsOf(cast<RankedTensorType>(op->getResult(0).getType()).getShape())) {
      cta::LayoutAttr operand = op.getOperandLayout(cta::LayoutAttr::get(&context, result));
      ASSERT_TRUE(operand);
      EXPECT_EQ(ArrayRef(operand.getLayout().outShape()),
                cast<RankedTensorType>(op->getOperand(0).getType()).getShape());
      LinearLayout sources = cta::getSourceCoordinates(change, result);
      for (int64_t place = 0; place < result.numRegisters() * 32 * 2; ++place)
        ASSERT_EQ(sources.unflatten(sources.applyFlat(place)),
                  sourceOf(op, result, result.unflatten(result.applyFlat(place))))
            << op->getName().getStringRef().str() << " at " << place;
      layout::MovementKind kind = layout::planMovement(operand.getLayout(), sources).kind;
      EXPECT_TRUE(kind == layout::MovementKind::none || kind == layout::MovementKind::registers);
      // If the result's layout follows, it is the requested one.
      if (cta::LayoutAttr back = op.getResultLayout(operand))
        EXPECT_EQ(back.getLayout(), result);
      ++count;
    }
  });
  EXPECT_GE(count, 9u * 4);
}

TEST_F(LayoutInterface, ForgottenAccessesAreErrors) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
tile.kernel @k() {
  %b = cta.alloc : !cta.buffer<2xf32, #cta.layout<[2], offset = [[1]]>>
  "test.forgetful"(%b) : (!cta.buffer<2xf32, #cta.layout<[2], offset = [[1]]>>) -> ()
  tile.return
})",
                                                             &context);
  EXPECT_FALSE(module);
  EXPECT_EQ(message, "'test.forgetful' op takes a buffer as operand 0 but declares no memory effect on it");
}

} // namespace
