// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests the plans that passes and cost model share, by tables.
#include "Target/Plan/CopyStages.h"
#include "Target/Plan/OperandOrders.h"
#include "Target/Plan/Residency.h"
#include "Target/Plan/RingSlots.h"
#include "Target/Plan/RoleRegisters.h"
#include "Target/Plan/StorePanels.h"
#include "Target/SharedMemory.h"
#include "Target/Tuned.h"

#include <gtest/gtest.h>

#include <set>

using namespace tile::target;

// Values of CUDA's occupancy calculator (cuda_occupancy.h).
TEST(Residency, isThatOfTheScarcestResource) {
  struct Row {
    const char *target;
    CtaUse use;
    int64_t ctas;
    Resource bottleneck;
  };
  const Row rows[] = {
      {"sm_90a", {.threads = 128}, 16, Resource::Threads},
      {"sm_90a", {.threads = 32}, 32, Resource::Ctas},
      {"sm_90a", {.threads = 128, .registers = 255}, 2, Resource::Registers},
      {"sm_90a", {.threads = 160, .registers = 168}, 2, Resource::Registers},
      // Two of the partitions have three warps, although all registers together would suffice for two CTAs.
      {"sm_90a", {.threads = 160, .registers = 176}, 1, Resource::Registers},
      {"sm_90a", {.threads = 32, .registers = 152}, 12, Resource::Registers},
      {"sm_90a", {.threads = 128, .sharedBytes = 113 * 1024}, 2, Resource::SharedMemory},
      {"sm_90a", {.threads = 128, .sharedBytes = 113 * 1024 + 1}, 1, Resource::SharedMemory},
      {"sm_80", {.threads = 128, .sharedBytes = 81 * 1024}, 2, Resource::SharedMemory},
      {"sm_80", {.threads = 128, .sharedBytes = 82 * 1024}, 1, Resource::SharedMemory},
      {"sm_120a", {.threads = 384, .registers = 168}, 1, Resource::Registers},
      {"sm_120a", {.threads = 128, .sharedBytes = 49 * 1024}, 2, Resource::SharedMemory},
      // The driver reserves nothing before Ampere.
      {"sm_75", {.threads = 128, .sharedBytes = 64 * 1024}, 1, Resource::SharedMemory},
      {"sm_75", {.threads = 128, .sharedBytes = 32 * 1024}, 2, Resource::SharedMemory},
      {"sm_75", {.threads = 1024}, 1, Resource::Threads},
  };
  for (const Row &row : rows) {
    Residency held = planResidency(*findTarget(row.target), row.use);
    EXPECT_EQ(held.ctas(), row.ctas) << row.target << ", row " << &row - rows;
    EXPECT_EQ(resourceName(held.bottleneck()), resourceName(row.bottleneck)) << row.target << ", row " << &row - rows;
  }
}

TEST(Residency, oneCtaHasAllSharedMemoryThatACtaMayHave) {
  for (const GpuTarget *target : allTargets()) {
    EXPECT_EQ(planResidency(*target, {.threads = 128, .sharedBytes = target->maxSharedPerCta}).byShared, 1)
        << target->name;
    EXPECT_EQ(sharedForCtas(*target, 1), target->maxSharedPerCta) << target->name;
  }
}

TEST(Residency, whatIsGivenToCtasFitsThem) {
  for (const GpuTarget *target : allTargets())
    for (int64_t ctas : {1, 2, 3, 4, 6, 8})
      for (int64_t threads : {32, 96, 128, 160, 256}) {
        CtaUse use{threads, std::min<int64_t>(registersForCtas(ctas, threads), maxRegistersPerThread),
                   sharedForCtas(*target, ctas)};
        Residency held = planResidency(*target, use);
        EXPECT_GE(held.byRegisters, ctas) << target->name << " " << ctas << "x" << threads;
        EXPECT_GE(held.byShared, ctas) << target->name << " " << ctas;
        if (use.registers < maxRegistersPerThread) {
          use.registers += registerGranule;
          EXPECT_LT(planResidency(*target, use).byRegisters, ctas) << target->name << " " << ctas << "x" << threads;
        }
      }
  EXPECT_EQ(registersForCtas(2, 160), 168);
  EXPECT_EQ(registersForCtas(4, 128), 128);
  EXPECT_EQ(registersOfLoneCta(128), 255);
  EXPECT_EQ(registersOfLoneCta(512), 128);
}

TEST(RingSlots, getTheSharedMemoryThatNoSecondCtaHasRoomFor) {
  struct Row {
    const char *target;
    unsigned stages;
    ProducerCta cta;
    unsigned slots;
  };
  const Row rows[] = {
      // Half of a multiprocessor's shared memory, less the driver's part: 113 KiB on Hopper, 49 KiB on sm_120.
      {"sm_90a", 3, {4, 64, 113 * 1024}, 3},
      {"sm_90a", 3, {4, 64, 113 * 1024 + 1}, 6},
      {"sm_120a", 3, {4, 64, 49 * 1024}, 3},
      {"sm_120a", 3, {4, 64, 49 * 1024 + 1}, 6},
      // Registers: two CTAs of five warps have no more than 204 per thread.
      {"sm_90a", 2, {4, 172, 1024}, 2},
      {"sm_90a", 2, {4, 173, 1024}, 4},
      {"sm_90a", 3, {8, 32, 1024}, 6},
      // Other numbers of stages were requested explicitly.
      {"sm_90a", 1, {8, 200, 200 * 1024}, 1},
      {"sm_90a", 4, {8, 200, 200 * 1024}, 4},
  };
  for (const Row &row : rows)
    EXPECT_EQ(chooseSlots(*findTarget(row.target), row.stages, row.cta), row.slots)
        << row.target << ", row " << &row - rows;
}

TEST(RingSlots, innermostRingsShareWhatIsFree) {
  using Slots = std::vector<unsigned>;
  const RingPlan once{.slotBytes = 1024, .wanted = 1, .isInnermost = false};
  const RingPlan loop{.slotBytes = 1024, .wanted = 3, .isInnermost = true};
  const RingPlan large{.slotBytes = 4096, .wanted = 3, .isInnermost = true};
  const RingPlan shared{.slotBytes = 1024, .wanted = 3, .isInnermost = true, .shares = true};
  const int64_t kib = ringBytes(1024, 1);
  EXPECT_EQ(planRingSlots({once, loop}, 4 * kib, 1), Slots({1, 3}));
  EXPECT_EQ(planRingSlots({once, loop}, 4 * kib - 1, 1), Slots({1, 2}));
  EXPECT_EQ(planRingSlots({loop, loop}, 5 * kib, 1), Slots({3, 2})); // the loops get slots in turn
  EXPECT_EQ(planRingSlots({loop, shared}, 3 * kib, 1), Slots({3, 0}));
  EXPECT_EQ(planRingSlots({large, loop}, ringBytes(4096, 1) + 3 * kib, 1), Slots({1, 3}));
  // Each ring gets its minimum, or there is no plan.
  EXPECT_EQ(planRingSlots({once, loop}, 2 * kib, 1), Slots({1, 1}));
  EXPECT_EQ(planRingSlots({once, loop}, 2 * kib - 1, 1), std::nullopt);
  EXPECT_EQ(planRingSlots({once, loop}, 3 * kib, 2), Slots({1, 2}));
  EXPECT_EQ(planRingSlots({once, loop}, 3 * kib - 1, 2), std::nullopt);
}

TEST(RoleRegisters, rolesHaveNoMoreThanTheCtaStartsWith) {
  const GpuTarget &gpu = *findTarget("sm_90a");
  EXPECT_EQ(planRoleRegisters(gpu, 4), std::nullopt);
  EXPECT_EQ(planRoleRegisters(gpu, 8), (RoleRegisters{232, 40}));
  EXPECT_EQ(planRoleRegisters(gpu, 12), (RoleRegisters{152, 40}));
  for (const GpuTarget *target : allTargets())
    for (unsigned warps = 8; warps <= 28; warps += 4) {
      RoleRegisters roles = *planRoleRegisters(*target, warps);
      unsigned threads = (warps + countProducerWarps(true)) * threadsPerWarp;
      EXPECT_LE(roles.consumer * warps + roles.producer * countProducerWarps(true),
                registersAtStart(1, threads) * threads / threadsPerWarp)
          << target->name << " " << warps;
    }
}

TEST(RoleRegisters, chainsShareTheirMultiprocessor) {
  struct Row {
    unsigned groups;
    int64_t tensors, accumulator;
    std::vector<unsigned> ctas; ///< numbers of CTAs of the plans
    unsigned consumer;          ///< consumer registers of the first plan
  };
  const Row rows[] = {
      {1, 80, 34, {4, 3, 2}, 104}, {1, 81, 34, {3, 2}, 136}, {1, 81, 98, {2}, 232},
      {1, 192, 98, {2}, 232},      {1, 193, 98, {}, 0},      {1, 192, 99, {}, 0},
      {2, 80, 50, {2}, 104},       {2, 81, 50, {}, 0},       {4, 1, 1, {}, 0},
  };
  for (const Row &row : rows) {
    std::vector<SharedRoleRegisters> plans =
        planSharedRoleRegisters(*findTarget("sm_90a"), row.groups, row.tensors, row.accumulator);
    std::vector<unsigned> ctas;
    for (const SharedRoleRegisters &plan : plans)
      ctas.push_back(plan.ctas);
    EXPECT_EQ(ctas, row.ctas) << "row " << &row - rows;
    if (!plans.empty())
      EXPECT_EQ(plans.front().registers.consumer, row.consumer) << "row " << &row - rows;
  }
}

TEST(StorePanels, coverTheBlock) {
  EXPECT_EQ(planStorePanels(256, 64), (StorePanels{64, 4, 2, 0}));
  EXPECT_EQ(planStorePanels(64, 64), (StorePanels{64, 1, 1, 0}));
  EXPECT_EQ(planStorePanels(32, 64), (StorePanels{32, 1, 1, 0}));
  EXPECT_EQ(planStorePanels(144, 64), (StorePanels{64, 2, 2, 16}));
  EXPECT_EQ(planStorePanels(144, 64, /*mayHaveRemainder=*/false), (StorePanels{16, 9, 2, 0}));
  EXPECT_EQ(planStorePanels(224, 64), (StorePanels{64, 3, 2, 32}));
  EXPECT_EQ(planStorePanels(112, 64), (StorePanels{16, 7, 2, 0})); // 48 is not a power of two
  EXPECT_EQ(planStorePanels(96, 64), (StorePanels{64, 1, 1, 32}));
  for (int64_t size = 8; size <= 256; size += 8)
    for (bool mayHaveRemainder : {false, true}) {
      StorePanels panels = planStorePanels(size, 64, mayHaveRemainder);
      EXPECT_EQ(panels.panel * panels.count + panels.remainder, size);
      EXPECT_LE(panels.buffered(), size);
      EXPECT_TRUE(mayHaveRemainder || panels.remainder == 0);
    }
}

TEST(CopyStages, leaveRoomForAnotherCta) {
  struct Row {
    const char *target;
    CopyLoop loop;
    int64_t stages;
  };
  const Row rows[] = {
      {"sm_90a", {.wanted = 3, .stageBytes = 24 << 10}, 3}, // registers hold three CTAs anyway
      {"sm_90a", {.wanted = 3, .stageBytes = 32 << 10}, 2},
      {"sm_90a", {.wanted = 3, .stageBytes = 40 << 10}, 2},
      {"sm_90a", {.wanted = 3, .stageBytes = 40 << 10, .multipliesByGroups = true}, 3},
      {"sm_90a", {.wanted = 4, .stageBytes = 40 << 10}, 4}, // neither four nor three CTAs fit
      {"sm_90a", {.wanted = 2, .stageBytes = 60 << 10}, 2}, // with one CTA, no loop would run ahead
      {"sm_120a", {.wanted = 3, .stageBytes = 32 << 10}, 3},
      {"sm_120a", {.wanted = 3, .stageBytes = 40 << 10}, 2},
      {"sm_120a", {.wanted = 3, .stageBytes = 24 << 10}, 2},
      {"sm_120a", {.wanted = 3, .stageBytes = 24 << 10, .otherBytes = 8 << 10}, 3},
      {"sm_80", {.wanted = 8, .stageBytes = 32 << 10, .otherBytes = 40 << 10}, 3},
      {"sm_80", {.wanted = 3, .stageBytes = 0}, 0},
  };
  for (const Row &row : rows)
    EXPECT_EQ(planCopyStages(*findTarget(row.target), row.loop), row.stages) << row.target << ", row " << &row - rows;
}

TEST(OperandOrders, onlyHalvesAreReadInEitherOrder) {
  using enum OperandSource;
  struct Row {
    BlockOrders orders;
    BlockSources inOrder;
    bool isSwapped;
  };
  const Row rows[] = {
      {{16, false, false}, {Tma, Tma}, false},
      {{8, true, true}, {Tma, Tma}, false},
      {{8, false, true}, {Transposed, Tma}, false},
      {{8, true, false}, {Tma, Transposed}, false},
      {{32, false, true}, {Registers, Tma}, false},
      {{32, true, false}, {Tma, Transposed}, true},
      {{32, false, false}, {Registers, Transposed}, false}, // if swapped, the other operand would be stored
  };
  for (const Row &row : rows) {
    EXPECT_EQ(sourcesInOrder(row.orders), row.inOrder) << "row " << &row - rows;
    EXPECT_EQ(swapSavesTransposition(row.orders), row.isSwapped) << "row " << &row - rows;
    EXPECT_EQ(sourcesSwapped({row.orders.bits, row.orders.bKMajor, row.orders.aKMajor}), row.inOrder);
  }
}

TEST(OperandOrders, rowsThatWgmmaDoesNotHaveBecomeColumns) {
  for (int64_t rows : {64, 128, 256})
    EXPECT_FALSE(gainsBySwap(rows)) << rows;
  for (int64_t rows : {8, 16, 32, 96, 144, 192})
    EXPECT_TRUE(gainsBySwap(rows)) << rows;
}

TEST(Tuned, everyConstantSaysUnitMeaningAndSource) {
  for (const GpuTarget *target : allTargets()) {
    std::set<std::string_view> names;
    for (const TunedConstant &constant : listTuned(*target)) {
      EXPECT_TRUE(names.insert(constant.name).second) << constant.name;
      EXPECT_FALSE(constant.unit.empty() || constant.meaning.empty() || constant.measured.empty()) << constant.name;
    }
  }
  EXPECT_TRUE(isMeasured(*findTarget("sm_90a")));
  EXPECT_FALSE(isMeasured(*findTarget("sm_120a")));
}
