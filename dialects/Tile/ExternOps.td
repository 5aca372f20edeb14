// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Target-specific code supplied by the program.
#ifndef TILE_EXTERN_OPS_TD
#define TILE_EXTERN_OPS_TD

include "Tile/TileOpBase.td"

def Tile_InlineAsmOp : Tile_Op<"inline_asm", [Elementwise, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "inline PTX, applied to each element";
  let description = [{
    `text` is PTX whose operands $0, $1, … are first the results, then the arguments, one operand for each 32-bit (or
    wider) register. One execution computes `pack` elements. Elements of 16 bits or less are packed into 32-bit
    registers, the first element in the lowest bits, and `constraints` counts these registers ("=r,r": CUDA, "Inline PTX
    Assembly"). Operands are scalars, or tensors of one shape. Without `isPure` the text may have side effects, so it is
    neither merged nor dropped; it is executed exactly once for each element (or `pack` of them) of tensors, and by
    every thread for scalars.

    Example: `%y = tile.inline_asm "rcp.approx.f32 $0, $1;", "=f,f" pack 1 pure(%x) : (tensor<128xf32>) ->
    tensor<128xf32>`
  }];
  let arguments = (ins StrAttr:$text, StrAttr:$constraints, I32Attr:$pack, UnitAttr:$isPure,
                       Variadic<Tile_NumberValue>:$args);
  let results = (outs Variadic<Tile_NumberValue>:$results);
  let assemblyFormat = [{
    $text `,` $constraints `pack` $pack (`pure` $isPure^)? `(` $args `)` attr-dict `:` functional-type($args, $results)
  }];
  let extraClassDeclaration = [{
    /// Returns a description of the first error in `pack`, the constraints or the operands in `text` for these types;
    /// empty if there is none.
    static std::string describeMismatch(mlir::TypeRange results, mlir::TypeRange args, llvm::StringRef text,
                                        llvm::StringRef constraints, int64_t pack, bool isPure);
  }];
  let hasVerifier = 1;
}

def Tile_ReadRegisterOp : Tile_Op<"read_register", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "read a special register";
  let description = [{
    Reads `smid` (i32), the index of the multiprocessor, or `globaltimer` (i64), a time in nanoseconds. Reads of `smid`
    are treated as constant; reads of `globaltimer` are never merged, moved or dropped.

    Example: `%t = tile.read_register globaltimer : i64`
  }];
  let arguments = (ins Tile_SpecialRegisterAttr:$source);
  let results = (outs AnyTypeOf<[I32, I64]>:$result);
  let assemblyFormat = "$source attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_LibraryCallOp : Tile_Op<"library_call", [Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "call a function of CUDA's libdevice for each element";
  let description = [{
    Takes one to three f32 or f64 operands, scalars or tensors. If the math dialect has the function, the operation of
    that dialect is used instead, unless its f32 form is lowered to an instruction of lower precision.

    Example: `%z = tile.library_call hypot(%x, %y) : tensor<128xf32>`
  }];
  let arguments = (ins Tile_LibraryFunctionAttr:$function, Variadic<Tile_NumberValue>:$args);
  let results = (outs Tile_NumberValue:$result);
  let assemblyFormat = "$function `(` $args `)` attr-dict `:` type($result)";
  let extraClassDeclaration = [{
    /// Returns the number of arguments of the function.
    static unsigned countArguments(LibraryFunction function);
  }];
  let hasVerifier = 1;
}

#endif
