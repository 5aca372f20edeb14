// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests that every function of the language is documented, and that each text belongs to a function.

#include "Frontend/Syntax/BuiltinDocs.h"

#include <gtest/gtest.h>

using namespace tile::frontend;

TEST(BuiltinDocs, EveryFunctionHasText) {
  for (const BuiltinDoc &doc : builtinDocs()) {
    EXPECT_FALSE(doc.text.empty()) << doc.name << " has no entry in BuiltinDocs.def";
    EXPECT_TRUE(doc.text.empty() || doc.text.ends_with('.')) << doc.name << ": the text is not a sentence";
    EXPECT_TRUE(doc.text.empty() || doc.types.find("→") != std::string_view::npos) << doc.name << ": no types";
  }
}

TEST(BuiltinDocs, NoTextIsLeftOver) {
  for (std::string_view name : unusedBuiltinDocs())
    ADD_FAILURE() << name << " of BuiltinDocs.def is not a function";
}

TEST(BuiltinDocs, FoundAsWritten) {
  ASSERT_TRUE(findBuiltinDoc("tl.load"));
  EXPECT_EQ(findBuiltinDoc("tl.load"), findBuiltinDoc("load"));
  EXPECT_EQ(findBuiltinDoc("program_id")->signature, "tl.program_id(axis)");
  EXPECT_EQ(findBuiltinDoc("min")->name, "builtins.min");
  EXPECT_EQ(findBuiltinDoc("tl.min")->name, "min");
  EXPECT_EQ(findBuiltinDoc("desc.load")->signature, "desc.load(offsets)");
  EXPECT_EQ(findBuiltinDoc("nothing"), nullptr);
}

TEST(BuiltinDocs, EntriesCountBeforeFamilies) {
  EXPECT_NE(findBuiltinDoc("libdevice.normcdf")->text, findBuiltinDoc("libdevice.norm3d")->text);
  EXPECT_EQ(findBuiltinDoc("libdevice.norm4d")->text, findBuiltinDoc("libdevice.norm3d")->text);
}
