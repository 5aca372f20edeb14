// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Warp roles: parts of a CTA that run different code at the same time.
#ifndef CTA_ROLE_OPS_TD
#define CTA_ROLE_OPS_TD

include "mlir/IR/AttrTypeBase.td"
include "Cta/CtaOpBase.td"

def Cta_RoleAttr : AttrDef<CtaDialect, "Role"> {
  let mnemonic = "role";
  let summary = "the warps of a role";
  let description = [{
    `warps` warps execute the role's code together; tensors in it have layouts for them. With `teams`, so many times
    `warps` warps execute it, each team by itself, with tensors and barriers of its own. With `one_thread`, one thread of
    the first warp executes the code, which has no tensors; the other threads are done at once. `registers` is what each
    thread of the role gets (PTX ISA, `setmaxnreg`: multiples of 8 from 24 to 256). The name is for readers: nothing is
    decided by it.

    Example: `#cta.role<consumer, warps = 4, teams = 2, registers = 232>`, `#cta.role<producer, warps = 1, one_thread>`
  }];
  let parameters = (ins StringRefParameter<"for readers">:$name, "unsigned":$warps, "unsigned":$teams,
                        "unsigned":$registers, "bool":$oneThread);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Of the CTA, those of all teams.
    unsigned countWarps() const { return getWarps() * getTeams(); }
    /// Arrivals at an mbarrier, when all who execute the code together arrive.
    unsigned countArrivals() const { return getOneThread() ? 1 : getWarps(); }
  }];
}
def Cta_RolesAttr : TypedArrayAttrBase<Cta_RoleAttr, "warp roles">;

def Cta_WarpRolesOp : Cta_Op<"warp_roles", [
    SingleBlock, NoTerminator, MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let summary = "warps of a CTA that run different code at the same time";
  let description = [{
    Any number of roles, each a region and a `#cta.role`. Their warps follow each other in the order of the roles, and
    are all that the CTA has. All threads meet before, when the barriers of all `cta.mbarrier_alloc` are ready. Inside,
    the roles meet only at rings and mbarriers, and a `cta.barrier` is for the warps of its role alone. Buffers,
    mbarriers and rings from outside are common to all.

    Either all roles have numbers of registers or none has. They are then whole warp groups, and take no more registers
    than the CTA starts with. A role of several threads begins at a multiple of its warps, so that layouts need not know
    where.

    Example:
    ```mlir
    cta.warp_roles role <consumer, warps = 8, registers = 240> {
      %s = cta.ring_wait %ring : !ring
      cta.ring_release %ring[%s] : !ring
    } role <producer, warps = 4, registers = 24, one_thread> {
      %s = cta.ring_acquire %ring : !ring
      cta.ring_commit %ring[%s] : !ring
    }
    ```
  }];
  let arguments = (ins Cta_RolesAttr:$roles);
  let regions = (region VariadicRegion<SizedRegion<1>>:$bodies);
  // Not declared: where such a parser fails after the first region, what is outside keeps using values inside.
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::tile::cta::Role> getAll();
    unsigned countWarps();
    /// Of a thread, before the roles set their own: as many as a CTA has if a multiprocessor runs as many CTAs as the
    /// roles leave registers for. None if they set none.
    ::std::optional<unsigned> getRegistersAtStart();
    /// CTAs for which a multiprocessor has the registers of all roles; 0 if they set none.
    unsigned countResidentCtas();
  }];
}

class Cta_TurnOp<string opMnemonic> : Cta_Op<opMnemonic, [
    MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let arguments = (ins I32Attr:$groups, UnitAttr:$teams);
  let assemblyFormat = "`of` $groups (`teams` $teams^)? attr-dict";
  let hasVerifier = 1;
}

def Cta_TurnOpenOp : Cta_TurnOp<"turn_open"> {
  let summary = "give the first turn to the first warp group";
  let description = [{
    The role's `groups` warp groups take turns, one after the other in a circle. Each executes this operation
    once, before all `cta.turn_begin`. With `teams`, it is the role's teams that take turns: of 2, and lowered by
    `cta-lower-rings`.

    Example: `cta.turn_open of 2`, `cta.turn_open of 2 teams`
  }];
}

def Cta_TurnBeginOp : Cta_TurnOp<"turn_begin"> {
  let summary = "wait for this warp group's turn";
  let description = [{
    Until the warp group before it has ended as many turns as this one has, and for the first warp group one less. A
    turn orders only when warp groups go on, and says nothing about memory.

    Example: `cta.turn_begin of 2`
  }];
}

def Cta_TurnEndOp : Cta_TurnOp<"turn_end"> {
  let summary = "hand the turn over to the next warp group";
  let description = [{
    Does not wait. Each warp group ends its turn before it begins another one.

    Example: `cta.turn_end of 2`
  }];
}

def Cta_TeamOp : Cta_Op<"team", [Pure]> {
  let summary = "number of the team (of ping-pong consumers) that a thread belongs to";
  let description = [{
    From 0 to the role's `teams` - 1. The only value that differs between teams and does not come from memory.

    Example: `%t = cta.team`
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

#endif
