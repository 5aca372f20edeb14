// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Records what a GPU computes for the table of matrix instructions, for MatrixRecordTest.
//
//   tile_sim_record_matrices ptx > all.ptx; ptxas -arch=sm_90a all.ptx -o all.cubin
//   tile_sim_record_matrices run all.cubin raw.bin            on a machine with a GPU: all results
//   tile_sim_record_matrices compare raw.bin                  the differences from the simulator
//   tile_sim_record_matrices record raw.bin test/Simulator/recorded/matrices.bin
#include "MatrixRun.h"
#include "RecordingGpu.h"
#include "Runtime/Driver.h"

#include <cstdio>
#include <fstream>

using namespace tile;
using namespace tile::sim;

namespace {

size_t resultBytes(const MatrixCase &matrixCase) {
  return size_t(matrixCase.ctas) * matrixCase.resultWords * sizeof(uint32_t);
}

/// Returns the results of all cases, in the order of the table; empty if the file belongs to another table.
std::vector<std::vector<uint32_t>> readResults(const char *path, const std::vector<MatrixCase> &cases) {
  std::vector<char> bytes = readFile(path);
  std::vector<std::vector<uint32_t>> all;
  size_t offset = 0;
  for (const MatrixCase &matrixCase : cases) {
    size_t size = resultBytes(matrixCase);
    if (offset + size > bytes.size())
      return {};
    std::vector<uint32_t> &results = all.emplace_back(size / sizeof(uint32_t));
    std::memcpy(results.data(), bytes.data() + offset, size);
    offset += size;
  }
  return offset == bytes.size() ? all : std::vector<std::vector<uint32_t>>();
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
  constexpr size_t arrayBytes = size_t(16) << 20;
  runtime::CUdeviceptr arrays[3];
  if (!openModule(driver, cubin, module))
    return 1;
  for (runtime::CUdeviceptr &array : arrays)
    if (!check(driver, driver.memoryAllocate(&array, arrayBytes), "cuMemAlloc"))
      return 1;
  std::vector<uint32_t> image = matrixImage();
  if (!check(driver, driver.copyToDevice(arrays[2], image.data(), image.size() * sizeof(uint32_t)), "cuMemcpyHtoD"))
    return 1;
  std::ofstream output(outputPath, std::ios::binary);
  for (const MatrixCase &matrixCase : matrixCases()) {
    std::vector<char> results(resultBytes(matrixCase));
    size_t inputBytes = matrixCase.inputs.size() * sizeof(uint32_t);
    runtime::CUfunction function = nullptr;
    void *arguments[] = {&arrays[0], &arrays[1], &arrays[2]};
    runtime::LaunchConfig config{matrixCase.ctas, 1, 1, matrixThreads, 1, 1, 0, nullptr, nullptr, 0};
    bool ok = results.size() <= arrayBytes && inputBytes <= arrayBytes &&
              check(driver, driver.copyToDevice(arrays[1], matrixCase.inputs.data(), inputBytes), "cuMemcpyHtoD") &&
              check(driver, driver.moduleGetFunction(&function, module, matrixCase.name.c_str()), matrixCase.name) &&
              check(driver, driver.launchKernelEx(&config, function, arguments, nullptr), matrixCase.name) &&
              check(driver, driver.copyToHost(results.data(), arrays[0], results.size()), matrixCase.name);
    if (!ok)
      return 1;
    output.write(results.data(), std::streamsize(results.size()));
  }
  return output.good() ? 0 : 1;
}

int compare(const char *path) {
  std::vector<MatrixCase> cases = matrixCases();
  std::vector<std::vector<uint32_t>> recorded = readResults(path, cases);
  auto module = parsePtx(matrixModule(cases));
  if (recorded.empty() || !module) {
    std::fprintf(stderr, "%s\n", module ? "the results are not of this table" : module.error().message.c_str());
    return 1;
  }
  unsigned wrongCases = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    auto results = simulate(*module, cases[i]);
    if (!results) {
      std::printf("%s: %s\n", cases[i].name.c_str(), results.error().message.c_str());
      ++wrongCases;
      continue;
    }
    size_t wrong = 0;
    for (size_t word = 0; word < recorded[i].size(); ++word)
      if (recorded[i][word] != (*results)[word] && wrong++ < 4)
        std::printf("%s: CTA %zu, word %zu: %08x on the GPU, %08x here\n", cases[i].name.c_str(),
                    word / cases[i].resultWords, word % cases[i].resultWords, recorded[i][word], (*results)[word]);
    std::printf("%-24s %zu of %zu words differ\n", cases[i].name.c_str(), wrong, recorded[i].size());
    wrongCases += wrong != 0;
  }
  std::printf("%u of %zu cases differ\n", wrongCases, cases.size());
  return wrongCases != 0;
}

int recordAll(const char *from, const char *to) {
  std::vector<MatrixCase> cases = matrixCases();
  std::vector<std::vector<uint32_t>> results = readResults(from, cases);
  std::ofstream output(to, std::ios::binary);
  for (size_t i = 0; i < results.size(); ++i) {
    std::vector<uint32_t> hashes = matrixSummary(cases[i], results[i]);
    output.write(reinterpret_cast<const char *>(hashes.data()), std::streamsize(hashes.size() * sizeof(uint32_t)));
  }
  return results.empty() || !output.good();
}

} // namespace

int main(int count, char **arguments) {
  const RecordingTool tool = {"tile_sim_record_matrices", [] { return matrixModule(matrixCases()); }, runOnGpu, compare,
                              recordAll};
  return runTool(tool, count, arguments);
}
