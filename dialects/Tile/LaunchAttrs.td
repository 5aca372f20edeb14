// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch needs to know: how tensor maps are made, and what the directives of the source say. Sizes and strides are
// expressions over the kernel's parameters, in the language of the manifest (lib/Runtime/Expression.h); they stay text.
#ifndef TILE_LAUNCH_ATTRS_TD
#define TILE_LAUNCH_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "Tile/TileAttrs.td"

// A list in brackets; none where it is empty.
class Tile_List<string element> : OptionalArrayRefParameter<element> {
  let parser = "::tile::parseList<" # element # ">($_parser)";
  let printer = "::tile::printList<" # element # ">($_printer, $_self)";
}
def Tile_Texts : Tile_List<"::mlir::StringAttr">;

def Tile_TensorMapAttr : AttrDef<TileDialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let summary = "how the launcher makes a tensor map";
  let description = [{
    Of the tensor that begins at the parameter `base`: `shape` in elements, outermost dimension first; `strides` in elements,
    of all dimensions but the last, whose stride is 1. `box` is what one access moves, in elements, and `swizzle` how its
    rows lie in shared memory, in bytes (0: as they are); accesses decide both (`cta-lower-descriptors`), and a cluster may
    divide the box (`cta-multicast`). `l2_promotion`: bytes that L2 reads from memory at a time. `element` is the type of an
    element where `base` does not say it, as in a kernel that was lowered by others.

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

// The roles of directives.
def Tile_BufferRole : Tile_Enum<"BufferRole", "what is in a buffer before a run that checks the kernel, or after it", [
  I32EnumAttrCase<"random", 0>, I32EnumAttrCase<"output", 1>, I32EnumAttrCase<"inout", 2>, I32EnumAttrCase<"zeros", 3>]>;

def Tile_BufferAttr : AttrDef<TileDialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "the array behind a pointer parameter";
  let description = [{
    `shape` and `strides` in elements; without strides it is row-major and contiguous. `role`: `random` and `zeros` are
    read, `output` is written, `inout` both.

    Example: `#tile.buffer<parameter = "a", shape = ["M", "K"], strides = ["lda", "1"], role = random>`
  }];
  let parameters = (ins "::mlir::StringAttr":$parameter, Tile_Texts:$shape, Tile_Texts:$strides,
                        EnumParameter<Tile_BufferRole>:$role);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tile_DefaultAttr : AttrDef<TileDialect, "Default"> {
  let mnemonic = "default";
  let summary = "the value of a parameter that nobody gives";
  let description = [{
    An expression over the other parameters.

    Example: `#tile.default<parameter = "lda", value = "K">`
  }];
  let parameters = (ins "::mlir::StringAttr":$parameter, "::mlir::StringAttr":$value);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Tile_ExpectAttr : AttrDef<TileDialect, "Expect"> {
  let mnemonic = "expect";
  let summary = "what a buffer holds after the kernel has run";
  let description = [{
    `expression` is one over buffers (lib/Runner/Check/TensorExpr.h); `tolerance` bounds the norm of the difference, relative to
    that of the expected values. 0 asks for the same bits.

    Example: `#tile.expect<buffer = "c", expression = "a @ b", tolerance = 1.0e-3>`
  }];
  let parameters = (ins "::mlir::StringAttr":$buffer, "::mlir::StringAttr":$expression, "::mlir::FloatAttr":$tolerance);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tile_LaunchAttr : AttrDef<TileDialect, "Launch"> {
  let mnemonic = "launch";
  let summary = "what the directives of a kernel say about its launches, for the manifest";
  let description = [{
    `grid`: how many programs there are along each axis; without it the caller says so. A launch is refused unless all
    `requirements` hold of its arguments. The others are for those that run the kernel to check or measure it.

    Example:
    `#tile.launch<grid = ["cdiv(n, BLOCK)"], buffers = [<parameter = "x", shape = ["n"], role = random>]>`
  }];
  let parameters = (ins Tile_Texts:$grid, Tile_Texts:$requirements, Tile_List<"::tile::BufferAttr">:$buffers,
                        Tile_List<"::tile::DefaultAttr">:$defaults, Tile_List<"::tile::ExpectAttr">:$expect);
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Of the parameter; null if there is none.
    BufferAttr findBuffer(::llvm::StringRef parameter) const;
    DefaultAttr findDefault(::llvm::StringRef parameter) const;
  }];
}

#endif
