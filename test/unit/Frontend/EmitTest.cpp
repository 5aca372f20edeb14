// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Properties that a text test cannot show: locations, limits that need generated programs, and programs of random
// pieces.

#include "Frontend/Frontend.h"

#include "Tile/TileDialect.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

#include <random>

using namespace tile::frontend;

namespace {

struct Compiled {
  DiagnosticEngine diagnostics;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;

  explicit Compiled(const std::string &text, const CompileRequest &request = {}) {
    module = emitModule(context, SourceFile{"/dir/k.tile", text}, request, diagnostics);
  }
  bool reports(std::string_view name) const {
    for (const Diagnostic &diagnostic : diagnostics.all())
      if (diagnostic.name == name)
        return true;
    return false;
  }
};

const char *header = "@jit\ndef k(p: ptr[f32], n: i32):\n";

TEST(Emit, LocationsNameTheCall) {
  Compiled compiled("@jit\ndef h(x):\n  return x + 1\n\n@jit\ndef k(p: ptr[i32], n: i32):\n  tl.store(p, h(n))\n");
  ASSERT_TRUE(compiled.module) << compiled.diagnostics.render();
  std::string add, store;
  compiled.module->walk([&](mlir::Operation *op) {
    std::string text;
    llvm::raw_string_ostream(text) << op->getLoc();
    if (op->getName().getStringRef() == "arith.addi")
      add = text;
    if (llvm::isa<tile::StoreOp>(op))
      store = text;
  });
  EXPECT_EQ(add, "loc(callsite(\"/dir/k.tile\":3:10 at \"/dir/k.tile\":7:15))");
  EXPECT_EQ(store, "loc(\"/dir/k.tile\":7:3)");
}

TEST(Emit, ChoosesWhatIsOpen) {
  const char *text =
      "#: buffer a[M, 64] strides(1, lda) = random\n#: buffer b[64, N] = random\n"
      "#: buffer c[M, N] = output\n#: expect c == a @ b\n@jit\n"
      "def k(a: ptr[f16], b: ptr[bf16], c: ptr[f32], M: i32, N: i32[16], lda: i32[16], GROUP_M: constexpr = 3,"
      " BLOCK_M: constexpr = auto):\n  pass\n";
  EXPECT_TRUE(Compiled(text).reports("open-unchosen"));
  OpenGemm asked;
  CompileRequest request;
  request.sizes = {{"M", 100}};
  request.choose = [&](const OpenGemm &gemm) {
    asked = gemm;
    return TileChoices{.blockM = 32, .numWarps = 2};
  };
  Compiled compiled(text, request);
  ASSERT_TRUE(compiled.module) << compiled.diagnostics.render();
  EXPECT_EQ(asked.m, 100);
  EXPECT_EQ(asked.n, OpenGemm::unknownSize);
  EXPECT_EQ(asked.k, 64);
  EXPECT_EQ(asked.element, DType(Scalar::Float16));
  EXPECT_EQ(asked.output, DType(Scalar::Float32));
  EXPECT_TRUE(asked.alignedRows);
  EXPECT_FALSE(asked.aKMajor && asked.bKMajor);
  EXPECT_EQ(asked.given.groupM, 3);
  EXPECT_EQ(asked.given.blockM, std::nullopt);
  auto kernel = *compiled.module->getOps<tile::KernelOp>().begin();
  EXPECT_EQ(kernel.getNumWarps(), 2);
  EXPECT_EQ(llvm::cast<mlir::IntegerAttr>(kernel.getConstantsAttr().get("BLOCK_M")).getInt(), 32);
}

// Rows start at multiples of 16 bytes if both pointers and both strides are assumed to be aligned; for copies the row
// lengths count, too.
TEST(Emit, PromisesOfRows) {
  auto promises = [](const std::string &a, const std::string &N, const std::string &strides) {
    std::string text = "#: buffer a[N, N]" + strides + " = inout\n#: expect a == a @ a\n@jit\ndef k(a: " + a +
                       ", N: " + N + ", T: constexpr = 1, BLOCK_M: constexpr = auto):\n  pass\n";
    std::pair<bool, unsigned> found;
    CompileRequest request;
    request.choose = [&](const OpenGemm &gemm) {
      found = {gemm.alignedRows, gemm.copyBytes};
      return TileChoices{};
    };
    EXPECT_TRUE(Compiled(text, request).module);
    return found;
  };
  EXPECT_EQ(promises("ptr[f16]", "i32[8]", ""), std::pair(true, 16u));
  EXPECT_EQ(promises("ptr[f16]", "i32[4]", ""), std::pair(false, 8u));
  EXPECT_EQ(promises("ptr[f32]", "i32[4]", ""), std::pair(true, 16u));
  EXPECT_EQ(promises("ptr[f16, 8]", "i32[8]", ""), std::pair(false, 8u));
  EXPECT_EQ(promises("ptr[f16]", "i32[4]", " strides(N * 2, 1)"), std::pair(true, 8u));
  EXPECT_EQ(promises("ptr[f16]", "i32", " strides(1 if T else N, 16 if T else 1)"), std::pair(true, 2u));
  EXPECT_EQ(promises("ptr[f16]", "i32[8]", " strides(N + 4, 1)"), std::pair(false, 8u));
  EXPECT_EQ(promises("ptr[f16]", "i32[8]", " strides(N + 8, 1)"), std::pair(true, 16u));
  EXPECT_EQ(promises("ptr[f16]", "i32", ""), std::pair(false, 2u));
  EXPECT_EQ(promises("ptr[f16]", "i32[8]", " strides(N, 2)"), std::pair(false, 1u));
}

TEST(Emit, TooManyCalls) {
  std::string text = "@jit\ndef f0(x):\n  return x + 1\n";
  for (int i = 1; i < 30; ++i)
    text += "@jit\ndef f" + std::to_string(i) + "(x):\n  return f" + std::to_string(i - 1) + "(f" +
            std::to_string(i - 1) + "(x))\n";
  Compiled compiled(text + header + "  x = f29(n)\n");
  EXPECT_TRUE(compiled.reports("too-many-calls")) << compiled.diagnostics.render();
}

TEST(Emit, ManyReturns) {
  std::string chain;
  for (int i = 0; i < 100; ++i)
    chain += "  if n == " + std::to_string(i) + ":\n    return\n";
  Compiled compiled(header + chain);
  EXPECT_TRUE(compiled.reports("too-many-returns")) << compiled.diagnostics.render();
}

TEST(Emit, ReturnsThatWouldDoubleTheCodeEachTime) {
  std::string chain;
  for (int i = 0; i < 40; ++i)
    chain += "  if n > 1:\n    if n == " + std::to_string(i) + ":\n      return\n";
  Compiled compiled(header + chain);
  EXPECT_TRUE(compiled.reports("too-many-returns")) << compiled.diagnostics.render();
}

TEST(Emit, HelperThatReturnsInAllBranches) {
  Compiled compiled(
      "@jit\ndef h(x):\n  if x > 1:\n    if x > 2:\n      return 1.0\n    y = 2.0\n  elif x > 0:\n    y = 3.0\n"
      "  else:\n    y = 4.0\n  return y\n" +
      std::string(header) + "  for i in range(n):\n    tl.store(p, h(i))\n");
  EXPECT_TRUE(compiled.module) << compiled.diagnostics.render();
}

TEST(Emit, TheRequestNamesKernelsInAnyOrder) {
  std::string text = "@jit\ndef a(n: i32): pass\n@jit\ndef b(n): pass\n";
  CompileRequest request;
  request.kernelName = "b";
  request.signature = "u32:8";
  Compiled compiled(text, request);
  ASSERT_TRUE(compiled.module) << compiled.diagnostics.render();
  auto kernel = *compiled.module->getOps<tile::KernelOp>().begin();
  EXPECT_EQ(kernel.getName(), "b");
  EXPECT_EQ(kernel.getArgAttrOfType<mlir::IntegerAttr>(0, "tile.divisibility").getInt(), 8);
}

/// Random statements over a few names: the result is either a verified module or an error.
TEST(Emit, RandomPrograms) {
  const std::string_view atoms[] = {"x",
                                    "y",
                                    "n",
                                    "p",
                                    "b",
                                    "m",
                                    "1",
                                    "2.5",
                                    "-1",
                                    "None",
                                    "True",
                                    "tl.float16",
                                    "'s'",
                                    "()",
                                    "tl.arange(0, 16)",
                                    "m[:, None]",
                                    "b.to(tl.float16)",
                                    "tl.load(p)"};
  const std::string_view numbers[] = {"x", "n", "1", "3", "b"};
  const std::string_view operators[] = {" + ",  " - ", " * ",  " // ",  " % ",  " / ",  " & ",
                                        " << ", " < ", " == ", " and ", " or ", " is ", " ** "};
  const std::string_view calls[] = {"tl.sum", "tl.max",   "tl.exp",   "tl.zeros_like", "abs",
                                    "len",    "tl.trans", "tl.ravel", "tl.program_id", "helper",
                                    "int",    "tl.int8",  "-",        "not ",          "~"};
  std::mt19937 random(7);
  auto pick = [&](const auto &list) { return std::string(list[random() % std::size(list)]); };
  std::function<std::string(int)> expression = [&](int depth) -> std::string {
    switch (depth == 0 ? 0 : random() % 5) {
    case 1:
      return "(" + expression(depth - 1) + pick(operators) + expression(depth - 1) + ")";
    case 2:
      return pick(calls) + "(" + expression(depth - 1) + ")";
    case 3:
      return "(" + expression(depth - 1) + " if " + expression(depth - 1) + " else " + expression(depth - 1) + ")";
    case 4:
      return "tl.where(" + expression(depth - 1) + ", " + expression(depth - 1) + ", " + expression(depth - 1) + ")";
    default:
      return random() % 4 ? pick(numbers) : pick(atoms);
    }
  };
  std::function<std::string(int, int)> statement = [&](int depth, int indent) -> std::string {
    std::string space(static_cast<size_t>(indent), ' ');
    switch (depth == 0 ? 0 : random() % 6) {
    case 1:
      return space + "if " + expression(1) + ":\n" + statement(depth - 1, indent + 1) + space + "else:\n" +
             statement(depth - 1, indent + 1);
    case 2:
      return space + "for i in range(" + expression(1) + "):\n" + statement(depth - 1, indent + 1);
    case 3:
      return space + "while " + expression(1) + ":\n" + statement(depth - 1, indent + 1);
    case 4:
      return space + "if " + expression(1) + ":\n" + statement(depth - 1, indent + 1) + space + " return\n";
    default:
      return space + (random() % 5 ? "x" : "y, b") + " = " + expression(2) + "\n" + space + "x += " + expression(1) +
             "\n";
    }
  };
  int compiledPrograms = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string text = "@jit\ndef helper(a):\n  if a:\n    return a\n  return a * 2\n" + std::string(header) +
                       "  x = n\n  y = 1.5\n  b = tl.arange(0, 16)\n  m = b > 3\n";
    for (unsigned i = 0; i < 1 + random() % 3; ++i)
      text += statement(2, 2);
    CompileRequest request;
    request.kernelName = "k";
    Compiled compiled(text, request);
    EXPECT_FALSE(compiled.reports("invalid-module")) << text << compiled.diagnostics.render();
    EXPECT_EQ(!compiled.module, compiled.diagnostics.hasErrors()) << text;
    compiledPrograms += compiled.module ? 1 : 0;
  }
  // The generator must also produce valid programs.
  EXPECT_GT(compiledPrograms, 50);
}

} // namespace
