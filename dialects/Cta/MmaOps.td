// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix multiplication at the level of hardware instructions.
#ifndef CTA_MMA_OPS_TD
#define CTA_MMA_OPS_TD

include "Cta/CtaOpBase.td"

def Cta_MmaSyncOp : Cta_Op<"mma_sync", [Pure, AllTypesMatch<["acc", "result"]>, AttrSizedOperandSegments]> {
  let summary = "matrix multiply-accumulate of warps (mma.sync), operands in registers";
  let description = [{
    `result = acc + a * b` with `mma.sync` of shape `m` x `n` x `k` (PTX ISA, "Warp-level matrix instructions"). The
    operands have the fragment layouts of the instruction (`lib/Layout/MmaLayouts.h`). Scales (M x groups and N x
    groups, where groups lie along k) have the same meaning as in `tile.dot`.

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
    /// Returns the element type with which an operand is multiplied: f4E2M1FN for i8 with scales, otherwise its element
    /// type.
    ::mlir::Type getMultipliedType(::mlir::Value operand);
    /// Returns the number of elements along k that share a scale; 0 without scales.
    unsigned getScaleGroup();
  }];
}

def Cta_FmaDotOp : Cta_Op<"fma_dot", [AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix multiply-accumulate by scalar fused multiply-adds, operands in shared memory";
  let description = [{
    `result = acc + a * b`; each thread computes the elements of the accumulator that it holds, in order of k. `a` is M
    x K and `b` is K x N. A `cta.barrier` must separate this operation from earlier stores to the operands by other
    threads.

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
    then, the result may be used only as the accumulator of further wgmmas.

    With `stepwise`, there is a separate statement for each k step, which takes the fragment of the left operand for
    this step in registers. So threads can compute the fragment of the next step while the tensor cores execute the
    current step (nvvm-sink-fragments).

    With `promote`, each group of `promote` elements along k is accumulated separately, and the partial sum is added to
    `acc` in f32. This is needed because tensor cores accumulate products of 8-bit floats with only 14 bits. Such a
    wgmma, and a wgmma with an f16 accumulator, is complete when the operation ends, so no two of them are in flight at
    the same time (`isSynchronous`).

    If the number of columns of b is not a power of two, the accumulator has the next larger power of two; only the
    columns of b are computed, and the other columns keep the values of `acc`. `groups_n` warp groups divide the columns
    among them; the number of warp groups divided by `groups_n` is the number of parts into which the rows are divided.

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
    /// Returns the number of columns that are computed; null if all columns of the accumulator are computed.
    ::mlir::IntegerAttr getColumnsAttr();
    /// Returns true if the lowering waits for the wgmmas of this operation, because their accumulators pass through
    /// other registers, or two elements share a register.
    bool isSynchronous() { return getPromote() || getAcc().getType().getElementType().isF16(); }
    /// Returns the left operand, if it is in shared memory; otherwise null.
    ::mlir::TypedValue<BufferType> getBufferA() { return ::mlir::dyn_cast<::mlir::TypedValue<BufferType>>(getA()); }
  }];
}

def Cta_UndefinedOp : Cta_Op<"undefined"> {
  let summary = "accumulator registers with undefined contents";
  let description = [{
    Serves as the initial accumulator in a loop in which the first wgmma does not read its accumulator, but later wgmmas
    do. All registers are set to a register without a value. ptxas emits no instruction for this, but learns that the
    previous contents of the registers are dead, so earlier code may use them for other values. The operation is not
    pure, because it must stay where it is.

    Example: `%c = cta.undefined : tensor<64x64xf32, #c>`
  }];
  let results = (outs Tile_TensorOf<[F32, I32]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Cta_ZerosOp : Cta_Op<"zeros"> {
  let summary = "accumulator registers that are set to zero at the position of this operation";
  let description = [{
    The accumulator of a loop that has no iterations. LLVM must not recognise that the accumulator is constant. If a
    constant is merged with other values after a branch, LLVM hoists it above the branch, and would set all of a
    thread's accumulator registers for each program. The operation is not pure, because it must stay where it is.

    Example: `%z = cta.zeros : tensor<64x64xf32, #c>`
  }];
  let results = (outs Tile_TensorOf<[F32, I32]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Cta_CopyRegistersOp : Cta_Op<"copy_registers", [Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "a copy of an accumulator in other registers";
  let description = [{
    This is for an accumulator that a loop moves to other registers, for example when it swaps two accumulators. LLVM
    might otherwise copy the registers right after the wgmma is issued; this operation makes the copy depend on the
    result of the wait.

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
    The result is `acc`, and may be read. `token` must be the token of the wgmma that produced `acc`, or of a later one.
    `columns` is given if the wgmma computes only the first `columns` columns. This operation is not lowered to an
    instruction: `cta-insert-waits` inserts a wait before it where the wgmma may be incomplete. Reads of the result
    cannot move before this operation.

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
