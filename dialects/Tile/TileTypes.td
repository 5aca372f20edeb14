// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types of the tile dialect: global-memory pointers and tensor descriptors.
#ifndef TILE_TYPES_TD
#define TILE_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "Tile/TileDialect.td"

class Tile_Type<string name, string typeMnemonic> : TypeDef<TileDialect, name> {
  let mnemonic = typeMnemonic;
}

def Tile_PtrType : Tile_Type<"Ptr", "ptr"> {
  let summary = "address of an element in global memory";
  let description = [{
    A 64-bit global-memory address of elements of type `pointee`. `tensor<NxMx!tile.ptr<f16>>` holds one address per
    element. `i1` elements occupy one byte.

    Example: `!tile.ptr<f16>`.
  }];
  let parameters = (ins "::mlir::Type":$pointee);
  let assemblyFormat = "`<` $pointee `>`";
  let genVerifyDecl = 1;
}

def Tile_DescType : Tile_Type<"Desc", "desc"> {
  let summary = "descriptor of a strided global tensor, accessed in blocks";
  let description = [{
    A global tensor (base, shape, strides) together with the static shape of the block that one access moves. Accesses
    are clipped to the tensor's shape: reads outside give zero, or NaN with `nan`; writes outside are dropped.

    Example: `!tile.desc<64x32xf16>`, `!tile.desc<64x32xf16, nan>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t", "block shape">:$shape, "::mlir::Type":$elementType,
                        DefaultValuedParameter<"bool", "false">:$padsNan);
  let builders = [TypeBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType), [{
    return $_get($_ctxt, shape, elementType, false);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

// Type constraints.
def Tile_BlockShape : CPred<"::tile::isBlockShape(::llvm::cast<::mlir::RankedTensorType>($_self).getShape())">;
class Tile_TensorOf<list<Type> elements> : RankedTensorOf<elements, [Tile_BlockShape], "tensor of known sizes">;
def Tile_Float : AnyTypeOf<[F8E4M3FN, F8E5M2, F16, BF16, F32, F64], "floating point">;
def Tile_Int : AnyTypeOf<[I1, I8, I16, I32, I64], "integer">;
def Tile_Number : AnyTypeOf<[Tile_Float, Tile_Int], "number">;
def Tile_Element : AnyTypeOf<[Tile_Number, Tile_PtrType], "number or pointer">;
def Tile_Tensor : Tile_TensorOf<[Tile_Element]>;
def Tile_NumberTensor : Tile_TensorOf<[Tile_Number]>;
def Tile_Value : AnyTypeOf<[Tile_Element, Tile_Tensor], "scalar or tensor">;
def Tile_NumberValue : AnyTypeOf<[Tile_Number, Tile_NumberTensor], "number or tensor of numbers">;
def Tile_IntValue : AnyTypeOf<[Tile_Int, Tile_TensorOf<[Tile_Int]>], "integer or tensor of integers">;
def Tile_PtrValue : AnyTypeOf<[Tile_PtrType, Tile_TensorOf<[Tile_PtrType]>], "pointer or tensor of pointers">;
def Tile_PtrTensor : Tile_TensorOf<[Tile_PtrType]>;
def Tile_MaskTensor : Tile_TensorOf<[I1]>;
def Tile_AddressValue : AnyTypeOf<[I64, Tile_PtrType, Tile_TensorOf<[I64, Tile_PtrType]>], "i64 or pointer, or tensor">;
def Tile_MaskValue : AnyTypeOf<[I1, Tile_TensorOf<[I1]>], "i1 or tensor of i1">;

#endif
