// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Documentation of the language's functions, for the reference (tools/docs) and for hover and completion in editors:
//
//   findBuiltinDoc("load")->signature   "tl.load(pointer, mask=None, other=None, …)"
//   findBuiltinDoc("load")->text        "Reads one element per pointer. …"
//
// The descriptions are in BuiltinDocs.def. Plain C++, without the emitters.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tile::frontend {

struct BuiltinDoc {
  std::string_view name;  ///< as in Builtins.def: "load", "builtins.min", "desc.load", "libdevice.pow"
  std::string spelling;   ///< as in a kernel: "tl.load", "min", "desc.load", "libdevice.pow"
  std::string signature;  ///< the spelling with its parameters and their defaults
  bool isMethod;          ///< x.name(…) is equivalent, with x as the first argument
  std::string_view group; ///< heading above it
  std::string_view types; ///< "fp32, fp64 → same"
  std::string_view text;  ///< a paragraph of Markdown
};

/// Returns one entry for each line of Builtins.def, sorted by the order of groups in BuiltinDocs.def, then by the order
/// of lines in Builtins.def. Functions without a description come last.
const std::vector<BuiltinDoc> &builtinDocs();

/// Finds an entry by its spelling ("tl.load", "min" for Python's) or, if there is none, by its name in Builtins.def
/// ("load"). Returns null if neither exists.
const BuiltinDoc *findBuiltinDoc(std::string_view name);

/// Returns the names of entries of BuiltinDocs.def that belong to no function.
std::vector<std::string_view> unusedBuiltinDocs();

} // namespace tile::frontend
