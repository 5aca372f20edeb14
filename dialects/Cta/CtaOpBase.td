// What every cta operation shares.
#ifndef CTA_OP_BASE_TD
#define CTA_OP_BASE_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "Tile/TileOpBase.td"
include "Cta/CtaTypes.td"

class Cta_Op<string opMnemonic, list<Trait> traits = []> : Op<CtaDialect, opMnemonic, traits>;

// Shared memory as a side-effect resource; barriers write it, so that no access moves across one.
def Cta_SharedMemory : Resource<"::tile::cta::SharedMemory">;

#endif
