// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cooperation of CTAs of one grid through partial accumulators and flags in global memory; dependencies between grids.
#ifndef CTA_GRID_OPS_TD
#define CTA_GRID_OPS_TD

include "Cta/CtaOpBase.td"

def Cta_CombineOp : Cta_Op<"combine", [Pure, AllTypesMatch<["value", "result"]>, HasParent<"::tile::ProgramsOp">]> {
  let summary = "add up the accumulators of the CTAs that share the K steps of a program";
  let description = [{
    One of the CTAs gets the sum, and only this CTA executes the remainder of the program. The order of the additions is
    always the same. With `columns`, only the first `columns` columns of the accumulator are used. `cta-lower-combines`
    lowers this operation to an exchange through distributed shared memory or global memory, depending on `work` of the
    `tile.programs`.

    Example: `%sum = cta.combine %acc {columns = 192 : i32} : tensor<128x256xf32, #x>`
  }];
  let arguments = (ins Tile_Tensor:$value, OptionalAttr<I32Attr>:$columns);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Cta_PartialStoreOp : Cta_Op<"partial_store", [MemoryEffects<[MemWrite<Tile_GlobalMemory>]>]> {
  let summary = "write a partial accumulator to global memory in the order of its registers";
  let description = [{
    Each thread writes the elements that it holds, in an order in which all accesses are coalesced; only a
    `cta.partial_add` with the same layout can read the data. The memory at `ptr` must be 16-byte aligned and have 4
    bytes for each register of each thread. With `columns`, only the first `columns` columns of a matrix are written and
    take memory.

    Example: `cta.partial_store %x, %p : tensor<128x128xf32, #x>, !tile.ptr<i32>`
  }];
  let arguments = (ins Tile_Tensor:$value, Tile_PtrType:$ptr, OptionalAttr<I32Attr>:$columns);
  let assemblyFormat = "$value `,` $ptr attr-dict `:` type($value) `,` type($ptr)";
  let hasVerifier = 1;
}

def Cta_PartialAddOp : Cta_Op<"partial_add", [
    AllTypesMatch<["value", "result"]>, MemoryEffects<[MemRead<Tile_GlobalMemory>]>]> {
  let summary = "add a partial accumulator that a `cta.partial_store` of another CTA has written";
  let description = [{
    The result is `value` plus the tensor that a `cta.partial_store` of the same type wrote to `ptr`. The writer's flag
    must have been awaited (`cta.flag_wait`). With `columns`, only the first `columns` columns are added; the
    `cta.partial_store` must have the same `columns`. The other columns keep their values.

    Example: `%s = cta.partial_add %x, %p : tensor<128x128xf32, #x>, !tile.ptr<i32>`
  }];
  let arguments = (ins Tile_Tensor:$value, Tile_PtrType:$ptr, OptionalAttr<I32Attr>:$columns);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$value `,` $ptr attr-dict `:` type($value) `,` type($ptr)";
  let hasVerifier = 1;
}

class Cta_FlagOp<string opMnemonic> : Cta_Op<opMnemonic, [
    MemoryEffects<[MemRead<Tile_GlobalMemory>, MemWrite<Tile_GlobalMemory>]>]> {
  let arguments = (ins Tile_PtrType:$ptr);
  let assemblyFormat = "$ptr attr-dict `:` type($ptr)";
}

def Cta_FlagSetOp : Cta_FlagOp<"flag_set"> {
  let summary = "release a flag in global memory, for another CTA";
  let description = [{
    One thread stores 1 at `ptr` with release semantics at GPU scope (PTX ISA, "Memory Consistency Model"): writes by
    threads of this CTA that precede a `cta.barrier` before this operation are visible to a CTA that has observed the
    flag.

    Example: `cta.flag_set %p : !tile.ptr<i32>`
  }];
}

def Cta_FlagWaitOp : Cta_FlagOp<"flag_wait"> {
  let summary = "wait for a flag of another CTA, and clear it";
  let description = [{
    One thread polls `ptr` with acquire loads until it reads 1, and then stores 0; the other threads need a
    `cta.barrier` after this operation. The CTA that sets the flag must not in turn wait for this CTA.

    Example: `cta.flag_wait %p : !tile.ptr<i32>`
  }];
}

class Cta_GridDependencyOp<string opMnemonic> : Cta_Op<opMnemonic, [
    MemoryEffects<[MemRead<Tile_GlobalMemory>, MemWrite<Tile_GlobalMemory>]>]> {
  let assemblyFormat = "attr-dict";
}

def Cta_AwaitGridsOp : Cta_GridDependencyOp<"await_grids"> {
  let summary = "wait for the previous grids (programmatic dependent launch)";
  let description = [{
    PTX ISA, `griddepcontrol.wait`: the writes of the previous grids are visible afterwards. Returns immediately if this
    grid was launched only after the previous grids had ended.

    Example: `cta.await_grids`
  }];
}

def Cta_LaunchDependentsOp : Cta_GridDependencyOp<"launch_dependents"> {
  let summary = "let the grids that depend on this one start";
  let description = [{
    PTX ISA, `griddepcontrol.launch_dependents`: a grid that may overlap with this grid can start once each CTA of this
    grid has executed this operation or has exited. It must wait for this grid's results with `cta.await_grids`.

    Example: `cta.launch_dependents`
  }];
}

#endif
