// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests whole runs on a device in memory: a correct kernel, several kinds of incorrect kernels, and the forms of the
// report.
#include "Runner/Run.h"

#include "TestBuffers.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

using namespace tile::runner;
using tile::runtime::Manifest;
using tile::test::matmulManifest;

namespace {

/// Runs a C++ function instead of a kernel.
class FakeDevice : public Device {
public:
  using Kernel = std::function<Status(const Grid &, std::span<DeviceArgument>)>;
  explicit FakeDevice(Kernel kernel) : kernel(std::move(kernel)) {}
  std::string name() const override { return "fake"; }
  int multiprocessorCount() const override { return 4; }
  Result<RunTiming> run(const Manifest &, const Grid &grid, std::span<DeviceArgument> arguments) override {
    ++runs;
    if (Status status = kernel(grid, arguments); !status)
      return status.error();
    return RunTiming{0.25};
  }
  int runs = 0;

private:
  Kernel kernel;
};

float elementAt(const HostBuffer &buffer, int64_t row, int64_t column) {
  const auto &strides = buffer.layout().strides;
  return static_cast<float>(elementLoader(buffer.type())(
      buffer.data() + (row * strides[0] + column * strides[1]) * tile::runtime::dataTypeSize(buffer.type())));
}

/// c = a @ b in float, as a kernel would.
Status multiply(const Grid &, std::span<DeviceArgument> arguments) {
  const HostBuffer &a = *arguments[0].buffer, &b = *arguments[1].buffer;
  HostBuffer &c = *arguments[2].buffer;
  const int64_t m = static_cast<int32_t>(arguments[3].bits), n = static_cast<int32_t>(arguments[4].bits),
                k = static_cast<int32_t>(arguments[5].bits);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum += elementAt(a, i, p) * elementAt(b, p, j);
      std::memcpy(c.data() + (i * c.layout().strides[0] + j) * 4, &sum, 4);
    }
  return tile::runtime::Success{};
}

RunOptions optionsFor(std::vector<std::string> arguments) {
  RunOptions options;
  options.arguments = std::move(arguments);
  options.check = true;
  return options;
}

Result<RunReport> run(const RunOptions &options, FakeDevice::Kernel kernel) {
  FakeDevice device(std::move(kernel));
  return runKernel(options, matmulManifest(), device, "gemm.cubin");
}

/// The correct GEMM with one additional change.
FakeDevice::Kernel damaged(std::function<void(std::span<DeviceArgument>)> change) {
  return [change](const Grid &grid, std::span<DeviceArgument> arguments) {
    Status status = multiply(grid, arguments);
    change(arguments);
    return status;
  };
}

TEST(Run, rightKernelPasses) {
  Result<RunReport> report = run(optionsFor({"M=20", "N=33", "K=12", "stride_cm=40"}), multiply);
  ASSERT_TRUE(bool(report)) << report.error().message;
  EXPECT_TRUE(report->passed());
  EXPECT_EQ(report->grid, (Grid{2, 3, 1}));
  ASSERT_EQ(report->checks.size(), 1u);
  EXPECT_EQ(report->checks[0].elements, 660);
  EXPECT_LT(report->checks[0].relativeError, 1e-6);
}

TEST(Run, allOperandOrders) {
  for (const char *a : {"stride_am=K stride_ak=1", "stride_am=1 stride_ak=M"})
    for (const char *b : {"stride_bk=N stride_bn=1", "stride_bk=1 stride_bn=K"}) {
      std::vector<std::string> arguments = {"M=5", "N=6", "K=8"};
      for (std::string_view text : {a, b}) {
        arguments.emplace_back(text.substr(0, text.find(' ')));
        arguments.emplace_back(text.substr(text.find(' ') + 1));
      }
      Result<RunReport> report = run(optionsFor(arguments), multiply);
      ASSERT_TRUE(bool(report)) << report.error().message;
      EXPECT_TRUE(report->passed());
    }
}

TEST(Run, emptyMatmulsPass) {
  EXPECT_TRUE(run(optionsFor({"M=0", "N=4", "K=4"}), multiply)->passed());
  EXPECT_TRUE(run(optionsFor({"M=4", "N=4", "K=0"}), multiply)->passed());
}

TEST(Run, forgottenElementFails) {
  Result<RunReport> report =
      run(optionsFor({"M=4", "N=4", "K=4"}), [](const Grid &, std::span<DeviceArgument>) -> Status {
        return tile::runtime::Success{}; // writes nothing
      });
  ASSERT_TRUE(bool(report));
  EXPECT_FALSE(report->passed());
  EXPECT_EQ(report->checks[0].wrongCount, 16);
  EXPECT_TRUE(std::isnan(report->checks[0].firstWrong[0].actual));
  EXPECT_NE(formatText(*report).find("FAILED"), std::string::npos);
  EXPECT_NE(formatText(*report).find("c[0, 0]: expected"), std::string::npos);
}

TEST(Run, writesOutsideTheOutputFail) {
  const auto damageOf = [](std::function<void(std::span<DeviceArgument>)> change) {
    Result<RunReport> report = run(optionsFor({"M=4", "N=4", "K=4", "stride_cm=6"}), damaged(std::move(change)));
    EXPECT_FALSE(report->passed());
    return report->damages.empty() ? "none" : report->damages[0];
  };
  EXPECT_NE(damageOf([](auto arguments) { arguments[2].buffer->data()[-4] = 0; }).find("before the buffer"),
            std::string::npos);
  EXPECT_NE(damageOf([](auto arguments) {
              arguments[2].buffer->data()[arguments[2].buffer->dataBytes()] = 0;
            }).find("past the end"),
            std::string::npos);
  EXPECT_NE(damageOf([](auto arguments) { arguments[2].buffer->data()[4 * 4] = 0; }).find("gap between rows"),
            std::string::npos);
  EXPECT_NE(damageOf([](auto arguments) { arguments[0].buffer->data()[0] ^= 1; }).find("wrote to an input"),
            std::string::npos);
}

TEST(Run, everyRepetitionIsChecked) {
  RunOptions options = optionsFor({"M=4", "N=4", "K=4"});
  options.repeat = 5;
  int calls = 0;
  Result<RunReport> report = run(options, [&](const Grid &grid, std::span<DeviceArgument> arguments) -> Status {
    return ++calls == 3 ? Status(tile::runtime::Success{}) : multiply(grid, arguments);
  });
  ASSERT_TRUE(bool(report));
  EXPECT_FALSE(report->passed());
  EXPECT_EQ(report->runs, 3);
}

TEST(Run, negative_nothingRunsWithWrongRequests) {
  const auto errorOf = [](const RunOptions &options, Manifest manifest = matmulManifest()) {
    FakeDevice device(multiply);
    Result<RunReport> report = runKernel(options, manifest, device, "");
    EXPECT_EQ(device.runs, 0);
    return report ? "no error" : report.error().message;
  };
  RunOptions options = optionsFor({"M=4", "N=4", "K=4"});
  options.saves = {"d=x.npy"};
  EXPECT_NE(errorOf(options).find("has no buffer 'd'"), std::string::npos) << errorOf(options);
  options = optionsFor({"M=4", "N=4", "K=4"});
  options.bench = true;
  EXPECT_NE(errorOf(options).find("only a GPU can be measured"), std::string::npos);
  EXPECT_NE(errorOf(optionsFor({"K=6"})).find("K=6 is not a multiple of 4"), std::string::npos);
  Manifest bare = matmulManifest();
  bare.expect.clear();
  EXPECT_NE(errorOf(optionsFor({"K=4"}), bare).find("declares nothing to check"), std::string::npos);
  bare.launch.grid.clear();
  RunOptions unchecked = optionsFor({"K=4"});
  unchecked.check = false;
  EXPECT_NE(errorOf(unchecked, bare).find("declares no grid; give --grid"), std::string::npos);
  Manifest wrong = matmulManifest();
  wrong.expect[0].expression = "a @ a";
  EXPECT_NE(errorOf(optionsFor({"M=8", "K=4"}), wrong).find("cannot be multiplied"), std::string::npos);
}

TEST(Run, deviceErrorsComeThrough) {
  Result<RunReport> report = run(optionsFor({"K=4"}), [](const Grid &, std::span<DeviceArgument>) -> Status {
    return Error{TILE_ERROR_DRIVER, "illegal address"};
  });
  ASSERT_FALSE(bool(report));
  EXPECT_EQ(report.error().message, "illegal address");
}

TEST(Report, csvAndJsonHaveTheSameFacts) {
  Result<RunReport> report = run(optionsFor({"M=4", "N=4", "K=4"}), multiply);
  ASSERT_TRUE(bool(report));
  const std::string row = formatCsv(*report), header = csvHeader();
  EXPECT_EQ(std::count(row.begin(), row.end(), ','), std::count(header.begin(), header.end(), ','));
  report->bench = BenchResult{};
  report->bench->microseconds = 10;
  BaselineTime cublas;
  cublas.name = "cuBLAS";
  cublas.microseconds = 8;
  report->bench->baselines = {cublas};
  report->bench->flops = 1e9;
  const std::string measured = formatCsv(*report);
  EXPECT_EQ(std::count(measured.begin(), measured.end(), ','), std::count(header.begin(), header.end(), ','));
  const auto json = nlohmann::json::parse(formatJson(*report, "tile-run x", {"commit=abc"}), nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["passed"], true);
  EXPECT_EQ(json["bench"]["ratio"], 0.8);
  EXPECT_EQ(json["bench"]["throughput"], 100.0); // 1e9 operations in 10 us
  EXPECT_EQ(json["labels"]["commit"], "abc");
  EXPECT_NE(formatText(*report).find("ratio 0.800"), std::string::npos);
}

TEST(Report, infiniteErrorsAreStillJson) {
  Result<RunReport> report =
      run(optionsFor({"M=4", "N=4", "K=4"}),
          [](const Grid &, std::span<DeviceArgument>) -> Status { return tile::runtime::Success{}; });
  EXPECT_FALSE(nlohmann::json::parse(formatJson(*report, "", {}), nullptr, false).is_discarded());
}

} // namespace
