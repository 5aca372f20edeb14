// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel in all its variants, each compared with the interpreter, in a process of its own: what crashes or does not
// end is a result like others.
#pragma once

#include "RunKernel.h"

#include <optional>

namespace tile::fuzz {

struct Verdict {
  enum class Kind {
    Same,      ///< all variants agree
    Skipped,   ///< a mutant that is no valid kernel
    Undefined, ///< the interpreter says what the kernel does wrong
    Rejected,  ///< a compiler's error
    Failed,    ///< the device says what is wrong: a race, an access outside
    Different, ///< other numbers
    Crash,
    Hang,
  };
  Kind kind = Kind::Same;
  size_t variant = 0; ///< of the list
  std::string message;

  bool isFinding() const { return kind != Kind::Same && kind != Kind::Skipped; }
  /// What stays the same when the kernel gets smaller: the message without its numbers and places.
  std::string signature() const;
};

const char *nameOf(Verdict::Kind kind);

/// The first variant is the interpreter. `seconds` are of processor time, for each of them.
Verdict checkKernel(const std::string &text, const std::vector<Variant> &variants, double seconds);

} // namespace tile::fuzz
