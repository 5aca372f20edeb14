// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses the string that specifies the contents of a buffer.
#pragma once

#include "Runtime/Result.h"

#include <optional>
#include <string>
#include <vector>

namespace tile::runner {

struct FillText {
  std::string function; ///< "list" for [...]; "file" for a file
  std::vector<std::string> arguments;
  std::optional<uint64_t> seed;
};

/// Parses one of the forms in BufferSource.h. An error lists the expected form.
runtime::Result<FillText> parseFill(const std::string &text);

} // namespace tile::runner
