// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests parsePtx on code from compilers and people, and on errors.
#include "Simulator/Ptx/Parser.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>

using namespace tile::sim;

namespace {

constexpr std::string_view head = ".version 8.7\n.target sm_90a\n.address_size 64\n";

/// Returns a kernel with this body, from line 5.
std::string kernel(std::string_view body) {
  return std::string(head) +
         ".visible .entry k(.param .u64 .ptr .global .align 16 p0, .param .align 64 .b8 p1[128]) {\n" +
         std::string(body) + "\n}\n";
}

Module parseGood(const std::string &text) {
  tile::runtime::Result<Module> module = parsePtx(text);
  EXPECT_TRUE(module) << (module ? "" : module.error().message);
  return module ? *module : Module();
}

std::string errorOf(const std::string &text) {
  tile::runtime::Result<Module> module = parsePtx(text);
  return module ? "no error" : module.error().message;
}

const Instruction &only(const Module &module) {
  return module.functions.at(0).instructions.at(0);
}

/// Returns the only operands of `mov.b32 %r0, TEXT`.
Operand operandOf(const std::string &text) {
  Module module = parseGood(kernel(".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;\nmov.b32 %r0, " + text + ";"));
  return module.functions.empty() || module.functions[0].instructions.empty() ? Operand() : only(module).operands.at(1);
}

std::string operandError(const std::string &text) {
  return errorOf(kernel(".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;\nmov.b32 %r0, " + text + ";"));
}

TEST(PtxParser, HeadOfAModule) {
  Module module = parseGood(kernel("ret;"));
  EXPECT_EQ(module.version, "8.7");
  EXPECT_EQ(module.target, "sm_90a");
  const Function *function = module.findEntry("k");
  ASSERT_TRUE(function);
  EXPECT_FALSE(module.findEntry("p0"));
  ASSERT_EQ(function->parameters.size(), 2u);
  const Variable &pointer = module.variables[function->parameters[0]], &map = module.variables[function->parameters[1]];
  EXPECT_EQ(pointer.size, 8u);
  EXPECT_EQ(pointer.alignment, 8u) << "the alignment after .ptr is of the memory that it points to";
  EXPECT_EQ(map.size, 128u);
  EXPECT_EQ(map.alignment, 64u);
  EXPECT_EQ(map.space, Space::Param);
}

TEST(PtxParser, PerformanceDirectives) {
  Module module =
      parseGood(std::string(head) + ".entry k() .reqntid 128, 2 .maxntid 256 .minnctapersm 1 .maxnreg 168\n"
                                    ".explicitcluster .reqnctapercluster 2, 1, 1 .pragma \"nounroll\";\n{ ret; }");
  const Function &function = module.functions.at(0);
  EXPECT_EQ(function.requiredThreads[0], 128u);
  EXPECT_EQ(function.requiredThreads[1], 2u);
  EXPECT_EQ(function.requiredThreads[2], 1u);
  EXPECT_EQ(function.maxThreads[0], 256u);
  EXPECT_EQ(function.requiredCluster[0], 2u);
}

TEST(PtxParser, InstructionWithEverything) {
  Module module = parseGood(kernel(".reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>;\n"
                                   "@!%p1 ld.global.L1::evict_first.v2.b32 {%r1, _}, [%rd1+-16];"));
  const Instruction &load = only(module);
  const Function &function = module.functions[0];
  EXPECT_EQ(load.text(), "ld.global.L1::evict_first.v2.b32");
  EXPECT_TRUE(load.guardNegated);
  EXPECT_EQ(function.registers[load.guard].name, "%p1");
  ASSERT_EQ(load.operands.size(), 2u);
  EXPECT_EQ(load.operands[0].kind, Operand::Kind::Vector);
  EXPECT_EQ(load.operands[0].elements[1].kind, Operand::Kind::Sink);
  EXPECT_EQ(load.operands[1].kind, Operand::Kind::Address);
  EXPECT_EQ(load.operands[1].offset, -16);
  EXPECT_EQ(function.registers[load.operands[1].elements[0].index].name, "%rd1");
  EXPECT_EQ(load.loc.ptxLine, 6u);
}

TEST(PtxParser, Constants) {
  EXPECT_EQ(operandOf("42").bits, 42u);
  EXPECT_EQ(operandOf("-1").bits, ~uint64_t(0));
  EXPECT_EQ(operandOf("0x1FU").bits, 31u);
  EXPECT_EQ(operandOf("010").bits, 8u);
  EXPECT_EQ(operandOf("0b101").bits, 5u);
  EXPECT_EQ(operandOf("WARP_SZ").bits, 32u);
  EXPECT_EQ(operandOf("'A'").bits, 65u);
  EXPECT_EQ(operandOf("18446744073709551615").bits, ~uint64_t(0));
  EXPECT_EQ(operandOf("2+3*4-(1<<2)").bits, 10u);
  EXPECT_EQ(operandOf("10-4-3").bits, 3u);
  EXPECT_EQ(operandOf("-8/3").bits, uint64_t(-2));
  EXPECT_EQ(operandOf("0x8000000000000000/-1").bits, 0x8000000000000000u);
  EXPECT_EQ(operandOf("1 > 2 ? 5 : 6").bits, 6u);
  EXPECT_EQ(operandOf("~0 == -1 && !0").bits, 1u);
  Operand single = operandOf("0f3F800000"), twice = operandOf("0dBFF0000000000000"), decimal = operandOf("-1.5e1");
  EXPECT_EQ(single.floatBits, 32);
  EXPECT_EQ(single.bits, 0x3f800000u);
  EXPECT_EQ(twice.floatBits, 64);
  EXPECT_EQ(std::bit_cast<double>(twice.bits), -1.0);
  EXPECT_EQ(std::bit_cast<double>(decimal.bits), -15.0);
}

TEST(PtxParser, SymbolsAndAddresses) {
  Module module =
      parseGood(std::string(head) + ".extern .shared .align 1024 .b8 tile_shared[];\n.global .b32 counter;\n" +
                kernel(".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<3>;\n"
                       "mov.b64 %rd1, tile_shared+64;\n"
                       "ld.shared.b32 %r1, [tile_shared+8];\n"
                       "cp.async.bulk.tensor.2d.shared::cta.global.tile [%rd1], [p1, {%r1, %r2}], [%rd2];\n"
                       "ld.param.b64 %rd1, [p0];\n"
                       "shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1;\n"
                       "setp.lt.and.s32 %p1|_, %r1, 5, !%p2;\n"
                       "ld.global.b32 %r1, [4096];")
                    .substr(head.size()));
  const std::vector<Instruction> &code = module.functions.at(0).instructions;
  EXPECT_TRUE(module.variables[0].isExtern);
  EXPECT_EQ(code[0].operands[1].kind, Operand::Kind::Symbol);
  EXPECT_EQ(code[0].operands[1].space, Space::Shared);
  EXPECT_EQ(code[0].operands[1].offset, 64);
  EXPECT_EQ(code[1].operands[1].elements[0].kind, Operand::Kind::Symbol);
  EXPECT_EQ(code[1].operands[1].elements[0].offset, 0);
  EXPECT_EQ(code[1].operands[1].offset, 8);
  ASSERT_EQ(code[2].operands.size(), 3u);
  EXPECT_EQ(code[2].operands[1].elements[0].space, Space::Param);
  EXPECT_EQ(code[2].operands[1].elements[1].elements.size(), 2u);
  EXPECT_EQ(code[4].operands[0].kind, Operand::Kind::Pair);
  EXPECT_EQ(code[5].operands[0].elements[1].kind, Operand::Kind::Sink);
  EXPECT_TRUE(code[5].operands[3].negated);
  EXPECT_EQ(code[6].operands[1].elements[0].bits, 4096u);
}

TEST(PtxParser, SpecialRegisters) {
  EXPECT_EQ(operandOf("%tid.x").special, SpecialRegister::TidX);
  EXPECT_EQ(operandOf("%cluster_nctaid.z").special, SpecialRegister::ClusterNCtaIdZ);
  EXPECT_EQ(operandOf("%laneid").special, SpecialRegister::LaneId);
  EXPECT_EQ(operandOf("%aggr_smem_size").special, SpecialRegister::AggrSmemSize);
  EXPECT_EQ(operandOf("%is_explicit_cluster").kind, Operand::Kind::Special);
  EXPECT_EQ(operandError("%envreg3"), "line 6: the special register '%envreg3' is not supported");
  EXPECT_EQ(operandOf("%envreg2").special, SpecialRegister::EnvReg2);
  EXPECT_EQ(operandOf("%ctaid").elements.at(2).special, SpecialRegister::CtaidZ);
  EXPECT_EQ(operandOf("%ctaid").elements.at(3).kind, Operand::Kind::Immediate);
  EXPECT_EQ(operandError("%nonsense.x"), "line 6: '%nonsense.x' is not declared");
}

TEST(PtxParser, ScopesHideNames) {
  Module module = parseGood(kernel(".reg .b32 %r<2>;\n"
                                   "{ .reg .pred p; again: @p bra again; bra done; }\n"
                                   "{ .reg .b32 p; again: mov.b32 p, 1; bra again; }\n"
                                   "mov.b32 %r1, 0; { .reg .b64 %r1; mov.b64 %r1, 0; } mov.b32 %r1, 0;\n"
                                   "done: ret;"));
  const Function &function = module.functions.at(0);
  const std::vector<Instruction> &code = function.instructions;
  ASSERT_EQ(code.size(), 8u);
  EXPECT_EQ(code[0].operands[0].index, 0u);
  EXPECT_EQ(code[1].operands[0].index, 7u) << "a label of the outer scope that comes later";
  EXPECT_EQ(code[3].operands[0].index, 2u);
  EXPECT_EQ(function.registers[code[4].operands[0].index].type, Type::B32);
  EXPECT_EQ(function.registers[code[5].operands[0].index].type, Type::B64);
  EXPECT_EQ(code[6].operands[0].index, code[4].operands[0].index);
}

TEST(PtxParser, LabelAtTheEndIsAReturn) {
  Module module = parseGood(kernel(".reg .pred p; @p bra end; ret; end:"));
  const std::vector<Instruction> &code = module.functions.at(0).instructions;
  ASSERT_EQ(code.size(), 3u);
  EXPECT_EQ(code[2].name, "ret");
  EXPECT_EQ(parseGood(kernel("exit;")).functions.at(0).instructions.size(), 1u);
}

TEST(PtxParser, IndexedBranch) {
  Module module = parseGood(kernel(".reg .b32 %r<2>;\nts: .branchtargets a, b;\nbrx.idx %r1, ts;\na: nop;\nb: ret;"));
  const Instruction &branch = only(module);
  ASSERT_EQ(branch.operands.size(), 2u);
  ASSERT_EQ(branch.operands[1].elements.size(), 2u);
  EXPECT_EQ(branch.operands[1].elements[1].index, 2u);
}

TEST(PtxParser, SourceLines) {
  Module module =
      parseGood(std::string(head) + ".file 1 \"a.tile\"\n.file 2 \"b.tile\", 1234, 99\n" +
                kernel(".loc 1 18 5\nnop;\n.loc 2 3 0, function_name $L__info_string0+12, inlined_at 1 20 3\n"
                       "nop; ret;\n")
                    .substr(head.size()));
  const std::vector<Instruction> &code = module.functions.at(0).instructions;
  EXPECT_EQ(module.files.at(2), "b.tile");
  EXPECT_EQ(code[0].loc.file, 1u);
  EXPECT_EQ(code[0].loc.sourceLine, 18u);
  EXPECT_EQ(code[0].loc.sourceColumn, 5u);
  EXPECT_EQ(code[1].loc.file, 2u);
}

TEST(PtxParser, Initializers) {
  Module module = parseGood(std::string(head) + ".global .align 4 .u32 a[2][2] = {{1, 2}, {3}};\n"
                                                ".const .f32 b = 1.5;\n"
                                                ".global .u64 c[3] = {a+8, generic(a), 7};\n"
                                                ".visible .global .align 1 .b8 text[] = \"hi\\n\";\n"
                                                ".global .v2 .f32 v = {0f3F800000, 2};\n");
  ASSERT_EQ(module.variables.size(), 5u);
  const Variable &a = module.variables[0], &b = module.variables[1], &c = module.variables[2], &v = module.variables[4];
  EXPECT_EQ(a.size, 16u);
  EXPECT_EQ(a.initial, (std::vector<uint8_t>{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}));
  EXPECT_EQ(b.initial, (std::vector<uint8_t>{0, 0, 0xc0, 0x3f}));
  EXPECT_EQ(b.space, Space::Const);
  ASSERT_EQ(c.relocations.size(), 2u);
  EXPECT_EQ(c.relocations[1], (std::pair<uint64_t, uint32_t>{8, 0}));
  EXPECT_EQ(c.initial[0], 8);
  EXPECT_EQ(c.initial[16], 7);
  EXPECT_EQ(module.variables[3].size, 3u);
  EXPECT_EQ(v.size, 8u);
  EXPECT_EQ(v.initial[6], 0);
  EXPECT_EQ(v.initial[7], 0x40);
}

TEST(PtxParser, Calls) {
  Module module =
      parseGood(std::string(head) +
                ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
                ".func (.param .b32 r) f(.param .b32 x) {\n.reg .b32 %r<2>; ld.param.b32 %r0, [x];\n"
                "{ .param .b32 out; .param .b32 in; st.param.b32 [in], %r0; call.uni (out), f, (in); }\nret; }\n" +
                kernel(".reg .b64 %rd<2>;\n{ .param .b64 q; call f, (q);\ncall g;\n"
                       "proto: .callprototype (.param .b32 _) _ (.param .b64 _);\ncall (q), %rd1, (q), proto; }")
                    .substr(head.size())
                    .insert(0, ".func g() { ret; }\n"));
  EXPECT_TRUE(module.functions[0].isDeclaration);
  EXPECT_EQ(module.functions[0].results.size(), 1u);
  const Instruction &recursive = module.functions[1].instructions[2];
  ASSERT_EQ(recursive.operands.size(), 3u);
  EXPECT_EQ(recursive.operands[0].elements.size(), 1u);
  EXPECT_EQ(recursive.operands[1].name, "f");
  const std::vector<Instruction> &code = module.functions.at(3).instructions;
  EXPECT_EQ(code[0].operands[0].elements.size(), 0u);
  EXPECT_EQ(code[1].operands[2].elements.size(), 0u);
  EXPECT_EQ(code[2].operands[1].kind, Operand::Kind::Register);
}

TEST(PtxParser, DebugSectionsAreSkipped) {
  Module module =
      parseGood(kernel("ret;") + "\t.section\t.debug_abbrev\n\t{\n.b8 1 // Abbreviation\n$L__x:\n.b64 $L__x-$L__x\n"
                                 "{ }\n\t}\n\t.section\t.debug_loc\t{\t}\n");
  EXPECT_EQ(module.functions.size(), 1u);
}

TEST(PtxParser, Comments) {
  Module module = parseGood(kernel("/* two\nlines */ nop; // to the end ;\nret;"));
  EXPECT_EQ(only(module).loc.ptxLine, 6u);
}

TEST(PtxParser, Errors) {
  EXPECT_EQ(errorOf(std::string(head) + ".foo 1"), "line 4: unknown directive '.foo'");
  EXPECT_EQ(errorOf("hello"), "line 1: expected a directive, found 'hello'");
  EXPECT_EQ(errorOf(".address_size 32"), "line 1: addresses of 32 bits are not supported");
  EXPECT_EQ(errorOf(kernel("mov.b32 %r1, 0;")), "line 5: '%r1' is not declared");
  EXPECT_EQ(errorOf(kernel(".reg .b32 %r<2>;\nmov.b32 %r2, 0;")), "line 6: '%r2' is not declared");
  EXPECT_EQ(errorOf(kernel("{ .reg .b32 x; } mov.b32 x, 0;")), "line 5: 'x' is not declared");
  EXPECT_EQ(errorOf(kernel(".reg .b32 x;\n.reg .b64 x;")), "line 6: 'x' is declared twice");
  EXPECT_EQ(errorOf(kernel("a:\na:")), "line 6: duplicate label 'a'");
  EXPECT_EQ(errorOf(kernel("bra nowhere;")), "line 5: the label 'nowhere' does not exist");
  EXPECT_EQ(errorOf(kernel("{ inner: } bra inner;")), "line 5: the label 'inner' does not exist");
  EXPECT_EQ(errorOf(kernel("bar.sync 0 }")), "line 5: expected ';' at the end of an instruction, found '}'");
  EXPECT_EQ(errorOf(kernel("{ ret;")), "line 4: the body of 'k' has no end");
  EXPECT_EQ(errorOf(kernel("nop")), "line 6: expected an operand, found '}'");
  EXPECT_EQ(errorOf("\n/* no end"), "line 2: the comment that begins here has no end");
  EXPECT_EQ(errorOf(".file 1 \"x"), "line 1: the string has no end");
  EXPECT_EQ(errorOf(".section .debug {"), "line 1: the section that begins here has no end");
  EXPECT_EQ(errorOf("\n`"), "line 2: unexpected '`'");
  EXPECT_EQ(errorOf(std::string("\0.", 2)), "line 1: unexpected byte 0x00");
  EXPECT_EQ(errorOf(kernel(".reg .b32 r; @r ret;")), "line 5: the guard 'r' is not a predicate");
  EXPECT_EQ(errorOf(kernel("") + kernel("").substr(head.size())), "line 7: 'k' is defined twice");
  EXPECT_EQ(errorOf(kernel(".reg .b32 %r<1000000>;")), "line 5: more than 262144 registers");
  EXPECT_EQ(errorOf(kernel("call nothing;")), "line 5: 'nothing' is not declared");
  EXPECT_EQ(errorOf(kernel(".loc 1 2 3, inlined 1 2 3")), "line 5: unknown attribute 'inlined' of '.loc'");
  EXPECT_EQ(errorOf(".entry k(.param .b32 x) .maxntid 0 { ret; }"), "line 1: 0 is not a valid size");
  EXPECT_EQ(errorOf(".global .align 3 .b8 x;"), "line 1: the alignment 3 is not a power of two");
  EXPECT_EQ(errorOf(".global .b32 x[1] = {1, 2};"), "line 1: '2' values for 4 bytes");
  EXPECT_EQ(errorOf(".global .b64 x = y;"), "line 1: 'y' is not declared as a variable");
  EXPECT_EQ(errorOf(".shared .b64 x = 1;"), "line 1: only variables in .global and .const may be initialized");
}

TEST(PtxParser, ErrorsOfOperands) {
  EXPECT_EQ(operandError("{%r1, "), "line 6: expected an operand, found ';'");
  EXPECT_EQ(operandError("{%r1"), "line 6: the vector that begins here has no '}' before ';'");
  EXPECT_EQ(operandError("{%r1, {%r2}}"), "line 6: '{' cannot be an element of a vector");
  EXPECT_EQ(operandError("[%rd1"), "line 6: the address that begins here has no ']' before ';'");
  EXPECT_EQ(operandError("[1.5]"), "line 6: an address needs a register, a variable or an integer");
  EXPECT_EQ(operandError("!%r1"), "line 6: '!' needs a predicate register");
  EXPECT_EQ(operandError("%r1|5"), "line 6: a pair 'a|b' needs two registers");
  EXPECT_EQ(operandError("0f3F80"), "line 6: '0f3F80' should have 8 hexadecimal digits");
  EXPECT_EQ(operandError("12abc"), "line 6: malformed number '12abc'");
  EXPECT_EQ(operandError("99999999999999999999"), "line 6: malformed number '99999999999999999999'");
  EXPECT_EQ(operandError("1/0"), "line 6: division by zero");
  EXPECT_EQ(operandError("~1.5"), "line 6: '~' of a float");
  EXPECT_EQ(operandError(std::string(100, '(') + "1"), "line 6: this constant expression is nested too deeply");
}

/// Modules with arbitrary deletions and insertions are parsed or rejected.
TEST(PtxParser, SurvivesCuts) {
  std::string good =
      kernel(".reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>; .loc 1 2 3, inlined_at 1 2 3\n"
             "{ .reg .pred p; again: @p bra again; }\n"
             "ts: .branchtargets again2; brx.idx %r1, ts; again2: call.uni (%r1), k, (%r2, 0f3F800000);\n"
             "ld.v2.b32 {%r1, _}, [p0+-16]; setp.eq.s32 %p1|%p0, 'a', 1 + 2 * (3 << 4), !%p1;");
  std::mt19937 random(1);
  for (size_t i = 0; i < good.size(); ++i) {
    (void)parsePtx(std::string_view(good).substr(0, i));
    std::string changed = good;
    changed.erase(i, 1 + random() % 8);
    (void)parsePtx(changed);
    changed.insert(random() % changed.size(), good.substr(i, 1 + random() % 20));
    (void)parsePtx(changed);
  }
}

} // namespace
