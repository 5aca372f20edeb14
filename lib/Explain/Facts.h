// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler's facts about a kernel, as plain data. PassRecord collects them and the views show them. They are empty
// for an artifact, which contains only code.
#pragma once

#include "Layout/LinearLayout.h"

#include <set>
#include <string>
#include <vector>

namespace tile::explain {

/// Lines of text, each with the source line from which it was generated; 0: there is none.
struct MarkedText {
  std::vector<std::string> lines;
  std::vector<unsigned> source;
};

/// A layout and all values that have it.
struct RecordedLayout {
  layout::LinearLayout layout;
  bool isShared = false;
  unsigned elementBits = 0;
  std::vector<std::string> types; ///< "128x64xf16"
  std::set<unsigned> lines;       ///< source lines
};

/// A buffer or barrier in the shared memory of the CTA.
struct SharedPiece {
  int64_t offset = 0, bytes = 0, slots = 1;
  std::string type; ///< "128x64xf16", "barrier"
  unsigned line = 0;
};

/// A remark of a pass.
struct Remark {
  std::string text;
  unsigned line = 0;
};
/// The IR after a pass.
struct Form {
  std::string pass;
  MarkedText text;
  std::vector<Remark> remarks;
  bool hasLayouts = false; ///< values have layouts (CTA-level IR)
  bool isKernel = false;   ///< false: lowered to LLVM
};

struct CompilerFacts {
  std::vector<Form> forms;
  std::vector<RecordedLayout> layouts; ///< layouts of the last IR that has any
  std::vector<SharedPiece> shared;     ///< shared memory of the same IR

  /// Returns the last form of the kernel whose values have layouts; null if there is none.
  const Form *lastWithLayouts() const {
    for (size_t i = forms.size(); i-- > 0;)
      if (forms[i].isKernel && forms[i].hasLayouts)
        return &forms[i];
    return nullptr;
  }
};

} // namespace tile::explain
