// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests the cache of results in files.
#include "tile/Compiler.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace fs = std::filesystem;
using tile::Compiler;
using tile::CompileResult;

namespace {

constexpr const char *fill = R"(
@triton.jit
def fill(x: ptr[f32], VALUE: constexpr = 1):
    tl.store(x + tl.arange(0, 32), tl.full((32,), VALUE, tl.float32))
)";

class Cache : public testing::Test {
protected:
  Cache() {
    std::string name = (fs::temp_directory_path() / "tile-cache-XXXXXX").string();
    folder = mkdtemp(name.data());
    settings.cacheFolder = folder / "cache";
  }
  ~Cache() override { fs::remove_all(folder); }

  CompileResult compile(const std::string &source = fill, std::vector<std::string> options = {}) {
    options.push_back("--emit=ptx");
    CompileResult made = Compiler(settings).compile(source, options, (folder / "fill.tile").string());
    EXPECT_TRUE(made) << made.error;
    return made;
  }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    for (const fs::directory_entry &entry : fs::recursive_directory_iterator(settings.cacheFolder))
      if (entry.is_regular_file())
        found.push_back(entry.path());
    return found;
  }
  static void write(const fs::path &path, const std::string &text) { std::ofstream(path) << text; }
  static void age(const fs::path &path) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(2));
  }

  fs::path folder;
  tile::CompilerSettings settings;
};

TEST_F(Cache, KeepsResults) {
  CompileResult first = compile(), second = compile();
  EXPECT_FALSE(first.isCached());
  EXPECT_TRUE(second.isCached());
  EXPECT_EQ(first.text(), second.text());
  EXPECT_FALSE(compile(fill, {"-DVALUE=2"}).isCached());
  EXPECT_FALSE(compile(std::string(fill) + "\n").isCached());
}

TEST_F(Cache, KeepsWarnings) {
  std::string source = "@triton.jit\ndef k(x: ptr[f32], n: i32):\n    y = tl.dot(tl.zeros((32, 32), tl.float32), "
                       "tl.zeros((32, 32), tl.float32))\n"
                       "    tl.store(x, tl.sum(y))\n";
  CompileResult first = compile(source, {"-Wall"}), second = compile(source, {"-Wall"});
  EXPECT_TRUE(second.isCached());
  EXPECT_GT(first.diagnostics.size(), 0u);
  ASSERT_EQ(first.diagnostics.size(), second.diagnostics.size());
  EXPECT_EQ(first.diagnostics.front().message, second.diagnostics.front().message);
}

TEST_F(Cache, DoesNotKeepErrors) {
  Compiler compiler(settings);
  EXPECT_FALSE(compiler.compile("nonsense"));
  EXPECT_FALSE(compiler.compile("nonsense"));
  EXPECT_FALSE(fs::exists(settings.cacheFolder));
}

TEST_F(Cache, NoticesChangedModules) {
  std::string source = "from .common import value\n@triton.jit\ndef fill(x: ptr[f32]):\n"
                       "    tl.store(x + tl.arange(0, 32), tl.full((32,), value(), tl.float32))\n";
  write(folder / "common.tile", "@triton.jit\ndef value():\n    return 1.0\n");
  EXPECT_FALSE(compile(source).isCached());
  EXPECT_FALSE(compile(source).isCached()) << "a module that has just been written may change at the same time";
  age(folder / "common.tile");
  EXPECT_FALSE(compile(source).isCached());
  EXPECT_TRUE(compile(source).isCached());
  write(folder / "common.tile", "@triton.jit\ndef value():\n    return 2.0\n");
  EXPECT_FALSE(compile(source).isCached());
}

TEST_F(Cache, DoesNotBelieveDamagedEntries) {
  std::string wanted(compile().text());
  ASSERT_EQ(entries().size(), 1u);
  const fs::path entry = entries().front();
  std::ifstream file(entry, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  std::string flipped = whole;
  flipped[whole.size() / 2] ^= 1;
  std::string sized = whole;
  sized[8] ^= 1;
  for (const std::string &bad : {std::string(), whole.substr(0, 20), whole.substr(0, whole.size() - 1), whole + "x",
                                 flipped, sized, std::string(100, '\xff')}) {
    write(entry, bad);
    CompileResult again = compile();
    EXPECT_FALSE(again.isCached());
    EXPECT_EQ(again.text(), wanted);
    EXPECT_TRUE(compile().isCached()) << "it is written anew";
  }
  // An entry whose file name is that of this key, but whose contents belong to another one.
  compile(fill, {"-DVALUE=2"});
  for (const fs::path &other : entries())
    if (other != entry)
      fs::copy_file(entry, other, fs::copy_options::overwrite_existing);
  EXPECT_FALSE(compile(fill, {"-DVALUE=2"}).isCached());
}

TEST_F(Cache, StaysWithinItsSize) {
  settings.cacheBytes = 16 * 20000; // a few entries in each of the sixteen folders
  for (int i = 0; i < 24; ++i)
    compile(fill, {"-DVALUE=" + std::to_string(i)});
  uint64_t bytes = 0;
  for (const fs::path &entry : entries())
    bytes += fs::file_size(entry);
  EXPECT_LE(bytes, settings.cacheBytes);
  EXPECT_GT(bytes, 0u);
  settings.cacheBytes = 16 * 100; // no entry is that small
  EXPECT_FALSE(compile(fill, {"-DVALUE=100"}).isCached());
  EXPECT_FALSE(compile(fill, {"-DVALUE=100"}).isCached());
}

TEST_F(Cache, RemovesWhatKilledWritersLeft) {
  compile();
  const fs::path left = entries().front().parent_path() / "0123.tmp", fresh = left.parent_path() / "4567.tmp";
  write(left, "half of it");
  write(fresh, "half of it");
  age(left);
  write(entries().front(), "damaged"); // so that the entry is written again
  for (const fs::path &entry : entries())
    if (entry.extension() == ".tilecache")
      write(entry, "damaged");
  compile();
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(fresh));
}

TEST_F(Cache, ThatCannotBeWrittenIsNoError) {
  write(folder / "cache", "a file");
  EXPECT_FALSE(compile().isCached());
  EXPECT_FALSE(compile().isCached());
}

TEST_F(Cache, ServesManyAtOnce) {
  std::vector<std::thread> threads;
  std::vector<std::string> made(8);
  for (size_t i = 0; i < made.size(); ++i)
    threads.emplace_back([&, i] {
      for (int again = 0; again < 3; ++again)
        made[i] = compile().text();
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &one : made)
    EXPECT_EQ(one, made.front());
  EXPECT_EQ(entries().size(), 1u) << "no temporary file is left";
}

} // namespace
