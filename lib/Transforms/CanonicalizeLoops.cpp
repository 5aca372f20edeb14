// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// canonicalize: MLIR's canonicalization patterns with one exception; see CanonicalizeLoops.h.
#include "Transforms/CanonicalizeLoops.h"

#include "Analysis/Loops/LoopRange.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace tile;

namespace {

/// Removes loops without iterations, inlines the body of loops with a single iteration, and replaces loops with an
/// empty body by the values that they yield.
struct ShortLoop : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::ForOp loop, PatternRewriter &rewriter) const override {
    std::optional<APInt> iterations = countIterations(loop);
    if (!iterations)
      return failure();
    if (iterations->isZero()) {
      rewriter.replaceOp(loop, loop.getInitArgs());
      return success();
    }
    if (iterations->ugt(1)) {
      auto isOutside = [&](Value value) { return loop.isDefinedOutsideOfLoop(value); };
      if (!llvm::hasSingleElement(*loop.getBody()) || !llvm::all_of(loop.getYieldedValues(), isOutside))
        return failure();
      rewriter.replaceOp(loop, loop.getYieldedValues());
      return success();
    }
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    SmallVector<Value> results(yield.getOperands()), arguments{loop.getLowerBound()};
    llvm::append_range(arguments, loop.getInitArgs());
    // Yielded arguments must be replaced by their initial values.
    rewriter.eraseOp(yield);
    for (auto [argument, value] : llvm::zip_equal(loop.getBody()->getArguments(), arguments))
      llvm::replace(results, Value(argument), value);
    rewriter.inlineBlockBefore(loop.getBody(), loop, arguments);
    rewriter.replaceOp(loop, results);
    return success();
  }
};

/// Freezes the patterns except three upstream patterns that change results; these are identified by class name.
/// ShortLoop replaces the first of them. The other two merge two conversions that each round, such as integer to fp32
/// to bf16, although the program specifies two rounding steps.
FrozenRewritePatternSet freeze(RewritePatternSet set) {
  set.add<ShortLoop>(set.getContext());
  return FrozenRewritePatternSet(std::move(set), {"(anonymous namespace)::SimplifyTrivialLoops",
                                                  "(anonymous namespace)::TruncFSIToFPToSIToFP",
                                                  "(anonymous namespace)::TruncFUIToFPToUIToFP"});
}

class Canonicalizer : public PassWrapper<Canonicalizer, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Canonicalizer)
  StringRef getArgument() const override { return "canonicalize"; }
  StringRef getName() const override { return "Canonicalizer"; }

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(set);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      op.getCanonicalizationPatterns(set, context);
    patterns = std::make_shared<FrozenRewritePatternSet>(freeze(std::move(set)));
    return success();
  }

  void runOnOperation() override {
    GreedyRewriteConfig config; // upstream's default
    config.setUseTopDownTraversal(true).setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal);
    (void)applyPatternsGreedily(getOperation(), *patterns, config);
  }

private:
  std::shared_ptr<const FrozenRewritePatternSet> patterns;
};

} // namespace

FrozenRewritePatternSet tile::freezeWithLoops(RewritePatternSet set) {
  scf::ForOp::getCanonicalizationPatterns(set, set.getContext());
  return freeze(std::move(set));
}

std::unique_ptr<Pass> tile::createCanonicalizer() {
  return std::make_unique<Canonicalizer>();
}
