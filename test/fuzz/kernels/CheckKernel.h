// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs all variants of a kernel in a separate process, and compares each with the interpreter. Crashes and endless
// loops are results, too.
#pragma once

#include "RunKernel.h"

#include <optional>

namespace tile::fuzz {

struct Verdict {
  enum class Kind {
    Same,      ///< all variants agree
    Skipped,   ///< an invalid mutant
    Undefined, ///< the interpreter reports an error of the kernel
    Rejected,  ///< a compiler's error
    Failed,    ///< the device reports an error: a race, an access out of bounds
    Different, ///< different values
    Crash,
    Hang,
  };
  Kind kind = Kind::Same;
  size_t variant = 0; ///< index of the variant in the list
  std::string message;

  bool isFinding() const { return kind != Kind::Same && kind != Kind::Skipped; }
  /// Returns the part of a message that stays the same when the kernel gets smaller: without values and locations.
  std::string signature() const;
};

const char *nameOf(Verdict::Kind kind);

/// The first variant is the interpreter. `seconds` are CPU time for each variant.
Verdict checkKernel(const std::string &text, const std::vector<Variant> &variants, double seconds);

} // namespace tile::fuzz
