// Code that the program brings along in the language of the target.
#ifndef TILE_EXTERN_OPS_TD
#define TILE_EXTERN_OPS_TD

include "Tile/TileOpBase.td"

def Tile_InlineAsmOp : Tile_Op<"inline_asm", [Elementwise, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "PTX that computes each element of the results";
  let description = [{
    `text` is PTX with operands $0, $1, …: the results, then the arguments, one for each 32-bit (or wider) register. One
    execution computes `pack` elements: those of 16 bits or less share registers of 32 bits, the first element in the
    lowest bits, and `constraints` counts these registers ("=r,r": CUDA, "Inline PTX Assembly"). Operands are scalars, or
    tensors of one shape. Without `isPure` the text may have effects, so it is neither merged nor dropped.

    Example: `%y = tile.inline_asm "rcp.approx.f32 $0, $1;", "=f,f" pack 1 pure(%x) : (tensor<128xf32>) -> tensor<128xf32>`
  }];
  let arguments = (ins StrAttr:$text, StrAttr:$constraints, I32Attr:$pack, UnitAttr:$isPure,
                       Variadic<Tile_NumberValue>:$args);
  let results = (outs Variadic<Tile_NumberValue>:$results);
  let assemblyFormat = [{
    $text `,` $constraints `pack` $pack (`pure` $isPure^)? `(` $args `)` attr-dict `:` functional-type($args, $results)
  }];
  let extraClassDeclaration = [{
    /// What is wrong with `pack` and the number of constraints for these types; empty if nothing is.
    static std::string describeMismatch(mlir::TypeRange results, mlir::TypeRange args, llvm::StringRef constraints,
                                        int64_t pack, bool isPure);
  }];
  let hasVerifier = 1;
}

#endif
