// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One access of one thread to global memory: plain where LLVM can express it, else one predicated PTX instruction.
#pragma once

#include "Target/GpuTarget.h"
#include "Tile/TileDialect.h"
#include "Words.h"

namespace tile::conversion {

struct AccessHints {
  CacheModifier cache = CacheModifier::none;
  EvictionPolicy evict = EvictionPolicy::normal;
  bool isVolatile = false;
  /// Reads words of which some bytes only are wanted, and of memory may be: `.weak`, the default, is written out, which
  /// is how the simulator knows them.
  bool covers = false;

  bool isPlain() const { return cache == CacheModifier::none && evict == EvictionPolicy::normal && !covers; }
};

class GlobalAccess {
public:
  GlobalAccess(mlir::OpBuilder &builder, mlir::Location loc, WordFormat format, AccessHints hints,
               const target::GpuTarget &gpu)
      : builder(builder), loc(loc), format(format), hints(hints), gpu(gpu) {}

  /// The words at `pointer`, or `other` where `predicate` is false. A null predicate is true.
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

/// An L2 cache policy for all lines of an access (sm_80 and later), null if there is none to give.
mlir::Value emitCachePolicy(mlir::OpBuilder &builder, mlir::Location loc, EvictionPolicy evict,
                            const target::GpuTarget &gpu);

/// `a` and `b`, either of which may be null (true).
mlir::Value emitAnd(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::Value b);

/// The results of `emit`, executed where `predicate` holds (null: everywhere), and `otherwise` elsewhere.
llvm::SmallVector<mlir::Value> emitWhere(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value predicate,
                                         mlir::ValueRange otherwise,
                                         llvm::function_ref<llvm::SmallVector<mlir::Value>()> emit);

/// `mask`, or null if it is the constant true.
mlir::Value dropTrue(mlir::Value mask);

} // namespace tile::conversion
