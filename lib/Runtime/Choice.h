// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the variant of an artifact for a call. The choice depends on manifests, arguments and properties of the
// device, but does not need the driver.
//
//   load:   manifests ─▶ distinct conditions, grids and GEMM sizes                               Chooser::make
//   device: runnable variants, the parameters of their models, tuning table                      Chooser::onDevice
//   call:   arguments ─▶ the thread's memo ─▶ mask of conditions ─▶ variants that serve ─▶ one   Chooser::choose
//
// Only variants that serve the call and have the most specific target are candidates. Fallbacks are candidates only if
// no other variant serves the call. If a tuning table has an entry for the call, it decides among the candidates.
// Otherwise the candidate with the least expected time is chosen; alternatives are ignored. Candidates without a time
// model come after all candidates with one. They are ordered by descending number of conditions, then by their order in
// the artifact. The choice depends only on artifact, device, table and call. Choosing neither allocates nor locks.
#pragma once

#include "Runtime/Conditions.h"
#include "Runtime/Cost.h"
#include "Runtime/TunedChoice.h"
#include "Target/LeastTimes.h"

#include <functional>

namespace tile::runtime {

/// Properties of a device that affect the choice.
struct DeviceFacts {
  int major = 0, minor = 0; ///< compute capability
  int multiprocessors = 0;
  int sharedBytes = 0;             ///< maximum per block; 0: unknown
  bool canEncodeTensorMaps = true; ///< the driver can encode tensor maps
};

/// Variants of one rank, in the order of the artifact.
struct RankedVariants {
  std::vector<uint16_t> all;
  std::optional<uint16_t> gemm; ///< index of the GEMM sizes that `bounds` are for; most variants share them
  std::vector<uint16_t> timed;  ///< variants with these GEMM sizes
  target::LeastTimes bounds;    ///< lower bounds of their times
};

/// The variants as seen by one device. Immutable.
struct DeviceVariants {
  uint64_t number = 0; ///< unique in the process, because the memos of threads outlive kernels
  int multiprocessors = 0;
  /// per variant: variants of a larger rank are preferred; 0: the variant does not run on the device
  std::vector<uint32_t> rank;
  std::vector<RankedVariants> ranks;                            ///< variants that run, most specific first
  std::vector<std::optional<target::ScheduleFormula>> times;    ///< per variant: its time model; nullopt: unknown
  std::vector<std::optional<target::ProgramTime>> programTimes; ///< per variant: the model of non-GEMM kernels
  std::vector<std::string> obstacles;                           ///< per variant that does not run: the reason
  std::shared_ptr<const TunedChoice> tuning;                    ///< null: no tuning table
  std::string tuningNote;         ///< the table in use, or the reason why there is none; see tile_kernel_tuning
  std::vector<uint16_t> integers; ///< parameters whose values are part of a memo key
  bool canRemember = false;       ///< the memo key is short enough
};

/// /// The result of a choice. Has no initializers, so the thread-local memo is zero-initialized and takes no space in
/// the library.
struct Choice {
  int32_t index; ///< negative: no variant serves the call
  bool isMeasured;
  double microseconds; ///< measured or expected; negative: unknown
  int64_t grid[3];     ///< grid of programs
};

/// The inputs of a launch. `arguments` holds a pointer to each parameter of variant 0, as for cuLaunchKernel.
struct Call {
  void *const *arguments = nullptr;
  const int64_t *grid = nullptr; ///< grid given by the caller; null: each variant computes its own
};

class Chooser {
public:
  /// Makes a chooser for a validated pack or a single manifest, which must outlive it. `withPtx` marks the cubins that
  /// come with PTX, so a driver can compile them, too.
  static Result<Chooser> make(std::vector<const Manifest *> manifests, std::vector<bool> withPtx = {});

  size_t size() const { return variants.size(); }
  const Manifest &manifest(size_t index) const { return *manifests[index]; }

  DeviceVariants onDevice(const DeviceFacts &facts, std::shared_ptr<const TunedChoice> tuning = nullptr) const;
  /// Returns the variants for a device that is known only by the name of a target (Target.h).
  DeviceVariants onTarget(std::string_view target, int multiprocessors) const;

  Choice choose(const Call &call, const DeviceVariants &device) const;

  /// Returns success if the variant serves the call, otherwise the condition that fails.
  Status explain(size_t index, const Call &call, const DeviceVariants &device) const;
  /// Explains why no variant serves the call, in at most `limit` characters.
  Error explainAll(const Call &call, const DeviceVariants &device, size_t limit) const;
  /// Returns the expected microseconds; negative: no model applies.
  double estimate(size_t index, const Call &call, const DeviceVariants &device) const;

  /// Returns the class of a call in tuning tables: the set of variants that serve it, in hexadecimal digits.
  std::string callClass(const Call &call, const DeviceVariants &device) const;
  /// Returns the names of the integer parameters on which the choice depends.
  std::vector<std::string> integersThatMatter() const;
  Result<std::shared_ptr<const TunedChoice>> compile(const TuningTable &table) const;

private:
  struct Variant {
    std::vector<uint16_t> conditions; ///< indices of the variant's conditions
    size_t promises = 0;              ///< conditions that the general variant does not have
    std::vector<Expression> grid;
    std::optional<uint16_t> gemm; ///< index of the variant's GEMM sizes; nullopt: no model, or unsupported target
    std::optional<uint16_t> work; ///< index of the work of the variant's programs; nullopt: as above
    bool takesCallersGrid =
        true; ///< the variant has the constants of variant 0, so a grid that the caller computed suits it
  };
  /// A parameter whose value is read; pointers are read as i64.
  struct Read {
    uint16_t slot;
    DataType type;
  };
  struct Slots;
  enum class GridState { Fits, NoValue, TooLarge, OtherPrograms };

  Status add(const Manifest &manifest);
  void findRelevantSlots();
  DeviceVariants makeDevice(int multiprocessors, std::shared_ptr<const TunedChoice> tuning) const;
  /// Checks whether the device runs code for a target.
  using TargetCheck = std::function<Status(std::string_view target, bool isPtx)>;
  void rankAll(DeviceVariants &device, const TargetCheck &check) const;
  void finish(DeviceVariants &device) const;
  RankedVariants makeRank(uint32_t rank, DeviceVariants &device) const;
  size_t mostPromising(size_t index, const DeviceVariants &device) const;
  double estimate(size_t index, const Call &call, const DeviceVariants &device, const Slots &slots) const;
  Slots read(const Call &call, const DeviceVariants &device) const;
  bool holds(size_t condition, const Slots &slots) const;
  VariantSet findPromised(const Slots &slots) const;
  GridState evaluateGrid(size_t index, const Call &call, const Slots &slots, int64_t grid[3]) const;
  VariantSet findServing(const Call &call, const DeviceVariants &device, const Slots &slots) const;
  Choice decide(const Call &call, const DeviceVariants &device, const Slots &slots) const;
  Choice findFastest(const Call &call, const DeviceVariants &device, const Slots &slots) const;
  Choice findFastest(const Call &call, const DeviceVariants &device, const Slots &slots, const VariantSet &promised,
                     const RankedVariants &among) const;

  std::vector<const Manifest *> manifests;
  std::vector<bool> withPtx; ///< per manifest; empty: only those in PTX format
  std::vector<Variant> variants;
  std::vector<Read> reads;
  std::vector<Condition> conditions;
  std::vector<std::optional<SlotTest>> tests; ///< per condition, if it can be simplified
  std::vector<VariantSet> needing;            ///< per condition: the variants that require it
  VariantSet alternatives;                    ///< variants that only a tuning table chooses
  std::vector<CostSizes> gemms;               ///< distinct GEMM sizes
  std::vector<ProgramsExpressions> works;     ///< distinct program works
  std::vector<uint16_t> pointerConditions;    ///< indices of conditions on pointers; each is a bit of the memo key
  std::vector<uint16_t> integers;             ///< parameters on which the choice depends without a tuning table
};

} // namespace tile::runtime
