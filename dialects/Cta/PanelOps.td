// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that pass through shared memory in panels. cta-allocate-shared creates these operations and
// convert-cta-to-nvvm lowers them. As no other pass handles them, they have a separate header.
#ifndef CTA_PANEL_OPS_TD
#define CTA_PANEL_OPS_TD

include "Cta/CtaOpBase.td"

def Cta_PanelStoreOp : Cta_Op<"panel_store", []> {
  let summary = "store a panel of a tensor to shared memory";
  let description = [{
    `layout` is the layout of a buffer for the whole tensor. Its offsets are divided into panels, each with as many
    elements as `buffer` has. Each thread writes its elements that belong to panel `panel`, each at its offset within
    the panel. So a tensor that does not fit into shared memory can pass through it, one panel after another.

    Example:
    ```mlir
    cta.panel_store %x, %b {layout = #s, panel = 1 : i32} : tensor<64x32xf16, #x>, !cta.buffer<1024xf16, #p>
    ```
  }];
  let arguments = (ins Tile_Tensor:$value, Arg<Cta_BufferType, "panel", [MemWrite<Cta_SharedMemory>]>:$buffer,
                       Cta_LayoutAttr:$layout, I32Attr:$panel);
  let assemblyFormat = "$value `,` $buffer attr-dict `:` type($value) `,` type($buffer)";
  let hasVerifier = 1;
}

def Cta_PanelLoadOp : Cta_Op<"panel_load", []> {
  let summary = "load a panel of a tensor from shared memory";
  let description = [{
    Each thread reads the elements of panel `panel` that the result's layout assigns to it (see `cta.panel_store`). The
    other elements are taken from `others`; without `others` they are undefined.

    Example:
    ```mlir
    %y = cta.panel_load %b or %x : tensor<64x32xf16, #y> {layout = #s, panel = 1 : i32}
      : !cta.buffer<1024xf16, #p> -> tensor<64x32xf16, #y>
    ```
  }];
  let arguments = (ins Arg<Cta_BufferType, "panel", [MemRead<Cta_SharedMemory>]>:$buffer, Optional<Tile_Tensor>:$others,
                       Cta_LayoutAttr:$layout, I32Attr:$panel);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$buffer (`or` $others^ `:` type($others))? attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}

def Cta_PanelGatherOp : Cta_Op<"panel_gather", []> {
  let summary = "gather the elements along an axis that lie in a panel";
  let description = [{
    Like `cta.local_gather`, but from the elements of panel `panel` of a row-major tensor of `shape` (see
    `cta.panel_store`). Elements in other panels are taken from `others`; without `others` they are undefined.

    Example:
    ```mlir
    %y = cta.panel_gather %b[%i] {axis = 0 : i32, shape = array<i64: 64>, panel = 0 : i32}
      : !cta.buffer<32xf32, #s>, tensor<16xi32, #x> -> tensor<16xf32, #x>
    ```
  }];
  let arguments = (ins Arg<Cta_BufferType, "panel", [MemRead<Cta_SharedMemory>]>:$buffer, Tile_TensorOf<[I32]>:$indices,
                       Optional<Tile_Tensor>:$others, I32Attr:$axis, DenseI64ArrayAttr:$shape, I32Attr:$panel);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $buffer `[` $indices `]` (`or` $others^ `:` type($others))? attr-dict
    `:` type($buffer) `,` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif
