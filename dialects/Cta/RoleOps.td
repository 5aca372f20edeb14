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
    `warps` warps execute the role's code together; the tensors in it have layouts for that many warps. With `teams`,
    there are `teams` teams of `warps` warps each. Every team executes the code, with separate tensors and barriers.
    With `one_thread`, only one thread of the first warp executes the code, which must not have tensors; the other
    threads exit immediately. `registers` is the number of registers of each thread of the role (PTX ISA, `setmaxnreg`:
    multiples of 8 from 24 to 256). The name serves only to make the IR readable; no decision depends on it.

    Example: `#cta.role<consumer, warps = 4, teams = 2, registers = 232>`, `#cta.role<producer, warps = 1, one_thread>`
  }];
  let parameters = (ins StringRefParameter<"for readers">:$name, "unsigned":$warps, "unsigned":$teams,
                        "unsigned":$registers, "bool":$oneThread);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the number of warps of the CTA in this role, summed over all teams.
    unsigned countWarps() const { return getWarps() * getTeams(); }
    /// Returns the number of arrivals at an mbarrier if the threads that execute the code together arrive once per
    /// warp.
    unsigned countArrivals() const { return getOneThread() ? 1 : getWarps(); }
  }];
}
def Cta_RolesAttr : TypedArrayAttrBase<Cta_RoleAttr, "warp roles">;

def Cta_WarpRolesOp : Cta_Op<"warp_roles", [
    SingleBlock, NoTerminator, MemoryEffects<[MemRead<Cta_SharedMemory>, MemWrite<Cta_SharedMemory>]>]> {
  let summary = "warps of a CTA that run different code at the same time";
  let description = [{
    There may be any number of roles; each consists of a region and a `#cta.role`. The warps of the roles are
    consecutive, in the order of the roles, and comprise all warps of the CTA. All threads synchronize once before the
    roles, after which the barriers of all `cta.mbarrier_alloc` are initialized. Inside, roles synchronize only through
    rings and mbarriers; a `cta.barrier` synchronizes only the warps of its role. Buffers, mbarriers and rings from
    outside are shared by all roles.

    Either all roles or none specify register counts. If they do, roles must consist of whole warp groups, and all roles
    together must not need more registers than the CTA has at its start. The first warp of a role of several threads
    must be a multiple of its number of warps, so that layouts do not depend on the first warp.

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
  // The syntax is not declarative: if a declarative parser failed after the first region, values inside that region
  // would still have uses outside it.
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::tile::cta::Role> getAll();
    unsigned countWarps();
    /// Returns the number of registers of a thread before the roles set their own numbers: the most that a CTA can have
    /// if a multiprocessor runs as many CTAs as the roles' numbers permit. Returns nullopt if the roles set no numbers.
    ::std::optional<unsigned> getRegistersAtStart();
    /// Returns how many CTAs fit on a multiprocessor with the register counts of the roles; 0 if the roles set none.
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
    The role's `groups` warp groups take turns in round-robin order. Each of them executes this operation once, before
    any `cta.turn_begin`. With `teams`, the role's two teams take turns instead; `cta-lower-rings` lowers such
    operations.

    Example: `cta.turn_open of 2`, `cta.turn_open of 2 teams`
  }];
}

def Cta_TurnBeginOp : Cta_TurnOp<"turn_begin"> {
  let summary = "wait for this warp group's turn";
  let description = [{
    Waits until the preceding warp group has ended its corresponding turn; the turn of the first warp group corresponds
    to the previous turn of the last warp group. Turns only determine when warp groups proceed; they do not order memory
    accesses.

    Example: `cta.turn_begin of 2`
  }];
}

def Cta_TurnEndOp : Cta_TurnOp<"turn_end"> {
  let summary = "pass the turn to the next warp group";
  let description = [{
    Does not wait. Each warp group must end its turn before it begins another turn.

    Example: `cta.turn_end of 2`
  }];
}

def Cta_TeamOp : Cta_Op<"team", [Pure]> {
  let summary = "index of the team (of ping-pong consumers) to which a thread belongs";
  let description = [{
    From 0 to the role's `teams` - 1. This is the only value that differs between teams without being loaded from
    memory.

    Example: `%t = cta.team`
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

#endif
