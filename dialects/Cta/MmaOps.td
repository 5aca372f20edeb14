// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix multiplication at the level of hardware instructions.
#ifndef CTA_MMA_OPS_TD
#define CTA_MMA_OPS_TD

include "Cta/CtaOpBase.td"

def Cta_MmaSyncOp : Cta_Op<"mma_sync", [Pure, AllTypesMatch<["acc", "result"]>, AttrSizedOperandSegments]> {
  let summary = "matrix multiply-accumulate of warps (mma.sync), operands in registers";
  let description = [{
    `result = acc + a * b` with `mma.sync` of shape `m` x `n` x `k` (PTX ISA, "Warp-level matrix instructions"). The
    operands have the fragment layouts of the instruction (`lib/Layout/MmaLayouts.h`). Scales, M x groups and N x groups
    along k, are as for `tile.dot`.

    Example:
    ```mlir
    %d = cta.mma_sync %a, %b, %c {shape = array<i32: 16, 8, 16>}
       : tensor<16x16xf16, #a>, tensor<16x8xf16, #b> -> tensor<16x8xf32, #c>
    ```
  }];
  let arguments = (ins Tile_NumberTensor:$a, Tile_NumberTensor:$b, Tile_NumberTensor:$acc,
                       Optional<Tile_NumberTensor>:$a_scale, Optional<Tile_NumberTensor>:$b_scale,
                       DenseI32ArrayAttr:$shape);
  let results = (outs Tile_NumberTensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`scales` $a_scale^ `,` $b_scale)? attr-dict `:` type($a) `,` type($b) `->` type($result)
    (`,` type($a_scale)^ `,` type($b_scale))?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the element type of an operand as it is multiplied: f4E2M1FN for i8 with scales.
    ::mlir::Type getMultipliedType(::mlir::Value operand);
    /// Returns the number of elements along k that share a scale; 0 without scales.
    unsigned getScaleGroup();
  }];
}

def Cta_FmaDotOp : Cta_Op<"fma_dot", [AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix multiply-accumulate by scalar fused multiply-adds, operands in shared memory";
  let description = [{
    `result = acc + a * b`; each thread computes the elements of the accumulator that it holds, in order of k. `a` is M
    x K and `b` is K x N; stores to them by other threads need a `cta.barrier` before.

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
    Level Matrix Instructions"), with all k steps in one wgmma group. If `accumulate` is given and false, `acc` is not
    read: `result = a * b`. The accumulator has the layout of the instruction (`lib/Layout/MmaLayouts.h`); the buffers
    have swizzled layouts that a matrix descriptor can express. `a` is a buffer, or a tensor of 8- or 16-bit elements in
    registers with the layout of the instruction's left operand.

    The result is in flight. It may be read, and the buffers may be written, only after a `cta.await` of `token`; until
    then its only use may be as the accumulator of further wgmmas.

    With `stepwise`, a left operand in registers is passed in one statement for each k step, so that threads compute the
    fragment of the next step while a step is multiplied (nvvm-sink-fragments).

    With `promote`, groups of that many elements along k are accumulated separately, and each partial sum is added to
    `acc` in f32, because the tensor core adds 8-bit floats with 14 bits. Such a wgmma, and one with an f16 accumulator,
    is complete when the operation ends, so that no two are in flight (`isSynchronous`).

    If the number of columns of b is not a power of two, the accumulator has the next power of two; only b's columns are
    computed, and the others keep the values of `acc`. `groups_n` warp groups are adjacent along n, each with its share
    of the columns; the remaining factor of the warp groups divides the rows.

    Example:
    ```mlir
    %d, %t = cta.wgmma %a, %b, %c {n = 64 : i32}
      : !cta.buffer<64x16xf16, #a>, !cta.buffer<16x64xf16, #b> -> tensor<64x64xf32, #c>
    ```
  }];
  let arguments = (ins Arg<AnyTypeOf<[Cta_BufferType, Tile_NumberTensor]>, "left tile",
                           [MemRead<Cta_SharedMemory>]>:$a,
                       Arg<Cta_BufferType, "right tile", [MemRead<Cta_SharedMemory>]>:$b,
                       Tile_TensorOf<[F16, F32, I32]>:$acc, Optional<I1>:$accumulate, I32Attr:$n,
                       DefaultValuedAttr<ConfinedAttr<I32Attr, [IntPositive]>, "1">:$groups_n,
                       OptionalAttr<ConfinedAttr<I32Attr, [IntPositive]>>:$promote,
                       UnitAttr:$stepwise);
  let results = (outs Tile_TensorOf<[F16, F32, I32]>:$result, Cta_TokenType:$token);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`if` $accumulate^)? attr-dict `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the number of columns that are computed, or null if all columns of the accumulator are.
    ::mlir::IntegerAttr getColumnsAttr();
    /// Returns true if the lowering waits for its own wgmmas: their accumulators pass through other registers or share
    /// them.
    bool isSynchronous() { return getPromote() || getAcc().getType().getElementType().isF16(); }
    /// The left operand, if it is in shared memory.
    ::mlir::TypedValue<BufferType> getBufferA() { return ::mlir::dyn_cast<::mlir::TypedValue<BufferType>>(getA()); }
  }];
}

def Cta_UndefinedOp : Cta_Op<"undefined"> {
  let summary = "accumulator registers with undefined contents";
  let description = [{
    Serves as the accumulator of a wgmma that does not read it, in a loop whose later wgmmas do. All registers are set
    to a register without a value. ptxas emits no instruction for it, but learns that their previous contents are dead,
    so that the code before may reuse them. Not pure: it must stay where it is.

    Example: `%c = cta.undefined : tensor<64x64xf32, #c>`
  }];
  let results = (outs Tile_TensorOf<[F32, I32]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Cta_ZerosOp : Cta_Op<"zeros"> {
  let summary = "accumulator registers of zeros, set where this stands";
  let description = [{
    The accumulator of a loop without iterations. LLVM does not see that it is constant: it would hoist constants that
    are merged with other values after a branch above it, and set all of a thread's registers for each program. Not
    pure: it must stay where it is.

    Example: `%z = cta.zeros : tensor<64x64xf32, #c>`
  }];
  let results = (outs Tile_TensorOf<[F32, I32]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Cta_CopyRegistersOp : Cta_Op<"copy_registers", [Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "a copy of an accumulator in other registers";
  let description = [{
    For an accumulator that a loop moves to other registers, as when it swaps two. LLVM might copy it right after the
    wgmma is issued, unless it sees that the copy uses the result of the wait.

    Example: `%c = cta.copy_registers %r : tensor<64x64xf32, #c>`
  }];
  let arguments = (ins Tile_TensorOf<[F16, F32, I32]>:$src);
  let results = (outs Tile_TensorOf<[F16, F32, I32]>:$result);
  let assemblyFormat = "$src attr-dict `:` type($result)";
}

def Cta_AwaitOp : Cta_Op<"await", [
    AllTypesMatch<["acc", "result"]>, MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let summary = "the accumulator of a wgmma once it is complete";
  let description = [{
    The result is `acc`. It may be read if `token` is that of the wgmma that produced it, or of a later one. With
    `columns`, the wgmma computes only that many columns. This is no instruction by itself: `cta-insert-waits` inserts a
    wait before it where the wgmma may be incomplete. No read of the result moves before this operation.

    Example: `%r = cta.await %d after %t : tensor<64x64xf32, #c>`
  }];
  let arguments = (ins Tile_TensorOf<[F16, F32, I32]>:$acc, Cta_TokenType:$token, OptionalAttr<I32Attr>:$columns);
  let results = (outs Tile_TensorOf<[F16, F32, I32]>:$result);
  let assemblyFormat = "$acc `after` $token attr-dict `:` type($acc)";
  let hasVerifier = 1;
}

def Cta_TokenNoneOp : Cta_Op<"token_none", [Pure]> {
  let summary = "a token that is already complete";
  let description = [{
    The initial value for a loop that carries the token of the previous iteration.

    Example: `%none = cta.token_none`
  }];
  let results = (outs Cta_TokenType:$token);
  let assemblyFormat = "attr-dict";
}

def Cta_WgmmaWaitOp : Cta_Op<"wgmma_wait", [
    MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let summary = "wait until at most `pending` wgmma groups are incomplete";
  let description = [{
    PTX ISA, `wgmma.wait_group`: groups complete in issue order. Inserted by `cta-insert-waits`.

    Example: `cta.wgmma_wait {pending = 1 : i32}`
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "attr-dict";
}

#endif
