// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A card: the properties that its driver reports and the figures that `tile-run tune --calibrate` measures, as a text
// file.
//
//   tile-card 1
//   name           NVIDIA H200
//   capability     9.0
//   ...
//   clock          1.98   GHz   0.1   fma_f32: clocks of a multiprocessor over nanoseconds of the card
//
// Columns are separated by tabs: key, value, unit, spread in per cent of the value, and how the value was measured. The
// last two are for human readers. A line that begins with # is a comment. A figure that is not in the file was not
// measured.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tile::target {

/// Measured figures; 0 if a figure was not measured.
struct CardFigures {
#define CARD_FIGURE(member, key, unit, least, most, meaning) double member = 0;
#include "Target/Card/CardFigures.def"
#undef CARD_FIGURE

  bool operator==(const CardFigures &) const = default;
};

/// A row of CardFigures.def.
struct CardFigure {
  std::string_view key, unit;
  double least, most;
  std::string_view meaning;
  double CardFigures::*member;
};
std::span<const CardFigure> cardFigures();
/// Returns the figure with this key, or null.
const CardFigure *findFigure(std::string_view key);

struct Card {
  std::string name;        ///< "NVIDIA H200"
  unsigned capability = 0; ///< compute capability times ten
  double multiprocessors = 0;
  double clockGHz = 0;    ///< maximum clock of the multiprocessors; 0: unknown
  double memory = 0;      ///< B/ns of DRAM, computed from the memory clock and the width of the memory bus; 0: unknown
  double l2Bytes = 0;     ///< 0: unknown
  double memoryBytes = 0; ///< 0: unknown
  std::string driver, tile,
      date; ///< the CUDA version that the driver supports, the version of tile-run, the day of measurement
  CardFigures figures;

  /// For readers of the file: spread and origin of a figure, by its key.
  struct Note {
    double spread = 0; ///< interquartile range in per cent of the value
    std::string how;
    bool operator==(const Note &) const = default;
  };
  std::map<std::string, Note, std::less<>> notes;

  bool isMeasured() const { return figures != CardFigures(); }
  bool operator==(const Card &) const = default;
};

/// A card or, if the text is not a valid file of a card, an error message that begins with the line number.
struct CardResult {
  std::optional<Card> card;
  std::string error;
};
CardResult parseCard(std::string_view text);
std::string printCard(const Card &card);

/// Returns why a value of a figure is certainly wrong, for example "0 GHz; expected 0.1 to 10"; empty if it may be
/// right.
std::string checkFigure(const CardFigure &figure, double value);

} // namespace tile::target
