// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The transformation passes. A pass's flag, class, file and test have one name.
#ifndef TILE_PASSES_TD
#define TILE_PASSES_TD

include "mlir/Pass/PassBase.td"

// A pass on a kernel. `flag` is dialect, verb, object; `required` is the form that it checks when it is run alone (see
// Analysis/KernelForm.h): the phase that `Requires` names, or what the passes since then have made of it. `kind` is
// Correctness for what -O0 runs, or Optimisation for what --disable turns off. `ensured` is the phase of which the pass
// is the last one: the pipeline checks it.
class KernelPass<string flag, string required, string kind, string ensured = required>
    : PassBase<flag, "::tile::FormChangingPass<::tile::Form::" # required # ", ::tile::Form::" # ensured #
                     ", ::tile::PassKind::" # kind # ">"> {
  let dependentDialects = ["::tile::cta::CtaDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def TileVerifyPhase : Pass<"tile-verify-phase", "::tile::KernelOp"> {
  let summary = "check that the kernel has the form of a phase";
  let description = [{
    Requires: nothing. Ensures: every operation and type is in the phase's list, else an error.
    Does not: change the IR. Example: test/Transforms/verify-phase.mlir.
  }];
  let options = [Option<"phase", "phase", "std::string", "\"tile\"", "tile, layout, async, scheduled or allocated">];
}

def CtaAttachTarget : Pass<"cta-attach-target", "::mlir::ModuleOp"> {
  let summary = "say which GPU the module is compiled for";
  let description = [{
    Requires: nothing. Ensures: the module's `cta.target` is that GPU; an error if there is none of the name. tilec does
    without this pass. Example: test/Transforms/Cta/attach-target.mlir.
  }];
  let dependentDialects = ["::tile::cta::CtaDialect"];
  let options = [Option<"name", "name", "std::string", "\"\"", "the GPU, as in tilec --target=help">];
}

def TileSimplifyInductions : KernelPass<"tile-simplify-inductions", "program", "Optimisation"> {
  let summary = "express what a loop counts by its induction variable";
  let description = [{
    Requires: phase tile. Ensures: phase tile; an integer that a loop carries, and what is added to
    it, is computed from the induction variable where it differs from that by a constant; so is a block of integers that
    grows by the same number. Does not: change other carried values, nor results of loops. Example:
    test/Transforms/Tile/simplify-inductions.mlir.
  }];
}

def TileNarrowLoads : KernelPass<"tile-narrow-loads", "program", "Optimisation"> {
  let summary = "load elements that have one address once";
  let description = [{
    Requires: phase tile. Ensures: phase tile; of a block in which groups of neighbours along a dimension have one
    address, one mask and one other value, one of each group is loaded and then repeated, if its address can be computed
    alone. Does not: change volatile loads, nor dimensions that are no powers of two. Example:
    test/Transforms/Tile/narrow-loads.mlir.
  }];
}

def TileFoldConditions : KernelPass<"tile-fold-conditions", "program", "Optimisation"> {
  let summary = "replace comparisons of indices that always hold, and narrow others";
  let description = [{
    Requires: phase tile. Ensures: phase tile; signed comparisons with constants that hold for all elements, on the
    promise that index arithmetic does not overflow, are true; those of 64-bit numbers that have 32 bits compare these;
    quotients and remainders, by constants, of indices that are not negative are unsigned.
    Does not: replace what never holds, nor simplify what follows. Example: test/Transforms/Tile/fold-conditions.mlir.
  }];
}

def TileChooseEngine : KernelPass<"tile-choose-engine", "program", "Correctness"> {
  let summary = "decide what multiplies each dot";
  let description = [{
    Requires: phase tile. Ensures: phase tile; every dot has an `engine` for the target and the kernel's warps: wgmma
    where types and sizes allow, of what descriptors could bring as they bring it; operands of dots are of types that
    the target's tensor cores multiply, as far as f16 has the same numbers; a remark says where the order in memory
    keeps tensor maps from paying. Does not: change anything else. Example: test/Transforms/Tile/choose-engine.mlir.
  }];
}

def TileSettleEngine : KernelPass<"tile-settle-engine", "program", "Correctness", "tile"> {
  let summary = "decide again where operands do not come as was taken for granted";
  let description = [{
    Requires: phase tile; tensor maps are made, and blocks have their final sizes. Ensures: phase tile; the `engine` of
    every dot multiplies its operands as they come, and says what brings them; those that threads store for wgmma leave
    a quarter of the shared memory free. Does not: change anything else. Example:
    test/Transforms/Tile/settle-engine.mlir.
  }];
}

def TileRaiseDescriptors : KernelPass<"tile-raise-descriptors", "program", "Optimisation"> {
  let summary = "turn block accesses through pointers into accesses through descriptors";
  let description = [{
    Requires: phase tile, engines of dots. Ensures: phase tile; the operands of dots, and the stores of kernels
    with such dots, go through descriptors made at the kernel's entry, where this is proven to access the same
    elements; a remark says why not elsewhere. Does not: change kernels for targets without TMA, or without dots.
    Example: test/Transforms/Tile/raise-descriptors.mlir.
  }];
}

def TileHostDescriptors : KernelPass<"tile-host-descriptors", "program", "Optimisation"> {
  let summary = "pass descriptors that follow from the kernel's parameters as arguments";
  let description = [{
    Requires: phase tile, engines of dots. Ensures: phase tile; in kernels with dots, descriptors of pointer
    parameters whose shape and strides are expressions over integer parameters are arguments, after the program's own,
    with a recipe for the launcher in the attribute `tile.tensor_map`. Does not: change kernels without dots of wgmma.
    Example: test/Transforms/Tile/host-descriptors.mlir.
  }];
}

def TileSwapDot : KernelPass<"tile-swap-dot", "program", "Optimisation"> {
  let summary = "compute dots transposed where wgmma has no instruction for their rows";
  let description = [{
    Requires: phase tile, engines of dots. Ensures: phase tile; dots whose engine is for swapped operands, of fewer than
    64 rows or of rows that are no power of two, and whose operands come through descriptors are dots of the transposed
    operands in the other order; a loop carries the transposed accumulator. Does not: change dots whose accumulator
    would have to be transposed for each dot.
    Example: test/Transforms/Tile/swap-dot.mlir.
  }];
}

def TileAddWarps : KernelPass<"tile-add-warps", "program", "Optimisation"> {
  let summary = "compute chains of products with two warp groups";
  let description = [{
    Requires: phase tile. Ensures: phase tile; a kernel of four warps, one of whose loops multiplies
    what it computes of another product, has eight if wgmma has rows for two warp groups in all of its dots. Does not:
    change other kernels. Example: test/Transforms/Tile/add-warps.mlir.
  }];
}

def TileExpandDescriptors : KernelPass<"tile-expand-descriptors", "program", "Correctness"> {
  let summary = "turn descriptor accesses into masked pointer accesses";
  let description = [{
    Requires: phase tile. Ensures: no descriptor is left but arguments with a recipe for the
    launcher, and accesses through these. Does not: use TMA. Example: test/Transforms/Tile/expand-descriptors.mlir.
  }];
}

def TilePadBlocks : KernelPass<"tile-pad-blocks", "program", "Correctness"> {
  let summary = "round sizes of blocks up to powers of two";
  let description = [{
    Requires: phase tile, descriptors expanded. Ensures: phase tile; every dimension of a tensor is a
    power of two, and what lies beyond a block is neither stored nor part of a reduction or of the inner dimension of a
    dot; an error where that cannot be had. Does not: change the blocks of descriptors.
    Example: test/Transforms/Tile/pad-blocks.mlir.
  }];
}

def CtaAssignLayouts : KernelPass<"cta-assign-layouts", "tile", "Correctness", "layout"> {
  let summary = "give every tensor a layout";
  let description = [{
    Requires: phase tile. Ensures: phase layout; loads, stores, dots and reductions have the layout
    that they want, and a convert_layout stands at every mismatch; operands of warp groups that TMA does not bring are
    stored into buffers. Does not: avoid conversions. Example: test/Transforms/Cta/assign-layouts.mlir.
  }];
  let options = [Option<"accumulators", "accumulators", "bool", "true",
                        "what has the shape of an accumulator has its layout; addresses have it, too, until "
                        "cta-remove-conversions">];
}

def CtaRemoveConversions : KernelPass<"cta-remove-conversions", "layout", "Optimisation"> {
  let summary = "remove layout conversions by computing values in the layout that is needed";
  let description = [{
    Requires: phase layout. Ensures: no conversion of a value that is cheap to recompute or that
    another layout could have carried through a loop. Does not: change anchors.
    Example: test/Transforms/Cta/remove-conversions.mlir.
  }];
}

def CtaLowerDot : KernelPass<"cta-lower-dot", "buffered", "Correctness", "async"> {
  let summary = "turn each dot into products of its engine: wgmma, mma.sync or fused multiply-adds";
  let description = [{
    Requires: phase layout. Ensures: no tile.dot is left; each wgmma is awaited at once; an mma.sync whose operands are
    loaded from shared memory only for it is one for each step of the instruction along k, and the operands of a step
    are loaded before the product of the step before it. Example: test/Transforms/Cta/lower-dot.mlir.
  }];
}

def CtaDeferSums : KernelPass<"cta-defer-sums", "layout", "Optimisation"> {
  let summary = "add up what threads have summed after a loop";
  let description = [{
    Requires: phase layout, decided layouts. Ensures: a vector or a number that a loop carries, only scales and adds
    sums of an axis to, always or under conditions, is carried as a sum for each thread, and these are added up after
    the loop. Does not: keep the order of summation. Example: test/Transforms/Cta/defer-sums.mlir.
  }];
}

def CtaLoadAhead : KernelPass<"cta-load-ahead", "layout", "Optimisation"> {
  let summary = "load vectors that the epilogue needs before the main loop";
  let description = [{
    Requires: phase layout, decided layouts. Ensures: a vector that is loaded after a loop of dots
    that writes no memory, and takes few registers, is loaded before the loop, in a layout whose conversion stays in the
    warp where there is one; a vector that is loaded in the loop has such a layout, too. Does not: move loads across
    writes of memory that they may read. Example: test/Transforms/Cta/load-ahead.mlir.
  }];
}

def CtaVectorizeAccess : KernelPass<"cta-vectorize-access", "layout", "Optimisation"> {
  let summary = "find how many consecutive elements a thread can load or store at once";
  let description = [{
    Requires: phase layout. Ensures: `vector` of loads, stores and atomic operations is as large as alignment,
    contiguity and layout allow, at most 16 bytes; `partial` where the mask may change inside. Example:
    test/Transforms/Cta/vectorize-access.mlir.
  }];
}

def CtaSplitStores : KernelPass<"cta-split-stores", "layout", "Optimisation"> {
  let summary = "write converted matrices panel by panel";
  let description = [{
    Requires: phase layout, `vector` of stores. Ensures: phase async; a matrix that is converted
    only to be stored goes through a buffer of a few columns, in which warps have rows of their own, where addresses and
    masks can be computed anew for each panel. Example: test/Transforms/Cta/split-stores.mlir.
  }];
}

def CtaAsyncCopies : KernelPass<"cta-async-copies", "buffered", "Optimisation"> {
  let summary = "copy operands of dots to shared memory by cp.async";
  let description = [{
    Requires: phase layout, `vector` of loads. Ensures: phase async; a load in an innermost loop whose value goes only
    through shared memory, or becomes an operand of warp groups, is an async_copy that is awaited at once. Does not:
    overlap copies with computation. Example: test/Transforms/Cta/async-copies.mlir.
  }];
}

def CtaKeepRows : KernelPass<"cta-keep-rows", "buffered", "Optimisation"> {
  let summary = "keep rows that are read several times in shared memory";
  let description = [{
    Requires: phase layout, `vector` of loads. Ensures: phase async; in a kernel without products or loops around it, a
    load of so many registers a thread that few CTAs would run side by side is an async_copy, and what is computed of it
    after a reduction that warps wait for is computed again from the buffer. Does not: keep what is loaded by fewer than
    16 bytes, or with another value than zero where nothing is loaded. Example: test/Transforms/Cta/keep-rows.mlir.
  }];
}

def CtaPipeline : KernelPass<"cta-pipeline", "async", "Optimisation"> {
  let summary = "software pipeline: copies and loads for later iterations run during the computation of earlier ones";
  let description = [{
    Requires: phase async. Ensures: copies by cp.async run ahead in buffers with num_stages slots, or as many as the
    target's shared memory holds; where the loop computes one product in steps, the operands of the first step are
    loaded during the last step of the iteration before, and products of warp groups stay in flight. Loads into
    registers run an iteration ahead where there is room for them: operands that cp.async cannot copy, what a loop
    reduces, and few numbers beside products of blocks that TMA copies. A short loop that neither reduces nor stores
    loads for four iterations at once. A remark says what runs ahead. Copies that no loop runs ahead are awaited where
    they are needed. Does not: move loads across writes of memory that they may read. Example:
    test/Transforms/Cta/pipeline.mlir.
  }];
}

def CtaLowerConversions : KernelPass<"cta-lower-conversions", "lowering", "Correctness"> {
  let summary = "move what conversions and reductions exchange between threads through shared memory";
  let description = [{
    Requires: phase async. Ensures: phase scheduled; a convert_layout only permutes the registers
    of a thread, and a reduction's axis lies within one warp. Example: test/Transforms/Cta/lower-conversions.mlir.
  }];
}

def CtaAllocateShared : KernelPass<"cta-allocate-shared", "scheduled", "Correctness"> {
  let summary = "place buffers in shared memory";
  let description = [{
    Requires: phase scheduled. Ensures: every alloc has an offset, buffers that live together do not
    overlap, and the kernel's `shared_bytes` is their total; an error with a table of buffers if the target has less.
    Example: test/Transforms/Cta/allocate-shared.mlir.
  }];
}

def CtaInsertBarriers : KernelPass<"cta-insert-barriers", "scheduled", "Correctness", "allocated"> {
  let summary = "insert the barriers that hazards in shared memory require";
  let description = [{
    Requires: offsets of buffers. Ensures: phase allocated; between two accesses of different
    threads to the same bytes of shared memory, one of them a write, there is a barrier on every path, and so between
    a write of global memory and a read (not volatile, nor after a write by TMA) of which several threads have replicas.
    Example: test/Transforms/Cta/insert-barriers.mlir.
  }];
}

def TileDistributePrograms : KernelPass<"tile-distribute-programs", "program", "Optimisation"> {
  let summary = "decide which CTA computes which programs, and in which order";
  let description = [{
    Requires: phase tile; descriptors are raised. Ensures: phase tile; a kernel whose loops have more or fewer
    iterations from one program to the next is `uneven`, and numbers of programs along an axis on which they get longer
    are `descending`. If CTAs may compute several programs, the body of a kernel with tensor maps is a `tile.programs`,
    in the order that the program asks for by `tile.swizzle2d`; three more arguments have the size of the grid, and the
    launcher starts as many CTAs as run at once. Does not: change kernels without tensor maps, the launcher's or those
    that `tile-device-descriptors` will make; nor those with only the launcher's whose programs are `uneven`; nor the
    order of programs that may wait for each other.
    Example: test/Transforms/Tile/distribute-programs.mlir.
  }];
  let options = [Option<"several", "several", "bool", "true", "CTAs may compute several programs">];
}

def TileDeviceDescriptors : KernelPass<"tile-device-descriptors", "program", "Optimisation"> {
  let summary = "let the kernel make tensor maps that the launcher cannot";
  let description = [{
    Requires: phase tile; `tile-distribute-programs` before it, because each CTA needs memory for its
    maps. Ensures: phase tile; in kernels with wgmma, descriptors that are read or written through have a place for a
    tensor map in scratch memory, stand as late as they can, and say when nothing is accessed. Does not: change kernels
    for targets without `tensormap.replace`, or that are not persistent. Example:
    test/Transforms/Tile/device-descriptors.mlir.
  }];
}

def TileFormClusters : KernelPass<"tile-form-clusters", "program", "Optimisation"> {
  let summary = "let the CTAs of a cluster run neighbouring programs";
  let description = [{
    Requires: phase tile, after tile-distribute-programs. Ensures: phase tile; the `work` of a kernel that asks for a
    `cluster` of several programs says so, `cluster_ctas` is set, and only programs that exist do more than to load
    blocks; a remark says why not elsewhere. Does not: share anything. Example: test/Transforms/Tile/form-clusters.mlir.
  }];
}

def CtaLowerDescriptors : KernelPass<"cta-lower-descriptors", "lowering", "Correctness"> {
  let summary = "read and write blocks by TMA";
  let description = [{
    Requires: phase layout; descriptors are kernel arguments with a tensor map or have a place for
    one. Ensures: no desc_load or desc_store is left; each read is awaited at once; tensor maps have box and swizzle.
    Example: test/Transforms/Cta/lower-descriptors.mlir.
  }];
}

def CtaSpecializeWarps : KernelPass<"cta-specialize-warps", "ringed", "Optimisation"> {
  let summary = "let a producer warp copy ahead of the consumer warps";
  let description = [{
    Requires: phase scheduled, or programs in it. Ensures: TMA reads are done by a producer, up to num_stages slots
    ahead, if it can know by itself where to read; of what the program writes, too, the consumers read blocks
    themselves, outside of the deepest loops; roles hand blocks over through rings, and go over the same programs.
    Numbers that both need are computed once. Example: test/Transforms/Cta/specialize-warps.mlir.
  }];
}

def CtaScheduleLoop : KernelPass<"cta-schedule-loop", "ringed", "Optimisation"> {
  let summary = "overlap the products of a loop with each other and with what is computed between them";
  let description = [{
    Requires: phase scheduled, or rings in it. Ensures: a loop whose products only add to their own accumulators awaits
    them, and releases their slots, after those of the next iteration. In others, products that need no other one's
    result are issued an iteration ahead, where registers and rings allow it, and all are awaited where their results
    are needed; so they are in kernels without copies by TMA, unless threads have no registers for all that is then in
    flight. In a loop of several with computation after them, of a role of several warp groups, each waits for its turn
    before an iteration's products, and hands it over when these are issued. A remark says which of it was done, and
    what an iteration takes of each resource. Does not: copy, select or predicate an accumulator in flight. Example:
    test/Transforms/Cta/schedule-loop.mlir.
  }];
}

def CtaPingPong : KernelPass<"cta-ping-pong", "ringed", "Optimisation"> {
  let summary = "let two consumer warp groups alternate between tiles";
  let description = [{
    Requires: phase scheduled, or rings in it; warp roles. Ensures: in a persistent kernel that asks for it by
    `ping_pong`, and whose programs use one ring of slots equally often, two teams of consumer warps compute every other
    program each, one's main loop under the other's epilogue; the consumer's `#cta.role` has two `teams`; a remark says
    why not elsewhere.
    Example: test/Transforms/Cta/ping-pong.mlir.
  }];
}

def CtaShareSteps : KernelPass<"cta-share-steps", "async", "Optimisation"> {
  let summary = "decide which CTAs share the K steps of a program";
  let description = [{
    Requires: phase async. Ensures: in a kernel that asks for a `cluster` along k, whose programs add up products over
    one loop, `work` says that the CTAs of a cluster share the steps, `cluster_ctas` is set, the loop does every
    `split_k`-th, and a `cta.combine` follows; the body of a kernel that is not persistent is a `tile.programs`, too; a
    remark says why not elsewhere. In another persistent kernel whose programs accumulate over one loop of as many K
    steps, `work` says what it costs to split the last wave, the loop goes from a first to a last step, and a
    `cta.combine` follows for the accumulator and each other sum that the loop carries. Does not: decide whether it
    pays, which the kernel does. Example: test/Transforms/Cta/share-steps.mlir.
  }];
  let options = [Option<"clusters", "clusters", "bool", "true", "those of a cluster may">,
                 Option<"tail", "tail", "bool", "true", "idle ones may, in the last wave">];
}

def CtaLowerCombines : KernelPass<"cta-lower-combines", "async", "Correctness"> {
  let summary = "let CTAs that share the steps of a program add up what they have got";
  let description = [{
    Requires: phase async. Ensures: no `cta.combine` is left; partial accumulators go through distributed shared memory,
    or through scratch memory, an argument more, and one CTA goes on to what follows in the program. No result depends
    on the order in which CTAs run. The program of a kernel that is not persistent is its body again. Example:
    test/Transforms/Cta/lower-combines.mlir.
  }];
}

def CtaLowerPrograms : KernelPass<"cta-lower-programs", "ringed", "Correctness"> {
  let summary = "turn the programs of a CTA into loops, as their work is dealt out";
  let description = [{
    Requires: phase scheduled, or rings and programs in it. Ensures: no `tile.programs` is left; in each warp role a
    loop goes over the programs of a CTA, those of the rank of a CTA in its cluster, every other one for each team, or
    whole ones and parts of split ones. Example: test/Transforms/Cta/lower-programs.mlir.
  }];
}

def CtaMulticast : KernelPass<"cta-multicast", "ringed", "Optimisation"> {
  let summary = "let the CTAs of a cluster load what all of them need only once, by TMA multicast";
  let description = [{
    Requires: phase scheduled, or rings in it; warp roles. Ensures: what the producers of all CTAs of a cluster read
    at the same place, each of them reads a part of, for all. Does not: change loops that depend on the rank. Example:
    test/Transforms/Cta/multicast.mlir.
  }];
}

def CtaLowerRings : KernelPass<"cta-lower-rings", "ringed", "Correctness", "scheduled"> {
  let summary = "turn rings into buffers, mbarriers and counters";
  let description = [{
    Requires: phase scheduled, or rings in it. Ensures: no rings, and no turns of teams; each role carries slot and
    parity of what it waits for through its loops and branches. Example: test/Transforms/Cta/lower-rings.mlir.
  }];
}

def CtaInsertWaits : KernelPass<"cta-insert-waits", "ringed", "Correctness"> {
  let summary = "wait for products of warp groups, and for stores by TMA, where they have to be complete";
  let description = [{
    Requires: phase scheduled, or rings and programs in it; the order of products and accesses is final. Ensures: in
    front of `cta.await` and `cta.ring_release` there is a `cta.wgmma_wait` of as many pending products as have been
    issued since the ones that they name, on all paths; between a copy to global memory and an access to the same
    tensor, a barrier of the program or an atomic operation that orders, the copy is complete. None where they are
    complete anyhow. Example: test/Transforms/Cta/insert-waits.mlir.
  }];
}

def CtaInvertDivisors : KernelPass<"cta-invert-divisors", "scheduled", "Optimisation"> {
  let summary = "replace divisions by what stays the same with a reciprocal";
  let description = [{
    Requires: phase scheduled. Ensures: in loops, 32-bit divisions of numbers that are not negative
    by what follows from the arguments alone are multiplications with a reciprocal that is computed once, where the
    kernel begins; those by the lesser of a number and a constant divide by the constant where they can;
    `tile.swizzle2d` is arithmetic. Example: test/Transforms/Cta/invert-divisors.mlir.
  }];
}

def CtaOverlapGrids : KernelPass<"cta-overlap-grids", "scheduled", "Optimisation"> {
  let summary = "let a grid begin before the previous one has ended (programmatic dependent launch)";
  let description = [{
    Requires: phase scheduled. Ensures: a kernel with warp roles may be launched before the
    previous grid has ended. Does not: ask for such launches. Example: test/Transforms/Cta/overlap-grids.mlir.
  }];
}

#endif
