// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Records what a GPU computes for the table of instructions, for InstructionTest.
//
//   tile_sim_record ptx > all.ptx; ptxas -arch=sm_90a all.ptx -o all.cubin
//   tile_sim_record run all.cubin raw.bin                     on a machine with a GPU: all results
//   tile_sim_record compare raw.bin                           the differences from the simulator
//   tile_sim_record record raw.bin test/Simulator/recorded/instructions.bin
#include "InstructionRun.h"
#include "RecordingGpu.h"
#include "Runtime/Driver.h"

#include <cstdio>
#include <fstream>

using namespace tile;
using namespace tile::sim;

namespace {

/// Returns the results of all cases, in the order of the table.
std::vector<std::vector<uint64_t>> readResults(const char *path, const std::vector<InstructionCase> &cases) {
  std::vector<char> bytes = readFile(path);
  std::vector<std::vector<uint64_t>> all;
  size_t offset = 0;
  for (const InstructionCase &instruction : cases) {
    std::vector<uint64_t> results(instruction.count);
    if (offset + instruction.count * slotBytes > bytes.size())
      return {};
    std::memcpy(results.data(), bytes.data() + offset, instruction.count * slotBytes);
    offset += instruction.count * slotBytes;
    all.push_back(std::move(results));
  }
  return offset == bytes.size() ? all : std::vector<std::vector<uint64_t>>();
}

int runOnGpu(const char *cubinPath, const char *outputPath) {
  auto loaded = runtime::loadDriver(nullptr, nullptr);
  if (!loaded) {
    std::fprintf(stderr, "%s\n", loaded.error().message.c_str());
    return 1;
  }
  const runtime::Driver &driver = **loaded;
  runtime::CUmodule module = nullptr;
  std::vector<char> cubin = readFile(cubinPath);
  if (!openModule(driver, cubin, module))
    return 1;
  constexpr size_t arrayBytes = 65536 * slotBytes;
  runtime::CUdeviceptr arrays[4];
  for (runtime::CUdeviceptr &array : arrays)
    if (!check(driver, driver.memoryAllocate(&array, arrayBytes), "cuMemAlloc"))
      return 1;
  std::ofstream output(outputPath, std::ios::binary);
  for (const InstructionCase &instruction : instructionCases()) {
    std::vector<uint64_t> results(instruction.count);
    size_t bytes = instruction.count * slotBytes;
    bool ok = check(driver, driver.copyToDevice(arrays[0], results.data(), bytes), "cuMemcpyHtoD");
    for (unsigned i = 0; i < instruction.operands.size(); ++i)
      ok =
          ok && check(driver, driver.copyToDevice(arrays[i + 1], inputs(instruction, i).data(), bytes), "cuMemcpyHtoD");
    runtime::CUfunction function = nullptr;
    ok = ok && check(driver, driver.moduleGetFunction(&function, module, instruction.name.c_str()), instruction.name);
    void *arguments[] = {&arrays[0], &arrays[1], &arrays[2], &arrays[3]};
    runtime::LaunchConfig config{instruction.count / blockThreads, 1, 1, blockThreads, 1, 1, 0, nullptr, nullptr, 0};
    ok = ok && check(driver, driver.launchKernelEx(&config, function, arguments, nullptr), instruction.body);
    ok = ok && check(driver, driver.copyToHost(results.data(), arrays[0], bytes), instruction.body);
    if (!ok)
      return 1;
    output.write(reinterpret_cast<const char *>(results.data()), std::streamsize(bytes));
  }
  return output.good() ? 0 : 1;
}

int compare(const char *path) {
  std::vector<InstructionCase> cases = instructionCases();
  std::vector<std::vector<uint64_t>> recorded = readResults(path, cases);
  if (recorded.empty()) {
    std::fprintf(stderr, "the results are not of this table\n");
    return 1;
  }
  unsigned wrongCases = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    auto results = simulate(cases[i]);
    if (!results) {
      std::printf("%s: %s\n", cases[i].body.c_str(), results.error().message.c_str());
      ++wrongCases;
      continue;
    }
    unsigned wrong = 0;
    for (unsigned thread = 0; thread < cases[i].count; ++thread) {
      if (isClose(cases[i], recorded[i][thread], (*results)[thread]))
        continue;
      if (wrong++ < 4) {
        std::printf("%s:", cases[i].body.c_str());
        for (unsigned operand = 0; operand < cases[i].operands.size(); ++operand)
          std::printf(" %#llx", (unsigned long long)(inputs(cases[i], operand)[thread]));
        std::printf(" gives %#llx on the GPU, %#llx here (thread %u)\n", (unsigned long long)(recorded[i][thread]),
                    (unsigned long long)((*results)[thread]), thread);
      }
    }
    if (wrong)
      std::printf("  %u of %u\n", wrong, cases[i].count);
    wrongCases += wrong != 0;
  }
  std::printf("%u of %zu cases differ\n", wrongCases, cases.size());
  return wrongCases != 0;
}

int recordAll(const char *from, const char *to) {
  std::vector<InstructionCase> cases = instructionCases();
  std::vector<std::vector<uint64_t>> results = readResults(from, cases);
  std::ofstream output(to, std::ios::binary);
  for (size_t i = 0; i < results.size(); ++i) {
    std::vector<uint8_t> bytes = record(cases[i], results[i]);
    output.write(reinterpret_cast<const char *>(bytes.data()), std::streamsize(bytes.size()));
  }
  return results.empty() || !output.good();
}

} // namespace

int main(int count, char **arguments) {
  const RecordingTool tool = {"tile_sim_record", [] { return instructionModule(instructionCases()); }, runOnGpu,
                              compare, recordAll};
  return runTool(tool, count, arguments);
}
