// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Invariants of the target and mma.sync tables.
#include "Target/GpuTarget.h"
#include "Target/MmaTable.h"
#include "Target/Rates.h"

#include <gtest/gtest.h>

using namespace tile::target;

TEST(GpuTarget, findsEveryTargetByItsName) {
  ASSERT_GE(allTargets().size(), 9u);
  for (const GpuTarget *target : allTargets())
    EXPECT_EQ(findTarget(target->name), target);
  EXPECT_EQ(findTarget("sm_42"), nullptr);
  EXPECT_EQ(findTarget(""), nullptr);
}

TEST(GpuTarget, nameAgreesWithCapability) {
  for (const GpuTarget *target : allTargets()) {
    std::string name = "sm_" + std::to_string(target->capability);
    EXPECT_TRUE(target->name == name || target->name == name + "a" || target->name == name + "f") << target->name;
  }
}

TEST(GpuTarget, sharedMemoryOfACtaFitsTheMultiprocessor) {
  for (const GpuTarget *target : allTargets()) {
    EXPECT_LE(target->maxSharedPerCta, target->sharedPerSm) << target->name;
    EXPECT_GE(target->maxSharedPerCta, 49152u) << target->name; // maximum static shared memory of every target
    EXPECT_EQ(target->sharedPerSm % 1024, 0u) << target->name;
  }
}

TEST(GpuTarget, ptxVersionIsOneThatLlvmKnows) {
  for (const GpuTarget *target : allTargets()) {
    EXPECT_GE(target->ptxVersion, 80u) << target->name;
    EXPECT_LE(target->ptxVersion, 90u) << target->name;
  }
}

TEST(GpuTarget, architectureSpecificFeaturesNeedTheSuffix) {
  for (const GpuTarget *target : allTargets())
    for (Feature feature : {Feature::Wgmma, Feature::Tcgen05, Feature::SetMaxRegisters})
      if (target->has(feature))
        EXPECT_TRUE(target->name.ends_with('a') || target->name.ends_with('f')) << target->name;
  EXPECT_TRUE(findTarget("sm_90a")->has(Feature::Wgmma));
  EXPECT_FALSE(findTarget("sm_90")->has(Feature::Wgmma));
  EXPECT_FALSE(findTarget("sm_75")->has(Feature::AsyncCopy));
}

TEST(Rates, mmaSyncReachesTheRateOfTensorCoresWithoutAnotherEngine) {
  auto rate = [](const char *name) { return ratesOf(*findTarget(name)).ofMmaSync16; };
  EXPECT_EQ(rate("sm_75"), 512);
  EXPECT_EQ(rate("sm_80"), 1024);
  EXPECT_EQ(rate("sm_86"), 256);
  EXPECT_EQ(rate("sm_87"), 512);
  EXPECT_EQ(rate("sm_89"), 256);
  EXPECT_EQ(rate("sm_90"), 1024);
  EXPECT_EQ(rate("sm_90a"), 1024);
  EXPECT_EQ(rate("sm_100a"), 1024);
  EXPECT_EQ(rate("sm_120"), 256);
  EXPECT_EQ(rate("sm_120a"), 256);
  EXPECT_EQ(rate("sm_121a"), 256);
}

TEST(MmaTable, widestHalfPrecisionShapeByTarget) {
  auto k = [](const char *name, MmaType type) {
    const MmaInstruction *mma = widestMma(*findTarget(name), type, type, MmaType::F32);
    return mma ? mma->k : 0;
  };
  EXPECT_EQ(k("sm_75", MmaType::F16), 8u);
  EXPECT_EQ(k("sm_80", MmaType::F16), 16u);
  EXPECT_EQ(k("sm_75", MmaType::BF16), 0u);
  EXPECT_EQ(k("sm_120", MmaType::BF16), 16u);
  EXPECT_EQ(k("sm_80", MmaType::TF32), 8u);
  EXPECT_EQ(k("sm_86", MmaType::F8E4M3), 0u);
  EXPECT_EQ(k("sm_89", MmaType::F8E4M3), 32u);
}

TEST(MmaTable, everyFragmentIsAWholeNumberOfRegistersPerThread) {
  for (const GpuTarget *target : allTargets())
    for (MmaType type : {MmaType::F16, MmaType::BF16, MmaType::TF32, MmaType::F64, MmaType::S8, MmaType::F8E5M2})
      for (MmaType accumulator : {MmaType::F16, MmaType::F32, MmaType::F64, MmaType::S32})
        for (const MmaInstruction *mma : mmaInstructions(*target, type, type, accumulator)) {
          EXPECT_EQ(mma->m * mma->k * mmaTypeBits(type) % (threadsPerWarp * 32), 0u);
          EXPECT_EQ(mma->k * mma->n * mmaTypeBits(type) % (threadsPerWarp * 32), 0u);
        }
}

TEST(MmaTable, noTensorCoresForSinglePrecisionOperands) {
  EXPECT_EQ(widestMma(*findTarget("sm_90a"), MmaType::F32, MmaType::F32, MmaType::F32), nullptr);
}
