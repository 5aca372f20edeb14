// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prepares and runs executions. All errors in the arguments are found before the kernel starts.
#include "Runner/Device/Execution.h"

#include "Runner/Inputs/BufferSource.h"
#include "Runner/Inputs/Npy.h"
#include "Runner/Results/TimeTrace.h"
#include "Target/TimeRecords.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace tile::runner {

using runtime::BufferRole;
using runtime::Expectation;
using runtime::makeError;
using runtime::Success;

namespace {

constexpr const char *recordedContext = "recorded outputs"; // for messages

BufferRole roleOf(const Parameter &parameter) {
  return parameter.buffer ? parameter.buffer->role : BufferRole::Inout;
}

Result<BufferOffsets> readOffsets(const RunOptions &options, const Manifest &manifest) {
  Result<BufferOffsets> offsets = parseOffsets(options.offsets, manifest);
  return offsets ? std::move(offsets) : runtime::withContext("--offset", offsets.error());
}

/// Returns the seed of a rank. Ranks have different random inputs; the inputs of the first rank are the same as in a
/// run on one device.
uint64_t seedOf(const RunOptions &options) {
  constexpr uint64_t step = 0x9e3779b97f4a7c15; // far from the seeds that a user tries
  return options.seed + step * uint64_t(options.rank);
}

Result<HostBuffers> makeBuffers(const RunOptions &options, const Manifest &manifest, const Bindings &bindings) {
  HostBuffers buffers;
  buffers.before.resize(manifest.parameters.size());
  buffers.after.resize(manifest.parameters.size());
  Result<BufferOffsets> offsets = readOffsets(options, manifest);
  if (!offsets)
    return offsets.error();
  Result<std::vector<FilledBuffer>> filled =
      bindBuffers(manifest, bindings, seedOf(options), *offsets, std::max(1, options.ranks));
  if (!filled)
    return filled.error();
  for (size_t i = 0; i < manifest.parameters.size(); ++i) {
    const Parameter &parameter = manifest.parameters[i];
    if (!parameter.isPointer) {
      buffers.names.scalars[parameter.name] =
          parameter.isInteger() ? static_cast<double>(bindings.scalar(i).integer) : bindings.scalar(i).real;
      continue;
    }
    buffers.before[i] = std::move((*filled)[i].buffer);
    buffers.names.buffers[parameter.name] = &buffers.before[i];
  }
  for (const FilledBuffer &buffer : *filled)
    buffers.pointsInto.push_back(buffer.pointsInto);
  for (const auto &[name, value] : manifest.constants) {
    if (const int64_t *integer = std::get_if<int64_t>(&value))
      buffers.names.scalars[name] = static_cast<double>(*integer);
    else if (const double *real = std::get_if<double>(&value))
      buffers.names.scalars[name] = *real;
  }
  buffers.names.scalars.try_emplace("this_rank", options.rank);
  buffers.names.scalars.try_emplace("num_ranks", std::max(1, options.ranks));
  if (Result<std::vector<int64_t>> count = bindings.evaluate(std::vector<std::string>{"num_sms"}, manifest))
    buffers.names.scalars.try_emplace("num_sms", static_cast<double>(count->front()));
  return buffers;
}

/// Resets the buffers after a run. Assigns to the elements of the vector, so the pointers to them in `names` remain
/// valid.
Status resetAfter(const Manifest &manifest, HostBuffers &buffers) {
  for (size_t i = 0; i < manifest.parameters.size(); ++i) {
    if (!manifest.parameters[i].isPointer)
      continue;
    Result<HostBuffer> copy = buffers.before[i].clone();
    if (!copy)
      return copy.error();
    buffers.after[i] = std::move(*copy);
  }
  return Success{};
}

std::vector<DeviceArgument> makeArguments(const Manifest &manifest, const Bindings &bindings, HostBuffers &buffers) {
  std::vector<DeviceArgument> arguments;
  for (size_t i = 0; i < manifest.parameters.size(); ++i) {
    const Parameter &parameter = manifest.parameters[i];
    arguments.push_back({&parameter, parameter.isPointer ? &buffers.after[i] : nullptr,
                         parameter.isPointer ? 0 : bindings.argumentBits(manifest, i), buffers.pointsInto[i]});
  }
  return arguments;
}

/// Checks that outputs do not overwrite inputs and that no file is written twice. Device files such as /dev/null are
/// exempt.
Status checkOutputs(const RunOptions &options, const std::vector<NamedText> &saves) {
  std::vector<std::string> paths{options.profileJson, options.benchJson, options.trace};
  for (const NamedText &save : saves)
    paths.push_back(save.value);
  std::set<std::filesystem::path> files;
  for (const std::string &path : paths) {
    std::error_code ignored;
    if (std::filesystem::equivalent(path, options.artifact, ignored))
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "the output '{}' would overwrite the kernel that runs", path);
    const bool isDevice = std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored);
    if (!path.empty() && !isDevice &&
        !files.insert(std::filesystem::weakly_canonical(std::filesystem::absolute(path), ignored)).second)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "the output '{}' is named twice", path);
  }
  return Success{};
}

/// Checks the assumptions of the kernel about its arguments, as a launch does, for devices that do not launch through
/// libtilert. Memory is aligned, so only --offset can misalign an address.
Status checkAssumptions(const Manifest &manifest, const Bindings &bindings, const BufferOffsets &offsets) {
  for (size_t i = 0; i < manifest.parameters.size(); ++i) {
    const Parameter &parameter = manifest.parameters[i];
    if (parameter.isInteger() && bindings.scalar(i).integer % parameter.divisibility != 0)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "{}={} is not a multiple of {}, for which the kernel was compiled",
                       parameter.name, bindings.scalar(i).integer, parameter.divisibility);
    const auto offset = offsets.find(parameter.name);
    if (offset == offsets.end())
      continue;
    const int64_t bytes = offset->second * int64_t(runtime::dataTypeSize(parameter.type));
    if (bytes % parameter.alignment != 0)
      return makeError(TILE_ERROR_ASSUMPTION,
                       "--offset: parameter {} '{}' is {} bytes beyond an aligned address, which is not a multiple of "
                       "{} bytes; the kernel was compiled for that alignment",
                       i, parameter.name, bytes, parameter.alignment);
  }
  return Success{};
}

Status checkRequirements(const Manifest &manifest, const Bindings &bindings) {
  for (const std::string &requirement : manifest.requirements) {
    Result<std::vector<int64_t>> value = bindings.evaluate(std::vector{requirement}, manifest);
    if (!value)
      return runtime::withContext(fmt::format("kernel '{}' requires {}", manifest.kernel, requirement), value.error());
    if (value->front() == 0)
      return makeError(TILE_ERROR_ASSUMPTION, "kernel '{}' requires {}, which does not hold for {}", manifest.kernel,
                       requirement, bindings.summary(manifest));
  }
  return Success{};
}

Result<Grid> chooseGrid(const RunOptions &options, const Manifest &manifest, const Bindings &bindings) {
  std::vector<int64_t> sizes = options.grid;
  if (sizes.empty()) {
    Result<std::vector<int64_t>> bound = bindGrid(manifest, bindings);
    if (!bound)
      return bound.error();
    sizes = std::move(*bound);
  }
  sizes.resize(3, 1);
  for (int64_t size : sizes)
    if (size < 0)
      return makeError(TILE_ERROR_GRID, "the grid {}x{}x{} has a negative dimension", sizes[0], sizes[1], sizes[2]);
  // Apply the limits of a launch (lib/Runtime/Grid.cpp) to all devices. With larger grids the interpreter would
  // practically never end.
  constexpr int64_t largest = 2147483647, largestOther = 65535, largestOfPersistent = 1 << 22;
  const int64_t other = manifest.launch.persistent ? largestOfPersistent : largestOther;
  if (sizes[0] > largest || sizes[1] > other || sizes[2] > other)
    return makeError(TILE_ERROR_GRID, "the grid {}x{}x{} is too large; at most {}x{}x{} is allowed", sizes[0], sizes[1],
                     sizes[2], largest, other, other);
  return Grid{sizes[0], sizes[1], sizes[2]};
}

/// Parses the strings NAME=FILE of an option; each NAME must be a buffer.
Result<std::vector<NamedText>> parseFiles(const std::string &option, const std::vector<std::string> &texts,
                                          const Manifest &manifest) {
  std::vector<NamedText> files;
  std::vector<std::string> pointers;
  for (const Parameter &parameter : manifest.parameters)
    if (parameter.isPointer)
      pointers.push_back(parameter.name);
  for (const std::string &text : texts) {
    Result<NamedText> file = splitAssignment(text);
    if (!file)
      return runtime::withContext(option, file.error());
    if (std::find(pointers.begin(), pointers.end(), file->name) == pointers.end())
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "{}: kernel '{}' has no buffer '{}'{}", option, manifest.kernel,
                       file->name, suggestion(file->name, pointers));
    files.push_back(std::move(*file));
  }
  return files;
}

/// Reads the recorded outputs.
Status loadRecorded(const std::vector<NamedText> &files, HostBuffers &buffers) {
  for (const NamedText &file : files) {
    const HostBuffer &like = *buffers.names.buffers.at(file.name);
    Result<BufferLayout> layout = planBuffer(like.layout().shape, {}, runtime::dataTypeSize(like.type()), true);
    if (!layout)
      return layout.error();
    Result<HostBuffer> buffer = HostBuffer::create(like.type(), std::move(*layout));
    if (!buffer)
      return buffer.error();
    if (Status status = loadBufferFile(*buffer, file.value); !status)
      return runtime::withContext(recordedContext, status.error());
    buffers.recorded.push_back({file.name, file.value, std::move(*buffer)});
  }
  return Success{};
}

Status validateExpectations(const Manifest &manifest, const HostBuffers &buffers) {
  for (const Expectation &expectation : manifest.expect)
    if (Status status = validateExpectation(expectation, buffers.names, *buffers.names.buffers.at(expectation.buffer));
        !status)
      return status;
  return Success{};
}

} // namespace

Status validateRequest(const RunOptions &options, const Manifest &manifest) {
  Result<std::vector<NamedText>> saves = parseFiles("--save", options.saves, manifest);
  if (!saves)
    return saves.error();
  if (Result<std::vector<NamedText>> compares = parseFiles(recordedContext, options.recorded, manifest); !compares)
    return compares.error();
  Result<BufferOffsets> offsets = readOffsets(options, manifest);
  if (!offsets)
    return offsets.error();
  if (Status status = checkOutputs(options, *saves); !status)
    return status;
  // The number of multiprocessors does not matter here, because only default values can depend on it.
  Result<Bindings> bindings = Bindings::bind(manifest, options.arguments, 1);
  if (!bindings)
    return bindings.error();
  if (Status status = checkAssumptions(manifest, *bindings, *offsets); !status)
    return status;
  if (options.check && manifest.expect.empty())
    return makeError(
        TILE_ERROR_INVALID_ARGUMENT,
        "--check: kernel '{}' declares nothing to check; add '#: expect c == ... within 1e-3' to its source",
        manifest.kernel);
  if (!options.trace.empty() && !manifest.findParameter(target::timesName))
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "--trace: kernel '{}' records no times; compile it with --instrument",
                     manifest.kernel);
  if (Result<Grid> grid = chooseGrid(options, manifest, *bindings); !grid)
    return grid.error();
  return Success{};
}

Result<Execution> Execution::prepare(const RunOptions &options, const Manifest &manifest, Device &device,
                                     Execution *previous) {
  if (Status status = validateRequest(options, manifest); !status)
    return status.error();
  Result<Bindings> bindings = Bindings::bind(manifest, options.arguments, device.multiprocessorCount());
  if (!bindings)
    return bindings.error();
  Result<BufferOffsets> offsets = readOffsets(options, manifest);
  if (!offsets)
    return offsets.error();
  if (Status status = checkAssumptions(manifest, *bindings, *offsets); !status)
    return status.error();
  if (Status status = checkRequirements(manifest, *bindings); !status)
    return status.error();
  Execution execution(options, manifest, device, std::move(*bindings));
  Result<std::vector<NamedText>> saves = parseFiles("--save", options.saves, manifest);
  if (!saves)
    return saves.error();
  execution.saves = std::move(*saves);
  Result<std::vector<NamedText>> recorded = parseFiles(recordedContext, options.recorded, manifest);
  if (!recorded)
    return recorded.error();
  Result<Grid> grid = chooseGrid(options, manifest, execution.bindings);
  if (!grid)
    return grid.error();
  execution.grid = *grid;
  Result<HostBuffers> buffers = makeBuffers(options, manifest, execution.bindings);
  if (!buffers)
    return buffers.error();
  execution.buffers = std::move(*buffers);
  execution.previous = previous;
  if (Status status = execution.linkPrevious(); !status)
    return status.error();
  if (options.ranks <= 1) { // otherwise the caller does so, when all ranks have been prepared
    Execution *const alone[] = {&execution};
    if (Status status = execution.linkPeers(alone); !status)
      return status.error();
  }
  if (Status status = loadRecorded(*recorded, execution.buffers); !status)
    return status.error();
  return execution;
}

/// Finds the buffers that earlier kernels leave, and makes their names available to expectations.
Status Execution::linkPrevious() {
  for (size_t i = 0; previous && i < manifest->parameters.size(); ++i) {
    const Parameter &parameter = manifest->parameters[i];
    if (!parameter.isPointer || roleOf(parameter) == BufferRole::Output || !bindings.bufferText(i).empty())
      continue;
    const Execution *source = previous;
    while (source && !source->manifest->findParameter(parameter.name))
      source = source->previous;
    if (!source)
      continue;
    const Parameter &other = *source->manifest->findParameter(parameter.name);
    if (!other.isPointer)
      continue;
    const HostBuffer &here = buffers.before[i], &there = source->output(parameter.name);
    const HostBuffer &shaped = *source->buffers.names.buffers.at(parameter.name); // `there` is empty before a run
    if (here.type() != shaped.type() || here.layout().elements != shaped.layout().elements)
      return makeError(
          TILE_ERROR_INVALID_ARGUMENT,
          "buffer '{}' has {} elements of {} in kernel '{}', but {} of {} in kernel '{}', which runs before",
          parameter.name, here.layout().elements, runtime::dataTypeName(here.type()), manifest->kernel,
          shaped.layout().elements, runtime::dataTypeName(shaped.type()), source->manifest->kernel);
    links.emplace_back(i, &there);
  }
  if (previous) { // insert() does not replace names of this kernel
    buffers.names.buffers.insert(previous->names().buffers.begin(), previous->names().buffers.end());
    buffers.names.scalars.insert(previous->names().scalars.begin(), previous->names().scalars.end());
  }
  return Success{};
}

/// Returns a buffer that stacks the logical elements of all ranks' buffers of this name along a new first axis.
static Result<HostBuffer> stackBuffers(std::span<Execution *const> ranks, const std::string &name) {
  std::vector<uint8_t> all;
  std::vector<int64_t> shape;
  DataType type = DataType::F32;
  for (const Execution *execution : ranks) {
    const auto found = execution->names().buffers.find(name);
    if (found == execution->names().buffers.end())
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "peers({}): '{}' is not a buffer of kernel '{}'", name, name,
                       execution->kernel().kernel);
    const HostBuffer &buffer = *found->second;
    if (shape.empty()) {
      type = buffer.type();
      shape = buffer.layout().shape;
    } else if (shape != buffer.layout().shape) {
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "peers({}): the buffers of the ranks have different shapes", name);
    }
    const std::vector<uint8_t> dense = buffer.exportDense();
    all.insert(all.end(), dense.begin(), dense.end());
  }
  shape.insert(shape.begin(), int64_t(ranks.size()));
  Result<BufferLayout> layout = planBuffer(std::move(shape), {}, runtime::dataTypeSize(type), true);
  if (!layout)
    return layout.error();
  Result<HostBuffer> stacked = HostBuffer::create(type, std::move(*layout));
  if (stacked)
    stacked->importDense(all.data());
  return stacked;
}

Status Execution::linkPeers(std::span<Execution *const> ranks) {
  if (!options->check)
    return Success{};
  for (const Expectation &expectation : manifest->expect) {
    Result<TensorExpression> expression = TensorExpression::parse(expectation.expression);
    if (!expression)
      continue; // reported below
    for (const std::string &name : expression->names()) {
      const std::optional<std::string> buffer = bufferOfPeers(name);
      if (!buffer || buffers.ofAllRanks.contains(name))
        continue;
      Result<HostBuffer> stacked = stackBuffers(ranks, *buffer);
      if (!stacked)
        return stacked.error();
      buffers.names.buffers[name] = &buffers.ofAllRanks.emplace(name, std::move(*stacked)).first->second;
    }
  }
  return validateExpectations(*manifest, buffers);
}

/// Runs the earlier kernels and copies the buffers that they leave.
Status Execution::runPrevious(RunReport &report) {
  RunReport earlier;
  if (Status status = previous->run(earlier); !status)
    return status;
  for (const std::string &damage : earlier.damages)
    report.damages.push_back(fmt::format("kernel '{}': {}", previous->manifest->kernel, damage));
  report.earlierChecks = std::move(earlier.earlierChecks);
  report.earlierChecks.insert(report.earlierChecks.end(), earlier.checks.begin(), earlier.checks.end());
  for (const auto &[index, contents] : links)
    buffers.before[index].importDense(contents->exportDense().data());
  return Success{};
}

const HostBuffer &Execution::output(const std::string &name) const {
  return buffers.after[static_cast<size_t>(manifest->findParameter(name) - manifest->parameters.data())];
}

Result<std::vector<DeviceArgument>> Execution::freshArguments() {
  if (Status status = resetAfter(*manifest, buffers); !status)
    return status.error();
  return makeArguments(*manifest, bindings, buffers);
}

Status Execution::run(RunReport &report) {
  if (previous)
    if (Status status = runPrevious(report); !status)
      return status;
  Result<std::vector<DeviceArgument>> arguments = freshArguments();
  if (!arguments)
    return arguments.error();
  Result<RunTiming> timing = device->run(*manifest, grid, *arguments);
  return timing ? finishRun(*timing, report) : Status(timing.error());
}

Status Execution::finishRun(const RunTiming &timing, RunReport &report) {
  if (report.runs++ == 0) {
    report.milliseconds = timing.milliseconds;
    report.unwritten = unwrittenOutputs();
  }
  for (size_t i = 0; i < manifest->parameters.size(); ++i) {
    const Parameter &parameter = manifest->parameters[i];
    if (!parameter.isPointer)
      continue;
    const bool isInput = roleOf(parameter) == BufferRole::Random;
    if (std::optional<std::string> damage = findDamage(buffers.before[i], buffers.after[i], isInput))
      report.damages.push_back(fmt::format("buffer '{}': {}", parameter.name, *damage));
  }
  return check(report);
}

/// Returns the outputs that no program has written. Does not report outputs of an empty grid, or outputs without
/// elements.
std::vector<std::string> Execution::unwrittenOutputs() const {
  std::vector<std::string> names;
  if (std::find(grid.begin(), grid.end(), 0) != grid.end())
    return names;
  for (size_t i = 0; i < manifest->parameters.size(); ++i) {
    const Parameter &parameter = manifest->parameters[i];
    if (!parameter.isPointer || roleOf(parameter) != BufferRole::Output || buffers.before[i].layout().elements == 0)
      continue;
    const std::span<const uint8_t> before = buffers.before[i].storage(), after = buffers.after[i].storage();
    if (std::equal(before.begin(), before.end(), after.begin(), after.end()))
      names.push_back(parameter.name);
  }
  return names;
}

Status Execution::check(RunReport &report) const {
  report.checks = report.earlierChecks; // only the checks of the last run are kept; a failed run ends the loop
  if (options->check)
    for (const Expectation &expectation : manifest->expect) {
      Result<CheckResult> check = checkOutput(expectation, buffers.names, output(expectation.buffer), options->limit);
      if (!check)
        return check.error();
      report.checks.push_back(std::move(*check));
    }
  for (const auto &[name, file, contents] : buffers.recorded) {
    Result<CheckResult> check = checkRecorded(name, contents, file, options->within.value_or(0), output(name));
    if (!check)
      return check.error();
    report.checks.push_back(std::move(*check));
  }
  return Success{};
}

Status Execution::saveOutputs() const {
  for (const NamedText &save : saves)
    if (Status status = saveBufferFile(output(save.name), save.value); !status)
      return status;
  if (!options->trace.empty() && options->ranks <= 1)
    return writeFileAtomically(options->trace, timeTrace(*manifest, output(target::timesName)));
  return Success{};
}

} // namespace tile::runner
