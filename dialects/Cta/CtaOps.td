// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All operation families of the dialect, for one run of mlir-tblgen.
include "Cta/TargetAttr.td"
include "Cta/EngineAttrs.td"
include "Cta/LayoutOps.td"
include "Cta/BufferOps.td"
include "Cta/CopyOps.td"
include "Cta/MmaOps.td"
include "Cta/BarrierOps.td"
include "Cta/RingOps.td"
include "Cta/TmaOps.td"
include "Cta/RoleOps.td"
include "Cta/GridOps.td"
include "Cta/ClusterOps.td"
