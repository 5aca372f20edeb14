// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests that descriptors encoded by the launcher from their recipes equal those that the kernel created: same results,
// element by element, for sizes that the expressions round, bound and scale.
#include "Interpreter/Interpreter.h"
#include "Runtime/Expression.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tile;

namespace {

/// c[M, N] = a[M, K] @ b[K, N], where a is stored in rows of K rounded up to 8 and b in rows of 4 * ldb.
constexpr const char *kernelText = R"(
tile.kernel @k(%a: !tile.ptr<f16> {tile.name = "a", tile.divisibility = 16 : i32},
               %b: !tile.ptr<f16> {tile.name = "b", tile.divisibility = 16 : i32},
               %c: !tile.ptr<f32> {tile.name = "c", tile.divisibility = 16 : i32},
               %m: i32 {tile.name = "M"}, %n: i32 {tile.name = "N", tile.divisibility = 4 : i32}, %k: i32 {tile.name = "K"},
               %ldb: i64 {tile.name = "ldb"}) {
  %zeros = arith.constant dense<0.0> : tensor<64x32xf32>
  %one = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %c16 = arith.constant 16 : i32
  %c64 = arith.constant 64 : i32
  %c32 = arith.constant 32 : i32
  %pieces = arith.ceildivsi %k, %c8 : i32
  %lda = arith.muli %pieces, %c8 : i32
  %lda64 = arith.extsi %lda : i32 to i64
  %ldb4 = arith.muli %ldb, %four : i64
  %n64 = arith.extsi %n : i32 to i64
  %rows = arith.maxsi %m, %c0 : i32
  %least = arith.minsi %n, %c32 : i32
  %da = tile.make_desc %a, [%rows, %k], [%lda64, %one] : !tile.ptr<f16> -> !tile.desc<64x16xf16>
  %db = tile.make_desc %b, [%k, %least], [%ldb4, %one] : !tile.ptr<f16> -> !tile.desc<16x32xf16>
  %dc = tile.make_desc %c, [%rows, %n], [%n64, %one] : !tile.ptr<f32> -> !tile.desc<64x32xf32>
  %pid = tile.program_id 0
  %first = arith.muli %pid, %c64 : i32
  %sum = scf.for %i = %c0 to %k step %c16 iter_args(%acc = %zeros) -> (tensor<64x32xf32>) : i32 {
    %x = tile.desc_load %da[%first, %i] : !tile.desc<64x16xf16> -> tensor<64x16xf16>
    %y = tile.desc_load %db[%i, %c0] : !tile.desc<16x32xf16> -> tensor<16x32xf16>
    %next = tile.dot %x, %y, %acc : tensor<64x16xf16>, tensor<16x32xf16> -> tensor<64x32xf32>
    scf.yield %next : tensor<64x32xf32>
  }
  tile.desc_store %dc[%first, %c0], %sum : !tile.desc<64x32xf32>, tensor<64x32xf32>
  tile.return
})";

struct Sizes {
  int64_t m, n, k, ldb;
};

class HostDescriptorsTest : public testing::Test {
protected:
  HostDescriptorsTest() { context.loadDialect<TileDialect, arith::ArithDialect, scf::SCFDialect>(); }

  /// Returns the argument that the launcher would pass for the descriptor argument `index`.
  static interp::Argument makeDescriptor(KernelOp kernel, unsigned index, const Sizes &sizes) {
    TensorMapAttr recipe = kernel.getTensorMap(index);
    runtime::ExpressionNames names{{{"M"}, {"N"}, {"K"}, {"ldb"}}, {}};
    auto evaluate = [&](ArrayRef<StringAttr> list) {
      SmallVector<int64_t, 5> values;
      for (StringAttr text : list) {
        auto expression = runtime::Expression::compile(text.str(), names);
        EXPECT_TRUE(bool(expression)) << text.str();
        values.push_back(expression->evaluate(std::array{sizes.m, sizes.n, sizes.k, sizes.ldb}).value);
      }
      return values;
    };
    // Buffers are in the order of the pointer parameters.
    StringRef base = recipe.getBase().getValue();
    interp::Argument argument = interp::Argument::pointer(base == "a" ? 0 : base == "b" ? 1 : 2);
    argument.shape = evaluate(recipe.getShape());
    for (int64_t &size : argument.shape)
      size = std::max<int64_t>(size, 0);
    argument.strides = evaluate(recipe.getStrides());
    argument.strides.push_back(1);
    return argument;
  }

  std::vector<float> run(bool hosted, const Sizes &sizes) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kernelText, &context);
    KernelOp kernel = *module->getOps<KernelOp>().begin();
    if (hosted) {
      PassManager manager(&context);
      manager.addNestedPass<KernelOp>(createTileChooseEngine());
      manager.addNestedPass<KernelOp>(createTileHostDescriptors());
      EXPECT_TRUE(succeeded(manager.run(*module)));
      EXPECT_EQ(kernel.getNumArguments(), 10u);
    }
    std::vector<uint16_t> a(4096), b(4096);
    for (size_t i = 0; i < a.size(); ++i) { // some bits of small positive numbers
      a[i] = 0x3000 + i * 37 % 2048;
      b[i] = 0x3000 + i * 101 % 2048;
    }
    std::vector<float> c(4096, -1);
    interp::Buffer buffers[] = {
        {a.data(), a.size() * 2, "a"}, {b.data(), b.size() * 2, "b"}, {c.data(), c.size() * 4, "c"}};
    using interp::Argument;
    SmallVector<Argument> arguments{Argument::pointer(0),        Argument::pointer(1),       Argument::pointer(2),
                                    Argument::integer(sizes.m),  Argument::integer(sizes.n), Argument::integer(sizes.k),
                                    Argument::integer(sizes.ldb)};
    for (unsigned index = arguments.size(); index < kernel.getNumArguments(); ++index)
      arguments.push_back(makeDescriptor(kernel, index, sizes));
    std::optional<interp::Error> error = interp::run(kernel, {3, 1, 1}, arguments, buffers);
    EXPECT_FALSE(error) << error->toString();
    return c;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
};

TEST_F(HostDescriptorsTest, LaunchersDescriptorsGiveTheSameResults) {
  for (const Sizes &sizes : {Sizes{133, 20, 19, 8}, {48, 32, 64, 16}, {1, 40, 1, 10}, {17, 4, 0, 8}, {-3, 4, 16, 8}})
    EXPECT_EQ(run(false, sizes), run(true, sizes)) << sizes.m << " x " << sizes.n << " x " << sizes.k;
}

} // namespace
