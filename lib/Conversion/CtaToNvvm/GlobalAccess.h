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
  /// The access reads aligned chunks, of which only some bytes are wanted, and some bytes may not even be allocated.
  /// Such a read is marked with `.weak`. This is the default and changes nothing, but lets the simulator recognise the
  /// read.
  bool covers = false;

  bool isPlain() const { return cache == CacheModifier::none && evict == EvictionPolicy::normal && !covers; }
};

class GlobalAccess {
public:
  GlobalAccess(mlir::OpBuilder &builder, mlir::Location loc, WordFormat format, AccessHints hints,
               const target::GpuTarget &gpu)
      : builder(builder), loc(loc), format(format), hints(hints), gpu(gpu) {}

  /// Loads the words at `pointer`, or returns `other` where `predicate` is false. A null predicate means true.
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

/// Returns an L2 cache policy that applies to all lines of an access (sm_80 and later); null if none is needed.
mlir::Value emitCachePolicy(mlir::OpBuilder &builder, mlir::Location loc, EvictionPolicy evict,
                            const target::GpuTarget &gpu);

/// Returns `a` and `b`; a null operand means true.
mlir::Value emitAnd(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::Value b);

/// Returns the results of `emit` in threads where `predicate` is true or null, and `otherwise` elsewhere.
llvm::SmallVector<mlir::Value> emitWhere(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value predicate,
                                         mlir::ValueRange otherwise,
                                         llvm::function_ref<llvm::SmallVector<mlir::Value>()> emit);

/// Returns `mask`, or null if `mask` is the constant true.
mlir::Value dropTrue(mlir::Value mask);

} // namespace tile::conversion
