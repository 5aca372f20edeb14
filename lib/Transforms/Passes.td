// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The transformation passes. Flag, class, file and test of a pass share one name.
#ifndef TILE_PASSES_TD
#define TILE_PASSES_TD

include "mlir/Pass/PassBase.td"

// A pass on a kernel. `flag` is dialect, verb, object. `required` is the form that the pass checks when it is run alone
// (see Analysis/KernelForm.h): the phase that `Requires` names, or a form into which passes of that phase have brought
// the kernel. `kind` is Correctness for passes that -O0 runs, or Optimisation for passes that --disable turns off.
// `ensured` is the phase that the pass completes, if it is the last one of the phase; the pipeline checks the kernel
// after it.
class KernelPass<string flag, string required, string kind, string ensured = required>
    : PassBase<flag, "::tile::FormChangingPass<::tile::Form::" # required # ", ::tile::Form::" # ensured #
                     ", ::tile::PassKind::" # kind # ">"> {
  let dependentDialects = ["::tile::cta::CtaDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def TileVerifyPhase : Pass<"tile-verify-phase", "::tile::KernelOp"> {
  let summary = "check that the kernel has the form of a phase";
  let description = [{
    Requires: nothing. Ensures: every operation and type is in the phase's list, otherwise reports an error. Does not:
    change the IR. Example: test/Transforms/verify-phase.mlir.
  }];
  let options = [Option<"phase", "phase", "std::string", "\"tile\"", "tile, layout, async, scheduled or allocated">];
}

def CtaAttachTarget : Pass<"cta-attach-target", "::mlir::ModuleOp"> {
  let summary = "attach the GPU that the module is compiled for";
  let description = [{
    Requires: nothing. Ensures: the module's `cta.target` is the GPU `name`; reports an error if there is no GPU of that
    name. tilec does not use this pass. Example: test/Transforms/Cta/attach-target.mlir.
  }];
  let dependentDialects = ["::tile::cta::CtaDialect"];
  let options = [Option<"name", "name", "std::string", "\"\"", "the GPU, as in tilec --target=help">];
}

def TileSimplifyInductions : KernelPass<"tile-simplify-inductions", "program", "Optimisation"> {
  let summary = "express other counters of a loop in terms of its induction variable";
  let description = [{
    Requires: phase tile. Ensures: phase tile; a loop-carried integer that differs from the induction variable by a
    constant, sums that contain such an integer, and blocks of integers that grow uniformly are computed from the
    induction variable. Does not: change other carried values, or results of loops. Example:
    test/Transforms/Tile/simplify-inductions.mlir.
  }];
}

def TileNarrowLoads : KernelPass<"tile-narrow-loads", "program", "Optimisation"> {
  let summary = "load elements that share an address once";
  let description = [{
    Requires: phase tile. Ensures: phase tile; if groups of neighbours along a dimension of a block share address, mask
    and other value, one element of each group is loaded and then repeated, provided its address can be computed
    separately. Does not: change volatile loads, or dimensions that are not powers of two. Example:
    test/Transforms/Tile/narrow-loads.mlir.
  }];
}

def TileFoldConditions : KernelPass<"tile-fold-conditions", "program", "Optimisation"> {
  let summary = "fold comparisons of indices that always hold, and narrow others";
  let description = [{
    Requires: phase tile. Ensures: phase tile; signed comparisons with constants that hold for all elements, assuming
    that index arithmetic does not overflow, are true; comparisons of 64-bit integers that fit into 32 bits are 32-bit
    comparisons; divisions of non-negative indices by constants are unsigned. Does not: replace comparisons that never
    hold, or simplify their users. Example: test/Transforms/Tile/fold-conditions.mlir.
  }];
}

def TileLowerScaledDots : KernelPass<"tile-lower-scaled-dots", "program", "Correctness"> {
  let summary = "replace scaled dots by dots that the target supports";
  let description = [{
    Requires: phase tile, with scaled dots. Ensures: phase tile; a scaled dot becomes a dot with scales if the target's
    tensor cores support these for the dot's types and sizes, and tensor memory suffices for all scales of the kernel;
    otherwise its operands are converted to 16-bit floats. Does not: choose an engine. Example:
    test/Transforms/Tile/lower-scaled-dots.mlir.
  }];
}

def TileChooseEngine : KernelPass<"tile-choose-engine", "program", "Correctness"> {
  let summary = "choose the engine that computes each dot";
  let description = [{
    Requires: phase tile. Ensures: phase tile; every dot has an `engine` for the target and the kernel's warps: wgmma
    where types and sizes allow, assuming that operands come through descriptors wherever this is possible. Operand
    types without an MMA on the target are widened to f16 if that represents all of their values, and accumulators of
    f16 to f32 where tcgen05 would multiply. A remark says where the memory layout makes tensor maps unprofitable. Does
    not: change anything else. Example: test/Transforms/Tile/choose-engine.mlir.
  }];
}

def TileSettleEngine : KernelPass<"tile-settle-engine", "program", "Correctness", "tile"> {
  let summary = "revise engines whose operand assumptions did not hold";
  let description = [{
    Requires: phase tile; tensor maps are created, and blocks have their final sizes. Ensures: phase tile; the `engine`
    of every dot states the actual sources of its operands; operands that threads store for wgmma leave a quarter of the
    shared memory free. Does not: change anything else. Example: test/Transforms/Tile/settle-engine.mlir.
  }];
}

def TileRaiseDescriptors : KernelPass<"tile-raise-descriptors", "program", "Optimisation"> {
  let summary = "turn block accesses through pointers into accesses through descriptors";
  let description = [{
    Requires: phase tile, engines of dots. Ensures: phase tile; the operands of dots, and the stores of kernels with
    such dots, use descriptors created at the kernel's entry wherever descriptors provably access the same elements;
    elsewhere a remark says why they do not. Does not: change kernels for targets without TMA, or without dots. Example:
    test/Transforms/Tile/raise-descriptors.mlir.
  }];
}

def TileHostDescriptors : KernelPass<"tile-host-descriptors", "program", "Optimisation"> {
  let summary = "pass descriptors that follow from the kernel's parameters as arguments";
  let description = [{
    Requires: phase tile, engines of dots. Ensures: phase tile; in kernels with dots, descriptors of pointer parameters
    whose shape and strides are expressions over integer parameters are additional arguments, after the program's
    arguments, with a recipe for the launcher in the attribute `tile.tensor_map`. Does not: change kernels without
    wgmma. Example: test/Transforms/Tile/host-descriptors.mlir.
  }];
}

def TileSwapDot : KernelPass<"tile-swap-dot", "program", "Optimisation"> {
  let summary = "compute dots transposed where wgmma has no instruction for their rows";
  let description = [{
    Requires: phase tile, engines of dots. Ensures: phase tile; a dot whose engine swaps the operands, because it has
    fewer than 64 rows or a number of rows that is not a power of two, becomes a dot of the transposed operands in
    swapped order, if both come through descriptors; a loop carries the transposed accumulator. Does not: change dots
    whose accumulator would have to be transposed for each dot. Example: test/Transforms/Tile/swap-dot.mlir.
  }];
}

def TileAddWarps : KernelPass<"tile-add-warps", "program", "Optimisation"> {
  let summary = "compute chains of dots with two warp groups";
  let description = [{
    Requires: phase tile. Ensures: phase tile; a kernel of four warps with a loop in which a dot uses a value computed
    from another dot has eight warps if wgmma has rows for two warp groups in all of its dots; a kernel of fewer than
    four warps has four if tcgen05 then computes most of its dots. Does not: change other kernels. Example:
    test/Transforms/Tile/add-warps.mlir.
  }];
}

def TileExpandDescriptors : KernelPass<"tile-expand-descriptors", "program", "Correctness"> {
  let summary = "turn descriptor accesses into masked pointer accesses";
  let description = [{
    Requires: phase tile. Ensures: the only descriptors are arguments with a recipe for the launcher, and descriptors
    with a tensor map in memory. Does not: use TMA. Example: test/Transforms/Tile/expand-descriptors.mlir.
  }];
}

def TilePadBlocks : KernelPass<"tile-pad-blocks", "program", "Correctness"> {
  let summary = "round sizes of blocks up to powers of two";
  let description = [{
    Requires: phase tile, descriptors expanded. Ensures: phase tile; every dimension of a tensor is a power of two, and
    elements beyond a block are neither stored nor part of a reduction or of the inner dimension of a dot; reports an
    error if that is impossible. Does not: change the blocks of descriptors. Example:
    test/Transforms/Tile/pad-blocks.mlir.
  }];
}

def CtaAssignLayouts : KernelPass<"cta-assign-layouts", "tile", "Correctness", "layout"> {
  let summary = "give every tensor a layout";
  let description = [{
    Requires: phase tile. Ensures: phase layout; loads, stores, dots and reductions have their preferred layouts, with a
    convert_layout at every mismatch; wgmma operands that TMA does not load are stored to buffers. Does not: avoid
    conversions. Example: test/Transforms/Cta/assign-layouts.mlir.
  }];
  let options = [Option<"accumulators", "accumulators", "bool", "true",
                        "tensors of an accumulator's shape take its layout, and so do addresses until "
                        "cta-remove-conversions">];
}

def CtaRemoveConversions : KernelPass<"cta-remove-conversions", "layout", "Optimisation"> {
  let summary = "remove layout conversions by computing values in the layout in which they are needed";
  let description = [{
    Requires: phase layout. Ensures: no conversion is left of a value that is cheap to recompute, or that a loop could
    carry in the other layout. Does not: change the layouts that memory accesses, dots and scans require. Example:
    test/Transforms/Cta/remove-conversions.mlir.
  }];
}

def CtaLowerDot : KernelPass<"cta-lower-dot", "buffered", "Correctness", "async"> {
  let summary = "lower each dot to its engine: wgmma, mma.sync or fused multiply-adds";
  let description = [{
    Requires: phase layout. Ensures: no tile.dot is left; each wgmma is awaited immediately; an mma.sync dot whose
    operands are loaded from shared memory only for it becomes one mma.sync per K step, and the operands of a step are
    loaded before the MMA of the previous step. Example: test/Transforms/Cta/lower-dot.mlir.
  }];
}

def CtaKeepAccumulators : KernelPass<"cta-keep-accumulators", "async", "Optimisation"> {
  let summary = "leave accumulators in tensor memory from one MMA to the next";
  let description = [{
    Requires: phase async. Ensures: phase async; accumulators that a loop carries only for its tcgen05 MMAs, or that one
    tcgen05 MMA takes from another, stay in tensor memory, as many as fit. Does not: change accumulators that are used
    in between. Example: test/Transforms/Cta/keep-accumulators.mlir.
  }];
}

def CtaSpecializeMma : KernelPass<"cta-specialize-mma", "ringed", "Optimisation"> {
  let summary = "let one thread of a separate warp issue the MMAs of main loops";
  let description = [{
    Requires: phase scheduled, or rings in it; warp roles. Ensures: loops of tcgen05 MMAs whose operands come through
    rings, and whose accumulators stay in tensor memory, are executed by a role with one thread; the consumers wait for
    the accumulators. Does not: change kernels with clusters or teams. Example: test/Transforms/Cta/specialize-mma.mlir.
  }];
}

def CtaAllocateTensorMemory : KernelPass<"cta-allocate-tensor-memory", "scheduled", "Correctness"> {
  let summary = "give accumulators their columns of tensor memory";
  let description = [{
    Requires: phase scheduled. Ensures: every `cta.tensor_memory_alloc` has an address; accumulators that are live at
    the same time have different columns; the CTA allocates them at its start and frees them at its end; reports an
    error if there are too few. Example: test/Transforms/Cta/allocate-tensor-memory.mlir.
  }];
}

def CtaDeferSums : KernelPass<"cta-defer-sums", "layout", "Optimisation"> {
  let summary = "finish cross-thread sums after the loop";
  let description = [{
    Requires: phase layout, decided layouts. Ensures: a loop-carried vector or scalar that is only scaled, and to which
    sums along an axis are added, always or conditionally, is carried as one partial sum per thread; the partial sums
    are reduced after the loop. Does not: preserve the order of summation. Example: test/Transforms/Cta/defer-sums.mlir.
  }];
}

def CtaLoadAhead : KernelPass<"cta-load-ahead", "layout", "Optimisation"> {
  let summary = "hoist loads of epilogue vectors above the main loop";
  let description = [{
    Requires: phase layout, decided layouts. Ensures: a vector that is loaded after a loop of dots, and that takes few
    registers, is loaded before the loop, if the loop writes no memory. If possible, the load, and loads of vectors
    inside the loop, have a layout whose conversion stays within the warp. Does not: move loads across writes to memory
    that they may read. Example: test/Transforms/Cta/load-ahead.mlir.
  }];
}

def CtaVectorizeAccess : KernelPass<"cta-vectorize-access", "layout", "Optimisation"> {
  let summary = "determine how many consecutive elements a thread can load or store at once";
  let description = [{
    Requires: phase layout. Ensures: `vector` of loads, stores and atomic operations is as large as alignment,
    contiguity and layout allow, up to 16 bytes; the access is `partial` where the mask may change within a vector.
    Example: test/Transforms/Cta/vectorize-access.mlir.
  }];
}

def CtaSplitStores : KernelPass<"cta-split-stores", "layout", "Optimisation"> {
  let summary = "store converted matrices panel by panel";
  let description = [{
    Requires: phase layout, `vector` of stores. Ensures: phase async; a matrix that is converted only to be stored goes
    through a buffer of a few columns, in which warps have separate rows, if addresses and masks can be recomputed for
    each panel. Example: test/Transforms/Cta/split-stores.mlir.
  }];
}

def CtaAsyncCopies : KernelPass<"cta-async-copies", "buffered", "Optimisation"> {
  let summary = "copy operands of dots to shared memory by cp.async";
  let description = [{
    Requires: phase layout, `vector` of loads. Ensures: phase async; a load in an innermost loop whose value only goes
    through shared memory, or becomes a wgmma operand, becomes an async_copy that is awaited immediately. Does not:
    overlap copies with computation. Example: test/Transforms/Cta/async-copies.mlir.
  }];
}

def CtaKeepRows : KernelPass<"cta-keep-rows", "buffered", "Optimisation"> {
  let summary = "keep rows that are read several times in shared memory";
  let description = [{
    Requires: phase layout, `vector` of loads. Ensures: phase async; in a kernel without MMAs, a load outside of loops
    that takes so many registers per thread that only a few CTAs would be resident becomes an async_copy, and values
    computed from it are recomputed from the buffer after a reduction that synchronizes warps. Does not: keep loads of
    fewer than 16 bytes per thread, or with a masked value other than zero. Example: test/Transforms/Cta/keep-rows.mlir.
  }];
}

def CtaPipeline : KernelPass<"cta-pipeline", "async", "Optimisation"> {
  let summary = "software pipelining: overlap copies and loads of later iterations with computation";
  let description = [{
    Requires: phase async. Ensures: cp.async copies are prefetched into buffers with num_stages slots, or as many as the
    target's shared memory holds. If the loop computes one dot in K steps, the operands of the first step are loaded
    during the last step of the previous iteration, and wgmmas stay in flight. Loads into registers are executed one
    iteration ahead if there are registers for them: operands that cp.async cannot copy, values that a loop reduces, and
    a few scalars or vectors alongside dots of TMA blocks. A short loop that neither reduces nor stores issues the loads
    of four iterations together. A remark says what is prefetched. Copies that no loop prefetches are awaited at their
    first use. Does not: move loads across writes to memory that they may read. Example:
    test/Transforms/Cta/pipeline.mlir.
  }];
}

def CtaLowerConversions : KernelPass<"cta-lower-conversions", "lowering", "Correctness"> {
  let summary = "lower data movement between threads to shared memory";
  let description = [{
    Requires: phase async. Ensures: phase scheduled; a convert_layout only permutes the registers of a thread, and the
    axis of a reduction lies within one warp. Example: test/Transforms/Cta/lower-conversions.mlir.
  }];
}

def CtaReuseStores : KernelPass<"cta-reuse-stores", "lowering", "Optimisation"> {
  let summary = "read a tile that threads stored instead of storing a copy of it";
  let description = [{
    Requires: operations of phase lowering; layouts are final.
    Ensures: the same form; no tile is stored twice to buffers of the same type in one block.
    Example: test/Transforms/Cta/reuse-stores.mlir.
  }];
}

def CtaAllocateShared : KernelPass<"cta-allocate-shared", "scheduled", "Correctness"> {
  let summary = "assign shared memory offsets to buffers";
  let description = [{
    Requires: phase scheduled. Ensures: every alloc has an offset, buffers with intersecting lifetimes do not overlap,
    and the kernel's `shared_bytes` is the total size; reports an error with a table of buffers if the target has less.
    Example: test/Transforms/Cta/allocate-shared.mlir.
  }];
}

def CtaInsertBarriers : KernelPass<"cta-insert-barriers", "scheduled", "Correctness", "allocated"> {
  let summary = "insert the barriers that hazards in shared memory require";
  let description = [{
    Requires: offsets of buffers. Ensures: phase allocated; there is a barrier on every path between two conflicting
    accesses of different threads to the same bytes of shared memory. There is also a barrier between a write to global
    memory and a read whose elements several threads hold, unless the read is volatile or TMA writes. Example:
    test/Transforms/Cta/insert-barriers.mlir.
  }];
}

def TileDistributePrograms : KernelPass<"tile-distribute-programs", "program", "Optimisation"> {
  let summary = "decide which CTA computes which programs, and in which order";
  let description = [{
    Requires: phase tile; descriptors are raised. Ensures: phase tile; a kernel whose loops have more or fewer
    iterations from one program to the next is `uneven`, and program indices along an axis along which loops get longer
    are `descending`. If CTAs may compute several programs, the body of a kernel with tensor maps is a `tile.programs`,
    in the order that the program requests with `tile.swizzle2d`; three more arguments hold the size of the grid, and
    the launcher starts as many CTAs as are resident. Does not: make a kernel persistent if it has no tensor maps (from
    the launcher or, later, from `tile-device-descriptors`), or if it is `uneven` and has only maps from the launcher;
    or change the order of programs that may wait for each other. Example:
    test/Transforms/Tile/distribute-programs.mlir.
  }];
  let options = [Option<"several", "several", "bool", "true", "CTAs may compute several programs">];
}

def TileDeviceDescriptors : KernelPass<"tile-device-descriptors", "program", "Optimisation"> {
  let summary = "let the kernel encode tensor maps that the launcher cannot";
  let description = [{
    Requires: phase tile; `tile-distribute-programs` before it, because each CTA needs memory for its maps. Ensures:
    phase tile; in kernels with wgmma, descriptors used for accesses have a `place` for a tensor map in scratch memory,
    are created as late as possible, and have a condition if they may remain unused. Does not: change kernels that are
    not persistent, or kernels for targets without `tensormap.replace`. Example:
    test/Transforms/Tile/device-descriptors.mlir.
  }];
}

def TileFormClusters : KernelPass<"tile-form-clusters", "program", "Optimisation"> {
  let summary = "let the CTAs of a cluster run neighbouring programs";
  let description = [{
    Requires: phase tile, after tile-distribute-programs. Ensures: phase tile; if the kernel requests a `cluster` of
    several programs, its `work` has that cluster, `cluster_ctas` is set, and programs outside the grid only load
    blocks; otherwise a remark says why there are no clusters. Does not: share anything. Example:
    test/Transforms/Tile/form-clusters.mlir.
  }];
}

def CtaLowerDescriptors : KernelPass<"cta-lower-descriptors", "lowering", "Correctness"> {
  let summary = "lower descriptor accesses to TMA copies";
  let description = [{
    Requires: phase layout; descriptors are kernel arguments with a tensor map, or have a `place` for one. Ensures: no
    desc_load or desc_store is left; each read is awaited immediately; tensor maps have a box and a swizzle. Example:
    test/Transforms/Cta/lower-descriptors.mlir.
  }];
}

def CtaSpecializeWarps : KernelPass<"cta-specialize-warps", "ringed", "Optimisation"> {
  let summary = "move TMA loads into a producer warp that runs ahead of the consumers";
  let description = [{
    Requires: phase scheduled, or programs in it. Ensures: a producer executes TMA reads up to num_stages slots ahead,
    if it can compute by itself where to read. Blocks that the program also writes are read by the consumers themselves,
    outside of the deepest loops. Roles pass blocks through rings and iterate over the same programs. Scalars that both
    roles need are computed once. Example: test/Transforms/Cta/specialize-warps.mlir.
  }];
}

def CtaScheduleLoop : KernelPass<"cta-schedule-loop", "ringed", "Optimisation"> {
  let summary = "overlap the MMAs of a loop with each other and with the computation between them";
  let description = [{
    Requires: phase scheduled, or rings in it. Ensures: a loop whose MMAs only accumulate into their own results awaits
    them, and releases their slots, after the MMAs of the next iteration are issued. In other loops, MMAs that use no
    other MMA's result are issued one iteration ahead if registers and rings allow it, and all MMAs are awaited where
    their results are needed. In kernels without TMA copies, MMAs are also awaited where their results are needed,
    unless threads lack registers for all MMAs that would then be in flight. In a loop of several MMAs with computation
    after them, in a role of several warp groups, each group waits for its turn before the MMAs of an iteration, and
    passes the turn on when its MMAs are issued. A remark says what was done, and how much of each resource an iteration
    uses. Does not: copy, select or predicate an accumulator in flight. Example: test/Transforms/Cta/schedule-loop.mlir.
  }];
}

def CtaPingPong : KernelPass<"cta-ping-pong", "ringed", "Optimisation"> {
  let summary = "let two consumer warp groups alternate between tiles";
  let description = [{
    Requires: phase scheduled, or rings in it; warp roles. Ensures: in a persistent kernel that requests it with
    `ping_pong`, and whose programs all take the same number of slots of one ring, two teams of consumer warps each
    compute every other program, such that the main loop of one overlaps the epilogue of the other. The consumer's
    `#cta.role` has two `teams`. A remark says why a kernel that requests teams has none. Example:
    test/Transforms/Cta/ping-pong.mlir.
  }];
}

def CtaShareSteps : KernelPass<"cta-share-steps", "async", "Optimisation"> {
  let summary = "decide which CTAs split the K steps of a program";
  let description = [{
    Requires: phase async. Ensures: if a kernel requests a `cluster` along k, and its programs accumulate dots over one
    loop, `work` says that the CTAs of a cluster split the steps, `cluster_ctas` is set, the loop executes every
    `split_k`-th step, and a `cta.combine` follows; the body of a kernel that is not persistent also becomes a
    `tile.programs`. A remark says why a kernel that requests this is not split. In other persistent kernels whose
    programs accumulate over one loop with the same number of K steps, `work` has the cost of splitting the last wave,
    the loop runs from a first to a last step, and a `cta.combine` follows for the accumulator and each other sum that
    the loop carries. Does not: decide whether splitting pays off; the kernel does. Example:
    test/Transforms/Cta/share-steps.mlir.
  }];
  let options = [Option<"clusters", "clusters", "bool", "true", "split K over the CTAs of a cluster">,
                 Option<"tail", "tail", "bool", "true", "stream-K: split the last wave over idle CTAs">];
}

def CtaLowerCombines : KernelPass<"cta-lower-combines", "async", "Correctness"> {
  let summary = "reduce partial accumulators of CTAs that split K";
  let description = [{
    Requires: phase async. Ensures: no `cta.combine` is left; partial accumulators pass through distributed shared
    memory or through scratch memory (an additional argument), and one CTA executes the remainder of the program. No
    result depends on the order in which CTAs run. The program of a kernel that is not persistent becomes its body
    again. Example: test/Transforms/Cta/lower-combines.mlir.
  }];
}

def CtaLowerPrograms : KernelPass<"cta-lower-programs", "ringed", "Correctness"> {
  let summary = "lower the programs of a CTA to loops";
  let description = [{
    Requires: phase scheduled, or rings and programs in it. Ensures: no `tile.programs` is left; in each warp role a
    loop runs over the programs of a CTA: in a cluster, the programs of its rank; with teams, every other program for
    each team; with a shared tail, whole programs and parts of split ones. Example:
    test/Transforms/Cta/lower-programs.mlir.
  }];
}

def CtaMulticast : KernelPass<"cta-multicast", "ringed", "Optimisation"> {
  let summary = "load data that all CTAs of a cluster need only once, by TMA multicast";
  let description = [{
    Requires: phase scheduled, or rings in it; warp roles. Ensures: if the producers of all CTAs of a cluster read a
    block at the same coordinates, each producer reads a part of it for all CTAs. Does not: change loops that depend on
    the rank. Example: test/Transforms/Cta/multicast.mlir.
  }];
}

def CtaLowerRings : KernelPass<"cta-lower-rings", "ringed", "Correctness", "scheduled"> {
  let summary = "lower rings to buffers, mbarriers and counters";
  let description = [{
    Requires: phase scheduled, or rings in it. Ensures: no rings and no turns of teams are left; each role carries the
    slot and the parity for which it waits through its loops and branches. Example:
    test/Transforms/Cta/lower-rings.mlir.
  }];
}

def CtaInsertWaits : KernelPass<"cta-insert-waits", "ringed", "Correctness"> {
  let summary = "insert waits for wgmmas and TMA stores where they must be complete";
  let description = [{
    Requires: phase scheduled, or rings and programs in it; the order of MMAs and accesses is final. Ensures: before
    `cta.await` and `cta.ring_release` there is a `cta.wgmma_wait`, whose `pending` is the number of wgmmas that, on
    every path, have been issued after the wgmmas whose tokens the operation has. A copy to global memory is complete
    before an access to the same tensor, a barrier of the program or an ordering atomic operation. No wait is inserted
    where wgmmas and copies are complete anyway. Example: test/Transforms/Cta/insert-waits.mlir.
  }];
}

def CtaInvertDivisors : KernelPass<"cta-invert-divisors", "scheduled", "Optimisation"> {
  let summary = "replace divisions by a loop invariant with multiplications by a reciprocal";
  let description = [{
    Requires: phase scheduled. Ensures: in loops, 32-bit divisions of non-negative integers by values that depend only
    on arguments are multiplications by a reciprocal that is computed once, at the kernel's entry; divisions by the
    minimum of a value and a constant divide by the constant where possible; `tile.swizzle2d` is arithmetic. Example:
    test/Transforms/Cta/invert-divisors.mlir.
  }];
}

def CtaOverlapGrids : KernelPass<"cta-overlap-grids", "scheduled", "Optimisation"> {
  let summary = "let a grid start before the previous one has ended (programmatic dependent launch)";
  let description = [{
    Requires: phase scheduled. Ensures: a kernel with warp roles may be launched before the previous grid has ended.
    Does not: request such launches. Example: test/Transforms/Cta/overlap-grids.mlir.
  }];
}

#endif
