// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Binding by name: defaults, dependencies, ranges and every error that a user can make.
#include "Runner/Inputs/BufferSource.h"

#include "TestBuffers.h"

using namespace tile::runner;
using tile::test::matmulManifest;
using tile::test::valuesOf;

namespace {

const Manifest manifest = matmulManifest();

std::string errorOf(const std::vector<std::string> &arguments, const Manifest &of = manifest) {
  Result<Bindings> bindings = Bindings::bind(of, arguments, 132);
  if (!bindings)
    return bindings.error().message;
  if (Result<std::vector<FilledBuffer>> buffers = bindBuffers(of, *bindings, 0); !buffers)
    return buffers.error().message;
  Result<std::vector<int64_t>> grid = bindGrid(of, *bindings);
  return grid ? "no error" : grid.error().message;
}

int64_t valueOf(const Bindings &bindings, const char *name) {
  return bindings.scalar(static_cast<size_t>(manifest.findParameter(name) - manifest.parameters.data())).integer;
}

TEST(Arguments, defaultsFollowOtherParameters) {
  Result<Bindings> bindings = Bindings::bind(manifest, {"M=100", "K=32"}, 132);
  ASSERT_TRUE(bool(bindings)) << bindings.error().message;
  EXPECT_EQ(valueOf(*bindings, "N"), 100); // N has the value of M
  EXPECT_EQ(valueOf(*bindings, "stride_am"), 32);
  EXPECT_EQ(valueOf(*bindings, "stride_cm"), 100);
  EXPECT_EQ(bindings->scalar(11).real, 1.0);
  EXPECT_EQ(*bindGrid(manifest, *bindings), (std::vector<int64_t>{7, 7, 1}));
  EXPECT_NE(bindings->summary(manifest).find("M=100 N=100 K=32"), std::string::npos);
}

TEST(Arguments, valuesMayBeExpressions) {
  Result<Bindings> bindings = Bindings::bind(manifest, {"M=N // 2", "N=64", "K=num_sms", "alpha=K / 264"}, 132);
  ASSERT_TRUE(bool(bindings)) << bindings.error().message;
  EXPECT_EQ(valueOf(*bindings, "M"), 32);
  EXPECT_EQ(valueOf(*bindings, "K"), 132);
  EXPECT_EQ(bindings->scalar(11).real, 0.5);
}

TEST(Arguments, buffersHaveShapeAndRole) {
  Result<Bindings> bindings =
      Bindings::bind(manifest, {"M=2", "N=3", "K=4", "stride_am=1", "stride_ak=M", "a=ones", "b=full(2.5)"}, 132);
  ASSERT_TRUE(bool(bindings));
  Result<std::vector<FilledBuffer>> buffers = bindBuffers(manifest, *bindings, 0);
  ASSERT_TRUE(bool(buffers)) << buffers.error().message;
  const HostBuffer &a = (*buffers)[0].buffer;
  EXPECT_EQ(a.layout().strides, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(valuesOf(a), std::vector<double>(8, 1.0));
  EXPECT_EQ(valuesOf((*buffers)[1].buffer), std::vector<double>(12, 2.5));
  for (double value : valuesOf((*buffers)[2].buffer))
    EXPECT_NE(value, value); // an output is poisoned
}

TEST(Arguments, seedsDecideRandomValues) {
  const auto values = [](const char *text, uint64_t seed) {
    Result<Bindings> bindings = Bindings::bind(manifest, {"M=4", "K=8", text}, 132);
    return valuesOf((*bindBuffers(manifest, *bindings, seed))[0].buffer);
  };
  EXPECT_EQ(values("a=random(seed=3)", 0), values("a=random(3)", 1));
  EXPECT_NE(values("a=random(3)", 0), values("a=random(4)", 0));
  EXPECT_NE(values("a=random", 0), values("a=random", 1));
}

TEST(Arguments, compiledInConstantsMayBeRepeated) {
  EXPECT_EQ(errorOf({"K=4", "BLOCK=16", "ACT=none"}), "no error");
  EXPECT_NE(errorOf({"K=4", "BLOCK=32"}).find("'BLOCK' is compiled in as 16 and cannot be 32"), std::string::npos);
}

TEST(Arguments, negative_errors) {
  const std::pair<std::vector<std::string>, const char *> cases[] = {
      {{}, "no value for K (i32); give K=..."},
      {{"K"}, "'K' is not of the form name=value"},
      {{"K="}, "'K=' is not of the form name=value"},
      {{"=3"}, "not of the form name=value"},
      {{"K=4", "K=8"}, "argument 'K' is given twice"},
      {{"K=4", "stride_an=3"}, "has no parameter 'stride_an'; did you mean 'stride_am'?"},
      {{"K=4", "zzz=3"}, "has no parameter 'zzz'"},
      {{"K=four"}, "argument of parameter 'K' (i32): in expression 'four', column 1: 'four' is neither"},
      {{"K=4.5"}, "argument of parameter 'K' (i32)"},
      {{"K=3000000000"}, "3000000000 does not fit i32 (-2147483648 to 2147483647)"},
      {{"K=1 // 0"}, "division by zero"},
      {{"K=N", "N=M", "M=K"}, "are circular: M -> K -> N -> M"},
      {{"K=4", "M=M + 1"}, "are circular: M -> M"},
      {{"K=alpha"}, "'alpha' is not an integer parameter"},
      {{"K=4", "alpha=x"}, "argument of parameter 'alpha' (f32): in expression 'x', column 1: x: neither"},
      {{"K=4", "alpha=1e60"}, "does not fit f32"},
      {{"K=4", "alpha=1 / 0"}, "does not fit f32"},
      {{"K=4", "M=-1"}, "buffer 'a' (ptr<f16>): shape [-1, 4] has a negative size"},
      {{"K=4", "stride_am=-4"}, "negative entry"},
      {{"K=4", "stride_cm=0"}, "buffer 'c' (ptr<f32>): strides [0, 1] of a written buffer"},
      {{"K=4", "a=nofile.npy"}, "buffer 'a' (ptr<f16>): cannot open 'nofile.npy'"},
      {{"K=4", "a=random(x)"}, "the seed 'x' is not a non-negative integer"},
      {{"K=4", "a=random(3"}, "in expression 'random(3', column 9: expected ')' before the end"},
      {{"K=4", "a=full"}, "expected full(value)"},
      {{"K=4", "a=full(x)"}, "in expression 'x', column 1: x: neither a buffer nor a number of this kernel"},
      {{"M=2147483647", "K=2147483644"}, "at most 1 TiB is supported"},
  };
  for (const auto &[arguments, expected] : cases)
    EXPECT_NE(errorOf(arguments).find(expected), std::string::npos) << expected << "\n  got: " << errorOf(arguments);
}

TEST(Arguments, negative_cyclicDefaults) {
  Manifest cyclic = manifest;
  cyclic.parameters[3].defaultValue = "K";
  cyclic.parameters[5].defaultValue = "N";
  EXPECT_NE(errorOf({}, cyclic).find("are circular: M -> K -> N -> M"), std::string::npos) << errorOf({}, cyclic);
}

TEST(Arguments, negative_pointerWithoutDeclaredSize) {
  Manifest bare = manifest;
  bare.parameters[0].buffer.reset();
  EXPECT_NE(errorOf({"K=4"}, bare).find("give a .npy file or a list, or declare '#: buffer a[...]'"),
            std::string::npos);
}

} // namespace
