// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attributes about launches: how tensor maps are encoded, and the directives of the source. Sizes and strides are
// expressions over the kernel's parameters in the language of the manifest (lib/Runtime/Expression.h); they are kept as
// strings.
#ifndef TILE_LAUNCH_ATTRS_TD
#define TILE_LAUNCH_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "Tile/TileAttrs.td"

// A bracketed list, omitted if empty.
class Tile_List<string element> : OptionalArrayRefParameter<element> {
  let parser = "::tile::parseList<" # element # ">($_parser)";
  let printer = "::tile::printList<" # element # ">($_printer, $_self)";
}
def Tile_Texts : Tile_List<"::mlir::StringAttr">;

def Tile_TensorMapAttr : AttrDef<TileDialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let summary = "how the launcher encodes a tensor map";
  let description = [{
    Describes the tensor that begins at the parameter `base`: `shape` is in elements, outermost dimension first;
    `strides` is in elements, for all dimensions but the last, whose stride is 1. `box` is the extent of one access in
    elements, and `swizzle` is the swizzle width of the box's rows in shared memory, in bytes (0: none). The accesses
    determine `box` and `swizzle` (`cta-lower-descriptors`), and a cluster may divide the box (`cta-multicast`).
    `l2_promotion` is the number of bytes that L2 fetches from memory at a time. `element` is the element type if `base`
    does not imply it, as in a kernel that was lowered by another compiler.

    Example:
    `#tile.tensor_map<base = "a", shape = ["M", "K"], strides = ["lda"], box = [128, 64], swizzle = 128>`
  }];
  let parameters = (ins "::mlir::StringAttr":$base, Tile_Texts:$shape, Tile_Texts:$strides, Tile_List<"int64_t">:$box,
                        DefaultValuedParameter<"int64_t", "0">:$swizzle,
                        DefaultValuedParameter<"int64_t", "128">:$l2_promotion,
                        OptionalParameter<"::mlir::Type">:$element);
  let builders = [AttrBuilder<(ins "::mlir::StringAttr":$base, "::llvm::ArrayRef<::mlir::StringAttr>":$shape,
                                   "::llvm::ArrayRef<::mlir::StringAttr>":$strides), [{
    return $_get($_ctxt, base, shape, strides, ::llvm::ArrayRef<int64_t>(), /*swizzle=*/0, /*l2_promotion=*/128,
                 ::mlir::Type());
  }]>];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    TensorMapAttr withBox(::llvm::ArrayRef<int64_t> box, int64_t swizzle) const;
    TensorMapAttr withL2Promotion(int64_t bytes) const;
  }];
}

// The role of a buffer in runs that check the kernel, as directives state it.
def Tile_BufferRole : Tile_Enum<"BufferRole", "contents of a buffer before or after a run that checks the kernel", [
  I32EnumAttrCase<"random", 0>, I32EnumAttrCase<"output", 1>, I32EnumAttrCase<"inout", 2>,
  I32EnumAttrCase<"zeros", 3>]>;

def Tile_BufferAttr : AttrDef<TileDialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "the array that a pointer parameter points to";
  let description = [{
    `shape` and `strides` are in elements; without strides the array is row-major and contiguous. `role`: the kernel
    reads a buffer that is `random` or `zeros`, writes an `output`, and reads and writes an `inout`.

    Example: `#tile.buffer<parameter = "a", shape = ["M", "K"], strides = ["lda", "1"], role = random>`
  }];
  let parameters = (ins "::mlir::StringAttr":$parameter, Tile_Texts:$shape, Tile_Texts:$strides,
                        EnumParameter<Tile_BufferRole>:$role);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tile_DefaultAttr : AttrDef<TileDialect, "Default"> {
  let mnemonic = "default";
  let summary = "the default value of a parameter";
  let description = [{
    `value` is an expression over the other parameters.

    Example: `#tile.default<parameter = "lda", value = "K">`
  }];
  let parameters = (ins "::mlir::StringAttr":$parameter, "::mlir::StringAttr":$value);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Tile_ExpectAttr : AttrDef<TileDialect, "Expect"> {
  let mnemonic = "expect";
  let summary = "expected contents of a buffer after the kernel has run";
  let description = [{
    `expression` computes the expected contents from the contents of buffers (lib/Runner/Check/TensorExpr.h).
    `tolerance` limits the norm of the difference, relative to the norm of the expected values; 0 requires bitwise
    equality.

    Example: `#tile.expect<buffer = "c", expression = "a @ b", tolerance = 1.0e-3>`
  }];
  let parameters = (ins "::mlir::StringAttr":$buffer, "::mlir::StringAttr":$expression, "::mlir::FloatAttr":$tolerance);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tile_LaunchAttr : AttrDef<TileDialect, "Launch"> {
  let mnemonic = "launch";
  let summary = "directives of a kernel about its launches, for the manifest";
  let description = [{
    `grid` is the number of programs along each axis; without it, the caller must specify the grid. A launch is rejected
    unless its arguments satisfy all `requirements`. The other parameters serve runs that check or measure the kernel.

    Example:
    `#tile.launch<grid = ["cdiv(n, BLOCK)"], buffers = [<parameter = "x", shape = ["n"], role = random>]>`
  }];
  let parameters = (ins Tile_Texts:$grid, Tile_Texts:$requirements, Tile_List<"::tile::BufferAttr">:$buffers,
                        Tile_List<"::tile::DefaultAttr">:$defaults, Tile_List<"::tile::ExpectAttr">:$expect);
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the directive for the parameter; null if there is none.
    BufferAttr findBuffer(::llvm::StringRef parameter) const;
    DefaultAttr findDefault(::llvm::StringRef parameter) const;
  }];
}

#endif
