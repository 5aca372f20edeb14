// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler's findings about a file: types, errors, warnings, engines.
#include "Client.h"

using namespace tile::lsp::test;

namespace {

TEST(LanguageServer, KnowsTypes) {
  Client client;
  client.edit(R"(#: grid(1)
#: buffer x[64] = inout
@tile.kernel
def k(x: ptr[f16], n: i32, B: constexpr = 32, C: constexpr = B0, D: constexpr = -1):
    i = tl.arange(0, B)
    SIZE: constexpr = B * 2
    y = f(tl.load(x + i))
    z = f(n)
    for j in tl.static_range(2):
        tl.store(x + i + j, y)


B0 = 4


@tile.jit
def f(v):  # comment
    return v + v
)");
  int hints = client.askAbout("textDocument/inlayHint");
  int local = client.askAt("textDocument/hover", 4, 4), argument = client.askAt("textDocument/hover", 16, 6);
  int constant = client.askAt("textDocument/hover", 5, 22), operation = client.askAt("textDocument/hover", 6, 20);
  int call = client.askAt("textDocument/hover", 6, 15), function = client.askAt("textDocument/hover", 7, 8);
  client.run();
  const StringRef shown = client.answers[hints];
  for (const char *label :
       {": int32[32]", " = 64", ": fp16[32]", ": int32", ": fp16[32] or int32", " = 4", ": int = 0 or 1"})
    EXPECT_TRUE(shown.contains(formatv("\"label\":\"{0}\"", label).str())) << label << shown.str();
  EXPECT_FALSE(shown.contains("= 32") || shown.contains("= -1")); // the source text states it
  for (auto [id, text] : {std::pair{local, "i: int32[32]"},
                          {argument, "v: fp16[32] or int32"},
                          {constant, "B: int = 32"},
                          {operation, "pointer<fp16>[32]"},
                          {call, "Here: `fp16[32]`"},
                          {function, "def f(v)\\n"}})
    EXPECT_TRUE(StringRef(client.answers[id]).contains(text)) << text << client.answers[id];
}

TEST(LanguageServer, KnowsSeveralTypesOfAPlace) {
  Client client;
  client.edit(R"(#: grid(1)
@tile.kernel
def k(n: i32, N: constexpr = None):
    a = f(n, 1, N)
    b = f(2, 3, N)
    for i in tl.static_range(9):
        c = f(1.0, i, N)


@tile.jit
def f(v, w: tl.constexpr, x):
    return v
)");
  int hints = client.askAbout("textDocument/inlayHint");
  client.run();
  for (const char *label : {": int32 or int or float", ": int", ": None", ": int32 = 2"})
    EXPECT_TRUE(StringRef(client.answers[hints]).contains(formatv("\"label\":\"{0}\"", label).str()))
        << label << client.answers[hints];
}

TEST(LanguageServer, KnowsTypesOfHalfAText) {
  Client client;
  client.edit("@tile.kernel\ndef k(x: ptr[f16]):\n    i = tl.arange(0, 32)\n    j = (\n    tl.store(x + i, unknown)\n");
  int hints = client.askAbout("textDocument/inlayHint");
  client.run();
  EXPECT_TRUE(StringRef(client.answers[hints]).contains(": int32[32]")) << client.answers[hints];
  EXPECT_EQ(client.codes(), "unclosed-bracket ");
}

TEST(LanguageServer, FindsErrorsWithoutTypes) {
  for (auto [text, codes] : {
           // If a file has one kernel, also in branches and loops with unknown conditions, and in functions that are
           // never called.
           std::pair{"@triton.jit\ndef k(x, n):\n    tl.store(x + n, unknown)\n", "unknown-name "},
           {"@triton.jit\ndef k(x, n):\n    if n:\n        a = 1\n    elif x:\n        b = missing\n    else:\n        "
            "c = gone\n"
            "    tl.store(x, a + b + c)\n",
            "unknown-name unknown-name "},
           {"@triton.jit\ndef k(x, n):\n    s = 0.0\n    for i in range(n):\n        t = s + i\n        s = t + lost\n "
            "   tl.store(x, s)\n",
            "unknown-name "},
           {"@triton.jit\ndef k(x, n):\n    while n:\n        n = n - lost\n", "unknown-name "},
           {"@tile.kernel\ndef a(x: i32):\n    pass\n\n\n@tile.jit\ndef f(x, *rest):\n    return x + tl.lod(x)\n",
            "unknown-member "},
           {"#: grid(1)\n@tile.kernel\ndef a(x: i32):\n    lost(x)\n\n\n#: grid(1)\n@tile.kernel\ndef b(x: i32):\n    "
            "gone(x)\n",
            "unknown-name unknown-name "},
           {"@triton.jit\ndef k(x, n, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n    if n is None:\n        y "
            "= 1\n"
            "    else:\n        y = tl.load(n)\n    tl.static_assert(BLOCK > 3)\n    tl.store(x + i, y, mask=i < n)\n",
            ""},
           {"@triton.jit\ndef f(a, b):\n    if a > b:\n        return a\n    return 3\n\n\n@triton.jit\ndef k(x, n):\n"
            "    for i in range(0, f(n, 4)):\n        x += i\n    return\n",
            ""},
       }) {
    Client client;
    client.edit(text);
    client.run();
    EXPECT_EQ(client.codes(), codes) << text;
  }
}

TEST(LanguageServer, HeedsOptions) {
  const char *text = "#: grid(1)\n@tile.kernel\ndef k(x: ptr[f16], n: i32, m: i32):\n    for i in range(n):\n"
                     "        if i == m:\n            break\n    tl.store(x + i * n * m, 0.0)\n";
  for (bool isTile1 : {false, true}) {
    Client client;
    if (isTile1)
      client.options.standard = tile::frontend::Standard::Tile1;
    client.options.warnings.silence();
    client.edit(text);
    client.run();
    EXPECT_EQ(client.codes(), isTile1 ? "unusable-name " : "jump-needs-tile1 unusable-name ");
  }
}

TEST(LanguageServer, ReportsLintsAsWarnings) {
  Client client;
  client.edit("#: grid(1)\n@tile.kernel\ndef k(x: ptr[f16], n: i32, m: i32):\n    i = tl.arange(0, 64)\n"
              "    tl.store(x, tl.sum(tl.load(x + i * n * m, mask=i < n)))\n");
  client.run();
  EXPECT_NE(client.codes().find("offset-overflow"), std::string::npos) << client.codes();
  for (const json::Value &one : *client.published.back().getArray("diagnostics"))
    EXPECT_EQ(one.getAsObject()->getInteger("severity"), 2);
}

TEST(LanguageServer, KnowsEnginesOnceSaved) {
  const std::string text = read(std::string(TILE_EXAMPLES) + "/matmul.tile");
  const unsigned line = StringRef(text).take_front(text.rfind("tl.dot")).count('\n');
  Client client;
  client.edit(text);
  int before = client.askAt("textDocument/hover", line, 18);
  client.notify("textDocument/didSave", json::Object{{"textDocument", json::Object{{"uri", uri}}}});
  int after = client.askAt("textDocument/hover", line, 18);
  client.run();
  EXPECT_FALSE(StringRef(client.answers[before]).contains("dot uses")) << client.answers[before];
  EXPECT_TRUE(StringRef(client.answers[after]).contains("dot uses wgmma")) << client.answers[after];
}

} // namespace
