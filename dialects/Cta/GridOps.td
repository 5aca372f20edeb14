// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work that CTAs of one grid share: partial accumulators and flags in global memory; and how grids follow each other.
#ifndef CTA_GRID_OPS_TD
#define CTA_GRID_OPS_TD

include "Cta/CtaOpBase.td"

def Cta_CombineOp : Cta_Op<"combine", [Pure, AllTypesMatch<["value", "result"]>, HasParent<"::tile::ProgramsOp">]> {
  let summary = "add up the accumulators of the CTAs that share the K steps of a program";
  let description = [{
    One of the CTAs gets the sum, always in the same order, and it alone goes on to what follows in the program. With
    `columns`, the accumulator has only so many columns. `cta-lower-combines` makes it an exchange through distributed
    shared memory or through global memory, as `work` of the `tile.programs` says.

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
    Each thread writes what it holds, so that all accesses are coalesced; only `cta.partial_add` with the same layout
    can read it. Needs 4 bytes at `ptr`, aligned to 16, for each register of each thread. With `columns`, only the first
    so many columns of a matrix move, and take memory.

    Example: `cta.partial_store %x, %p : tensor<128x128xf32, #x>, !tile.ptr<i32>`
  }];
  let arguments = (ins Tile_Tensor:$value, Tile_PtrType:$ptr, OptionalAttr<I32Attr>:$columns);
  let assemblyFormat = "$value `,` $ptr attr-dict `:` type($value) `,` type($ptr)";
  let hasVerifier = 1;
}

def Cta_PartialAddOp : Cta_Op<"partial_add", [
    AllTypesMatch<["value", "result"]>, MemoryEffects<[MemRead<Tile_GlobalMemory>]>]> {
  let summary = "add what a `cta.partial_store` of another CTA has written";
  let description = [{
    The result is `value` plus what a `cta.partial_store` of the same type wrote to `ptr`; the writer's flag must have
    been awaited (`cta.flag_wait`). With `columns`, only the first so many columns, as many as were stored; the others
    keep their values.

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
    One thread stores 1 at `ptr` with release order at GPU scope (PTX ISA, "Memory Consistency Model"): what threads of
    this CTA have written before a `cta.barrier` before this is visible to a CTA that has seen the flag.

    Example: `cta.flag_set %p : !tile.ptr<i32>`
  }];
}

def Cta_FlagWaitOp : Cta_FlagOp<"flag_wait"> {
  let summary = "wait for a flag of another CTA, and clear it";
  let description = [{
    One thread loads with acquire order until it finds 1 at `ptr`, then stores 0; the other threads need a `cta.barrier`
    after it. The CTA that sets the flag must not itself wait for this one.

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
    PTX ISA, `griddepcontrol.wait`: what they have written is visible afterwards. Returns at once in a launch that did
    not begin before they ended.

    Example: `cta.await_grids`
  }];
}

def Cta_LaunchDependentsOp : Cta_GridDependencyOp<"launch_dependents"> {
  let summary = "let the grids that depend on this one start";
  let description = [{
    PTX ISA, `griddepcontrol.launch_dependents`: a grid that was launched so that it may overlap with this one begins
    when each CTA of this one has got here or has ended. It awaits this grid's results by `cta.await_grids`.

    Example: `cta.launch_dependents`
  }];
}

#endif
