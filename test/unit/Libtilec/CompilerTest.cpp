// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests libtilec through its interface: its results, and that no input ends the process.
#include "tile/Compiler.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

using tile::Compiler;
using tile::CompileResult;
using tile::CompilerSettings;

extern "C" tilec_status compileNothing(void);

namespace {

constexpr const char *scale = R"(
#: grid(cdiv(N, BLOCK))
@triton.jit
def scale(x: ptr[f32], factor: f32, N: i32, BLOCK: constexpr = 1024):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < N) * factor, mask=i < N)
)";

/// A kernel of ten thousand statements, which takes seconds to compile.
std::string longKernel() {
  std::string text =
      "@triton.jit\ndef long(x: ptr[f32], N: i32):\n    i = tl.arange(0, 1024)\n    v = tl.load(x + i)\n";
  for (int i = 0; i < 4000; ++i)
    text += "    v = tl.sin(v) * v + " + std::to_string(i) + ".0\n";
  return text + "    tl.store(x + i, v)\n";
}

CompilerSettings isolated() {
  CompilerSettings settings;
  settings.isolated = true;
  return settings;
}

TEST(Compiler, MakesPtx) {
  CompileResult made = Compiler().compile(scale, {"--emit=ptx"});
  ASSERT_TRUE(made) << made.error;
  EXPECT_NE(made.text().find(".entry scale"), std::string_view::npos);
  EXPECT_NE(made.text().find("tile.manifest"), std::string_view::npos);
}

TEST(Compiler, WithoutPtxasMakesPtx) {
  CompilerSettings settings;
  settings.ptxas = "/absent/ptxas";
  CompileResult made = Compiler(settings).compile(scale);
  ASSERT_TRUE(made) << made.error;
  EXPECT_NE(made.text().find(".entry scale"), std::string_view::npos);
}

TEST(Compiler, MakesTheSameInAProcessApart) {
  CompileResult here = Compiler().compile(scale, {"--emit=ptx"}),
                there = Compiler(isolated()).compile(scale, {"--emit=ptx"});
  ASSERT_TRUE(here) << here.error;
  ASSERT_TRUE(there) << there.error;
  EXPECT_EQ(here.text(), there.text());
}

TEST(Compiler, TellsWhereErrorsAre) {
  for (const CompilerSettings &settings : {CompilerSettings(), isolated()}) {
    CompileResult made =
        Compiler(settings).compile("@triton.jit\ndef k(x: ptr[f32]):\n    y = unknown(x)\n", {}, "my kernel.tile");
    EXPECT_EQ(made.status, TILEC_REJECTED);
    ASSERT_FALSE(made.diagnostics.empty());
    const tile::Diagnostic &first = made.diagnostics.front();
    EXPECT_EQ(first.severity, TILEC_ERROR);
    EXPECT_EQ(first.file, "my kernel.tile");
    EXPECT_EQ(first.line, 3u);
    EXPECT_EQ(first.column, 9u);
    EXPECT_EQ(made.error, "my kernel.tile:3:9: " + first.message);
    EXPECT_EQ(made.data(), nullptr);
  }
}

TEST(Compiler, RefusesWrongOptions) {
  Compiler compiler;
  const std::pair<std::vector<std::string>, const char *> cases[] = {
      {{"--targt=sm_80"}, "did you mean '--target=sm_80'"},
      {{"--target=sm_1"}, "unknown target 'sm_1'"},
      {{"--target=help"}, "unknown target 'help'"},
      {{"--num-warps=3"}, "--num-warps expects a power of two"},
      {{"--target"}, "option '--target' needs a value"},
      {{"-o", "file"}, "'-o' is for the command line"},
      {{"--help"}, "'--help' is for the command line"},
      {{"other.tile"}, "'other.tile' is for the command line"},
      {{"--dump-ir=/tmp"}, "'--dump-ir' is for the command line"},
      {{"--signature=@/absent/file"}, "/absent/file"},
      {{"--disable=no-such-pass", "--emit=ptx"}, "no-such-pass"},
      {{"-DBLOCK=" + std::string(100000, '9'), "--emit=ptx"}, ""},
      {{"--variants=none", "-DBLOCK=-1", "--emit=ptx"}, ""},
      {{"-DBLOCK=1099511627776", "--emit=ptx"}, ""},
      {{"-x", "mlir", "--emit=ptx"}, ""},
  };
  for (const auto &[options, text] : cases) {
    CompileResult made = compiler.compile(scale, options);
    EXPECT_FALSE(made) << options.front();
    EXPECT_NE(made.error.find(text), std::string::npos) << made.error;
    EXPECT_NE(made.error, "");
  }
}

TEST(Compiler, RefusesWrongArguments) {
  EXPECT_EQ(compileNothing(), TILEC_USAGE);
  EXPECT_STREQ(tilec_last_error(), "tilec_compile: 'compiler' is a null pointer");
  Compiler compiler;
  tilec_result *result = nullptr;
  EXPECT_EQ(tilec_compile(compiler.get(), nullptr, &result), TILEC_USAGE);
  EXPECT_STREQ(tilec_last_error(), "tilec_compile: 'request' is a null pointer");
  tilec_request request = TILEC_REQUEST_INIT;
  request.source_bytes = 5;
  EXPECT_EQ(tilec_compile(compiler.get(), &request, &result), TILEC_USAGE);
  request.struct_bytes = 3;
  EXPECT_EQ(tilec_compile(compiler.get(), &request, &result), TILEC_USAGE);
  tilec_compiler *made = nullptr;
  tilec_compiler_options options = TILEC_COMPILER_OPTIONS_INIT;
  options.memory_bytes = 1 << 30;
  EXPECT_EQ(tilec_compiler_create(&options, &made), TILEC_USAGE);
  options.isolate = 1;
  options.worker = "/absent/tilec";
  EXPECT_EQ(tilec_compiler_create(&options, &made), TILEC_ENVIRONMENT);
  EXPECT_STREQ(tilec_last_error(), "cannot run '/absent/tilec'");
}

TEST(Compiler, TakesAnyBytes) {
  Compiler compiler;
  for (std::string text : {std::string(), std::string(1000, '\0'), std::string("\xff\xfe\n@triton.jit"),
                           std::string(200000, '('), std::string(scale).substr(0, 150)}) {
    CompileResult made = compiler.compile(text, {"--emit=ptx"});
    EXPECT_EQ(made.status, TILEC_REJECTED);
    EXPECT_NE(made.error, "");
  }
}

// Code that the back end cannot select is a fatal error of LLVM, which does not return.
TEST(Compiler, SurvivesFatalErrors) {
  const char *ir = R"(
    llvm.func @fence() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
      nvvm.wgmma.fence.aligned
      llvm.return
    })";
  for (const CompilerSettings &settings : {CompilerSettings(), isolated()}) {
    Compiler compiler(settings);
    CompileResult made = compiler.compile(ir, {"-x", "mlir", "--emit=ptx", "--target=sm_80"});
    EXPECT_EQ(made.status, TILEC_INTERNAL);
    EXPECT_NE(made.error.find("Cannot select"), std::string::npos) << made.error;
    EXPECT_TRUE(compiler.compile(ir, {"-x", "mlir", "--emit=ptx", "--target=sm_90a"}));
  }
}

TEST(Compiler, BoundsMemoryOfAProcess) {
  CompilerSettings settings = isolated();
  settings.memoryBytes = uint64_t(100) << 20;
  CompileResult made = Compiler(settings).compile(longKernel(), {"--emit=ptx"});
  EXPECT_EQ(made.status, TILEC_ENVIRONMENT) << made.error;
}

TEST(Compiler, CanBeCancelled) {
  for (const CompilerSettings &settings : {CompilerSettings(), isolated()}) {
    Compiler compiler(settings);
    tile::Cancellation before, during;
    before.cancel();
    EXPECT_EQ(compiler.compile(scale, {}, "", &before).status, TILEC_CANCELLED);
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      during.cancel();
    });
    CompileResult made = compiler.compile(longKernel(), {}, "", &during);
    other.join();
    EXPECT_EQ(made.status, TILEC_CANCELLED) << made.error;
  }
}

TEST(Compiler, ServesManyThreads) {
  Compiler compiler;
  const std::string wanted(compiler.compile(scale, {"--emit=ptx"}).text());
  std::vector<std::thread> threads;
  std::vector<std::string> made(8);
  for (std::string &one : made)
    threads.emplace_back([&] {
      compiler.compile("nonsense");
      one = compiler.compile(scale, {"--emit=ptx"}).text();
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &one : made)
    EXPECT_EQ(one, wanted);
}

constexpr int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGSEGV, SIGABRT, SIGTERM, SIGPIPE};

std::vector<sighandler_t> handlers() {
  std::vector<sighandler_t> found;
  for (int signal : signals) {
    struct sigaction action = {};
    EXPECT_EQ(sigaction(signal, nullptr, &action), 0);
    found.push_back(action.sa_handler);
  }
  return found;
}

/// Read before any test, because shells make background processes ignore some signals.
const std::vector<sighandler_t> handlersAtStart = handlers();

TEST(Compiler, LeavesSignalsAlone) {
  Compiler().compile(scale);
  EXPECT_EQ(handlers(), handlersAtStart);
}

TEST(Compiler, KnowsTargets) {
  EXPECT_NE(tilec_target(0), nullptr);
  EXPECT_EQ(tilec_target(1000), nullptr);
  EXPECT_EQ(std::string(tilec_version()).rfind("tile ", 0), 0u);
}

} // namespace
