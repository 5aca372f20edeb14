// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A global memory access of one thread: plain if LLVM can express it, otherwise one predicated PTX instruction.
#pragma once

#include "Target/GpuTarget.h"
#include "Tile/TileDialect.h"
#include "Words.h"

namespace tile::conversion {

struct AccessHints {
  CacheModifier cache = CacheModifier::none;
  EvictionPolicy evict = EvictionPolicy::normal;
  bool isVolatile = false;
  /// Reads aligned chunks of which only some bytes are wanted, or may even be allocated. `.weak`, the default, is
  /// spelled out, by which the simulator recognizes them.
  bool covers = false;

  bool isPlain() const { return cache == CacheModifier::none && evict == EvictionPolicy::normal && !covers; }
};

class GlobalAccess {
public:
  GlobalAccess(mlir::OpBuilder &builder, mlir::Location loc, WordFormat format, AccessHints hints,
               const target::GpuTarget &gpu)
      : builder(builder), loc(loc), format(format), hints(hints), gpu(gpu) {}

  /// Loads the words at `pointer`, or returns `other` where `predicate` is false. A null predicate is true.
  llvm::SmallVector<mlir::Value> load(mlir::Value pointer, mlir::Value predicate, mlir::ValueRange other);
  void store(mlir::Value pointer, mlir::Value predicate, mlir::ValueRange words);

private:
  mlir::Type wordType() const { return builder.getIntegerType(format.bits); }
  mlir::Type vectorType() const;
  std::string mnemonic(llvm::StringRef name) const;
  void addPolicy(llvm::SmallVectorImpl<mlir::Value> &operands);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  WordFormat format;
  AccessHints hints;
  const target::GpuTarget &gpu;
};

/// Returns an L2 cache policy for all lines of an access (sm_80 and later), or null if none is needed.
mlir::Value emitCachePolicy(mlir::OpBuilder &builder, mlir::Location loc, EvictionPolicy evict,
                            const target::GpuTarget &gpu);

/// Returns `a` and `b`, either of which may be null (true).
mlir::Value emitAnd(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::Value b);

/// Returns the results of `emit`, executed where `predicate` holds (null: everywhere), and `otherwise` elsewhere.
llvm::SmallVector<mlir::Value> emitWhere(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value predicate,
                                         mlir::ValueRange otherwise,
                                         llvm::function_ref<llvm::SmallVector<mlir::Value>()> emit);

/// Returns `mask`, or null if it is the constant true.
mlir::Value dropTrue(mlir::Value mask);

} // namespace tile::conversion
