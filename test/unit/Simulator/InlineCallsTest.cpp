// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests inlineCalls: the code that replaces calls in a kernel.
#include "Simulator/Ptx/InlineCalls.h"
#include "Simulator/Ptx/Parser.h"

#include <gtest/gtest.h>

using namespace tile::sim;

namespace {

/// Returns "name:label" for each instruction of the entry.
std::string codeOf(const std::string &text) {
  tile::runtime::Result<Module> module = parsePtx(text);
  if (!module)
    return module.error().message;
  if (tile::runtime::Status status = inlineCalls(*module); !status)
    return status.error().message;
  const Function *entry = module->findEntry("k");
  std::string code;
  for (const Instruction &instruction : entry->instructions) {
    code += (code.empty() ? "" : " ") + instruction.name;
    for (const Operand &operand : instruction.operands) {
      if (operand.kind == Operand::Kind::Label)
        code += ":" + std::to_string(operand.index);
      if (operand.kind == Operand::Kind::Address && operand.elements[0].kind == Operand::Kind::Symbol)
        code += "[" + module->variables[operand.elements[0].index].name + "]";
      if (operand.kind == Operand::Kind::Register)
        code += "," + entry->registers.at(operand.index).name;
    }
  }
  return code;
}

const std::string twice =
    ".func (.param .b32 r) twice(.param .b32 x) {\n.reg .b32 %t<2>; .reg .pred %q;\n"
    "ld.param.b32 %t0, [x]; @%q bra out; add.s32 %t1, %t0, %t0; st.param.b32 [r], %t1;\nout: ret; }\n";

TEST(InlineCalls, BodyTakesThePlaceOfTheCall) {
  EXPECT_EQ(codeOf(twice + ".entry k() { .reg .b32 %r<2>; .param .b32 in; .param .b32 back;\n"
                           "st.param.b32 [in], %r0; call.uni (back), twice, (in); ld.param.b32 %r1, [back]; ret; }"),
            "st[in],%r0 ld,%t0[in] bra:5 add,%t1,%t0,%t0 st[back],%t1 bra:6 ld,%r1[back] ret");
}

TEST(InlineCalls, LabelsOfTheCallerMove) {
  EXPECT_EQ(codeOf(".func f() { nop; ret; }\n.entry k() { .reg .pred p; again: call f; @p bra again; @p bra end; call "
                   "f; end: ret; }"),
            "nop bra:2 bra:0 bra:6 nop bra:6 ret");
}

TEST(InlineCalls, GuardedCallIsJumpedOver) {
  EXPECT_EQ(codeOf(".func f() { nop; ret; }\n.entry k() { .reg .pred p; @p call f; ret; }"), "bra:3 nop bra:3 ret");
}

TEST(InlineCalls, CallsOfCalls) {
  EXPECT_EQ(codeOf(".func f() { nop; ret; }\n.func g() { call f; call f; ret; }\n.entry k() { call g; ret; }"),
            "nop bra:2 nop bra:4 bra:5 ret");
}

TEST(InlineCalls, DeclaredFunctionsStay) {
  EXPECT_EQ(codeOf(".extern .func f();\n.entry k() { call f; ret; }"), "call ret");
}

TEST(InlineCalls, negative_recursion) {
  EXPECT_EQ(codeOf(".func f() {\ncall f; ret; }\n.entry k() { call f; ret; }"),
            "line 2: 'f' calls itself, which is not supported");
}

TEST(InlineCalls, negative_tooMuchCode) {
  std::string text = ".func f0() { nop; nop; nop; nop; nop; nop; nop; ret; }\n";
  for (int i = 1; i < 30; ++i)
    text += ".func f" + std::to_string(i) + "() { call f" + std::to_string(i - 1) + "; call f" + std::to_string(i - 1) +
            "; ret; }\n";
  EXPECT_NE(codeOf(text + ".entry k() { call f29; ret; }").find("produce more than 262144 instructions"),
            std::string::npos);
}

} // namespace
