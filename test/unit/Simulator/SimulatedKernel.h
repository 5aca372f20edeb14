// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs PTX on the simulator's machine for tests: text in, reports out.
#pragma once

#include "Simulator/Check/Checker.h"
#include "Simulator/Check/Format.h"
#include "Simulator/Machine/Machine.h"
#include "Simulator/Ptx/Parser.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <memory>

namespace tile::sim {

/// A kernel `k` with 64-bit parameters that are addresses of buffers.
class SimulatedKernel {
public:
  struct Setup {
    std::string version = "8.7", target = "sm_90a";
    unsigned sharedBytes = 4096, bufferBytes = 4096;
  };

  /// `body`: instructions; registers %r0…%r31 (b32), %d0…%d31 (b64), %p0…%p9, %h0…%h9 (b16) are declared,
  /// %d0… hold the addresses of the buffers, %r0 is %tid.x, and `data` is shared memory of 4096 bytes. `directives`
  /// are those of the kernel.
  SimulatedKernel(const std::string &body, unsigned numBuffers = 1, const std::string &directives = "")
      : SimulatedKernel(body, numBuffers, directives, Setup()) {}
  /// Sets another target, with more memory.
  SimulatedKernel(const std::string &body, unsigned numBuffers, const std::string &directives, const Setup &setup) {
    text_ = ".version " + setup.version + "\n.target " + setup.target + "\n.address_size 64\n.visible .entry k(";
    std::string &text = text_;
    for (unsigned i = 0; i < numBuffers; ++i)
      text += std::string(i ? ", " : "") + ".param .u64 p" + std::to_string(i);
    text += ")" + directives +
            "\n{\n.reg .b32 %r<32>;\n.reg .b64 %d<32>;\n.reg .pred %p<10>;\n.reg .b16 %h<10>;\n"
            ".shared .align 1024 .b8 data[" +
            std::to_string(setup.sharedBytes) + "];\n";
    for (unsigned i = 0; i < numBuffers; ++i)
      text += "ld.param.u64 %d" + std::to_string(i) + ", [p" + std::to_string(i) + "];\n";
    text += "mov.u32 %r0, %tid.x;\n" + body + "\nret;\n}\n";
    auto parsed = parsePtx(text);
    if (!parsed) {
      ADD_FAILURE() << parsed.error().message << "\n" << text;
      return;
    }
    module = std::make_unique<Module>(std::move(*parsed));
    for (unsigned i = 0; i < numBuffers; ++i)
      buffers.emplace_back(setup.bufferBytes);
  }

  static constexpr unsigned bufferBytes = 4096;
  uint32_t threads = 64, ctas = 1, clusterSize = 1, hostThreads = 1;
  bool isFair = false; ///< LaunchConfig::isFair
  bool initialized = true;
  /// fill before each run; otherwise buffers keep the contents from the test or the previous run
  bool clearsBuffers = true;
  std::unique_ptr<Module> module;
  std::vector<std::vector<std::byte>> buffers;
  std::vector<std::byte> input; ///< the initial contents of the first buffer; all others are initialized with zeros

  std::vector<Report> run(uint64_t seed) {
    if (!module)
      return {};
    GlobalMemory memory;
    LaunchConfig config;
    config.grid[0] = ctas;
    config.block[0] = threads;
    config.cluster[0] = clusterSize;
    config.seed = seed;
    config.hostThreads = hostThreads;
    config.isFair = isFair;
    for (auto &buffer : buffers) {
      if (clearsBuffers)
        std::fill(buffer.begin(), buffer.end(), std::byte(0));
      if (&buffer == &buffers.front())
        std::copy(input.begin(), input.end(), buffer.begin());
      uint64_t address = memory.add("x", buffer.data(), buffer.size(), 256, initialized);
      config.parameters.resize(config.parameters.size() + 8);
      std::memcpy(config.parameters.data() + config.parameters.size() - 8, &address, 8);
    }
    auto program = Program::load(*module, "k", memory);
    if (!program) {
      ADD_FAILURE() << program.error().message;
      return {};
    }
    Reports reports;
    Machine machine(**program, memory, config, reports);
    std::unique_ptr<Checker> checker = makeHappensBefore(machine);
    machine.checker = checker.get();
    if (auto status = machine.run(); !status)
      ADD_FAILURE() << status.error().message;
    return reports.all();
  }

  /// Returns the PTX.
  const std::string &ptx() const { return text_; }

  std::string text(const std::vector<Report> &reports) const {
    std::string text;
    for (const Report &report : reports)
      text += formatReport(report, *module, {"k.ptx", nullptr});
    return text;
  }

  /// Expects no report for any of several seeds.
  void expectNone() {
    for (uint64_t seed = 0; seed < 12; ++seed) {
      auto reports = run(seed);
      EXPECT_TRUE(reports.empty()) << "seed " << seed << "\n" << text(reports);
      if (!reports.empty())
        return;
    }
  }
  /// Expects a report of this kind for every seed, because findings do not depend on the schedule. Its message contains
  /// `words`.
  void expectAlways(ReportKind kind, const std::string &words = "") {
    for (uint64_t seed = 0; seed < 12; ++seed) {
      auto reports = run(seed);
      bool found = false;
      for (const Report &report : reports)
        found |= report.kind == kind && report.message.find(words) != std::string::npos;
      EXPECT_TRUE(found) << "seed " << seed << ": no " << reportKindName(kind) << " '" << words << "' in\n"
                         << text(reports);
      if (!found)
        return;
    }
  }

private:
  std::string text_;
};

} // namespace tile::sim
