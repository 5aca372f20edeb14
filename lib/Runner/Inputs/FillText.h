// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text that says what fills a buffer, taken apart.
#pragma once

#include "Runtime/Result.h"

#include <optional>
#include <string>
#include <vector>

namespace tile::runner {

struct FillText {
  std::string function; ///< "list" for [...], "file"
  std::vector<std::string> arguments;
  std::optional<uint64_t> seed;
};

/// Of one of the forms in BufferSource.h; an error says which form was expected.
runtime::Result<FillText> parseFill(const std::string &text);

} // namespace tile::runner
