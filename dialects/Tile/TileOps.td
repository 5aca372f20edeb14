// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All operation families of the dialect, for one run of mlir-tblgen.
include "Tile/ProgramOps.td"
include "Tile/CreateOps.td"
include "Tile/ShapeOps.td"
include "Tile/MemoryOps.td"
include "Tile/ReduceOps.td"
include "Tile/DotOps.td"
include "Tile/AtomicOps.td"
include "Tile/ExternOps.td"
include "Tile/ElementOps.td"
