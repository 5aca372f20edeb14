// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the functions of the language do, for the reference (tools/docs) and for an editor's hover and completion:
//
//   findBuiltinDoc("load")->signature   "tl.load(pointer, mask=None, other=None, …)"
//   findBuiltinDoc("load")->text        "Reads one element per pointer. …"
//
// The texts are in BuiltinDocs.def. Plain C++, without the emitters.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tile::frontend {

struct BuiltinDoc {
  std::string_view name;  ///< as in Builtins.def: "load", "builtins.min", "desc.load", "libdevice.pow"
  std::string spelling;   ///< as a kernel writes it: "tl.load", "min", "desc.load", "libdevice.pow"
  std::string signature;  ///< the spelling with its parameters and their defaults
  bool isMethod;          ///< x.name(…) is the same with x as the first argument
  std::string_view group; ///< the heading that it stands under
  std::string_view types; ///< "fp32, fp64 → same"
  std::string_view text;  ///< a paragraph of Markdown
};

/// One entry for each line of Builtins.def, in the order of groups in BuiltinDocs.def, else in that of Builtins.def.
/// What has no text comes last, with empty ones.
const std::vector<BuiltinDoc> &builtinDocs();

/// By the spelling ("tl.load", "min" for Python's), else by the name in Builtins.def ("load"); null if there is none.
const BuiltinDoc *findBuiltinDoc(std::string_view name);

/// Texts of BuiltinDocs.def that belong to no function.
std::vector<std::string_view> unusedBuiltinDocs();

} // namespace tile::frontend
