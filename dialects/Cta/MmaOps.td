// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix multiplication in the form that the hardware executes.
#ifndef CTA_MMA_OPS_TD
#define CTA_MMA_OPS_TD

include "Cta/CtaOpBase.td"

def Cta_MmaSyncOp : Cta_Op<"mma_sync", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix multiply-accumulate of warps (mma.sync), operands in registers";
  let description = [{
    `result = acc + a * b` with `mma.sync` of shape `m` x `n` x `k` (PTX ISA, "Warp-level matrix instructions"). The
    operands have the fragment layouts of the instruction (`lib/Layout/MmaLayouts.h`).

    Example:
    ```mlir
    %d = cta.mma_sync %a, %b, %c {shape = array<i32: 16, 8, 16>}
       : tensor<16x16xf16, #a>, tensor<16x8xf16, #b> -> tensor<16x8xf32, #c>
    ```
  }];
  let arguments = (ins Tile_NumberTensor:$a, Tile_NumberTensor:$b, Tile_NumberTensor:$acc,
                       DenseI32ArrayAttr:$shape);
  let results = (outs Tile_NumberTensor:$result);
  let assemblyFormat = "$a `,` $b `,` $acc attr-dict `:` type($a) `,` type($b) `->` type($result)";
  let hasVerifier = 1;
}

def Cta_FmaDotOp : Cta_Op<"fma_dot", [AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix multiply-accumulate by scalar fused multiply-adds, operands in shared memory";
  let description = [{
    `result = acc + a * b`; each thread computes the elements of the accumulator that it holds, in order of k. `a` is M
    x K and `b` K x N; other threads' stores to them need a `cta.barrier` before.

    Example:
    ```mlir
    %d = cta.fma_dot %a, %b, %c : !cta.buffer<16x16xf32, #a>, !cta.buffer<16x16xf32, #b> -> tensor<16x16xf32, #c>
    ```
  }];
  let arguments = (ins Arg<Cta_BufferType, "left tile", [MemRead<Cta_SharedMemory>]>:$a,
                       Arg<Cta_BufferType, "right tile", [MemRead<Cta_SharedMemory>]>:$b, Tile_NumberTensor:$acc);
  let results = (outs Tile_NumberTensor:$result);
  let assemblyFormat = "$a `,` $b `,` $acc attr-dict `:` type($a) `,` type($b) `->` type($result)";
  let hasVerifier = 1;
}

def Cta_WgmmaOp : Cta_Op<"wgmma", [AllTypesMatch<["acc", "result"]>]> {
  let summary = "asynchronous matrix multiply-accumulate of warp groups, right operand in shared memory";
  let description = [{
    `result = acc + a * b` with `wgmma.mma_async` of shape m64 x `n` x 32 bytes of k (PTX ISA, "Asynchronous Warpgroup
    Level Matrix Instructions"), all k steps as one group. If `accumulate` is given and false, `acc` is not read:
    `result = a * b`. The accumulator has the layout of the instruction (`lib/Layout/MmaLayouts.h`); the buffers have
    swizzled layouts that a matrix descriptor can say. `a` is a buffer, or a tensor of 8- or 16-bit elements in registers with the
    layout of the instruction's left operand. The result is in flight: it may be read after a `cta.await` of `token` only, and
    the buffers may be written after it; until then it may be nothing but the accumulator of further products. With `promote`, the products of as many elements along k are added up by themselves, and their sum
    then to `acc`, in f32: the tensor core adds 8-bit floats with 14 bits. Such a product, and one with an accumulator of
    f16, is complete when it is issued, so that no two are in flight (`isSynchronous`). If b has a number of columns that is
    no power of two, the accumulator has the next power of two, of which only b's columns are computed; the others stay as
    they are in `acc`. Of the warp groups, `groups_n` are side by side along n, each with its part of the columns; the others
    share the rows.

    Example:
    ```mlir
    %d, %t = cta.wgmma %a, %b, %c {n = 64 : i32} : !cta.buffer<64x16xf16, #a>, !cta.buffer<16x64xf16, #b> -> tensor<64x64xf32, #c>
    ```
  }];
  let arguments = (ins Arg<AnyTypeOf<[Cta_BufferType, Tile_NumberTensor]>, "left tile",
                           [MemRead<Cta_SharedMemory>]>:$a,
                       Arg<Cta_BufferType, "right tile", [MemRead<Cta_SharedMemory>]>:$b,
                       Tile_TensorOf<[F16, F32, I32]>:$acc, Optional<I1>:$accumulate, I32Attr:$n,
                       DefaultValuedAttr<ConfinedAttr<I32Attr, [IntPositive]>, "1">:$groups_n,
                       OptionalAttr<ConfinedAttr<I32Attr, [IntPositive]>>:$promote);
  let results = (outs Tile_TensorOf<[F16, F32, I32]>:$result, Cta_TokenType:$token);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`if` $accumulate^)? attr-dict `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How many columns are computed, if not all of the accumulator; else null.
    ::mlir::IntegerAttr getColumnsAttr();
    /// Whether the statement waits for its own products: their sums pass through other registers, or share them.
    bool isSynchronous() { return getPromote() || getAcc().getType().getElementType().isF16(); }
    /// The left operand, if it is in shared memory.
    ::mlir::TypedValue<BufferType> getBufferA() { return ::mlir::dyn_cast<::mlir::TypedValue<BufferType>>(getA()); }
  }];
}

def Cta_UndefinedOp : Cta_Op<"undefined"> {
  let summary = "accumulator registers with undefined contents";
  let description = [{
    The accumulator of a wgmma that does not read it, in a loop whose later ones do. All registers are set to one
    that has no value. ptxas makes no instruction of it, but sees that nothing in them is needed any more, so that what
    stands before may use them. Not pure: it must stay where it is.

    Example: `%c = cta.undefined : tensor<64x64xf32, #c>`
  }];
  let results = (outs Tile_TensorOf<[F32, I32]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Cta_AwaitOp : Cta_Op<"await", [
    AllTypesMatch<["acc", "result"]>, MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let summary = "an accumulator when the product of a token is complete";
  let description = [{
    The result is `acc`. It may be read if `token` is that of the product that made it, or of a later one. With `columns`,
    the product computes only so many columns. No instruction by itself: `cta-insert-waits` puts one in front of it where the
    product may be incomplete; nothing that reads the result moves before this operation.

    Example: `%r = cta.await %d after %t : tensor<64x64xf32, #c>`
  }];
  let arguments = (ins Tile_TensorOf<[F16, F32, I32]>:$acc, Cta_TokenType:$token, OptionalAttr<I32Attr>:$columns);
  let results = (outs Tile_TensorOf<[F16, F32, I32]>:$result);
  let assemblyFormat = "$acc `after` $token attr-dict `:` type($acc)";
  let hasVerifier = 1;
}

def Cta_TokenNoneOp : Cta_Op<"token_none", [Pure]> {
  let summary = "the token of no product";
  let description = [{
    Complete, for a loop that carries the token of the iteration before.

    Example: `%none = cta.token_none`
  }];
  let results = (outs Cta_TokenType:$token);
  let assemblyFormat = "attr-dict";
}

def Cta_WgmmaWaitOp : Cta_Op<"wgmma_wait", [
    MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let summary = "wait until at most `pending` products of warp groups are incomplete";
  let description = [{
    PTX ISA, `wgmma.wait_group`: products complete in the order in which they are issued. Inserted by `cta-insert-waits`.

    Example: `cta.wgmma_wait {pending = 1 : i32}`
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "attr-dict";
}

#endif
