// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which variant of an artifact a call takes. No driver: manifests, arguments and what is known of a device.
//
//   load:  manifests ─▶ conditions, each once; grids; sizes of products                         Chooser::make
//   device: which variants run there, what they take, with which tuning table                   Chooser::onDevice
//   call:  arguments ─▶ the thread's memo ─▶ mask of conditions ─▶ variants that serve ─▶ one    Chooser::choose
//
// Of the variants that serve, those for the most specific target count; of them the one that a table of measurements
// names for this call, else the one with the least expected time. If no model knows a variant's time, it comes after
// those that have one: the more conditions, the earlier, and else in the order of the artifact. The choice depends on
// nothing but artifact, device, table and call. It touches no heap and takes no lock.
#pragma once

#include "Runtime/Conditions.h"
#include "Runtime/Cost.h"
#include "Runtime/TunedChoice.h"
#include "Target/LeastTimes.h"

#include <functional>

namespace tile::runtime {

/// What the choice asks about a device.
struct DeviceFacts {
  int major = 0, minor = 0; ///< compute capability
  int multiprocessors = 0;
  int sharedBytes = 0;             ///< that a block may have; 0: unknown
  bool canEncodeTensorMaps = true; ///< the driver can
};

/// Variants of one rank, in the order of the artifact.
struct RankedVariants {
  std::vector<uint16_t> all;
  std::optional<uint16_t> product; ///< number of sizes from which a model knows times, mostly of all
  std::vector<uint16_t> timed;     ///< variants with that product
  target::LeastTimes bounds;       ///< of their times
};

/// The variants on one device. Immutable.
struct DeviceVariants {
  uint64_t number = 0; ///< no other has it, in the whole process: memos of threads outlive kernels
  int multiprocessors = 0;
  std::vector<uint32_t> rank;        ///< of each variant: the larger the better; 0: it does not run
  std::vector<RankedVariants> ranks; ///< variants that run, the most specific ones first
  std::vector<std::optional<target::ScheduleFormula>> times; ///< of each variant: what the model says; nothing: unknown
  std::vector<std::optional<target::ProgramTime>> programTimes; ///< of those that are no products, the same
  std::vector<std::string> obstacles;                           ///< of variants that do not run: why
  std::shared_ptr<const TunedChoice> tuning;                    ///< null: none
  std::string tuningNote;         ///< which table is used, or why none is; see tile_kernel_tuning
  std::vector<uint16_t> integers; ///< parameters whose values are in a memo's key
  bool canRemember = false;       ///< the key is short enough
};

/// Without initial values, so that the memory of threads for choices begins as zeros, which take no place in the
/// library.
struct Choice {
  int32_t index; ///< below 0: no variant serves the call
  bool isMeasured;
  double microseconds; ///< measured or expected; below 0: nobody knows
  int64_t grid[3];     ///< of programs
};

/// What a launch gives. `arguments` as for cuLaunchKernel, for the parameters of variant 0.
struct Call {
  void *const *arguments = nullptr;
  const int64_t *grid = nullptr; ///< the caller's own; null: each variant's
};

class Chooser {
public:
  /// Makes a chooser for a validated pack or a single manifest, which must outlive it. `withPtx`: which of them a
  /// driver can compile from PTX, beside those in that format.
  static Result<Chooser> make(std::vector<const Manifest *> manifests, std::vector<bool> withPtx = {});

  size_t size() const { return variants.size(); }
  const Manifest &manifest(size_t index) const { return *manifests[index]; }

  DeviceVariants onDevice(const DeviceFacts &facts, std::shared_ptr<const TunedChoice> tuning = nullptr) const;
  /// Where no device is known: the variants that one runs for which a target stands (Target.h).
  DeviceVariants onTarget(std::string_view target, int multiprocessors) const;

  Choice choose(const Call &call, const DeviceVariants &device) const;

  /// Success if the variant serves the call, else what fails.
  Status explain(size_t index, const Call &call, const DeviceVariants &device) const;
  /// Why no variant serves the call, in at most `limit` characters.
  Error explainAll(const Call &call, const DeviceVariants &device, size_t limit) const;
  /// Expected microseconds; below 0: no model knows.
  double estimate(size_t index, const Call &call, const DeviceVariants &device) const;

  /// The class of a call in tuning tables: which variants serve it, as hexadecimal digits.
  std::string callClass(const Call &call, const DeviceVariants &device) const;
  /// Names of the integer parameters on which the choice depends.
  std::vector<std::string> integersThatMatter() const;
  Result<std::shared_ptr<const TunedChoice>> compile(const TuningTable &table) const;

private:
  struct Variant {
    std::vector<uint16_t> conditions; ///< their numbers
    size_t promises = 0;              ///< conditions that the general variant has not
    std::vector<Expression> grid;
    std::optional<uint16_t> product; ///< number of its sizes; nothing: no model, or none that knows the target
    std::optional<uint16_t> work;    ///< number of the work of its programs; nothing: as above
    bool takesCallersGrid = true;    ///< its constants are those of variant 0, so that programs are the same
  };
  /// Of a parameter whose value is asked for; pointers count as i64.
  struct Read {
    uint16_t slot;
    DataType type;
  };
  struct Slots;
  enum class GridState { Fits, NoValue, TooLarge, OtherPrograms };

  Status add(const Manifest &manifest);
  void findWhatMatters();
  DeviceVariants makeDevice(int multiprocessors, std::shared_ptr<const TunedChoice> tuning) const;
  /// Whether the device runs code for a target.
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
  std::vector<bool> withPtx; ///< of each manifest; empty: of none but those of PTX
  std::vector<Variant> variants;
  std::vector<Read> reads;
  std::vector<Condition> conditions;
  std::vector<std::optional<SlotTest>> tests; ///< of each condition, if it is that simple
  std::vector<VariantSet> needing;            ///< of each condition: the variants that need it
  std::vector<CostSizes> products;            ///< whose times models know, each once
  std::vector<ProgramsExpressions> works;     ///< of programs, each once
  std::vector<uint16_t> pointerConditions;    ///< numbers of those on pointers: a bit each of a memo's key
  std::vector<uint16_t> integers;             ///< parameters that matter without a tuning table
};

} // namespace tile::runtime
