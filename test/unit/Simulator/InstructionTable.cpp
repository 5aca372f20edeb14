// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of variants. Suffix lists are in the order of the PTX ISA, and every combination is a case.
#include "InstructionTable.h"

#include <fmt/format.h>

namespace tile::sim {
namespace {

using Names = std::vector<std::string>;

class Table {
public:
  std::vector<InstructionCase> cases;

  /// `text` has one instruction or more.
  void add(std::string text, std::string result, Names operands, Bound bound = {}, unsigned count = 0) {
    bool isUnary16 = operands.size() == 1 && kindBits(operands[0]) == 16 && bound.isExact();
    unsigned defaultCount = isUnary16 ? 65536 : !bound.isExact() ? 1024 : operands.size() == 3 ? 8192 : 4096;
    cases.push_back({fmt::format("case{:04}", cases.size()), std::move(text), std::move(result), std::move(operands),
                     count ? count : defaultCount, bound});
  }

  /// Adds `name.suffix d, a, b, …` with operands of one kind, for each of the suffixes.
  void each(const std::string &name, const Names &suffixes, const std::string &result, Names operands,
            Bound bound = {}) {
    for (const std::string &suffix : suffixes) {
      std::string text = name + suffix + " %d";
      for (size_t i = 0; i < operands.size(); ++i)
        text += std::string(", %") + "abc"[i];
      add(text + ";", result, operands, bound);
    }
  }

  /// Returns all combinations of suffixes of two lists, in this order.
  static Names product(const Names &first, const Names &second) {
    Names all;
    for (const std::string &x : first)
      for (const std::string &y : second)
        all.push_back(x + y);
    return all;
  }
};

std::string bits(const std::string &type) {
  return "b" + std::string(type.begin() + 1, type.end());
}
std::string integers(const std::string &type) {
  return "i" + std::string(type.begin() + 1, type.end());
}
Names repeat(const std::string &kind, size_t count) {
  return Names(count, kind);
}

void addIntegers(Table &table) {
  for (std::string type : {"u16", "u32", "u64", "s16", "s32", "s64"}) {
    std::string kind = integers(type), result = bits(type), suffix = "." + type;
    for (std::string name : {"add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"})
      table.each(name, {suffix}, result, repeat(kind, 2));
    for (std::string name : {"mad.lo", "mad.hi", "sad"})
      table.each(name, {suffix}, result, repeat(kind, 3));
    table.each("shr", {suffix}, result, {kind, "count"});
    if (type[0] == 's') {
      table.each("abs", {suffix}, result, {kind});
      table.each("neg", {suffix}, result, {kind});
    }
    if (type.substr(1) != "64") {
      std::string wide = type.substr(1) == "16" ? "32" : "64";
      table.each("mul.wide", {suffix}, "b" + wide, repeat(kind, 2));
      table.each("mad.wide", {suffix}, "b" + wide, {kind, kind, "i" + wide});
    }
    if (type.substr(1) != "16") {
      table.each("bfind", {suffix}, "b32", {kind});
      table.each("bfind.shiftamt", {suffix}, "b32", {kind});
      table.each("bfe", {suffix}, result, {kind, "count", "count"});
    }
  }
  for (std::string type : {"u32", "s32"}) {
    table.each("mul24", {".lo." + type, ".hi." + type}, "b32", repeat("i32", 2));
    table.each("mad24", {".lo." + type, ".hi." + type}, "b32", repeat("i32", 3));
    table.each("szext", {".clamp." + type, ".wrap." + type}, "b32", {"i32", "count"});
    for (std::string other : {"u32", "s32"}) {
      table.each("dp4a", {"." + type + "." + other}, "b32", repeat("i32", 3));
      table.each("dp2a", {".lo." + type + "." + other, ".hi." + type + "." + other}, "b32", repeat("i32", 3));
    }
  }
  table.each("add", {".sat.s32"}, "b32", repeat("i32", 2));
  table.each("sub", {".sat.s32"}, "b32", repeat("i32", 2));
  table.each("mad", {".hi.sat.s32"}, "b32", repeat("i32", 3));
  table.each("mad24", {".hi.sat.s32"}, "b32", repeat("i32", 3));
  table.each("add", {".u16x2", ".s16x2"}, "b32", repeat("i16x2", 2));
  table.each("min", {".u16x2", ".s16x2", ".relu.s16x2"}, "b32", repeat("i16x2", 2));
  table.each("max", {".u16x2", ".s16x2", ".relu.s16x2"}, "b32", repeat("i16x2", 2));
  table.each("min", {".relu.s32"}, "b32", repeat("i32", 2));
  table.each("max", {".relu.s32"}, "b32", repeat("i32", 2));
}

void addCarries(Table &table) {
  for (std::string type : {"u32", "s32", "u64", "s64"}) {
    std::string kind = integers(type), result = bits(type);
    table.add(fmt::format("add.cc.{0} %d, %a, %b; addc.cc.{0} %d, %c, %a; addc.{0} %d, %d, 0;", type), result,
              repeat(kind, 3));
    table.add(fmt::format("sub.cc.{0} %d, %a, %b; subc.cc.{0} %d, %c, %a; subc.{0} %d, %d, 0;", type), result,
              repeat(kind, 3));
    table.add(fmt::format("mad.lo.cc.{0} %d, %a, %b, %c; madc.hi.cc.{0} %d, %a, %b, %c; addc.{0} %d, %d, 0;", type),
              result, repeat(kind, 3));
    table.add(fmt::format("mad.hi.cc.{0} %d, %a, %b, %c; madc.lo.{0} %d, %a, %c, %b;", type), result, repeat(kind, 3));
  }
}

void addBits(Table &table) {
  for (std::string type : {"b16", "b32", "b64"}) {
    std::string kind = integers(type);
    for (std::string name : {"and", "or", "xor"})
      table.each(name, {"." + type}, type, repeat(kind, 2));
    table.each("not", {"." + type}, type, {kind});
    table.each("cnot", {"." + type}, type, {kind});
    table.each("shl", {"." + type}, type, {kind, "count"});
    table.each("shr", {"." + type}, type, {kind, "count"});
    if (type != "b16") {
      table.each("popc", {"." + type}, "b32", {kind});
      table.each("clz", {"." + type}, "b32", {kind});
      table.each("brev", {"." + type}, type, {kind});
      table.add(fmt::format("bfi.{} %d, %a, {}, %b, %c;", type, type == "b32" ? "0x5a5a1234" : "0x5a5a123487654321"),
                type, {kind, "count", "count"});
    }
  }
  for (std::string mode : {"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"})
    table.each("prmt.b32", {mode}, "b32", {"i32", "i32", mode.empty() ? "i32" : "count"});
  for (std::string direction : {"l", "r"})
    table.each("shf." + direction, {".clamp.b32", ".wrap.b32"}, "b32", {"i32", "i32", "count"});
  table.each("bmsk", {".clamp.b32", ".wrap.b32"}, "b32", {"count", "count"});
  for (int lut : {0x80, 0x96, 0xe8, 0x1b})
    table.add(fmt::format("lop3.b32 %d, %a, %b, %c, {:#x};", lut), "b32", repeat("i32", 3));
  table.add("setp.gt.s32 %p1, %a, %b; lop3.or.b32 %d|%p0, %a, %b, %c, 0x80, %p1; @%p0 add.u32 %d, %d, 1;", "b32",
            repeat("i32", 3));
  table.add("setp.gt.s32 %p1, %a, %b; lop3.and.b32 %d|%p0, %a, %b, %c, 0x80, !%p1; @%p0 add.u32 %d, %d, 1;", "b32",
            repeat("i32", 3));
  table.add("and.b32 %t0, %b, 31; and.b32 %t1, %c, 15; sub.s32 %t1, %t1, 7; fns.b32 %d, %a, %t0, %t1;", "b32",
            repeat("i32", 3));
}

void addFloats(Table &table) {
  const Names roundings = {".rn", ".rz", ".rm", ".rp"};
  for (std::string name : {"add", "sub", "mul"}) {
    table.each(name, Table::product(roundings, {".f32", ".ftz.f32", ".sat.f32", ".ftz.sat.f32"}), "b32",
               repeat("f32", 2));
    table.each(name, Table::product(roundings, {".f64"}), "b64", repeat("f64", 2));
    table.each(name + ".rn", {".f16", ".ftz.f16", ".sat.f16", ".ftz.sat.f16"}, "b16", repeat("f16", 2));
    table.each(name + ".rn", {".f16x2", ".ftz.f16x2", ".sat.f16x2"}, "b32", repeat("f16x2", 2));
    table.each(name + ".rn", {".bf16"}, "b16", repeat("bf16", 2));
    table.each(name + ".rn", {".bf16x2"}, "b32", repeat("bf16x2", 2));
  }
  table.each("fma", Table::product(roundings, {".f32", ".ftz.f32", ".sat.f32", ".ftz.sat.f32"}), "b32",
             repeat("f32", 3));
  table.each("fma", Table::product(roundings, {".f64"}), "b64", repeat("f64", 3));
  table.each("fma.rn", {".f16", ".ftz.f16", ".sat.f16", ".relu.f16", ".ftz.relu.f16"}, "b16", repeat("f16", 3));
  table.each("fma.rn", {".f16x2", ".ftz.sat.f16x2", ".relu.f16x2"}, "b32", repeat("f16x2", 3));
  table.each("fma.rn", {".bf16", ".relu.bf16"}, "b16", repeat("bf16", 3));
  table.each("fma.rn", {".bf16x2", ".relu.bf16x2"}, "b32", repeat("bf16x2", 3));
  table.each("fma.rn", {".oob.f16", ".oob.relu.f16"}, "b16", repeat("f16", 3));
  table.each("fma.rn", {".oob.bf16", ".oob.relu.bf16"}, "b16", repeat("bf16", 3));
  table.each("div", Table::product(roundings, {".f32", ".ftz.f32"}), "b32", repeat("f32", 2));
  table.each("div", Table::product(roundings, {".f64"}), "b64", repeat("f64", 2));
  for (std::string name : {"rcp", "sqrt"}) {
    table.each(name, Table::product(roundings, {".f32", ".ftz.f32"}), "b32", {"f32c"});
    table.each(name, Table::product(roundings, {".f64"}), "b64", {"f64c"});
  }
  for (std::string name : {"min", "max"}) {
    table.each(name, {".f32", ".ftz.f32", ".NaN.f32", ".ftz.NaN.f32", ".xorsign.abs.f32", ".NaN.xorsign.abs.f32"},
               "b32", repeat("f32", 2));
    table.each(name, {".f64"}, "b64", repeat("f64", 2));
    table.each(name, {".f16", ".ftz.f16", ".NaN.f16", ".xorsign.abs.f16", ".NaN.xorsign.abs.f16"}, "b16",
               repeat("f16", 2));
    table.each(name, {".f16x2", ".ftz.NaN.f16x2", ".xorsign.abs.f16x2"}, "b32", repeat("f16x2", 2));
    table.each(name, {".bf16", ".NaN.bf16", ".xorsign.abs.bf16"}, "b16", repeat("bf16", 2));
    table.each(name, {".bf16x2", ".NaN.bf16x2"}, "b32", repeat("bf16x2", 2));
  }
  for (std::string name : {"abs", "neg"}) {
    table.each(name, {".f32", ".ftz.f32"}, "b32", {"f32c"});
    table.each(name, {".f64"}, "b64", {"f64c"});
    table.each(name, {".f16", ".ftz.f16"}, "b16", {"f16"});
    table.each(name, {".f16x2"}, "b32", {"f16x2"});
    table.each(name, {".bf16"}, "b16", {"bf16"});
    table.each(name, {".bf16x2"}, "b32", {"bf16x2"});
  }
  table.each("copysign", {".f32"}, "b32", repeat("f32", 2));
  table.each("copysign", {".f64"}, "b64", repeat("f64", 2));
  for (std::string property : {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}) {
    table.add("testp." + property + ".f32 %p0, %a; selp.b32 %d, 1, 0, %p0;", "b32", {"f32c"});
    table.add("testp." + property + ".f64 %p0, %a; selp.b32 %d, 1, 0, %p0;", "b32", {"f64c"});
  }
}

void addApproximations(Table &table) {
  // Bounds: the documented error of the hardware, plus the same for the simulator.
  Bound ulps{0x1p-21, 0}, close{0x1p-21, 0x1p-21};
  for (std::string ftz : {"", ".ftz"}) {
    table.each("div.approx", {ftz + ".f32"}, "f32", repeat("f32", 2), ulps);
    table.each("div.full", {ftz + ".f32"}, "f32", repeat("f32", 2), ulps);
    for (std::string name : {"rcp", "sqrt", "rsqrt", "ex2"})
      table.each(name + ".approx", {ftz + ".f32"}, "f32", {"f32c"}, ulps);
    table.each("lg2.approx", {ftz + ".f32"}, "f32", {"f32c"}, close);
    for (std::string name : {"sin", "cos"})
      table.each(name + ".approx", {ftz + ".f32"}, "f32", {"angle"}, {0, 0x1p-19});
  }
  table.each("tanh.approx", {".f32"}, "f32", {"f32c"}, {0x1p-10, 0});
  table.each("ex2.approx", {".f16"}, "f16", {"f16"}, {0x1p-9, 0x1p-24});
  table.each("ex2.approx", {".f16x2"}, "f16x2", {"f16x2"}, {0x1p-9, 0x1p-24});
  table.each("ex2.approx", {".ftz.bf16"}, "bf16", {"bf16"}, {0x1p-6, 0});
  table.each("ex2.approx", {".ftz.bf16x2"}, "bf16x2", {"bf16x2"}, {0x1p-6, 0});
  table.each("tanh.approx", {".f16"}, "f16", {"f16"}, {0x1p-9, 0x1p-10});
  table.each("tanh.approx", {".f16x2"}, "f16x2", {"f16x2"}, {0x1p-9, 0x1p-10});
  table.each("tanh.approx", {".bf16"}, "bf16", {"bf16"}, {0x1p-7, 0});
  table.each("tanh.approx", {".bf16x2"}, "bf16x2", {"bf16x2"}, {0x1p-7, 0});
  table.each("rcp.approx", {".ftz.f64"}, "f64", {"f64c"}, {0x1p-19, 0});
  table.each("rsqrt.approx", {".ftz.f64"}, "f64", {"f64c"}, {0x1p-19, 0});
  table.each("rsqrt.approx", {".f64"}, "f64", {"f64c"}, {0x1p-46, 0});
}

void addConversions(Table &table) {
  const Names integerTypes = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"};
  auto inRegister = [](const std::string &type) { return type.substr(1) == "64" ? "b64" : "b32"; };
  auto kindOf = [](const std::string &type) { return type.substr(1) == "8" ? "i16" : integers(type); };
  for (const std::string &from : integerTypes) {
    for (const std::string &to : integerTypes) { // results of 8 and 16 bits are extended to a register of 32
      table.each("cvt", {"." + to + "." + from}, inRegister(to), {kindOf(from)});
      unsigned toBits = unsigned(std::stoul(to.substr(1))), fromBits = unsigned(std::stoul(from.substr(1)));
      bool alwaysFits = to[0] == from[0] ? toBits >= fromBits : to[0] == 's' && toBits > fromBits;
      if (!alwaysFits)
        table.each("cvt.sat", {"." + to + "." + from}, inRegister(to), {kindOf(from)});
    }
    for (std::string rounding : {".rn", ".rz", ".rm", ".rp"}) {
      table.each("cvt" + rounding, {".f32." + from}, "b32", {kindOf(from)});
      table.each("cvt" + rounding, {".f64." + from}, "b64", {kindOf(from)});
      table.each("cvt" + rounding, {".f16." + from}, "b16", {kindOf(from)});
      if (from.substr(1) != "8")
        table.each("cvt" + rounding, {".bf16." + from}, "b16", {kindOf(from)});
    }
    table.each("cvt.rn.sat", {".f32." + from}, "b32", {kindOf(from)});
  }
  for (std::string rounding : {".rni", ".rzi", ".rmi", ".rpi"}) {
    for (const std::string &to : integerTypes) {
      table.each("cvt" + rounding, {"." + to + ".f32", ".ftz." + to + ".f32"}, inRegister(to), {"f32c"});
      table.each("cvt" + rounding, {"." + to + ".f64"}, inRegister(to), {"f64c"});
      table.each("cvt" + rounding, {"." + to + ".f16"}, inRegister(to), {"f16"});
      if (to.substr(1) != "8")
        table.each("cvt" + rounding, {"." + to + ".bf16"}, bits(to), {"bf16"});
    }
    table.each("cvt" + rounding, {".f32.f32", ".ftz.f32.f32", ".sat.f32.f32"}, "b32", {"f32c"});
    table.each("cvt" + rounding, {".f64.f64"}, "b64", {"f64c"});
    table.each("cvt" + rounding, {".f16.f16"}, "b16", {"f16"});
    table.each("cvt" + rounding, {".bf16.bf16"}, "b16", {"bf16"});
  }
  for (std::string rounding : {".rn", ".rz", ".rm", ".rp"}) {
    table.each("cvt" + rounding, {".f32.f64", ".ftz.f32.f64", ".sat.f32.f64"}, "b32", {"f64c"});
    table.each("cvt" + rounding, {".f16.f64", ".bf16.f64"}, "b16", {"f64c"});
    table.each("cvt" + rounding, {".f16.f32", ".ftz.f16.f32", ".sat.f16.f32", ".bf16.f32"}, "b16", {"f32c"});
    table.each("cvt" + rounding, {".bf16.f16"}, "b16", {"f16"});
    table.each("cvt" + rounding, {".f16.bf16"}, "b16", {"bf16"});
  }
  table.each("cvt", {".f32.f32", ".ftz.f32.f32", ".sat.f32.f32"}, "b32", {"f32c"});
  table.each("cvt", {".f64.f64", ".sat.f64.f64"}, "b64", {"f64c"});
  table.each("cvt", {".f64.f32", ".ftz.f64.f32"}, "b64", {"f32c"});
  table.each("cvt", {".f32.f16", ".ftz.f32.f16", ".sat.f32.f16"}, "b32", {"f16"});
  table.each("cvt", {".f64.f16"}, "b64", {"f16"});
  table.each("cvt", {".f64.bf16"}, "b64", {"bf16"});
  table.each("cvt", {".f16.f16", ".sat.f16.f16"}, "b16", {"f16"});
  table.each("cvt", {".f32.bf16"}, "b32", {"bf16"});
}

void addPackedConversions(Table &table) {
  for (std::string rounding : {".rn", ".rz"}) {
    table.each("cvt" + rounding, {".relu.f16.f32", ".relu.bf16.f32"}, "b16", {"f32c"});
    table.each("cvt" + rounding, {".f16x2.f32", ".relu.f16x2.f32", ".bf16x2.f32", ".relu.bf16x2.f32"}, "b32",
               repeat("f32c", 2));
    table.each("cvt" + rounding, {".tf32.f32", ".relu.tf32.f32"}, "b32", {"f32c"});
  }
  table.each("cvt.rna", {".tf32.f32"}, "b32", {"f32c"});
  for (std::string type : {"e4m3x2", "e5m2x2"}) {
    table.each("cvt.rn.satfinite", {"." + type + ".f32", ".relu." + type + ".f32"}, "b16", repeat("f32c", 2));
    table.each("cvt.rn.satfinite", {"." + type + ".f16x2", ".relu." + type + ".f16x2"}, "b16", {"f16x2"});
    table.each("cvt.rn", {".f16x2." + type, ".relu.f16x2." + type}, "b32", {"i16"});
  }
  table.each("cvt.pack.sat", {".u16.s32", ".s16.s32"}, "b32", repeat("i32", 2));
  table.each("cvt.pack.sat", {".u8.s32.b32", ".s8.s32.b32", ".u4.s32.b32", ".s4.s32.b32", ".u2.s32.b32", ".s2.s32.b32"},
             "b32", repeat("i32", 3));
}

void addComparisons(Table &table) {
  const Names floats = {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
  const Names integers6 = {"eq", "ne", "lt", "le", "gt", "ge"};
  auto compare = [&](const std::string &name, const std::string &type, const std::string &kind) {
    bool isHalf = type == "f16" || type == "bf16"; // these types have one destination
    std::string second = isHalf ? "" : "|%p1", rest = isHalf ? "" : " selp.b32 %t1, 2, 0, %p1; or.b32 %d, %d, %t1;";
    table.add(fmt::format("setp.{}.{} %p0{}, %a, %b; selp.b32 %d, 1, 0, %p0;{}", name, type, second, rest), "b32",
              repeat(kind, 2));
  };
  for (const std::string &name : floats) {
    compare(name, "f32", "f32");
    compare(name, "f64", "f64");
    compare(name, "f16", "f16");
    compare(name, "bf16", "bf16");
    compare(name, "f16x2", "f16x2");
    compare(name, "bf16x2", "bf16x2");
    table.each("set." + name, {".u32.f32", ".f32.f32", ".ftz.f32.f32"}, "b32", repeat("f32", 2));
  }
  for (const std::string &name : integers6)
    for (std::string type : {"u16", "u32", "u64", "s16", "s32", "s64"})
      compare(name, type, integers(type));
  for (std::string name : {"lo", "ls", "hi", "hs"})
    compare(name, "u32", "i32");
  for (std::string name : {"eq", "ne"})
    for (std::string type : {"b16", "b32", "b64"})
      compare(name, type, integers(type));
  compare("lt.ftz", "f32", "f32");
  compare("gtu.ftz", "f16", "f16");
  for (std::string boolean : {"and", "or", "xor"}) {
    table.add(fmt::format("setp.lt.s32 %p2, %c, 0; setp.lt.{}.s32 %p0|%p1, %a, %b, %p2; selp.b32 %t0, 1, 0, %p0; "
                          "selp.b32 %t1, 2, 0, %p1; or.b32 %d, %t0, %t1;",
                          boolean),
              "b32", repeat("i32", 3));
    table.add(fmt::format("setp.lt.s32 %p2, %c, 0; setp.lt.{}.s32 %p0|%p1, %a, %b, !%p2; selp.b32 %t0, 1, 0, %p0; "
                          "selp.b32 %t1, 2, 0, %p1; or.b32 %d, %t0, %t1;",
                          boolean),
              "b32", repeat("i32", 3));
    table.add(fmt::format("setp.lt.s32 %p2, %c, 0; set.lt.{}.u32.s32 %d, %a, %b, %p2;", boolean), "b32",
              repeat("i32", 3));
    table.add(fmt::format("setp.lt.s32 %p0, %a, 0; setp.lt.s32 %p1, %b, 0; {}.pred %p2, %p0, %p1; not.pred %p3, %p2; "
                          "selp.b32 %d, 5, 6, %p3;",
                          boolean),
              "b32", repeat("i32", 2));
  }
  table.each("set.lt", {".f16.f16", ".u16.f16"}, "b16", repeat("f16", 2));
  table.each("set.lt", {".f16x2.f16x2"}, "b32", repeat("f16x2", 2));
  table.each("set.gtu", {".bf16x2.bf16x2"}, "b32", repeat("bf16x2", 2));
  table.each("set.lt", {".f32.s32", ".u32.u32"}, "b32", repeat("i32", 2));
  table.each("set.lt", {".u32.f64"}, "b32", repeat("f64", 2));
  table.each("slct", {".b32.s32", ".f32.s32"}, "b32", repeat("i32", 3));
  table.each("slct", {".u32.f32", ".ftz.u32.f32"}, "b32", {"i32", "i32", "f32"});
  table.each("slct", {".b64.f32"}, "b64", {"i64", "i64", "f32"});
  table.add("setp.lt.s32 %p0, %c, 0; selp.b64 %d, %a, %b, %p0;", "b64", {"i64", "i64", "i32"});
  table.add("setp.lt.s32 %p0, %c, 0; selp.b16 %d, %a, %b, !%p0;", "b16", {"i16", "i16", "i32"});
}

void addWarp(Table &table) {
  for (std::string mode : {"up", "down", "bfly", "idx"}) {
    table.add(fmt::format("shfl.sync.{}.b32 %d|%p0, %a, %b, %c, -1; @%p0 add.u32 %d, %d, 1;", mode), "b32",
              {"i32", "count", "i32"});
    table.add(fmt::format("shfl.sync.{}.b32 %d, %a, %b, {}, -1;", mode, mode == "up" ? 0 : 31), "b32",
              {"i32", "count"});
  }
  // The upper half of the warp, selected by a guard, and every group of lanes with the same bit separately.
  table.add("mov.b32 %d, 7; mov.u32 %t0, %laneid; setp.ge.u32 %p0, %t0, 16; "
            "@%p0 shfl.sync.bfly.b32 %d, %a, 5, 31, 0xffff0000;",
            "b32", {"i32"});
  table.add("and.b32 %t0, %b, 1; setp.eq.u32 %p0, %t0, 1; vote.sync.ballot.b32 %t1, %p0, -1; not.b32 %t2, %t1; "
            "@!%p0 mov.b32 %t1, %t2; redux.sync.add.s32 %d, %a, %t1;",
            "b32", {"i32", "i32"});
  table.add("setp.lt.s32 %p0, %a, %b; vote.sync.all.pred %p1, %p0, -1; vote.sync.any.pred %p2, !%p0, -1; "
            "vote.sync.uni.pred %p3, %p0, -1; vote.sync.ballot.b32 %d, %p0, -1; @%p1 add.u32 %d, %d, 1; "
            "@%p2 add.u32 %d, %d, 2; @%p3 add.u32 %d, %d, 4;",
            "b32", {"i32", "i32"});
  table.add("and.b32 %t0, %a, 3; match.any.sync.b32 %d, %t0, -1;", "b32", {"i32"});
  table.add("shr.u64 %a, %a, 62; match.any.sync.b64 %d, %a, -1;", "b32", {"i64"});
  table.add("shr.u32 %t0, %a, 31; match.all.sync.b32 %d|%p0, %t0, -1; @%p0 add.u32 %d, %d, 1;", "b32", {"i32"});
  for (std::string operation :
       {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32", "xor.b32"})
    table.add("redux.sync." + operation + " %d, %a, -1;", "b32", {"i32"});
  table.add("elect.sync %d|%p0, -1; @%p0 add.u32 %d, %d, %a;", "b32", {"i32"});
  table.add("setp.lt.s32 %p0, %a, 0; mov.b32 %d, 0; @%p0 activemask.b32 %d;", "b32", {"i32"});
}

/// Suffixes that few instructions have.
void addRareSuffixes(Table &table) {
  for (std::string rounding : {".rn", ".rz"}) {
    table.each("cvt" + rounding, {".satfinite.f16.f32", ".satfinite.relu.f16.f32", ".satfinite.bf16.f32"}, "b16",
               {"f32c"});
    table.each("cvt" + rounding, {".satfinite.f16x2.f32", ".relu.satfinite.bf16x2.f32"}, "b32", repeat("f32c", 2));
  }
  table.each("cvt", {".rna.satfinite.tf32.f32", ".rni.sat.s32.f32", ".rzi.sat.f32.f32"}, "b32", {"f32c"});
  table.each("cvt", {".sat.f64.f32", ".ftz.sat.f64.f32"}, "b64", {"f32c"});
  table.each("cvt", {".rn.sat.f16.s32", ".rp.sat.f16.u32"}, "b16", {"i32"});
  table.each("cvt", {".ftz.f32.bf16"}, "b32", {"bf16"});
  table.each("cvt", {".bf16.bf16"}, "b16", {"bf16"});
  table.each("cvt", {".rni.sat.f16.f16"}, "b16", {"f16"});
  table.each("fma.rn", {".oob.f16x2", ".oob.relu.f16x2"}, "b32", repeat("f16x2", 3));
  table.each("fma.rn", {".oob.bf16x2"}, "b32", repeat("bf16x2", 3));
  table.each("mad", {".rn.f32", ".rz.ftz.sat.f32"}, "b32", repeat("f32", 3));
  table.each("mad", {".rp.f64"}, "b64", repeat("f64", 3));
  table.each("abs", {".ftz.f16x2"}, "b32", {"f16x2"});
  table.each("neg", {".ftz.f16x2"}, "b32", {"f16x2"});
  table.each("set", {".lt.bf16.bf16", ".ne.u16.bf16", ".geu.s16.bf16"}, "b16", repeat("bf16", 2));
  table.each("set", {".gt.f16.f32", ".nan.f16.f32"}, "b16", repeat("f32", 2));
  table.each("set", {".num.u32.f16", ".equ.s32.f16"}, "b32", repeat("f16", 2));
  table.add("setp.lt.ftz.f16x2 %p0|%p1, %a, %b; selp.b32 %d, 1, 0, %p0; @%p1 add.u32 %d, %d, 2;", "b32",
            repeat("f16x2", 2));
  table.each("slct", {".ftz.f32.f32"}, "b32", repeat("f32", 3));
  table.each("slct", {".f64.s32"}, "b64", {"f64", "f64", "i32"});
  table.each("slct", {".b16.s32"}, "b16", {"i16", "i16", "i32"});
}

} // namespace

std::vector<InstructionCase> instructionCases() {
  Table table;
  addIntegers(table);
  addCarries(table);
  addBits(table);
  addFloats(table);
  addApproximations(table);
  addConversions(table);
  addPackedConversions(table);
  addComparisons(table);
  addWarp(table);
  addRareSuffixes(table);
  return table.cases;
}

std::string instructionModule(const std::vector<InstructionCase> &cases) {
  std::string text = ".version 8.7\n.target sm_90a\n.address_size 64\n";
  for (const InstructionCase &instruction : cases) {
    unsigned resultBits = kindBits(instruction.result);
    text +=
        fmt::format("// {}\n.visible .entry {}(.param .u64 pd, .param .u64 pa, .param .u64 pb, .param .u64 pc)\n{{\n",
                    instruction.body, instruction.name);
    text += ".reg .pred %p<4>;\n.reg .b32 %t<4>;\n.reg .b16 %h<4>;\n.reg .b32 %i<4>;\n.reg .b64 %x<8>;\n";
    text += fmt::format(".reg .b{} %d;\n", resultBits);
    text += "mov.u32 %i0, %ctaid.x;\nmov.u32 %i1, %ntid.x;\nmov.u32 %i2, %tid.x;\n"
            "mad.lo.u32 %i0, %i0, %i1, %i2;\nmul.wide.u32 %x0, %i0, 8;\n";
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
      char name = "abc"[i];
      unsigned bits = kindBits(instruction.operands[i]);
      text += fmt::format(".reg .b{0} %{1};\nld.param.u64 %x1, [p{1}];\nadd.s64 %x1, %x1, %x0;\n"
                          "ld.global.b{0} %{1}, [%x1];\n",
                          bits, name);
    }
    text += instruction.body + "\n";
    text += fmt::format("ld.param.u64 %x1, [pd];\nadd.s64 %x1, %x1, %x0;\nst.global.b{} [%x1], %d;\nret;\n}}\n",
                        resultBits);
  }
  return text;
}

} // namespace tile::sim
