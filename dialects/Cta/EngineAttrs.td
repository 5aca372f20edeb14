// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The engines: what multiplies on a GPU, and on which grid.
#ifndef CTA_ENGINE_ATTRS_TD
#define CTA_ENGINE_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "Cta/CtaDialect.td"
include "Tile/Engine.td"

class Cta_EngineAttr<string name, string attrMnemonic>
    : AttrDef<CtaDialect, name, [DeclareAttrInterfaceMethods<Tile_Engine>]> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Cta_WgmmaAttr : Cta_EngineAttr<"Wgmma", "wgmma"> {
  let summary = "warp groups multiply what lies in shared memory";
  let description = [{
    The instruction m64 n k (PTX ISA, "wgmma.mma_async"), the types of a, b and the accumulator (f32 operands are those of tf32), and
    the grid of warp groups, of which each has the same part of the rows and columns. TMA brings the operands to shared memory, unless
    `a = threads` or `b = threads` says that threads store or copy them there, `transposed` that threads store there what TMA brings,
    with k contiguous, or `a = registers` that a is computed or read where it is multiplied. `promote` says after how many elements
    along k the sum is added to the accumulator in f32. `swapped` says that the product is to become one of the transposed operands in
    the other order, for which all else holds. `lib/Target/Engines/Wgmma.h` says what is possible.

    Example: `#cta.wgmma<m64n256k16, f16, f16, f32, groups = [2, 1], a = registers>`
  }];
  let parameters = (ins "unsigned":$n, "unsigned":$k, "::mlir::Type":$a, "::mlir::Type":$b, "::mlir::Type":$accumulator,
                        "unsigned":$groupsM, "unsigned":$groupsN,
                        "::tile::target::OperandSource":$sourceA, "::tile::target::OperandSource":$sourceB,
                        "unsigned":$promote, "bool":$swapped);
  let extraClassDeclaration = [{
    bool isFromRegisters() const { return getSourceA() == ::tile::target::OperandSource::Registers; }
    /// Whether TMA brings b, and a unless it is computed: then tensor maps pay.
    bool readsBlocks() const {
      using ::tile::target::OperandSource;
      return getSourceB() != OperandSource::Threads && getSourceA() != OperandSource::Threads;
    }
    /// Of the product of the transposed operands, once that is the product.
    WgmmaAttr withoutSwap() const;
  }];
}

def Cta_MmaSyncAttr : Cta_EngineAttr<"MmaSync", "mma_sync"> {
  let summary = "warps multiply what is in their registers";
  let description = [{
    The instruction m16 n8 k (PTX ISA, "mma"), the types of a, b and the accumulator, and the grid of warps. Products of f32 are
    products of tf32, as many as the dot's precision asks for. `kWidth` says how many consecutive elements along k a thread
    holds, if they are more than those of a register: then the terms of a sum are added in another order.

    Example: `#cta.mma_sync<m16n8k16, f16, f16, f32, warps = [2, 2]>`
  }];
  let parameters = (ins "unsigned":$k, "::mlir::Type":$a, "::mlir::Type":$b, "::mlir::Type":$accumulator,
                        "unsigned":$warpsM, "unsigned":$warpsN, "unsigned":$kWidth);
  let extraClassDeclaration = [{
    /// Elements of an operand of this type in a register.
    static unsigned getLeastKWidth(::mlir::Type element) { return 32 / element.getIntOrFloatBitWidth(); }
  }];
}

def Cta_FmaAttr : Cta_EngineAttr<"Fma", "fma"> {
  let summary = "threads multiply numbers, of operands in shared memory";
  let description = [{
    Fused multiply-adds: for what the tensor cores do not have.

    Example: `#cta.fma`
  }];
  let hasCustomAssemblyFormat = 0;
  let genVerifyDecl = 0;
}

#endif
