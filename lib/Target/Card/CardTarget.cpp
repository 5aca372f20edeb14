// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Card/CardTarget.h"

#include "Target/Engines/BufferEngines.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <type_traits>

namespace tile::target {

const Card &referenceCard() {
  static const Card card = [] {
    Card h200;
    h200.name = "NVIDIA H200";
    h200.capability = 90;
    h200.multiprocessors = 132;
    h200.clockGHz = 1.98;
    h200.memory = 4814;
    h200.l2Bytes = 62914560;
    h200.memoryBytes = 150109880320;
    h200.figures = {
#include "Target/Card/ReferenceFigures.inc"
    };
    return h200;
  }();
  return card;
}

namespace {

/// Fills in the unknown properties of a card. They are taken from the data sheet of the target's GPU, relative to the
/// data sheet of the reference card.
Card withProperties(const GpuTarget &gpu, Card card) {
  const Card &reference = referenceCard();
  const Rates own = ratesOf(gpu), ofReference = ratesOf(measuredTarget());
  auto fill = [](double &value, double modelled) { value = value > 0 ? value : modelled; };
  fill(card.multiprocessors, gpu.numSms);
  fill(card.clockGHz, reference.clockGHz * own.clockGHz / ofReference.clockGHz);
  fill(card.memory, reference.memory * own.memory / ofReference.memory);
  fill(card.l2Bytes, reference.l2Bytes * own.l2 / ofReference.l2);
  return card;
}

/// Returns the figures that are expected of a card, derived from its properties and the rates of its target.
CardFigures modelFigures(const GpuTarget &gpu, const Card &card) {
  const Card &reference = referenceCard();
  const Rates own = ratesOf(gpu), ofReference = ratesOf(measuredTarget());
  CardFigures figures = reference.figures;
  auto scale = [&](std::initializer_list<double CardFigures::*> members, double ratio) {
    for (double CardFigures::*member : members)
      figures.*member *= ratio;
  };
  const double clock = card.clockGHz / reference.clockGHz, sms = card.multiprocessors / reference.multiprocessors,
               dots = own.multiplyAdds16 / ofReference.multiplyAdds16, ingest = own.ingest / ofReference.ingest;
  scale({&CardFigures::clock}, clock);
  scale({&CardFigures::wgmmaF16, &CardFigures::tcgen05F16}, dots);
  if (hasBufferEngine(gpu)) {
    scale({&CardFigures::sustainedF16}, dots * sms * clock);
  } else {
    // With wgmma or tcgen05, mma.sync does not reach the tensor cores' rate. Cards of one compute capability differ in
    // their rate, so a measured one also scales what the card sustains.
    figures.mmaF16 = own.ofMmaSync16;
    const double rate = card.figures.mmaF16 > 0 ? card.figures.mmaF16 : figures.mmaF16;
    scale({&CardFigures::sustainedF16}, rate / ofReference.multiplyAdds16 * sms * clock);
  }
  scale({&CardFigures::fmaF32}, own.lanes / ofReference.lanes);
  scale({&CardFigures::exp2}, own.special / ofReference.special);
  scale({&CardFigures::dramRead, &CardFigures::dramReadNarrow, &CardFigures::dramReadFew, &CardFigures::dramWrite},
        card.memory / reference.memory);
  scale({&CardFigures::l2Read, &CardFigures::l2ReadNarrow, &CardFigures::l2ReadFew}, sms * ingest);
  scale({&CardFigures::smIngest}, ingest);
  return figures;
}

/// The figures and properties that a rule reads, and whether all of them are known for the card.
class Facts {
public:
  Facts(const GpuTarget &gpu, const Card &card)
      : gpu(&gpu), known(card), card(withProperties(gpu, card)), modelled(modelFigures(gpu, this->card)) {}

  double figure(double CardFigures::*member) {
    const double value = card.figures.*member;
    areMeasured &= value > 0;
    return value > 0 ? value : modelled.*member;
  }
  double property(double Card::*member) {
    areMeasured &= known.*member > 0;
    return card.*member;
  }
  /// Returns the rate of the fastest engine for f16.
  double fastestDots() {
    return figure(gpu->has(Feature::Tcgen05) ? &CardFigures::tcgen05F16
                  : gpu->has(Feature::Wgmma) ? &CardFigures::wgmmaF16
                                             : &CardFigures::mmaF16);
  }
  /// Returns the rate of mma.sync for f16 in a GEMM. With wgmma or tcgen05, a loop of nothing but mma.sync is faster
  /// than a GEMM can be (Rates::ofMmaSync16).
  double mmaSyncDots() {
    const double shareOfLoop = ratesOf(measuredTarget()).ofMmaSync16 / referenceCard().figures.mmaF16;
    return figure(&CardFigures::mmaF16) * (hasBufferEngine(*gpu) ? shareOfLoop : 1);
  }
  /// Returns what the card sustains with mma.sync, which is the share of its fastest engine's throughput that mma.sync
  /// has of that engine's rate.
  double sustainedMmaSync() { return figure(&CardFigures::sustainedF16) * mmaSyncDots() / fastestDots(); }

  bool areMeasured = true;

private:
  const GpuTarget *gpu;
  const Card &known;
  Card card; ///< the card, with modelled properties
  CardFigures modelled;
};

/// The ratio of a card's quantity to the same quantity of the reference card.
struct Ratio {
  double value;
  bool isMeasured;
};
template <typename Quantity> Ratio ratioOf(const GpuTarget &gpu, const Card &card, Quantity quantity) {
  Facts own(gpu, card), ofReference(measuredTarget(), referenceCard());
  const double value = quantity(own);
  return {value / quantity(ofReference), own.areMeasured};
}

/// Multiplies a constant by a ratio. The result is rounded if the constant is an integer.
template <typename Constant> void multiply(Constant &constant, double ratio) {
  const double value = double(constant) * ratio;
  constant = std::is_integral_v<Constant> ? Constant(value + 0.5) : Constant(value);
}

std::string_view originOf(const Ratio &ratio) {
  return ratio.isMeasured ? "measured" : "modelled";
}

CardTuning derive(const GpuTarget &gpu, const Card &card) {
  CardTuning tuning{
      .card = card, .tuned = tunedOf(measuredTarget()), .rates = ratesOf(measuredTarget()), .origins = {}};
  Tuned &tuned = tuning.tuned;
#define FIGURE(member) facts.figure(&CardFigures::member)
#define PROPERTY(member) facts.property(&Card::member)
#define SET_RULE(constant, quantity, condition)                                                                        \
  {                                                                                                                    \
    const Ratio ratio = ratioOf(gpu, card, [](Facts &facts) { return quantity; });                                     \
    auto apply = [&](GemmConstants &set, std::string_view name) {                                                      \
      if (!(condition))                                                                                                \
        return;                                                                                                        \
      multiply(set.constant, ratio.value);                                                                             \
      tuning.origins[std::string(name) + "." #constant] = originOf(ratio);                                             \
    };                                                                                                                 \
    applyToSets(tuned, apply);                                                                                         \
  }
#define GEMM_RULE(constant, quantity) SET_RULE(constant, quantity, true)
#define GROUPS_RULE(constant, quantity) SET_RULE(constant, quantity, !name.starts_with("mmaSync"))
#define MMA_SYNC_RULE(constant, quantity) SET_RULE(constant, quantity, name.starts_with("mmaSync"))
#define TUNED_RULE(constant, quantity)                                                                                 \
  {                                                                                                                    \
    const Ratio ratio = ratioOf(gpu, card, [](Facts &facts) { return quantity; });                                     \
    multiply(tuned.constant, ratio.value);                                                                             \
    tuning.origins[#constant] = originOf(ratio);                                                                       \
  }
#define RATE_RULE(constant, quantity)                                                                                  \
  multiply(tuning.rates.constant, ratioOf(gpu, card, [](Facts &facts) { return quantity; }).value);
  auto applyToSets = [](Tuned &row, auto apply) {
#define TUNED(type, name, value, unit, meaning, measured)
#define TUNED_GEMM(name, meaning, measured, ...) apply(row.name, #name);
#include "Target/Tuned.def"
#undef TUNED
#undef TUNED_GEMM
  };
#include "Target/Card/CardRules.def"
#undef GEMM_RULE
#undef GROUPS_RULE
#undef MMA_SYNC_RULE
#undef SET_RULE
#undef TUNED_RULE
#undef RATE_RULE
#undef FIGURE
#undef PROPERTY
  return tuning;
}

/// A target together with the constants to which it points.
struct KeptTarget {
  CardTuning tuning;
  GpuTarget gpu;
};

} // namespace

const GpuTarget &targetOf(const GpuTarget &gpu, const Card &card) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<KeptTarget>> kept;
  const std::string key = std::string(gpu.name) + '\n' + printCard(card);
  const std::lock_guard lock(mutex);
  std::unique_ptr<KeptTarget> &found = kept[key];
  if (found)
    return found->gpu;
  found = std::make_unique<KeptTarget>(KeptTarget{derive(gpu, card), gpu});
  found->gpu.numSms = unsigned(card.multiprocessors);
  found->gpu.deviceName = found->tuning.card.name;
  found->gpu.card = &found->tuning;
  return found->gpu;
}

const GpuTarget *findTarget(std::string_view name, const std::optional<Card> &card) {
  const GpuTarget *gpu = findTarget(name);
  return gpu && card && card->capability == gpu->capability ? &targetOf(*gpu, *card) : gpu;
}

std::string describeConstants(const GpuTarget &gpu) {
  const std::string fitted(measuredTarget().deviceName);
  if (!gpu.card)
    return isMeasured(gpu) ? "measured on " + fitted
                           : "modelled: no constants were measured on " + std::string(gpu.deviceName) +
                                 "; the constants of " + fitted + " stand in";
  const Card &card = gpu.card->card;
  size_t measured = 0, modelled = 0, figures = 0;
  for (const auto &[name, origin] : gpu.card->origins)
    ++(origin == "measured" ? measured : modelled);
  for (const CardFigure &figure : cardFigures())
    figures += card.figures.*figure.member > 0;
  const size_t inherited = listTuned(gpu).size() - measured - modelled;
  std::string text = card.isMeasured() ? "measured on " + card.name + (card.date.empty() ? "" : ", " + card.date) +
                                             ": " + std::to_string(figures) + " figures, from which " +
                                             std::to_string(measured) + " constants follow"
                                       : "modelled from the properties of " + card.name;
  if (modelled > 0)
    text += "; " + std::to_string(modelled) + " constants are scaled by its properties and data sheet";
  return text + "; " + std::to_string(inherited) + " are inherited from " + fitted;
}

} // namespace tile::target
