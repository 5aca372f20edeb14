// Functions of libdevice ask which GPU they are compiled for.
// RUN: tilec %s --target=sm_90a --emit=ptx | FileCheck %s --check-prefix=SM90
// RUN: tilec %s --target=sm_80 --emit=ptx | FileCheck %s --check-prefix=SM80
// SM90: st.global.b32 {{.*}}, 900;
// SM80: st.global.b32 {{.*}}, 800;
module {
  llvm.mlir.global internal constant @name("__CUDA_ARCH\00")
  llvm.func @__nvvm_reflect(!llvm.ptr) -> i32
  llvm.func @arch(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
    %name = llvm.mlir.addressof @name : !llvm.ptr
    %arch = llvm.call @__nvvm_reflect(%name) : (!llvm.ptr) -> i32
    llvm.store %arch, %x : i32, !llvm.ptr<1>
    llvm.return
  }
}
