// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements the cuBLAS and copy baselines, and the choice among all baselines. BaselineArtifact.cpp implements the
// baselines that are artifacts.
#include "Lab/Bench/Baselines.h"

#include "Lab/Bench/BaselineArtifact.h"
#include "Lab/Bench/Cublas.h"
#include "Lab/Bench/CublasLt.h"
#include "Lab/Bench/RecordedTimes.h"

#include <algorithm>
#include <filesystem>

namespace tile::runner {

using runtime::CUdeviceptr;
using runtime::CUstream;
using runtime::makeError;

namespace {

std::optional<size_t> indexOf(std::span<const DeviceArgument> arguments, const std::string &name) {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].parameter->name == name)
      return i;
  return std::nullopt;
}

/// Members are destroyed in reverse order: cuBLAS before the memory that it uses.
struct CublasOwner {
  std::vector<CudaMemory> memory;
  std::unique_ptr<Cublas> cublas;
  std::vector<std::shared_ptr<CublasLtMatmul>> gemms;
};

/// Indices of the GEMM's arguments among those of the kernel.
struct GemmArguments {
  size_t first = 0, second = 0, output = 0;
  std::optional<size_t> bias;
};

GemmArguments findArguments(const GemmPlan &plan, std::span<const DeviceArgument> arguments) {
  const std::optional<size_t> first = indexOf(arguments, plan.first.buffer),
                              second = indexOf(arguments, plan.second.buffer),
                              output = indexOf(arguments, plan.output.buffer);
  assert(first && second && output && "a plan names buffers of this kernel");
  GemmArguments found{*first, *second, *output, std::nullopt};
  if (!plan.bias.empty())
    found.bias = indexOf(arguments, plan.bias);
  return found;
}

Cublas::Pointers pointersOf(const GemmArguments &gemm, const BenchRequest &bench, const CudaSession &session,
                            CUdeviceptr output) {
  const auto type = [&](size_t index) { return bench.arguments[index].buffer->type(); };
  Cublas::Pointers pointers = {.first = session.address(gemm.first),
                               .second = session.address(gemm.second),
                               .output = output,
                               .firstType = type(gemm.first),
                               .secondType = type(gemm.second),
                               .outputType = type(gemm.output),
                               .isPrecise = bench.isPrecise};
  if (gemm.bias) {
    pointers.bias = session.address(*gemm.bias);
    pointers.biasType = type(*gemm.bias);
  }
  return pointers;
}

/// Warms up and times a launch of the GEMM in the same way as `bench`.
Result<double> timeLaunch(const BaselineRequest &request, const Launch &launch) {
  constexpr double budgetMilliseconds = 20; // for each of about thirty algorithms
  Contestant contestant(launch);
  if (Result<double> first = request.watch->measure(contestant.sample, 2); !first)
    return first;
  if (request.bench->useGraphs) {
    Result<Sample> graph = request.watch->capture(contestant.copies, 20);
    if (!graph)
      return graph.error();
    contestant.sample = std::move(*graph);
  }
  contestant.sample.isCold = request.bench->isCold;
  Result<double> time = request.watch->measure(contestant.sample, 3);
  if (!time)
    return time;
  const double samples = budgetMilliseconds / std::max(*time * contestant.sample.launches, 1e-3);
  return request.watch->measure(contestant.sample, static_cast<int>(std::clamp(samples, 3.0, 50.0)));
}

/// Prepares cublasLtMatmul for all copies of the buffers, with the algorithm that is fastest for the first copy.
Status searchAlgorithms(const BaselineRequest &request, const std::vector<Cublas::Pointers> &pointers,
                        CublasOwner &owner, Baseline &baseline) {
  for (const Cublas::Pointers &copy : pointers) {
    Result<std::shared_ptr<CublasLtMatmul>> gemm = owner.cublas->prepareLt(*request.plan, copy);
    if (!gemm)
      return gemm.error();
    if (!owner.gemms.empty())
      (*gemm)->useAlgorithmOf(*owner.gemms.front());
    baseline.launches.push_back([gemm = gemm->get()](CUstream stream) { return gemm->launch(stream); });
    owner.gemms.push_back(std::move(*gemm));
    if (owner.gemms.size() > 1)
      continue;
    Result<int> tried = owner.gemms.front()->search([&] { return timeLaunch(request, baseline.launches.front()); });
    if (!tried)
      return tried.error();
    baseline.name += fmt::format(", fastest of {} cublasLt algorithms", *tried);
  }
  return runtime::Success{};
}

Result<Baseline> gemmBaseline(const BaselineRequest &request, bool isSearched) {
  const GemmPlan &plan = *request.plan;
  const BenchRequest &bench = *request.bench;
  const GemmArguments gemm = findArguments(plan, bench.arguments);
  const Cublas::Pointers types = pointersOf(gemm, bench, request.sessions.front(), 0);
  Baseline baseline;
  const bool isFloat = types.firstType != DataType::I8 && types.firstType != DataType::F64;
  const bool isFloat8 = isFloat && runtime::dataTypeSize(types.firstType) == 1;
  if (!Cublas::supports(types.firstType, types.secondType, types.outputType) ||
      ((plan.hasEpilogue() || isSearched) && !isFloat)) {
    baseline.note = fmt::format("{} does not compute {}{} from {}", isSearched ? "the search in cublasLt" : "cuBLAS",
                                dataTypeName(types.outputType), plan.hasEpilogue() ? " with bias or activation" : "",
                                dataTypeName(types.firstType));
    return baseline;
  }
  if (plan.batch > 1 && (isFloat8 || isSearched)) {
    baseline.note = fmt::format("cublasLt is not measured for batches of {}", dataTypeName(types.firstType));
    return baseline;
  }
  const Driver &driver = request.device->cudaContext().driver();
  auto owner = std::make_shared<CublasOwner>();
  const auto allocate = [&](size_t bytes) -> Result<CUdeviceptr> {
    Result<CudaMemory> memory = CudaMemory::allocate(driver, bytes);
    if (!memory)
      return memory.error();
    owner->memory.push_back(std::move(*memory));
    return owner->memory.back().address();
  };
  Result<CUdeviceptr> workspace = allocate(Cublas::workspaceBytes);
  if (!workspace)
    return workspace.error();
  Result<std::unique_ptr<Cublas>> cublas = Cublas::load(bench.cublas, *workspace);
  if (!cublas) {
    baseline.note = cublas.error().message;
    return baseline;
  }
  owner->cublas = std::move(*cublas);
  baseline.name = owner->cublas->name();
  if (types.firstType == DataType::F32)
    baseline.name += plan.needsFp32 ? " (fp32)" : " (tf32)";
  if (isFloat8)
    baseline.name += bench.isPrecise ? " (fp8, fp32 accumulation)" : " (fp8, fast accumulation)";
  if (plan.isPart)
    baseline.name += ", GEMM without epilogue";
  std::vector<Cublas::Pointers> pointers;
  for (const CudaSession &session : request.sessions) {
    Result<CUdeviceptr> target = allocate(bench.arguments[gemm.output].buffer->storageBytes());
    if (!target)
      return target.error();
    pointers.push_back(pointersOf(gemm, bench, session, *target + HostBuffer::guardBytes));
  }
  const auto without = [](const Error &error) {
    Baseline none;
    none.note = error.message;
    return none;
  };
  if (isSearched) {
    if (Status status = searchAlgorithms(request, pointers, *owner, baseline); !status)
      return without(status.error());
  } else {
    for (const Cublas::Pointers &copy : pointers) {
      Result<std::function<Status(CUstream)>> launch = owner->cublas->prepare(plan, copy);
      if (!launch)
        return without(launch.error());
      baseline.launches.push_back(std::move(*launch));
    }
  }
  if (!plan.isPart) {
    baseline.comparedArgument = gemm.output;
    baseline.result = pointers.front().output;
  }
  baseline.owner = std::move(owner);
  return baseline;
}

/// Makes a copy that moves as many bytes as the kernel: half of them are read, and half are written.
Result<Baseline> copyBaseline(const BaselineRequest &request) {
  const Driver &driver = request.device->cudaContext().driver();
  const size_t half = std::max<size_t>(static_cast<size_t>(request.bytes / 2), 1), stride = (half + 255) / 256 * 256;
  Result<CudaMemory> memory = CudaMemory::allocate(driver, 2 * stride * request.sessions.size());
  if (!memory)
    return memory.error();
  Baseline baseline;
  baseline.name = "device copy";
  auto owner = std::make_shared<CudaMemory>(std::move(*memory));
  for (size_t i = 0; i < request.sessions.size(); ++i)
    baseline.launches.push_back([&driver, half, stride, source = owner->address() + 2 * i * stride](CUstream stream) {
      return driver.check(driver.copyOnDevice(source + stride, source, half, stream), "cuMemcpyDtoDAsync");
    });
  baseline.owner = std::move(owner);
  return baseline;
}

} // namespace

Result<BaselineChoice> parseBaseline(const std::string &text) {
  using Kind = BaselineChoice::Kind;
  constexpr std::pair<std::string_view, Kind> words[] = {{"auto", Kind::Auto},
                                                         {"cublas", Kind::Cublas},
                                                         {"cublaslt", Kind::CublasLt},
                                                         {"copy", Kind::Copy},
                                                         {"none", Kind::None}};
  for (const auto &[word, kind] : words)
    if (text == word)
      return BaselineChoice{kind, ""};
  std::error_code ignored;
  if (!std::filesystem::exists(text, ignored))
    return makeError(TILE_ERROR_INVALID_ARGUMENT,
                     "--baseline: '{}' is neither a file nor auto, cublas, cublaslt, copy or none", text);
  return BaselineChoice{text.ends_with(".jsonl") || text.ends_with(".json") ? Kind::Recorded : Kind::Artifact, text};
}

Result<Baseline> prepareBaseline(const BaselineChoice &choice, const BaselineRequest &request) {
  using Kind = BaselineChoice::Kind;
  Baseline none;
  switch (choice.kind) {
  case Kind::Auto: {
    if (!request.plan)
      return copyBaseline(request);
    Result<Baseline> gemm = gemmBaseline(request, false);
    const bool isMissing = gemm && gemm->launches.empty() && request.plan->isPart;
    return isMissing ? copyBaseline(request) : std::move(gemm);
  }
  case Kind::Cublas:
  case Kind::CublasLt:
    if (request.plan)
      return gemmBaseline(request, choice.kind == Kind::CublasLt);
    none.note = "the kernel has no GEMM of two of its buffers to compare with cuBLAS";
    return none;
  case Kind::Copy:
    return copyBaseline(request);
  case Kind::Artifact:
    return artifactBaseline(choice.file, request);
  case Kind::Recorded:
    return recordedBaseline(choice.file, *request.bench);
  case Kind::None:
    break;
  }
  none.note = "none requested";
  return none;
}

} // namespace tile::runner
