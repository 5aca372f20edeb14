// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Enumerations that qualify memory accesses and dots.
#ifndef TILE_ATTRS_TD
#define TILE_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "Tile/TileDialect.td"

class Tile_Enum<string name, string text, list<I32EnumAttrCase> cases> : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::tile";
  let genSpecializedAttr = 0;
}
class Tile_EnumAttr<Tile_Enum enum, string attrMnemonic> : EnumAttr<TileDialect, enum, attrMnemonic> {
  let description = "Its values are the cases of the enumeration " # enum.className # ".";
}

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

// PTX ISA, "atom": the operations; the prefix u means unsigned, f means 16-bit floats.
def Tile_AtomicKind : Tile_Enum<"AtomicKind", "how an atomic operation combines values", [
  I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"max", 1>, I32EnumAttrCase<"min", 2>, I32EnumAttrCase<"umax", 3>,
  I32EnumAttrCase<"umin", 4>, I32EnumAttrCase<"and_", 5, "and">, I32EnumAttrCase<"or_", 6, "or">,
  I32EnumAttrCase<"xor_", 7, "xor">, I32EnumAttrCase<"xchg", 8>, I32EnumAttrCase<"fmax", 9>,
  I32EnumAttrCase<"fmin", 10>]>;
def Tile_AtomicKindAttr : Tile_EnumAttr<Tile_AtomicKind, "atomic">;

// PTX ISA, "Memory Consistency Model".
def Tile_MemoryOrder : Tile_Enum<"MemoryOrder", "memory order of an atomic operation", [
  I32EnumAttrCase<"relaxed", 0>, I32EnumAttrCase<"acquire", 1>, I32EnumAttrCase<"release", 2>,
  I32EnumAttrCase<"acq_rel", 3>]>;
def Tile_MemoryOrderAttr : Tile_EnumAttr<Tile_MemoryOrder, "order">;
def Tile_MemoryScope : Tile_Enum<"MemoryScope", "scope of an atomic operation", [
  I32EnumAttrCase<"cta", 0>, I32EnumAttrCase<"gpu", 1>, I32EnumAttrCase<"sys", 2>]>;
def Tile_MemoryScopeAttr : Tile_EnumAttr<Tile_MemoryScope, "scope">;

def Tile_InputPrecision : Tile_Enum<"InputPrecision", "how fp32 operands of a dot enter the multiplier", [
  I32EnumAttrCase<"tf32", 0>, I32EnumAttrCase<"tf32x3", 1>, I32EnumAttrCase<"ieee", 2>]>;
def Tile_InputPrecisionAttr : Tile_EnumAttr<Tile_InputPrecision, "precision">;

// The formats of OCP, "Microscaling Formats (MX)", and the 16-bit formats with which they can be multiplied.
def Tile_ScaledFormat : Tile_Enum<"ScaledFormat", "element format of an operand of a scaled dot", [
  I32EnumAttrCase<"e2m1", 0>, I32EnumAttrCase<"e4m3", 1>, I32EnumAttrCase<"e5m2", 2>, I32EnumAttrCase<"bf16", 3>,
  I32EnumAttrCase<"fp16", 4>]>;
def Tile_ScaledFormatAttr : Tile_EnumAttr<Tile_ScaledFormat, "scaled_format">;

// PTX ISA, "griddepcontrol".
def Tile_GridDependency : Tile_Enum<"GridDependency", "how grids synchronize in programmatic dependent launch", [
  I32EnumAttrCase<"wait", 0>, I32EnumAttrCase<"launch", 1>]>;
def Tile_GridDependencyAttr : Tile_EnumAttr<Tile_GridDependency, "dependency">;

// CUDA, "libdevice User's Guide". Functions of the math dialect are not listed, except those whose f32 form is lowered
// to an approximate instruction.
def Tile_LibraryFunction : Tile_Enum<"LibraryFunction", "a function of CUDA's libdevice", [
  I32EnumAttrCase<"cospi", 0>, I32EnumAttrCase<"sinpi", 1>, I32EnumAttrCase<"cyl_bessel_i0", 2>,
  I32EnumAttrCase<"cyl_bessel_i1", 3>, I32EnumAttrCase<"erfcinv", 4>, I32EnumAttrCase<"erfcx", 5>,
  I32EnumAttrCase<"erfinv", 6>, I32EnumAttrCase<"exp10", 7>, I32EnumAttrCase<"j0", 8>, I32EnumAttrCase<"j1", 9>,
  I32EnumAttrCase<"lgamma", 10>, I32EnumAttrCase<"logb", 11>, I32EnumAttrCase<"normcdf", 12>,
  I32EnumAttrCase<"normcdfinv", 13>, I32EnumAttrCase<"rcbrt", 14>, I32EnumAttrCase<"tgamma", 15>,
  I32EnumAttrCase<"y0", 16>, I32EnumAttrCase<"y1", 17>, I32EnumAttrCase<"fdim", 18>, I32EnumAttrCase<"hypot", 19>,
  I32EnumAttrCase<"nextafter", 20>, I32EnumAttrCase<"remainder", 21>, I32EnumAttrCase<"rhypot", 22>,
  I32EnumAttrCase<"norm3d", 23>, I32EnumAttrCase<"rnorm3d", 24>, I32EnumAttrCase<"rsqrt_rn", 25>,
  I32EnumAttrCase<"exp", 26>, I32EnumAttrCase<"log2", 27>]>;
def Tile_LibraryFunctionAttr : Tile_EnumAttr<Tile_LibraryFunction, "library_function">;

// PTX ISA, "Rounding Modifiers": to nearest even, towards zero, down, up.
def Tile_Rounding : Tile_Enum<"Rounding", "rounding mode", [
  I32EnumAttrCase<"rn", 0>, I32EnumAttrCase<"rz", 1>, I32EnumAttrCase<"rd", 2>, I32EnumAttrCase<"ru", 3>]>;
def Tile_RoundingAttr : Tile_EnumAttr<Tile_Rounding, "rounding">;
def Tile_RoundedKind : Tile_Enum<"RoundedKind", "operation whose result is rounded", [
  I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"sub", 1>, I32EnumAttrCase<"mul", 2>, I32EnumAttrCase<"div", 3>,
  I32EnumAttrCase<"fma", 4>, I32EnumAttrCase<"rcp", 5>, I32EnumAttrCase<"sqrt", 6>, I32EnumAttrCase<"cast", 7>]>;
def Tile_RoundedKindAttr : Tile_EnumAttr<Tile_RoundedKind, "rounded">;

// PTX ISA, "Special Registers".
def Tile_SpecialRegister : Tile_Enum<"SpecialRegister", "a special register", [
  I32EnumAttrCase<"smid", 0>, I32EnumAttrCase<"globaltimer", 1>]>;
def Tile_SpecialRegisterAttr : Tile_EnumAttr<Tile_SpecialRegister, "special_register">;

// How the programs of a persistent kernel are distributed to CTAs.
def Tile_WorkOrder : Tile_Enum<"WorkOrder", "grid axis along which consecutive programs lie", [
  I32EnumAttrCase<"grid", 0>, I32EnumAttrCase<"transposed", 1>, I32EnumAttrCase<"swizzle2d", 2>]>;

def Tile_StreamKAttr : AttrDef<TileDialect, "StreamK"> {
  let mnemonic = "stream_k";
  let summary = "cost of splitting the programs of the last wave over idle CTAs, in K steps";
  let description = [{
    `sum` is the cost of writing an accumulator to memory, or of adding one from memory. `piece` is the overhead of a
    helping CTA for each piece of a program. `fixed` is the cost of distributing the steps and of waiting.
    `lib/Target/TailSplit.h` computes the number of steps above which splitting pays off.

    Example: `#tile.stream_k<sum = 7, piece = 9, fixed = 9>`
  }];
  let parameters = (ins "int64_t":$sum, "int64_t":$piece, "int64_t":$fixed);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Tile_WorkAttr : AttrDef<TileDialect, "Work"> {
  let mnemonic = "work";
  let summary = "how the programs of a `tile.programs` are distributed to CTAs";
  let description = [{
    `order`: programs are numbered with x fastest (`grid`), with y fastest (`transposed`), or in groups of `group` along
    x that are traversed along y (`swizzle2d`, see the operation of that name). `persistent`: a CTA computes several
    programs, one after another; otherwise each CTA, or the CTAs of each cluster together, compute only the program with
    their index. `cluster`: the CTAs of a cluster compute neighbouring programs; the two sizes are the number of
    programs along x and along y. `split_k`: that many CTAs of a cluster share the K steps of each program. `tail`: idle
    CTAs share the K steps of programs of the last wave (stream-K). `cluster`, `split_k` and `tail` are mutually
    exclusive.

    Example: `#tile.work<order = swizzle2d, group = 8, cluster = [2, 1]>`
  }];
  let parameters = (ins EnumParameter<Tile_WorkOrder>:$order, DefaultValuedParameter<"int32_t", "1">:$group,
                        DefaultValuedParameter<"bool", "true">:$persistent,
                        OptionalParameter<"::mlir::DenseI32ArrayAttr">:$cluster,
                        DefaultValuedParameter<"int32_t", "1">:$split_k,
                        OptionalParameter<"::tile::StreamKAttr">:$tail);
  let builders = [AttrBuilder<(ins "::tile::WorkOrder":$order, CArg<"int32_t", "1">:$group,
                                   CArg<"bool", "true">:$persistent), [{
    return $_get($_ctxt, order, group, persistent, /*cluster=*/::mlir::DenseI32ArrayAttr(), /*split_k=*/1,
                 /*tail=*/::tile::StreamKAttr());
  }]>];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the number of programs of a cluster along x and along y.
    std::array<int32_t, 2> getClusterShape() const;
    /// Returns true if CTAs share the K steps of a program.
    bool splitsSteps() const { return getSplitK() != 1 || getTail(); }
    WorkAttr withCluster(int32_t alongX, int32_t alongY) const;
    WorkAttr withSplitK(int32_t ctas) const;
    WorkAttr withTail(StreamKAttr tail) const;
  }];
}

#endif
