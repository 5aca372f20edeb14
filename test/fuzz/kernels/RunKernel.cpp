// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunKernel.h"

#include "RealKernels.h"

#include "Driver/Compilation.h"
#include "Driver/InterpreterDevice.h"
#include "Runner/Device/SimDevice.h"
#include "Runner/Inputs/Arguments.h"
#include "Runner/Inputs/BufferSource.h"
#include "Runner/Inputs/Element.h"
#include "Runner/Inputs/Random.h"
#include "Runner/Run.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <set>

namespace tile::fuzz {

using runner::Bindings;
using runner::HostBuffer;
using runtime::DataType;
using runtime::Manifest;

namespace {

using State = RunResult::State;

/// Parses "2x1", "1x1x2", or "auto".
frontend::ClusterShape clusterOf(llvm::StringRef text) {
  frontend::ClusterShape shape = {1, 1, 1};
  llvm::SmallVector<llvm::StringRef> extents;
  text.split(extents, 'x');
  for (size_t i = 0; i < std::min(extents.size(), shape.size()); ++i)
    if (extents[i].getAsInteger(10, shape[i]))
      return frontend::openCluster;
  return shape;
}

driver::CompilerOptions optionsFor(const std::string &text, const Variant &variant) {
  driver::CompilerOptions options;
  options.input = "kernel.tile";
  options.inputText = text;
  options.emit = driver::EmitKind::Ptx;
  options.target = variant.target;
  options.pipeline.optLevel = variant.optLevel;
  llvm::SmallVector<llvm::StringRef> disabled;
  llvm::StringRef(variant.disabled).split(disabled, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef pass : disabled)
    options.pipeline.disabled.push_back(pass.str());
  options.pipeline.instrument = variant.instrument;
  options.debug = variant.debug;
  options.numSms = static_cast<unsigned>(variant.multiprocessors);
  options.warnings.silence();
  options.advise = false;
  if (const std::optional<MutantOptions> mutant = readMutantOptions(text)) {
    options.input = mutant->file;
    options.kernel = mutant->kernel;
    options.definitions = mutant->definitions;
    options.numWarps = mutant->numWarps;
    options.numStages = mutant->numStages;
    options.signature = mutant->signature;
    if (!mutant->cluster.empty())
      options.cluster = clusterOf(mutant->cluster);
    options.schedule = frontend::parseSchedule(mutant->schedule);
  }
  return options;
}

std::vector<std::string> argumentsOf(const std::string &text) {
  const std::optional<MutantOptions> mutant = readMutantOptions(text);
  return mutant ? mutant->arguments : std::vector<std::string>();
}

/// Returns true if the kernel reads the initial contents of the buffer, which are free to choose.
bool isFilled(const runtime::Parameter &parameter) {
  return parameter.isPointer && parameter.buffer && !parameter.defaultValue &&
         (parameter.buffer->role == runtime::BufferRole::Random ||
          parameter.buffer->role == runtime::BufferRole::Inout);
}

/// Chooses inputs by their names (KernelGenerator.h).
void fillInput(HostBuffer &buffer, const std::string &name) {
  const DataType type = buffer.type();
  const unsigned size = runtime::dataTypeSize(type);
  const uint64_t seed = runner::seedFor(0, name);
  const runner::StoreElement store = runner::elementStorer(type);
  const int64_t most = size == 1 ? 4 : 8;
  for (size_t i = 0; i < buffer.dataBytes() / size; ++i) {
    const uint64_t bits = runner::randomBits(seed, i);
    uint8_t *element = buffer.data() + i * size;
    if (name.starts_with("bits"))
      std::memcpy(element, &bits, size);
    else if (runtime::isFloatType(type))
      store(element, static_cast<double>(static_cast<int64_t>(bits % (2 * most + 1)) - most));
    else
      store(element, runner::randomElement(type, seed, i));
  }
}

runner::Result<std::vector<HostBuffer>> makeBuffers(const Manifest &manifest, const Bindings &bindings) {
  runner::Result<std::vector<runner::FilledBuffer>> filled = runner::bindBuffers(manifest, bindings, /*seed=*/0);
  if (!filled)
    return filled.error();
  std::vector<HostBuffer> buffers;
  for (size_t i = 0; i < manifest.parameters.size(); ++i) {
    const runtime::Parameter &parameter = manifest.parameters[i];
    HostBuffer &buffer = buffers.emplace_back(std::move((*filled)[i].buffer));
    if (isFilled(parameter))
      fillInput(buffer, parameter.name);
  }
  return buffers;
}

/// Assumes, as `tilec run` does, the powers of two up to 16 that divide the integers of the launch.
void promise(const Manifest &manifest, const Bindings &bindings, driver::CompilerOptions &options) {
  for (size_t i = 0; i < manifest.parameters.size(); ++i) {
    const runtime::Parameter &parameter = manifest.parameters[i];
    if (!parameter.isInteger() || parameter.type == DataType::I1)
      continue;
    const int64_t value = bindings.scalar(i).integer;
    options.sizes.try_emplace(parameter.name, value);
    const int divisor = value == 0 ? 16 : int(std::min<int64_t>(16, value & -value));
    if (divisor > 1)
      options.assumptions.try_emplace(parameter.name, divisor);
  }
}

RunResult failure(State state, const std::string &message) {
  RunResult result;
  result.state = state;
  result.message = message;
  return result;
}

RunResult launch(const std::string &text, const Manifest &manifest, runner::Device &device) {
  const std::vector<std::string> words = argumentsOf(text);
  runner::Result<Bindings> bindings = Bindings::bind(manifest, words, device.multiprocessorCount());
  if (!bindings)
    return failure(State::Failed, bindings.error().message);
  runner::Result<std::vector<HostBuffer>> before = makeBuffers(manifest, *bindings);
  if (!before)
    return failure(State::Failed, before.error().message);
  runner::Result<std::vector<int64_t>> sizes = bindGrid(manifest, *bindings);
  if (!sizes)
    return failure(State::Failed, sizes.error().message);
  sizes->resize(3, 1);
  std::vector<HostBuffer> after(before->size());
  std::vector<runner::DeviceArgument> arguments;
  for (size_t i = 0; i < after.size(); ++i) {
    const runtime::Parameter &parameter = manifest.parameters[i];
    if (parameter.isPointer)
      after[i] = std::move(*(*before)[i].clone());
    arguments.push_back({&parameter, parameter.isPointer ? &after[i] : nullptr,
                         parameter.isPointer ? 0 : bindings->argumentBits(manifest, i), std::nullopt});
  }
  runner::Result<runner::RunTiming> timing =
      device.run(manifest, runner::Grid{(*sizes)[0], (*sizes)[1], (*sizes)[2]}, arguments);
  if (!timing)
    return failure(State::Failed, timing.error().message);
  RunResult result;
  const std::optional<MutantOptions> mutant = readMutantOptions(text);
  result.isRounded = mutant && !mutant->isExact;
  for (size_t i = 0; i < after.size(); ++i) {
    const runtime::Parameter &parameter = manifest.parameters[i];
    if (!parameter.isPointer)
      continue;
    const bool isInput = parameter.buffer && parameter.buffer->role == runtime::BufferRole::Random;
    if (std::optional<std::string> damage = findDamage((*before)[i], after[i], isInput))
      return failure(State::Failed, "buffer '" + parameter.name + "': " + *damage);
    if (!isInput)
      result.buffers.push_back({parameter.name,
                                std::string(runtime::dataTypeName(parameter.type)),
                                {after[i].data(), after[i].data() + after[i].dataBytes()}});
  }
  return result;
}

} // namespace

std::string Variant::name() const {
  if (device == "interp")
    return device;
  return device + " " + target + (multiprocessors ? " --sms=" + std::to_string(multiprocessors) : "") + " -O" +
         std::to_string(optLevel) + (disabled.empty() ? "" : " --disable=" + disabled) +
         (instrument ? " --instrument" : "") + (debug ? " --debug" : "") + (promises ? " with promises" : "");
}

RunResult runKernel(const std::string &text, const Variant &variant) {
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  driver::CompilerOptions options = optionsFor(text, variant);
  if (variant.promises) {
    driver::Compilation first(options, errors);
    if (!first.load())
      return failure(State::Rejected, messages);
    runner::Result<Bindings> bindings = Bindings::bind(first.manifest(), argumentsOf(text), /*numSms=*/1);
    if (!bindings)
      return failure(State::Rejected, bindings.error().message);
    promise(first.manifest(), *bindings, options);
  }
  driver::Compilation compilation(options, errors);
  if (variant.device == "interp") {
    if (!compilation.load())
      return failure(State::Rejected, messages);
    KernelOp kernel = *compilation.module().getOps<KernelOp>().begin();
    const std::unique_ptr<runner::Device> device = driver::createInterpreterDevice(kernel, {}, interp::DebugInfo());
    return launch(text, compilation.manifest(), *device);
  }
  if (!compilation.run())
    return failure(State::Rejected, messages);
  const llvm::ArrayRef<uint8_t> bytes = llvm::arrayRefFromStringRef(compilation.result());
  runtime::Result<runtime::Artifact> artifact = runtime::readArtifact({bytes.data(), bytes.size()});
  if (!artifact)
    return failure(State::Failed, artifact.error().message);
  runner::RunOptions run;
  run.device = variant.device;
  if (variant.device == "sim") {
    run.threads = 1;
    run.multiprocessors = variant.multiprocessors;
    run.order = "seed:" + std::to_string(variant.order);
  }
  runner::Result<runner::DeviceLoader> loader = runner::DeviceLoader::open(run);
  if (!loader)
    return failure(State::Failed, loader.error().message);
  runner::Result<std::unique_ptr<runner::Device>> device = loader->load(*artifact);
  if (!device)
    return failure(State::Failed, device.error().message);
  RunResult result = launch(text, artifact->manifest, **device);
  // An artifact would have another variant for strides without tensor maps; here there is only one kernel.
  constexpr const char *raising = "tile-raise-descriptors";
  if (result.state == State::Failed && !llvm::StringRef(variant.disabled).contains(raising) &&
      llvm::StringRef(result.message).contains("a tensor map can have")) {
    Variant general = variant;
    general.disabled += (general.disabled.empty() ? "" : ",") + std::string(raising);
    return runKernel(text, general);
  }
  return result;
}

/// Returns the allowed error of a value of a rounded result, in addition to that of its own magnitude: a tenth of an
/// element's typical magnitude, times the unit of the type, because sums of such elements may cancel.
static double slackOf(const BufferContents &buffer, DataType type, const runner::LoadElement load) {
  const unsigned size = runtime::dataTypeSize(type);
  const size_t count = buffer.bytes.size() / size;
  double squares = 0;
  size_t finite = 0;
  for (size_t i = 0; i < count; ++i)
    if (const double value = load(buffer.bytes.data() + i * size); std::isfinite(value)) {
      squares += value * value;
      ++finite;
    }
  return finite ? 10 * std::sqrt(squares / static_cast<double>(finite)) : 1;
}

/// Relative error; operands of tf32 and fp8 are rounded even if results are wide.
static double toleranceOf(DataType type) {
  return runtime::dataTypeSize(type) == 1 ? 0.13 : 1e-2;
}

std::string compareRuns(const RunResult &expected, const RunResult &actual) {
  for (size_t b = 0; b < expected.buffers.size(); ++b) {
    const BufferContents &want = expected.buffers[b], &have = actual.buffers[b];
    // The bytes of tensor maps differ between devices.
    if (want.bytes == have.bytes || want.name == "maps")
      continue;
    const DataType type = *runtime::parseDataType(want.type);
    const unsigned size = runtime::dataTypeSize(type);
    const runner::LoadElement load = runner::elementLoader(type);
    const bool isApproximate = want.name.starts_with("approx");
    const double slack = expected.isRounded ? slackOf(want, type, load) : 0;
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i < want.bytes.size() / size; ++i) {
      const uint8_t *x = want.bytes.data() + i * size, *y = have.bytes.data() + i * size;
      if (std::memcmp(x, y, size) == 0)
        continue;
      if (runtime::isFloatType(type)) {
        const double a = load(x), b = load(y);
        const double tolerance = expected.isRounded ? toleranceOf(type) * (std::abs(a) + slack)
                                 : isApproximate    ? 4e-3 * (1 + std::abs(a))
                                                    : 0;
        // An overflow in a rounded result is an infinity, or NaN if it is subtracted from another one.
        const bool isOverflow = expected.isRounded && !std::isfinite(a) && !std::isfinite(b);
        if (std::abs(a - b) <= tolerance || (std::isnan(a) && std::isnan(b)) || isOverflow)
          continue;
      }
      if (wrong++ == 0)
        first = i;
    }
    if (wrong)
      return fmt::format("{}[{}] is {}, expected {} ({} of {} elements differ)", want.name, first,
                         load(have.bytes.data() + first * size), load(want.bytes.data() + first * size), wrong,
                         want.bytes.size() / size);
  }
  return "";
}

std::vector<std::string> optionalPasses() {
  std::set<std::string> names;
  for (const PipelineStep &step : gpuPipelineSteps({}))
    if (step.kind == PassKind::Optimisation)
      names.insert(step.name);
  return {names.begin(), names.end()};
}

std::string writeInputs(const std::string &text, const std::string &folder) {
  std::string messages, words;
  llvm::raw_string_ostream errors(messages);
  driver::Compilation compilation(optionsFor(text, {}), errors);
  if (!compilation.load())
    return words;
  const Manifest &manifest = compilation.manifest();
  runner::Result<Bindings> bindings = Bindings::bind(manifest, argumentsOf(text), /*numSms=*/1);
  if (!bindings)
    return words;
  runner::Result<std::vector<HostBuffer>> buffers = makeBuffers(manifest, *bindings);
  for (size_t i = 0; buffers && i < buffers->size(); ++i) {
    const runtime::Parameter &parameter = manifest.parameters[i];
    if (!isFilled(parameter))
      continue;
    const std::string path = folder + "/" + parameter.name + ".bin";
    if (std::FILE *file = std::fopen(path.c_str(), "wb")) {
      std::fwrite((*buffers)[i].data(), 1, (*buffers)[i].dataBytes(), file);
      std::fclose(file);
      words += " " + parameter.name + "=" + path;
    }
  }
  return words;
}

} // namespace tile::fuzz
