// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs: the entry point, the position in the grid, assumptions, assertions and printing.
#ifndef TILE_PROGRAM_OPS_TD
#define TILE_PROGRAM_OPS_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/LoopLikeInterface.td"
include "Tile/LaunchAttrs.td"
include "Tile/TileOpBase.td"

def Tile_KernelOp : Tile_Op<"kernel", [FunctionOpInterface, IsolatedFromAbove, AutomaticAllocationScope]> {
  let summary = "entry point, run once for every program of the grid";
  let description = [{
    Arguments are scalars, pointers and descriptors (never tensors); there are no results. Argument attributes:
    `tile.name` (source name, a string), `tile.divisibility` (i32: the value, or for a pointer its byte address, is a
    multiple of this; the launcher checks it) and `tile.unsigned` (a unit: the source type of the integer or pointee is
    unsigned, which signless types do not express but the manifest needs). After the source's arguments, there may be
    arguments that the launcher adds: descriptors with `tile.tensor_map`, a `#tile.tensor_map` that says how to encode
    them (see `tile-host-descriptors`); integers with `tile.grid_size` (i32: 0, 1 or 2), which are the number of
    programs along that axis in a kernel whose CTAs run several programs; and a pointer with `tile.scratch` (i64: bytes
    per CTA) to global memory that CTAs share.

    `num_warps` is the number of warps of 32 threads that run one program, a power of two from 1 to 32. `num_stages` is
    the depth of software pipelines. If the body contains a `cta.warp_roles`, this operation defines the total number of
    warps and the work of each warp. `ping_pong` requests two teams of `num_warps` warps, each of which computes every
    other program of a CTA. `cluster` requests clusters of CTAs that run concurrently and share operands. Its three
    entries are the number of CTAs along the first and the second axis of the grid, and the number of CTAs that share
    the steps of one program. `cluster_ctas` is the actual number of CTAs in a cluster (set by `tile-form-clusters` and
    `cta-share-steps`). `uneven` says that some programs take much longer than others (set by
    `tile-distribute-programs`). `shared_bytes` is the shared memory of one CTA (set by `cta-allocate-shared`).
    `constants` are the compile-time parameters by name, and `launch` holds the grid, buffer, default and expectation
    directives for the manifest.

    Example:
    ```mlir
    tile.kernel @copy(%src: !tile.ptr<f32> {tile.name = "src", tile.divisibility = 16 : i32})
        attributes {num_warps = 4 : i32, num_stages = 3 : i32} {
      tile.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       DefaultValuedAttr<I32Attr, "4">:$num_warps, DefaultValuedAttr<I32Attr, "3">:$num_stages,
                       UnitAttr:$ping_pong,
                       OptionalAttr<DenseI32ArrayAttr>:$cluster, DefaultValuedAttr<I32Attr, "1">:$cluster_ctas,
                       UnitAttr:$uneven, OptionalAttr<I64Attr>:$shared_bytes,
                       OptionalAttr<DictionaryAttr>:$constants, OptionalAttr<Tile_LaunchAttr>:$launch,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type,
                                 CArg<"::llvm::ArrayRef<::mlir::NamedAttribute>", "{}">:$attributes)>];
  let extraClassDeclaration = [{
    /// Returns the loop over the programs of each CTA; null if a CTA computes only one program, or the loop has been
    /// lowered.
    ::tile::ProgramsOp getPrograms();

    /// Returns the name of the argument in the source, or a name such as `arg2` if it has none.
    ::std::string getArgName(unsigned index);

    /// Returns how the launcher encodes the argument, if it is a descriptor that the launcher encodes; otherwise null.
    ::tile::TensorMapAttr getTensorMap(unsigned index);
    void setTensorMap(unsigned index, ::tile::TensorMapAttr map);

    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [HasParent<"KernelOp">, Pure, Terminator]> {
  let summary = "end of a program";
  let description = [{
    Ends the kernel's body, which returns no values. Pending TMA stores must have been awaited (`cta.tma_store_wait`).

    Example: `tile.return`
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_ProgramsOp : Tile_Op<"programs", [
    SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<LoopLikeOpInterface, ["getLoopRegions"]>]> {
  let summary = "the programs that a CTA computes, one after another (persistent kernels)";
  let description = [{
    The region is one program; all CTAs together run it once for each point of the grid. The operation is in the
    kernel's body or, from `cta-specialize-warps` on, in each warp role, with the same programs. The block arguments are
    the program's coordinates along x, y and z, and whether the program exists: if some programs of a cluster would lie
    beyond the edge of the grid, their CTAs run the nearest existing programs instead, and must not modify memory. Until
    `cta-lower-programs` lowers this operation to a loop, only `work` states how programs are distributed. Outside of
    the region, `tile.program_id 0` is the CTA's index and `tile.num_programs 0` the number of CTAs.

    If CTAs share the K steps of a program, there is one more block argument, the first step of this CTA; with
    `split_k`, the CTA executes every `split_k`-th step from there on. With `tail`, there are three more block
    arguments: the end step (exclusive), the index of a piece (a partial accumulator of a program), and a number of
    pieces; `steps` is then the number of steps of a program. A `cta.combine`, which `cta-lower-combines` lowers, adds
    up the partial accumulators: a CTA that does not start with the first step of the program stores its accumulator as
    the piece with the given index. The CTA that starts with the first step adds the given number of pieces; the piece
    with the given index is the last of them.

    Example:
    ```mlir
    tile.programs (%i, %j, %k, %exists) in (%x, %y, %z) #tile.work<order = swizzle2d, group = 8> {
      %v = tile.desc_load %d[%i, %j] : !tile.desc<64x64xf16> -> tensor<64x64xf16>
    }
    ```
  }];
  let arguments = (ins I32:$size_x, I32:$size_y, I32:$size_z, Optional<I32>:$steps, Tile_WorkAttr:$work);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$sizes, "WorkAttr":$work)>];
  let extraClassDeclaration = [{
    static constexpr unsigned numAxes = 3;
    ::mlir::ValueRange getSizes() { return getOperands().take_front(numAxes); }
    ::mlir::ValueRange getCoordinates() { return getBody().getArguments().take_front(numAxes); }
    ::mlir::Value getExists() { return getBody().getArgument(numAxes); }
    /// Return the first step and the end step (exclusive) of this CTA, if CTAs share steps.
    ::mlir::Value getFirstStep() { return getBody().getArgument(numAxes + 1); }
    ::mlir::Value getEndStep() { return getBody().getArgument(numAxes + 2); }
    /// For a shared tail: return the index of the piece that this CTA stores, or of the last piece that it adds; and
    /// the number of pieces to add.
    ::mlir::Value getPiece() { return getBody().getArgument(numAxes + 3); }
    ::mlir::Value getNumPieces() { return getBody().getArgument(numAxes + 4); }
    /// Replaces the grid queries inside the region by the block arguments and the sizes.
    void replaceGridOps();
    /// Records how CTAs share K steps and, for a shared tail, the number of steps of a program.
    void splitSteps(WorkAttr work, ::mlir::Value steps = {});
  }];
}

class Tile_GridOp<string name, string text> : Tile_Op<name, [Pure]> {
  let summary = text;
  let arguments = (ins ConfinedAttr<I32Attr, [IntMinValue<0>, IntMaxValue<2>]>:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict";
}

def Tile_ProgramIdOp : Tile_Op<"program_id", [Pure]> {
  let summary = "index of this program along a grid axis";
  let description = [{
    A value from 0 to `num_programs` - 1 of the same axis (0, 1 or 2). With `descending`, programs with large indices
    start first; either all `program_id` operations of an axis have this attribute, or none of them has (set by
    `tile-distribute-programs`).

    Example: `%pid = tile.program_id 0 descending`
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntMinValue<0>, IntMaxValue<2>]>:$axis, UnitAttr:$descending);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis (`descending` $descending^)? attr-dict";
}

def Tile_NumProgramsOp : Tile_GridOp<"num_programs", "number of programs along a grid axis"> {
  let description = [{
    The result is at least 1. The axis is 0, 1 or 2.

    Example: `%n = tile.num_programs 0`
  }];
}

def Tile_Swizzle2dOp : Tile_Op<"swizzle2d", [Pure]> {
  let summary = "grouped order of tiles (GROUP_M), for locality in L2";
  let description = [{
    Maps the row-major order of a `size_i` x `size_j` space to an order in which groups of `size_g` rows are traversed
    column by column, so that programs that run at the same time share operands in L2. It is a bijection of the space:
    ```
    ij = i * size_j + j;  size_gj = size_g * size_j;  group = ij / size_gj;  off_i = group * size_g
    g  = min(size_i - off_i, size_g);  ij = ij % size_gj
    new_i = off_i + ij % g;  new_j = ij / g
    ```
    All values are i32; `0 <= i < size_i`, `0 <= j < size_j`, `size_g > 0`; otherwise the result is undefined.

    Example: `%i2, %j2 = tile.swizzle2d %i, %j, %size_i, %size_j, %size_g`
  }];
  let arguments = (ins I32:$i, I32:$j, I32:$size_i, I32:$size_j, I32:$size_g);
  let results = (outs I32:$new_i, I32:$new_j);
  let extraClassDeclaration = [{
    /// Emits the formula for the row-major index `ij`; divisions are unsigned, because no value is negative.
    static std::pair<mlir::Value, mlir::Value> expand(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value ij,
                                                      mlir::Value sizeI, mlir::Value sizeJ, mlir::Value sizeG);
    std::pair<mlir::Value, mlir::Value> expand(mlir::OpBuilder &builder, mlir::Value ij) {
      return expand(builder, getLoc(), ij, getSizeI(), getSizeJ(), getSizeG());
    }
  }];
  let assemblyFormat = "$i `,` $j `,` $size_i `,` $size_j `,` $size_g attr-dict";
}

def Tile_AssumeOp : Tile_Op<"assume", [MemoryEffects<[MemWrite<Tile_GlobalMemory>]>]> {
  let summary = "assumption of the program that a condition holds";
  let description = [{
    The compiler may use the condition; if it does not hold, behaviour is undefined (the interpreter reports it).

    Example: `tile.assume %condition`
  }];
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
}

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemRead<Tile_GlobalMemory>, MemWrite<Tile_GlobalMemory>]>]> {
  let summary = "check a condition at run time";
  let description = [{
    If any element of `condition` is false, the program stops with `message`.

    Example: `tile.assert %condition, "index in range" : tensor<128xi1>`
  }];
  let arguments = (ins Tile_MaskValue:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}

def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemRead<Tile_GlobalMemory>, MemWrite<Tile_GlobalMemory>]>]> {
  let summary = "print values, for debugging";
  let description = [{
    Prints one line for each element of the operands: the program's grid coordinates, the element's index, `prefix` and
    the values. Tensors have one shape; scalars are repeated. The order of elements and programs is unspecified. `hex`
    prints integers in base 16. `isUnsigned` has an entry for each operand, true if its integers are unsigned.

    Example: `tile.print "x = " %x : tensor<128xi32> {isUnsigned = array<i1: true>}`
  }];
  let arguments = (ins StrAttr:$prefix, UnitAttr:$hex, OptionalAttr<DenseBoolArrayAttr>:$isUnsigned,
                       Variadic<Tile_Value>:$args);
  let assemblyFormat = "$prefix (`hex` $hex^)? ($args^ `:` type($args))? attr-dict";
  let extraClassDeclaration = [{
    bool isUnsignedArg(size_t index) { return getIsUnsigned() && (*getIsUnsigned())[index]; }
  }];
  let hasVerifier = 1;
}

def Tile_BarrierOp : Tile_Op<"barrier", [MemoryEffects<[MemRead<Tile_GlobalMemory>, MemWrite<Tile_GlobalMemory>]>]> {
  let summary = "barrier of the program: memory accesses before it complete before those after it";
  let description = [{
    Orders global-memory accesses of different threads of the program. Needed only if a program reads data that it has
    itself written through other elements.

    Example: `tile.barrier`
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_GridDependencyOp : Tile_Op<"grid_dependency", [
    MemoryEffects<[MemRead<Tile_GlobalMemory>, MemWrite<Tile_GlobalMemory>]>]> {
  let summary = "programmatic dependent launch: wait for previous grids, or let dependent grids start";
  let description = [{
    `wait` waits until the grids on which this grid depends have ended; their writes are visible afterwards. `launch`
    permits grids that depend on this grid to start. This is for overlapping launches (PTX ISA, "griddepcontrol"); it is
    a no-op on targets before sm_90 and in launches that do not overlap.

    Example: `tile.grid_dependency wait`
  }];
  let arguments = (ins Tile_GridDependencyAttr:$kind);
  let assemblyFormat = "$kind attr-dict";
}

def Tile_WaitFlagOp : Tile_Op<"wait_flag", [MemoryEffects<[MemRead<Tile_GlobalMemory>, MemWrite<Tile_GlobalMemory>]>]> {
  let summary = "wait until a flag in global memory has reached a value";
  let description = [{
    Waits until `*ptr - value`, in 32-bit arithmetic, is not negative, so counters may wrap around. The flag may be set
    by another program, stream, GPU or process; everything that was written before the flag was set is visible to later
    accesses (this is an acquire at system scope). Each thread that executes the operation waits, so any warp role may
    contain a copy of it.

    Example: `tile.wait_flag %p, %x : !tile.ptr<i32>`
  }];
  let arguments = (ins Tile_PtrType:$ptr, I32:$value);
  let assemblyFormat = "$ptr `,` $value attr-dict `:` type($ptr)";
  let hasVerifier = 1;
}

#endif
