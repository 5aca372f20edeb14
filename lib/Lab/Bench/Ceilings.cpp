// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Bench/Ceilings.h"

#include "Lab/Bench/Cublas.h"
#include "Lab/Bench/Rounds.h"
#include "Runner/Inputs/Element.h"
#include "Runner/Inputs/Random.h"

#include <algorithm>

namespace tile::runner {

using runtime::CUdeviceptr;
using runtime::CUstream;
using runtime::Success;

namespace {

/// Returns the time per launch in a graph, in microseconds, without evicting L2.
Result<double> timeInGraph(const Stopwatch &watch, const Launch &launch) {
  std::vector<Contestant> one;
  one.emplace_back(launch);
  Result<RoundSize> size = prepareRounds(watch, one, true, 20);
  if (!size)
    return size.error();
  Contestant *all[] = {one.data()};
  for (unsigned round = 0; round < 3; ++round)
    if (Status status = measureRound(watch, all, round, *size); !status)
      return status.error();
  return one[0].microseconds();
}

/// Fills device memory with normally distributed values, which repeat after 4 MiB.
Status fillNormal(const Driver &driver, CUdeviceptr to, size_t bytes, DataType type) {
  const unsigned size = runtime::dataTypeSize(type);
  const size_t pattern = std::min(bytes, size_t(4) << 20) / size * size;
  std::vector<uint8_t> values(pattern);
  const StoreElement store = elementStorer(type);
  for (size_t i = 0; i < pattern / size; ++i)
    store(values.data() + i * size, randomElement(type, 1, i));
  Status status = driver.check(driver.copyToDevice(to, values.data(), pattern), "copy of a GEMM's operands");
  if (status)
    status = driver.check(driver.streamSynchronize(nullptr), "copy of a GEMM's operands");
  for (size_t done = pattern; done < bytes && status; done += pattern)
    status =
        driver.check(driver.copyOnDevice(to + done, to, std::min(pattern, bytes - done), nullptr), "cuMemcpyDtoDAsync");
  return status ? driver.check(driver.streamSynchronize(nullptr), "copy of a GEMM's operands") : status;
}

DataType accumulatorType(DataType type) {
  const bool isFloat8 = runtime::isFloatType(type) && runtime::dataTypeSize(type) == 1;
  return type == DataType::I8 ? DataType::I32 : isFloat8 ? DataType::F16 : type;
}

} // namespace

Status CeilingMeter::measureMemory(const Stopwatch &watch) {
  const Driver &driver = context->driver();
  const size_t l2 = context->info().l2Bytes;
  const size_t half = std::clamp<size_t>(context->info().memoryBytes / 64, 16 * l2, size_t(1) << 30);
  Result<CudaMemory> memory = CudaMemory::allocate(driver, 2 * half);
  if (!memory)
    return memory.error();
  Ceilings ceilings;
  Contestant copy([&](CUstream stream) {
    return driver.check(driver.copyOnDevice(memory->address() + half, memory->address(), half, stream),
                        "cuMemcpyDtoDAsync");
  });
  constexpr int copies = 20;
  Result<double> time = watch.measure(copy.sample, 3);
  if (time)
    time = watch.measure(copy.sample, copies);
  if (!time)
    return time.error();
  ceilings.memoryBytes = 2 * static_cast<double>(half) / *time * 1e3;
  Result<double> shortest = timeInGraph(watch, [&](CUstream stream) {
    return driver.check(driver.fillBytes(memory->address(), 0, 4, stream), "cuMemsetD8Async");
  });
  if (!shortest)
    return shortest.error();
  ceilings.launchMicroseconds = *shortest;
  common = ceilings;
  return Success{};
}

Result<CeilingMeter::Gemm> CeilingMeter::measureGemm(const Stopwatch &watch, DataType type) {
  const DataType output = accumulatorType(type);
  if (!Cublas::supports(type, type, output))
    return Gemm{};
  const Driver &driver = context->driver();
  Result<CudaMemory> workspace = CudaMemory::allocate(driver, Cublas::workspaceBytes);
  if (!workspace)
    return workspace.error();
  Result<std::unique_ptr<Cublas>> library = Cublas::load(cublas, workspace->address());
  if (!library) // cuBLAS is not available
    return Gemm{};
  const size_t size = runtime::dataTypeSize(type);
  int64_t n = 128;
  while (n < 8192 && static_cast<size_t>(3 * 4 * n * n) * size <= context->info().memoryBytes / 128)
    n *= 2;
  const size_t bytes = static_cast<size_t>(n * n) * size;
  Result<CudaMemory> operands = CudaMemory::allocate(driver, 2 * bytes);
  Result<CudaMemory> target = CudaMemory::allocate(driver, static_cast<size_t>(n * n) * runtime::dataTypeSize(output));
  if (!operands || !target)
    return operands ? target.error() : operands.error();
  if (Status status = fillNormal(driver, operands->address(), 2 * bytes, type); !status)
    return status.error();
  // K is contiguous in both operands: 8-bit floats require this layout, and for other types it is as fast as any other.
  const GemmPlan plan{
      .m = n, .n = n, .k = n, .first = {"a", true, n}, .second = {"b", false, n}, .output = {"c", false, n}};
  Result<std::function<Status(CUstream)>> launch = (*library)->prepare(plan, {.first = operands->address(),
                                                                              .second = operands->address() + bytes,
                                                                              .output = target->address(),
                                                                              .firstType = type,
                                                                              .secondType = type,
                                                                              .outputType = output});
  if (!launch)
    return Gemm{};
  Result<double> time = timeInGraph(watch, *launch);
  if (!time)
    return time.error();
  const double flops = 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  return Gemm{flops / *time * 1e6, fmt::format("{} {}x{}x{} {}{}", (*library)->name(), n, n, n, dataTypeName(type),
                                               type == DataType::F32 ? " (tf32)" : "")};
}

Result<Ceilings> CeilingMeter::measure(std::optional<DataType> type) {
  Result<Stopwatch> watch = Stopwatch::create(*context);
  if (!watch)
    return watch.error();
  if (!common)
    if (Status status = measureMemory(*watch); !status)
      return runtime::withContext("measuring the card's ceilings", status.error());
  Ceilings ceilings = *common;
  if (!type)
    return ceilings;
  auto found = gemms.find(*type);
  if (found == gemms.end()) {
    Result<Gemm> gemm = measureGemm(*watch, *type);
    if (!gemm)
      return runtime::withContext("measuring the card's ceilings", gemm.error());
    found = gemms.emplace(*type, std::move(*gemm)).first;
  }
  ceilings.flops = found->second.flops;
  ceilings.flopsBy = found->second.by;
  return ceilings;
}

} // namespace tile::runner
