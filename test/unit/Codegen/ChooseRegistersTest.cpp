// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests which numbers of CTAs are tried for a kernel and which one is chosen, with a mock assembler that looks up
// results in a table.
#include "Codegen/ChooseRegisters.h"

#include "CubinText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

#include <map>

using namespace tile;
using namespace tile::codegen;

namespace {

struct Answer {
  unsigned registers, spills = 0; // registers per thread; spills in bytes
  bool warns = false;
  unsigned instructions = 1; // instructions that do not wait for loads
  unsigned latencies = 0;    // latencies of loads that are awaited one after another
};

/// The results of the mock ptxas by the requested number of CTAs (0: no request). A missing entry means that ptxas
/// fails.
using Table = std::map<unsigned, Answer>;

constexpr const char *mma = "mma.sync.aligned", *straight = "ld.global.b32 %r1, [%rd1];",
                     *loading = "$L__BB0_1:\n\tld.global.b32 %r1, [%rd1];\n\t@%p1 bra \t$L__BB0_1;",
                     *copying = "$L__BB0_1:\n\tld.global.b32 %r1, [%rd1];\n\t@%p2 st.global.b32 [%rd2], %r1;\n"
                                "\t@%p1 bra \t$L__BB0_1;";

/// Registers of the choice, and the numbers of CTAs with which ptxas was called.
std::pair<unsigned, std::vector<unsigned>> choose(const Table &table, llvm::StringRef body, unsigned threads = 128,
                                                  int64_t shared = 0) {
  std::vector<unsigned> asked;
  auto assemble = [&](llvm::StringRef ptx) -> llvm::Expected<Assembled> {
    llvm::StringRef text = ptx.split(".minnctapersm ").second;
    unsigned ctas = 0;
    text.consumeInteger(10, ctas);
    asked.push_back(ctas);
    auto found = table.find(ctas);
    if (found == table.end())
      return llvm::createStringError("too many registers");
    Assembled made;
    std::vector<Words> code(found->second.instructions, {0x7918, 1ull << 41 | 7ull << 46});
    for (unsigned load = 0; load < found->second.latencies; ++load)
      code.insert(code.end(), {{0x402057981, 1ull << 41}, {0x7918, 1ull << 41 | 7ull << 46 | 1ull << 52}});
    made.cubin = makeCubin(code);
    made.report.kernels.push_back({"kernel", found->second.registers, found->second.spills, 0, 0, 0});
    if (found->second.warns)
      made.report.warnings.push_back("(C7511) Potential Performance Loss");
    return made;
  };
  std::string ptx = llvm::formatv(".entry kernel()\n.reqntid {0}\n{{\n\t{1}\n}\n", threads, body);
  llvm::Expected<Assembled> made = chooseRegisters(ptx, *target::findTarget("sm_90a"), shared, assemble);
  if (!made) {
    llvm::consumeError(made.takeError());
    return {0, asked};
  }
  return {made->report.kernels.front().registers, asked};
}

using Choice = std::pair<unsigned, std::vector<unsigned>>;

} // namespace

TEST(ChooseRegisters, mmaKernelsTakeOneCtaMoreAtATime) {
  EXPECT_EQ(choose({{0, {165}}, {4, {128}}}, mma), Choice(128, {0, 4}));
  EXPECT_EQ(choose({{0, {234}}, {3, {168}}}, mma), Choice(168, {0, 3}));
  EXPECT_EQ(choose({{0, {120}}, {5, {96}}, {6, {80}}, {7, {72, 300}}}, mma), Choice(80, {0, 5, 6, 7}));
}

TEST(ChooseRegisters, negative_mmaKernelsThatSpillOrWaitKeepTheirRegisters) {
  EXPECT_EQ(choose({{0, {246}}}, mma), Choice(246, {0, 2}));                     // 78 registers are too many
  EXPECT_EQ(choose({{0, {150}}, {4, {128, 152}}}, mma), Choice(150, {0, 4, 3})); // the code for four CTAs spills
  // the location of spills is unknown
  EXPECT_EQ(choose({{0, {200}}, {3, {168, 8}}}, mma), Choice(200, {0, 3, 2}));
  EXPECT_EQ(choose({{0, {200}}, {3, {168, 0, true}}}, mma), Choice(200, {0, 3, 2})); // wgmma would wait
  EXPECT_EQ(choose({{0, {165}}}, mma, 128, 100 << 10), Choice(165, {0, 2}));         // no shared memory
}

TEST(ChooseRegisters, fewWarpsGetTheRegistersThatNobodyElseHas) {
  EXPECT_EQ(choose({{0, {139, 0, false, 9}}, {10, {152}}}, mma, 32, 20 << 10), Choice(152, {0, 10}));
  EXPECT_EQ(choose({{0, {246, 0, false, 9}}, {2, {250}}}, mma), Choice(250, {0, 2}));
  // If two orders are equally good, the one whose loads are awaited together is chosen.
  EXPECT_EQ(choose({{0, {246, 0, false, 9, 2}}, {2, {250, 0, false, 9, 1}}}, mma), Choice(250, {0, 2}));
  // A CTA without MMAs that is alone on its multiprocessor.
  EXPECT_EQ(choose({{0, {82, 0, false, 9, 3}}, {1, {78, 0, false, 9, 2}}}, copying, 512), Choice(78, {0, 2, 2, 1}));
}

TEST(ChooseRegisters, negative_registersThatGainNothing) {
  EXPECT_EQ(choose({{0, {246}}, {2, {250}}}, mma), Choice(246, {0, 2}));
  EXPECT_EQ(choose({{0, {246, 0, false, 9}}, {2, {250, 0, true}}}, mma), Choice(246, {0, 2})); // wgmma would wait
  EXPECT_EQ(choose({{0, {246, 0, false, 9}}, {2, {250, 8}}}, mma), Choice(246, {0, 2})); // the code for two CTAs spills
  // A multiprocessor has enough warps.
  EXPECT_EQ(choose({{0, {80, 0, false, 9}}, {3, {80}}}, mma, 256), Choice(80, {0, 4}));
  // the CTA already has all registers
  EXPECT_EQ(choose({{0, {248, 0, false, 9}}, {1, {250}}}, mma, 256), Choice(248, {0}));
}

TEST(ChooseRegisters, loopsThatOnlyLoadGetRegisters) {
  EXPECT_EQ(choose({{0, {32}}, {2, {50}}}, loading, 256), Choice(50, {0, 2}));
  EXPECT_EQ(choose({{0, {29}}, {4, {34}}}, loading), Choice(34, {0, 4}));
}

TEST(ChooseRegisters, loopsWhoseLoadsAreSerialGetRegisters) {
  EXPECT_EQ(choose({{0, {56, 0, false, 9, 4}}, {4, {80, 0, false, 9, 1}}}, loading), Choice(80, {0, 4}));
  EXPECT_EQ(choose({{0, {32, 0, false, 9, 4}}, {4, {64, 0, false, 9, 1}}}, straight), Choice(64, {0, 4}));
  EXPECT_EQ(choose({{0, {40, 0, false, 9, 4}}, {16, {40}}, {4, {64, 0, false, 9, 1}}}, copying),
            Choice(64, {0, 16, 4}));
}

TEST(ChooseRegisters, negative_serialLoadsThatThreadsHide) {
  EXPECT_EQ(choose({{0, {56, 0, false, 9, 4}}, {4, {120, 0, false, 9, 3}}}, loading), Choice(56, {0, 4}));
  // The other code spills.
  EXPECT_EQ(choose({{0, {56, 0, false, 9, 4}}, {4, {80, 8, false, 9, 1}}}, loading), Choice(56, {0, 4}));
  // The kernel is limited by instruction issue.
  EXPECT_EQ(choose({{0, {56, 0, false, 900, 1}}}, loading), Choice(56, {0}));
}

TEST(ChooseRegisters, negative_loopsThatHaveThem) {
  EXPECT_EQ(choose({{0, {54}}}, loading), Choice(54, {0}));
  EXPECT_EQ(choose({{0, {32}}, {2, {32, 8}}}, loading, 1024), Choice(32, {0, 2})); // the code for two CTAs spills
}

TEST(ChooseRegisters, othersGetThreads) {
  EXPECT_EQ(choose({{0, {72}}, {8, {64, 8}}}, straight), Choice(64, {0, 8}));
  EXPECT_EQ(choose({{0, {34}}, {2, {32}}}, straight, 1024), Choice(32, {0, 2}));
  EXPECT_EQ(choose({{0, {160}}, {4, {64, 300}}, {2, {128, 100}}}, straight, 256), Choice(128, {0, 4, 2}));
  EXPECT_EQ(choose({{0, {80}}, {8, {64, 76}}, {4, {96}}}, copying), Choice(96, {0, 8, 4}));
  EXPECT_EQ(choose({{0, {160}}, {4, {64, 300}}, {2, {128, 100}}}, copying, 256), Choice(128, {0, 4, 2}));
  // Kernels that always spill are assembled for one CTA.
  EXPECT_EQ(choose({{0, {168, 600}}, {1, {255, 500}}}, copying), Choice(255, {0, 1}));
}

TEST(ChooseRegisters, negative_halfOfTheThreadsIfLoopsSpill) {
  EXPECT_EQ(choose({{0, {80}}, {2, {64, 72}}, {1, {78}}}, copying, 512), Choice(80, {0, 2, 2, 1}));
}

TEST(ChooseRegisters, oneCtaMoreIfItCostsLessThanItGains) {
  EXPECT_EQ(choose({{0, {48, 0, false, 100}}, {3, {40, 0, false, 109}}}, straight, 512), Choice(40, {0, 3}));
  EXPECT_EQ(choose({{0, {49, 0, false, 100}}, {3, {40, 0, false, 109}}}, straight, 512), Choice(40, {0, 3}));
  EXPECT_EQ(choose({{0, {48, 0, false, 100}}, {3, {40, 0, false, 119}}}, straight, 512), Choice(48, {0, 3}));
}

TEST(ChooseRegisters, allThreadsIfTheyCostNothing) {
  EXPECT_EQ(choose({{0, {40}}, {16, {32}}}, straight), Choice(32, {0, 16}));
}

TEST(ChooseRegisters, negative_allThreadsAtACost) {
  EXPECT_EQ(choose({{0, {40}}, {16, {32, 4}}}, straight), Choice(40, {0, 16})); // the code for 16 CTAs spills
  // The other code takes twice the cycles.
  EXPECT_EQ(choose({{0, {40}}, {16, {32, 0, false, 2}}}, straight), Choice(40, {0, 16}));
  EXPECT_EQ(choose({{0, {48}}, {12, {40}}}, straight), Choice(48, {0})); // occupancy increases too little
}

TEST(ChooseRegisters, negative_fewRegistersStay) {
  EXPECT_EQ(choose({{0, {64}}}, straight), Choice(64, {0}));
  EXPECT_EQ(choose({{0, {32}}}, copying), Choice(32, {0}));
  EXPECT_EQ(choose({{0, {32}}}, mma, 0), Choice(32, {0}));
}

TEST(ChooseRegisters, negative_aSilentPtxasIsAskedOnce) {
  unsigned calls = 0;
  auto silent = [&](llvm::StringRef) -> llvm::Expected<Assembled> { return ++calls, Assembled{"cubin", {}}; };
  for (const char *body : {mma, loading, copying, straight}) {
    std::string ptx = llvm::formatv(".reqntid 128\n{{\n{0}\n}\n", body);
    calls = 0;
    EXPECT_EQ(llvm::cantFail(chooseRegisters(ptx, *target::findTarget("sm_90a"), 0, silent)).cubin, "cubin");
    EXPECT_EQ(calls, 1u);
  }
}

TEST(ChooseRegisters, negative_failuresAreHandedOn) {
  EXPECT_EQ(choose({}, mma), Choice(0, {0}));
  EXPECT_EQ(choose({}, loading), Choice(0, {0}));
}
