// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that no PTX may perform: reading, writing or printing memory of the host, or exhausting it.
#include "SimulatedKernel.h"

#include "Simulator/Ptx/InlineCalls.h"

using namespace tile::sim;

namespace {

const std::string own = ".local .align 16 .b8 own[64];\nmov.b64 %d4, own;\n";

/// Runs the body with each of several addresses in %d5: below the memory, far beyond it, and such that the end of 32
/// bytes wraps around.
void expectOutOfBounds(const std::string &before, const std::string &access, const std::string &words,
                       std::initializer_list<const char *> addresses = {"-32", "64", "0x7fffffffffffffe0"}) {
  for (const char *address : addresses)
    SimulatedKernel(before + "mov.b64 %d5, " + address + ";\n" + access).expectAlways(ReportKind::OutOfBounds, words);
}

TEST(Sandbox, localMemoryEnds) {
  SimulatedKernel(own + "st.local.v4.b64 [%d4+32], {%d4, %d4, %d4, %d4};\nld.local.b64 %d6, [%d4+56];").expectNone();
  expectOutOfBounds(own, "st.local.v4.b64 [%d5], {%d5, %d5, %d5, %d5};", "write of 32 bytes at local address");
  expectOutOfBounds(own, "ld.local.v4.b64 {%d6, %d7, %d8, %d9}, [%d5];", "read of 32 bytes at local address");
  expectOutOfBounds(own, "st.local.b8 [%d5], 1;", "write of 1 bytes", {"-1", "64"});
  // Accesses the memory through the window of the generic address space.
  expectOutOfBounds(own, "cvta.local.u64 %d5, %d5;\nst.v2.b64 [%d5], {%d5, %d5};", "write of 16 bytes",
                    {"64", "0xffffffffe0"});
}

TEST(Sandbox, parametersAndConstantsEnd) {
  const std::string load = "ld.param.v4.b64 {%d6, %d7, %d8, %d9}, [%d5];";
  expectOutOfBounds("", load, "read of 32 bytes at param address", {"-32", "32", "0xffffffffffffffe0"});
  const std::string constants = ".const .align 8 .b32 c[4] = {1, 2, 3, 4};\n";
  SimulatedKernel(constants + "ld.const.b32 %r1, [c+12];\nmov.b64 %d5, c;\ncvta.const.u64 %d5, %d5;\n"
                              "ld.b64 %d6, [%d5+8];")
      .expectNone();
  expectOutOfBounds(constants, "ld.const.v4.b64 {%d6, %d7, %d8, %d9}, [%d5];", "read of 32 bytes at const address",
                    {"-32", "32"});
  expectOutOfBounds(constants, "ld.param.b64 %d6, [%d5];", "read of 8 bytes at param address", {"8"});
  expectOutOfBounds(constants, "mov.b64 %d5, c;\nld.const.b64 %d6, [%d5+16];", "const address", {"0"});
}

TEST(Sandbox, sharedMemoryEnds) {
  expectOutOfBounds("", "st.shared.v4.b32 [%d5], {%r0, %r0, %r0, %r0};", "write of 16 bytes at shared",
                    {"-16", "0", "5120", "0xfffffffffffffff0"});
  // A rank whose low bits alone are a rank of the cluster.
  expectOutOfBounds("", "st.shared.b32 [%d5], %r0;", "shared memory of a CTA that the cluster does not have",
                    {"0x100000001000400", "0x2000400"});
  expectOutOfBounds("", "cvt.u32.u64 %r1, %d5;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];",
                    "read of 16 bytes at shared", {"-16", "5120"});
}

TEST(Sandbox, globalMemoryEnds) {
  expectOutOfBounds("", "st.global.v4.b64 [%d5], {%d5, %d5, %d5, %d5};", "write of 32 bytes", {"-32", "0", "4096"});
  expectOutOfBounds("", "atom.global.add.u64 %d6, [%d5], 1;", "atomic access of 8 bytes", {"-8", "8"});
  expectOutOfBounds("", "red.relaxed.gpu.global.add.v4.f32 [%d5], {%r0, %r0, %r0, %r0};", "atomic access of 16 bytes",
                    {"-16"});
  expectOutOfBounds("", "add.s64 %d6, %d0, %d5;\nst.global.v4.b64 [%d6], {%d5, %d5, %d5, %d5};", "write of 32 bytes",
                    {"4096", "-32"});
}

TEST(Sandbox, copiesEnd) {
  expectOutOfBounds("", "cp.async.cg.shared.global [data], [%d5], 16;", "access of 16 bytes", {"-16", "64"});
  expectOutOfBounds("", "cvt.u32.u64 %r1, %d5;\ncp.async.cg.shared.global [%r1], [%d0], 16;",
                    "access of 16 bytes at shared", {"0", "5120"});
  const std::string out = "cp.async.bulk.global.shared::cta.bulk_group ";
  expectOutOfBounds("", out + "[%d5], [data], 32;", "access of 32 bytes", {"-32", "64"});
  expectOutOfBounds("", "cvt.u32.u64 %r1, %d5;\n" + out + "[%d0], [data], %r1;", "bytes",
                    {"-16", "0x7ffffff0", "8192"});
  expectOutOfBounds("", "discard.global.L2 [%d5], 128;", "access of 128 bytes", {"-128"});
}

TEST(Sandbox, wideVectors) {
  // More than the 32 bytes that a lane can move at once.
  for (const char *text : {"ld.weak.global.v8.b64 {%d1, %d2, %d3, %d4, %d5, %d6, %d7, %d8}, [%d0];",
                           "st.global.v8.b64 [%d0], {%d1, %d2, %d3, %d4, %d5, %d6, %d7, %d8};"}) {
    SimulatedKernel kernel(text);
    GlobalMemory memory;
    auto program = Program::load(*kernel.module, "k", memory);
    ASSERT_FALSE(program);
    EXPECT_NE(program.error().message.find("unsupported instruction"), std::string::npos) << program.error().message;
  }
}

TEST(Sandbox, constantsOf128Bits) {
  SimulatedKernel kernel(".reg .b128 %q<2>;\nmov.b128 %q0, 7;\nst.global.b128 [%d0], %q0;");
  kernel.expectNone();
  const auto *words = reinterpret_cast<const uint64_t *>(kernel.buffers[0].data());
  EXPECT_EQ(words[0], 7u);
  EXPECT_EQ(words[1], 0u);
}

TEST(Sandbox, addressesOfVariables) {
  SimulatedKernel kernel(".global .align 8 .b64 y[4] = {1, 2, 3, 4};\n.global .align 8 .b64 z[2] = {y+8, generic(y)};\n"
                         "ld.global.b64 %d5, [z];\nld.global.b64 %d6, [%d5];\nst.global.b64 [%d0], %d6;");
  kernel.threads = 1;
  kernel.expectNone();
  EXPECT_EQ(*reinterpret_cast<const uint64_t *>(kernel.buffers[0].data()), 2u);
}

/// Returns the error of loading or launching a kernel of this text.
std::string failureOf(const std::string &declarations, uint32_t threads = 32) {
  auto parsed = parsePtx(".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n" + declarations +
                         "\nret;\n}\n");
  if (!parsed)
    return parsed.error().message;
  if (auto status = inlineCalls(*parsed); !status)
    return status.error().message;
  GlobalMemory memory;
  auto program = Program::load(*parsed, "k", memory);
  if (!program)
    return program.error().message;
  LaunchConfig config;
  config.block[0] = threads;
  Reports reports;
  Machine machine(**program, memory, config, reports);
  auto status = machine.run();
  return status ? "" : status.error().message;
}

TEST(Sandbox, sizesAreThoseOfHardware) {
  auto local = [](const std::string &bytes) { return ".local .b8 l[" + bytes + "];\n.reg .b64 %d;\nmov.b64 %d, l;\n"; };
  EXPECT_EQ(failureOf(local("524288")), "");
  EXPECT_EQ(failureOf(local("524289")),
            "line 4: 'k' needs 524289 bytes of local memory per thread; at most 524288 are allowed");
  EXPECT_NE(failureOf(local("67108864")).find("local memory per thread"), std::string::npos);
  // Four variables of 1 GiB: a 32-bit sum of their sizes would overflow to 0.
  std::string four;
  for (char name : {'a', 'b', 'c', 'd'})
    four += std::string(".shared .b8 ") + name + "[1073741824];\n.reg .b32 %" + name + ";\nmov.b32 %" + name + ", " +
            name + ";\n";
  EXPECT_EQ(failureOf(four), "line 4: 'k' needs 4294967296 bytes of shared memory; at most 232448 are allowed");
  EXPECT_EQ(failureOf(".global .b8 g[1073741824];\n.global .b8 h[1];"),
            "line 4: 'k' needs 1073741825 bytes of variables in global memory; at most 1073741824 are allowed");
  EXPECT_EQ(failureOf(".const .b8 c[65537];"),
            "line 4: 'k' needs 65537 bytes of constant memory; at most 65536 are allowed");
  EXPECT_NE(failureOf(".reg .b128 %q<260000>;", 1024).find("registers (133120000 bytes per warp)"), std::string::npos);
  EXPECT_EQ(failureOf(".reg .b32 %" + std::string(1000, 'r') + "<200000>;"),
            "line 6: 200000 names of 1001 bytes are too many");
  EXPECT_EQ(failureOf(".reg .b32 %r<300000>;"), "line 6: more than 262144 registers");
}

TEST(Sandbox, declarationsWithoutSense) {
  EXPECT_EQ(failureOf(".shared .align 0 .b8 s[4];"), "line 6: the alignment 0 is not a power of two");
  EXPECT_EQ(failureOf(".shared .align 3 .b8 s[4];"), "line 6: the alignment 3 is not a power of two");
  EXPECT_NE(failureOf(".shared .align 0x8000000000000000 .b8 s[4];").find("is not a power of two"), std::string::npos);
  EXPECT_EQ(failureOf(".local .b8 l[-1];"), "line 6: an array of this size is not supported");
  EXPECT_EQ(failureOf(".local .b64 l[0x2000000000000000];"), "line 6: an array of this size is not supported");
  EXPECT_EQ(failureOf(".global .b8 g[0];"), "");
  EXPECT_EQ(failureOf("bra nowhere;"), "line 6: the label 'nowhere' does not exist");
  EXPECT_EQ(failureOf(".pragma \"used_bytes_mask x\";"), "line 6: 'used_bytes_mask x' has no mask of 32 bits");
}

TEST(Sandbox, blocksHaveThreeDimensionsOfLimitedSize) {
  SimulatedKernel kernel("");
  GlobalMemory memory;
  auto program = Program::load(*kernel.module, "k", memory);
  ASSERT_TRUE(program);
  LaunchConfig config;
  config.parameters.resize(8);
  // A 64-bit product would wrap around to 1024 threads.
  config.block[0] = 1u << 31, config.block[1] = 1u << 31, config.block[2] = 1024;
  Reports reports;
  EXPECT_FALSE(Machine(**program, memory, config, reports).run());
  config.block[0] = 8, config.block[1] = 1, config.block[2] = 65;
  auto status = Machine(**program, memory, config, reports).run();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "65 threads per CTA in dimension 2; at most 64 are allowed");
}

/// Returns the output of one thread with this format. Its arguments are 8 bytes each; `values` are stored at %d4.
std::string printed(const std::string &format, std::initializer_list<uint64_t> values, unsigned times = 1) {
  std::string text = ".version 8.7\n.target sm_90a\n.address_size 64\n"
                     ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
                     ".global .align 1 .b8 word[4] = \"abc\";\n.global .align 1 .b8 format[" +
                     std::to_string(format.size() + 1) + "] = {";
  for (char c : format)
    text += std::to_string(int(c)) + ",";
  text += "0};\n.visible .entry k()\n{\n.reg .b64 %d<9>;\n.reg .b32 %r<2>;\n.reg .pred %p;\n"
          ".local .align 8 .b8 buffer[64];\nmov.b64 %d5, buffer;\nmov.b32 %r1, 0;\n";
  unsigned at = 0;
  for (uint64_t value : values) {
    text += value == 0xabc ? "mov.b64 %d4, word;\n" : "mov.b64 %d4, " + std::to_string(value) + ";\n";
    text += "st.local.b64 [%d5+" + std::to_string(8 * at++) + "], %d4;\n";
  }
  text += "cvta.local.u64 %d6, %d5;\nmov.b64 %d7, format;\nL:\n{\n.param .b64 a;\n.param .b64 b;\n.param .b32 v;\n"
          "st.param.b64 [a], %d7;\nst.param.b64 [b], %d6;\ncall.uni (v), vprintf, (a, b);\n}\n"
          "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p, %r1, " +
          std::to_string(times) + ";\n@%p bra L;\nret;\n}\n";
  auto parsed = parsePtx(text);
  EXPECT_TRUE(parsed) << parsed.error().message;
  GlobalMemory memory;
  auto program = Program::load(*parsed, "k", memory);
  EXPECT_TRUE(program) << program.error().message;
  LaunchConfig config;
  Reports reports;
  Machine machine(**program, memory, config, reports);
  EXPECT_TRUE(machine.run());
  EXPECT_TRUE(reports.empty());
  return machine.printed.text();
}

/// Two arguments of 32 bits.
uint64_t two(uint32_t first, uint32_t second) {
  return first | uint64_t(second) << 32;
}

TEST(Sandbox, printfKnowsItsConversions) {
  EXPECT_EQ(printed("%d %5u|%-5i|%05x %#o %X%%\n", {two(7, 42), two(3, 255), two(8, 171)}),
            "7    42|3    |000ff 010 AB%\n");
  EXPECT_EQ(printed("%ld %llu %hd %+d", {uint64_t(-5), uint64_t(-1), two(65537, 4)}), "-5 18446744073709551615 1 +4");
  EXPECT_EQ(printed("%f %.2e %g %a", {0x3ff8000000000000, 0x3ff8000000000000, 0x4000000000000000, 0x3ff0000000000000}),
            "1.500000 1.50e+00 2 0x1p+0");
  EXPECT_EQ(printed("%s|%5s|%-5s|%.2s|%c", {0xabc, 0xabc, 0xabc, 0xabc, 'x'}), "abc|  abc|abc  |ab|x");
  EXPECT_EQ(printed("%*d|%-*d|%p", {two(6, 9), two(uint32_t(-3), 1), 0}), "     9|1  |(nil)");
}

TEST(Sandbox, printfHandsNothingToTheHost) {
  // Argument positions, %n, and sizes and flags of the host's printf are printed as text.
  for (const char *format : {"%1$lx %2$lx", "%n", "%lnd", "%hhn", "%'d", "%Id", "%zu", "%jd", "%m", "%", "%5", "%.*d"})
    EXPECT_EQ(printed(format, {0x41414141}), format);
  EXPECT_EQ(printed("%s", {uint64_t(-1)}), "") << "no such string";
  EXPECT_EQ(printed("%s", {0x41414141}), "");
  EXPECT_EQ(printed("%99999999d", {1}).size(), 1024u);
  EXPECT_EQ(printed("%.99999999d", {1}).size(), 1024u);
}

TEST(Sandbox, printfIsBounded) {
  const std::string line(1000, 'a');
  const std::string text = printed(line + "\n", {}, 2000);
  EXPECT_LE(text.size(), PrintBuffer::capacity + 100);
  EXPECT_NE(text.find("\n... and 953 more calls to printf: a launch prints at most 1048576 bytes\n"), std::string::npos)
      << text.substr(text.size() - 200);
}

} // namespace
