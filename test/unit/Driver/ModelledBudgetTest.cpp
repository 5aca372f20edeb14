// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost model counts what the passes create: for each GEMM of the examples, on each target, slots, panels and CTAs
// of a multiprocessor equal those of the compiled kernel. The test prints differences, and expects none.
#include "Cta/CtaDialect.h"
#include "Driver/Compilation.h"
#include "Driver/KernelInspector.h"
#include "Driver/PlanProduct.h"
#include "Target/GemmBudget.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tile;
using namespace tile::driver;

namespace {

/// The decisions for a compiled kernel.
struct Made {
  unsigned slots = 0;
  int64_t panelBytes = 0, sharedBytes = 0, threads = 0;
};

/// Reads slots and panels after cta-specialize-warps, while rings are not lowered yet.
void readBuffers(KernelOp kernel, Made &made) {
  kernel.walk([&](cta::RingAllocOp ring) { made.slots = std::max<unsigned>(made.slots, ring.getType().getSlots()); });
  kernel.walk([&](cta::AllocOp alloc) {
    SmallVector<Operation *> users(alloc->getUsers());
    for (Operation *user : alloc->getUsers())
      if (auto slot = dyn_cast<cta::SlotOp>(user))
        llvm::append_range(users, slot->getUsers());
    if (llvm::any_of(users, llvm::IsaPred<cta::AsyncCopyOp>))
      made.slots = std::max<unsigned>(made.slots, alloc.getType().getSlots());
    if (llvm::any_of(users, llvm::IsaPred<cta::TmaStoreOp>))
      made.panelBytes += alloc.getType().getBytes();
  });
  made.threads = cta::countWarps(kernel) * target::threadsPerWarp;
}

struct Row {
  std::string example, target;
  frontend::TileChoices tiles;
  bool promisesRows; ///< that all strides are multiples of 16 bytes
};

CompilerOptions optionsOf(const Row &row) {
  CompilerOptions options;
  options.input = std::string(TILE_EXAMPLES) + "/" + row.example;
  options.inputText = (*llvm::MemoryBuffer::getFile(options.input))->getBuffer().str();
  options.target = row.target;
  options.warnings.silence();
  options.advise = options.printsText = false;
  options.tiles = row.tiles;
  if (row.promisesRows)
    for (const char *stride : {"lda", "ldb", "ldc"})
      options.assumptions[stride] = 8;
  return options;
}

std::optional<Made> compile(CompilerOptions options) {
  std::string text;
  llvm::raw_string_ostream errors(text);
  Made made;
  for (const char *last : {"cta-specialize-warps", "cta-allocate-shared"}) {
    options.emit = EmitKind::Nvvm;
    options.pipeline.stopAfter = last;
    Compilation compilation(options, errors);
    if (!compilation.run() || compilation.module().getOps<KernelOp>().empty())
      return std::nullopt;
    KernelOp kernel = *compilation.module().getOps<KernelOp>().begin();
    if (StringRef(last) == "cta-specialize-warps")
      readBuffers(kernel, made);
    else
      made.sharedBytes = kernel.getSharedBytes().value_or(0);
  }
  return made;
}

/// Returns the problem that the cost model sees in the kernel; none if it recognizes no GEMM.
std::optional<runtime::CostSpec> modelOf(const CompilerOptions &options, const target::GpuTarget &gpu) {
  KernelInspector inspector(gpu);
  InspectedKernel inspected = inspector.inspect(options, *options.tiles);
  if (!inspected || !inspected.product)
    return std::nullopt;
  frontend::OpenProduct product = *inspected.product;
  frontend::TileChoices &given = product.given;
  const frontend::TileChoices &chosen = *options.tiles;
  for (auto choice :
       {&frontend::TileChoices::blockM, &frontend::TileChoices::blockN, &frontend::TileChoices::blockK,
        &frontend::TileChoices::groupM, &frontend::TileChoices::numWarps, &frontend::TileChoices::numStages})
    if (!(given.*choice))
      given.*choice = chosen.*choice;
  return costOf(options, gpu, product, PromiseClass{}, KernelFacts{});
}

} // namespace

TEST(ModelledBudget, isThatOfTheCompiledKernel) {
  const frontend::TileChoices tiles[] = {
      {.blockM = 128, .blockN = 128, .blockK = 64, .groupM = 8, .numWarps = 8, .numStages = 3},
      {.blockM = 128, .blockN = 256, .blockK = 64, .groupM = 8, .numWarps = 8, .numStages = 3},
      {.blockM = 128, .blockN = 128, .blockK = 64, .groupM = 8, .numWarps = 4, .numStages = 3},
      {.blockM = 64, .blockN = 64, .blockK = 64, .groupM = 8, .numWarps = 4, .numStages = 2},
      {.blockM = 64, .blockN = 128, .blockK = 64, .groupM = 8, .numWarps = 4, .numStages = 4},
      {.blockM = 16, .blockN = 128, .blockK = 128, .groupM = 8, .numWarps = 4, .numStages = 3},
      {.blockM = 128, .blockN = 160, .blockK = 32, .groupM = 8, .numWarps = 4, .numStages = 3},
      {.blockM = 128, .blockN = 144, .blockK = 64, .groupM = 8, .numWarps = 8, .numStages = 4},
      {.blockM = 64, .blockN = 64, .blockK = 32, .groupM = 8, .numWarps = 4, .numStages = 3},
  };
  std::string differences;
  unsigned compared = 0, rings = 0;
  for (const char *example : {"matmul.tile", "mlp.tile", "gemm/matmul_descriptors.tile", "gemm/linear.tile",
                              "gemm/dense.tile", "gemm/few_rows.tile"})
    for (const target::GpuTarget *gpu : target::allTargets())
      for (const frontend::TileChoices &choice : tiles) {
        Row row{example, std::string(gpu->name), choice, /*promisesRows=*/true};
        CompilerOptions options = optionsOf(row);
        std::optional<runtime::CostSpec> model = modelOf(options, *gpu);
        std::optional<Made> made = model ? compile(options) : std::nullopt;
        if (!made)
          continue;
        ++compared;
        rings += model->config.wgmma;
        target::GemmBudget budget = target::budgetOf(*gpu, model->problem, model->config);
        auto compare = [&](const char *what, int64_t modelled, int64_t is) {
          if (modelled != is)
            differences += llvm::formatv("{0} {1} {2}x{3}x{4}, {5} warps, {6} stages: {7} modelled {8}, made {9}\n",
                                         example, gpu->name, *choice.blockM, *choice.blockN, *choice.blockK,
                                         *choice.numWarps, *choice.numStages, what, modelled, is);
        };
        compare("slots", budget.slots, made->slots);
        if (!model->config.wgmma)
          continue;
        target::WgmmaTile tile = target::wgmmaTile(model->config);
        compare("bytes of panels", tile.rows * budget.panels.buffered() * model->problem.outputBytes, made->panelBytes);
        compare("threads", budget.use.threads, made->threads);
        target::CtaUse use{made->threads, 0, made->sharedBytes};
        compare("CTAs", target::planResidency(*gpu, budget.use).ctas(), target::planResidency(*gpu, use).ctas());
      }
  std::printf("%u kernels compared, %u with rings\n%s", compared, rings, differences.c_str());
  EXPECT_GE(rings, 6u);
  EXPECT_GE(compared, 60u);
  EXPECT_EQ(differences, "");
}
