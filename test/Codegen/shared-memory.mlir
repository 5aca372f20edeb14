// Dynamic shared memory is an external array without a size; its size is in the manifest and has a limit.
// RUN: tilec %s --kernel=fits --emit=ptx | FileCheck %s
// RUN: tilec %s --kernel=fits --emit=manifest | FileCheck %s --check-prefix=MANIFEST
// RUN: not tilec %s --kernel=fits --target=sm_80 --emit=ptx 2>&1 | FileCheck %s --check-prefix=LIMIT
// RUN: not tilec %s --kernel=unlaunchable --emit=ptx 2>&1 | FileCheck %s --check-prefix=THREADS

// CHECK: .extern .shared .align 1024 .b8 tile_shared[]
// MANIFEST: "threads_per_cta": 256
// MANIFEST: "shared_dynamic": 200000
// LIMIT: tilec: error: kernel 'fits' needs 200000 bytes of shared memory, but sm_80 has 166912 per block
// THREADS: tilec: error: kernel 'unlaunchable' does not say how many threads run it (nvvm.reqntid)
module {
  llvm.mlir.global external @tile_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @fits(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256>, tile.shared_bytes = 200000 : i64} {
    %base = llvm.mlir.addressof @tile_shared : !llvm.ptr<3>
    %v = llvm.load volatile %base : !llvm.ptr<3> -> f32
    llvm.store %v, %x : f32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @unlaunchable() attributes {nvvm.kernel} {
    llvm.return
  }
}
