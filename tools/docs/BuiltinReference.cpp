// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// builtin-reference: prints the reference page of the language's functions as Markdown, from BuiltinDocs.h.

#include "Frontend/Syntax/BuiltinDocs.h"

#include <cstdio>
#include <string>

using tile::frontend::BuiltinDoc;

int main() {
  std::fputs("# Functions of the language\n\nParameters with a default may be omitted. `T[…]` is a block of elements "
             "of type `T`; a scalar is accepted wherever a block is, and operands are broadcast to a common shape. "
             "Functions marked *method* can also be called as `x.name(…)`, with `x` as the first argument. Built-in "
             "functions of Python, and those of `tl` whose names have no other meaning, may be written without `tl.`; "
             "`libdevice` is imported as in Triton (`from triton.language.extra import libdevice`).\n",
             stdout);
  std::string_view group;
  const auto &docs = tile::frontend::builtinDocs();
  for (size_t i = 0; i < docs.size(); ++i) {
    const BuiltinDoc &doc = docs[i];
    if (doc.group != group)
      std::printf("\n## %s\n", std::string(group = doc.group).c_str());
    // Functions of one family share a text, which follows the last one.
    std::printf("\n### `%s`\n", doc.signature.c_str());
    bool isLast = i + 1 == docs.size() || docs[i + 1].text.data() != doc.text.data();
    if (!isLast)
      continue;
    std::printf("\n*%s%s*\n\n%s\n", std::string(doc.types).c_str(), doc.isMethod ? " · method" : "",
                std::string(doc.text).c_str());
  }
  return 0;
}
