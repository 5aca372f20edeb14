// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Engines: how a GPU computes a dot, and on which grid of warps or warp groups.
#ifndef CTA_ENGINE_ATTRS_TD
#define CTA_ENGINE_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "Cta/CtaDialect.td"
include "Cta/BufferEngine.td"
include "Tile/Engine.td"

class Cta_EngineAttr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<CtaDialect, name, !listconcat([DeclareAttrInterfaceMethods<Tile_Engine>], traits)> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Cta_WgmmaAttr : Cta_EngineAttr<"Wgmma", "wgmma", [DeclareAttrInterfaceMethods<Cta_BufferEngine, ["withoutSwap"]>]> {
  let summary = "wgmma: warp groups multiply operands in shared memory";
  let description = [{
    The instruction m64 n k (PTX ISA, "wgmma.mma_async"), the types of a, b and the accumulator (f32 operands are
    multiplied as tf32), and the grid of warp groups, each of which computes the same share of the rows and columns. TMA
    copies the operands to shared memory unless a source is given: `a = threads` or `b = threads` if threads store or
    copy the operand there, `transposed` if threads transpose TMA tiles so that k becomes contiguous, and `a =
    registers` if a is computed in, or loaded into, registers. `promote` is the number of elements along k after which
    the partial sum is added to the accumulator in f32. If `swapped` is set, the dot must be replaced by the dot of the
    transposed operands in swapped order; all other parameters describe the new dot. `lib/Target/Engines/Wgmma.h`
    defines the valid combinations.

    Example: `#cta.wgmma<m64n256k16, f16, f16, f32, groups = [2, 1], a = registers>`
  }];
  let parameters = (ins "unsigned":$n, "unsigned":$k, "::mlir::Type":$a, "::mlir::Type":$b, "::mlir::Type":$accumulator,
                        "unsigned":$groupsM, "unsigned":$groupsN,
                        "::tile::target::OperandSource":$sourceA, "::tile::target::OperandSource":$sourceB,
                        "unsigned":$promote, "bool":$swapped);
}

def Cta_Tcgen05Attr
    : Cta_EngineAttr<"Tcgen05", "tcgen05", [DeclareAttrInterfaceMethods<Cta_BufferEngine,
                                                                         ["withoutSwap", "getGroupsN"]>]> {
  let summary = "tcgen05: operands in shared memory, accumulator in tensor memory";
  let description = [{
    The instruction m n k (PTX ISA, "tcgen05.mma"), the types of a, b and the accumulator (f32 operands are multiplied
    as tf32), and the number of warps that read the accumulator; one thread issues the instructions. The sources and
    `swapped` have the same meaning as in `#cta.wgmma`, except that if a is in registers, threads store it to tensor
    memory. `scales` is the number of elements along k that share a scale, which threads store to shared memory. With
    `result_transposed`, the instruction multiplies bᵀ by aᵀ, so tensor memory holds the transposed result; loading it
    into registers transposes it at no cost. `lib/Target/Engines/Tcgen05.h` defines the valid combinations.

    Example: `#cta.tcgen05<m128n256k16, f16, f16, f32, warps = 4, b = threads>`,
    `#cta.tcgen05<m128n128k64, f4E2M1FN, f4E2M1FN, f32, warps = 4, scales = 32>`
  }];
  let parameters = (ins "unsigned":$m, "unsigned":$n, "unsigned":$k, "::mlir::Type":$a, "::mlir::Type":$b,
                        "::mlir::Type":$accumulator, "unsigned":$warps, "::tile::target::OperandSource":$sourceA,
                        "::tile::target::OperandSource":$sourceB, "bool":$swapped, "unsigned":$scaleGroup,
                        "bool":$resultTransposed);
}

def Cta_MmaSyncAttr : Cta_EngineAttr<"MmaSync", "mma_sync"> {
  let summary = "mma.sync: warps multiply operands in registers";
  let description = [{
    The instruction m16 n8 k (PTX ISA, "mma"), the types of a, b and the accumulator, and the grid of warps. An f32 dot
    is computed by one or several tf32 MMAs, depending on its precision. `kWidth` is the number of consecutive elements
    along k that a thread holds. If they do not fit in one register, the order in which terms are added changes.
    `scales` is the number of elements along k that share a scale.

    Example: `#cta.mma_sync<m16n8k16, f16, f16, f32, warps = [2, 2]>`
  }];
  let parameters = (ins "unsigned":$k, "::mlir::Type":$a, "::mlir::Type":$b, "::mlir::Type":$accumulator,
                        "unsigned":$warpsM, "unsigned":$warpsN, "unsigned":$kWidth, "unsigned":$scaleGroup);
  let extraClassDeclaration = [{
    /// Returns the number of elements of this type that fit in a 32-bit register.
    static unsigned getLeastKWidth(::mlir::Type element) { return 32 / element.getIntOrFloatBitWidth(); }
  }];
}

def Cta_FmaAttr : Cta_EngineAttr<"Fma", "fma"> {
  let summary = "fma: threads multiply scalars, operands in shared memory";
  let description = [{
    Fused multiply-adds, for types that the tensor cores do not support.

    Example: `#cta.fma`
  }];
  let hasCustomAssemblyFormat = 0;
  let genVerifyDecl = 0;
}

#endif
