// Enumerations that qualify memory accesses and dots.
#ifndef TILE_ATTRS_TD
#define TILE_ATTRS_TD

include "mlir/IR/EnumAttr.td"
include "Tile/TileDialect.td"

class Tile_Enum<string name, string text, list<I32EnumAttrCase> cases> : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::tile";
  let genSpecializedAttr = 0;
}
class Tile_EnumAttr<Tile_Enum enum, string attrMnemonic> : EnumAttr<TileDialect, enum, attrMnemonic>;

// PTX ISA, "Cache Operators": which caches an access may use.
def Tile_CacheModifier : Tile_Enum<"CacheModifier", "cache operator of a load or store", [
  I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"ca", 1>, I32EnumAttrCase<"cg", 2>, I32EnumAttrCase<"cs", 3>,
  I32EnumAttrCase<"cv", 4>, I32EnumAttrCase<"wb", 5>, I32EnumAttrCase<"wt", 6>]>;
def Tile_CacheModifierAttr : Tile_EnumAttr<Tile_CacheModifier, "cache">;

// PTX ISA, "Cache Eviction Priority Hints".
def Tile_EvictionPolicy : Tile_Enum<"EvictionPolicy", "L2 eviction priority", [
  I32EnumAttrCase<"normal", 0, "evict_normal">, I32EnumAttrCase<"first", 1, "evict_first">,
  I32EnumAttrCase<"last", 2, "evict_last">]>;
def Tile_EvictionPolicyAttr : Tile_EnumAttr<Tile_EvictionPolicy, "evict">;

def Tile_InputPrecision : Tile_Enum<"InputPrecision", "how fp32 operands of a dot enter the multiplier", [
  I32EnumAttrCase<"tf32", 0>, I32EnumAttrCase<"tf32x3", 1>, I32EnumAttrCase<"ieee", 2>]>;
def Tile_InputPrecisionAttr : Tile_EnumAttr<Tile_InputPrecision, "precision">;

#endif
