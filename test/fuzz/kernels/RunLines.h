// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The launches in tests: `tilec run` and `%tilec-run` in the RUN lines of .tile and .test files.
#pragma once

#include <string>
#include <vector>

namespace tile::fuzz {

/// Returns the words of each launch, without the program's name. Substitutions that the file defines are replaced, `%s`
/// and `%examples` are not. Commands that must fail are skipped.
std::vector<std::vector<std::string>> readLaunches(const std::string &text);

} // namespace tile::fuzz
