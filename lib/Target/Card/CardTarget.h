// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Targets with the constants of one card. Each constant is either derived from the card's figures by a rule of
// CardRules.def, or inherited from the reference card.
//
//   const GpuTarget *gpu = findTarget("sm_89", card);   // tunedOf(*gpu) and ratesOf(*gpu) are those of the card
//
// Figures that were not measured are modelled: they are the reference card's figures, scaled by the properties that the
// card's driver reports and by the rates of the target's data sheet.
#pragma once

#include "Target/Card/Card.h"
#include "Target/Rates.h"
#include "Target/Tuned.h"

namespace tile::target {

/// The constants of one card.
struct CardTuning {
  Card card;
  Tuned tuned;
  Rates rates;
  /// How each constant with a rule was derived: "measured" or "modelled". The key is the constant's name in listTuned.
  std::map<std::string, std::string_view, std::less<>> origins;
};

/// Returns the card to which the constants of Tuned.def were fitted, with the figures that were measured on it.
const Card &referenceCard();

/// Returns the target with the card's constants, name and number of multiprocessors. The target exists until the
/// process ends; equal cards share one target. The card must have the target's compute capability.
const GpuTarget &targetOf(const GpuTarget &gpu, const Card &card);

/// Returns the target with this name; null if there is none. The target is adapted to `card` if the card has the
/// target's compute capability.
const GpuTarget *findTarget(std::string_view name, const std::optional<Card> &card);

/// Returns a description of the source of the target's constants, for users: "measured on NVIDIA L4, 2026-12-01: 30
/// figures, from which 35 constants follow; 160 are inherited from H100, H200".
std::string describeConstants(const GpuTarget &gpu);

} // namespace tile::target
