// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Base classes and traits of all cta operations.
#ifndef CTA_OP_BASE_TD
#define CTA_OP_BASE_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "Tile/TileOpBase.td"
include "Cta/CtaTypes.td"

// Every operation declares how it accesses each buffer operand.
def Cta_DeclaresAccesses : NativeOpTrait<"DeclaresAccesses"> {
  let cppNamespace = "::tile::cta";
}
class Cta_Op<string opMnemonic, list<Trait> traits = []>
    : Op<CtaDialect, opMnemonic, !listconcat(traits, [Cta_DeclaresAccesses])>;

// Where the bytes of a copy are counted: in a slot of a ring or, after cta-lower-rings, at one of several mbarriers,
// which an index selects.
def Cta_RingOrMbarrier : AnyTypeOf<[Cta_RingType, Cta_MbarrierType]>;
def Cta_SlotOrIndex : AnyTypeOf<[Cta_RingSlotType, I32]>;
def Cta_CountsInSlot : TypesMatchWith<"slot is a slot of the ring or the index of a barrier", "barrier", "slot",
                                      "::tile::cta::getSlotType($_self)">;

// Shared memory as a side-effect resource. Barriers write to it, so no access moves across a barrier. The resource of a
// buffer access says what orders the access with respect to accesses by other threads
// (lib/Analysis/SharedMemory/Hazards.h).

// Accesses that a barrier orders.
def Cta_SharedMemory : Resource<"::tile::cta::SharedMemory">;
// Accesses by an asynchronous copy, which continues after the operation: a wait for the copy and then a barrier order
// these accesses.
def Cta_CopiedMemory : Resource<"::tile::cta::CopiedMemory">;
// Accesses that are ordered by an mbarrier, or by the operation itself.
def Cta_SignalledMemory : Resource<"::tile::cta::SignalledMemory">;

// Tensor memory as a side-effect resource.
def Cta_TensorMemory : Resource<"::tile::cta::TensorMemory">;

#endif
