// One run from options to report. Whatever can be wrong with the arguments is found before the kernel starts.
#include "Runner/Run.h"

#include "Runner/BufferSource.h"
#include "Runner/Npy.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace tile::runner {

using runtime::Artifact;
using runtime::BufferRole;
using runtime::Expectation;
using runtime::makeError;
using runtime::Success;

namespace {

/// What --compare names.
struct Recorded {
  std::string buffer;
  std::string file;
  HostBuffer contents;
};

/// Host buffers of one kernel: `before` is never given to a device.
struct Buffers {
  std::vector<HostBuffer> before; ///< one per parameter; unused for scalars
  std::vector<HostBuffer> after;
  std::vector<std::optional<size_t>> pointsInto; ///< of tables of addresses
  TensorNames names;                             ///< `before` and the scalars, for expectations
  std::vector<Recorded> recorded;
};

BufferRole roleOf(const Parameter &parameter) {
  return parameter.buffer ? parameter.buffer->role : BufferRole::Inout;
}

Result<Buffers> makeBuffers(const Manifest &manifest, const Bindings &bindings, uint64_t seed) {
  Buffers buffers;
  buffers.before.resize(manifest.parameters.size());
  buffers.after.resize(manifest.parameters.size());
  Result<std::vector<FilledBuffer>> filled = bindBuffers(manifest, bindings, seed);
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
  return buffers;
}

/// The addresses in `names` follow the vector's elements.
Status resetAfter(const Manifest &manifest, Buffers &buffers) {
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

std::vector<DeviceArgument> makeArguments(const Manifest &manifest, const Bindings &bindings, Buffers &buffers) {
  std::vector<DeviceArgument> arguments;
  for (size_t i = 0; i < manifest.parameters.size(); ++i) {
    const Parameter &parameter = manifest.parameters[i];
    arguments.push_back({&parameter, parameter.isPointer ? &buffers.after[i] : nullptr,
                         parameter.isPointer ? 0 : bindings.argumentBits(manifest, i), buffers.pointsInto[i]});
  }
  return arguments;
}

/// What a run writes is not what it runs.
Status checkOutputs(const RunOptions &options, const std::vector<NamedText> &saves) {
  std::vector<std::string> paths{options.profileJson, options.benchJson};
  for (const NamedText &save : saves)
    paths.push_back(save.value);
  for (const std::string &path : paths)
    if (std::error_code ignored; std::filesystem::equivalent(path, options.artifact, ignored))
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "the output '{}' is the kernel that runs", path);
  return Success{};
}

/// The same assumptions that a launch checks, for devices that do not launch through libtilert.
Status checkDivisibility(const Manifest &manifest, const Bindings &bindings) {
  for (size_t i = 0; i < manifest.parameters.size(); ++i) {
    const Parameter &parameter = manifest.parameters[i];
    if (parameter.isInteger() && bindings.scalar(i).integer % parameter.divisibility != 0)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "{}={} is not a multiple of {}, for which the kernel was compiled",
                       parameter.name, bindings.scalar(i).integer, parameter.divisibility);
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
  // A launch has these limits (lib/Runtime/Launch.cpp); the interpreter would not come to an end, either.
  constexpr int64_t largest = 2147483647, largestOther = 65535;
  const int64_t other = manifest.launch.persistent ? largest : largestOther;
  if (sizes[0] > largest || sizes[1] > other || sizes[2] > other)
    return makeError(TILE_ERROR_GRID, "the grid {}x{}x{} is too large; at most {}x{}x{} are possible", sizes[0],
                     sizes[1], sizes[2], largest, other, other);
  return Grid{sizes[0], sizes[1], sizes[2]};
}

/// The `texts` NAME=FILE of an option; each name is a buffer.
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

/// Reads what --compare names.
Status loadRecorded(const std::vector<NamedText> &files, Buffers &buffers) {
  for (const NamedText &file : files) {
    const HostBuffer &like = *buffers.names.buffers.at(file.name);
    Result<BufferLayout> layout = planBuffer(like.layout().shape, {}, runtime::dataTypeSize(like.type()), true);
    if (!layout)
      return layout.error();
    Result<HostBuffer> buffer = HostBuffer::create(like.type(), std::move(*layout));
    if (!buffer)
      return buffer.error();
    if (Status status = loadBufferFile(*buffer, file.value); !status)
      return runtime::withContext("--compare", status.error());
    buffers.recorded.push_back({file.name, file.value, std::move(*buffer)});
  }
  return Success{};
}

Status validateExpectations(const Manifest &manifest, const Buffers &buffers) {
  for (const Expectation &expectation : manifest.expect)
    if (Status status = validateExpectation(expectation, buffers.names, *buffers.names.buffers.at(expectation.buffer));
        !status)
      return status;
  return Success{};
}

/// Runs once on fresh buffers and adds what it finds to the report.
Status runOnce(const RunOptions &options, const Manifest &manifest, Device &device, const Bindings &bindings,
               Buffers &buffers, RunReport &report) {
  if (Status status = resetAfter(manifest, buffers); !status)
    return status;
  std::vector<DeviceArgument> arguments = makeArguments(manifest, bindings, buffers);
  Result<RunTiming> timing = device.run(manifest, report.grid, arguments);
  if (!timing)
    return timing.error();
  if (report.runs++ == 0)
    report.milliseconds = timing->milliseconds;
  for (size_t i = 0; i < manifest.parameters.size(); ++i) {
    const Parameter &parameter = manifest.parameters[i];
    if (!parameter.isPointer)
      continue;
    const bool isInput = roleOf(parameter) == BufferRole::Random;
    if (std::optional<std::string> damage = findDamage(buffers.before[i], buffers.after[i], isInput))
      report.damages.push_back(fmt::format("buffer '{}': {}", parameter.name, *damage));
  }
  report.checks.clear(); // of the last run; a failed one ends the loop
  const auto output = [&](const std::string &name) -> const HostBuffer & {
    return buffers.after[static_cast<size_t>(manifest.findParameter(name) - manifest.parameters.data())];
  };
  if (options.check)
    for (const Expectation &expectation : manifest.expect) {
      Result<CheckResult> check = checkOutput(expectation, buffers.names, output(expectation.buffer));
      if (!check)
        return check.error();
      report.checks.push_back(std::move(*check));
    }
  for (const auto &[name, file, contents] : buffers.recorded) {
    Result<CheckResult> check = checkRecorded(name, contents, file, options.within, output(name));
    if (!check)
      return check.error();
    report.checks.push_back(std::move(*check));
  }
  return Success{};
}

Status measure(const RunOptions &options, const Manifest &manifest, CudaDevice &device, const Bindings &bindings,
               Buffers &buffers, RunReport &report) {
  if (Status status = resetAfter(manifest, buffers); !status)
    return status;
  std::vector<DeviceArgument> arguments = makeArguments(manifest, bindings, buffers);
  BenchRequest request;
  request.manifest = &manifest;
  request.grid = report.grid;
  request.arguments = arguments;
  request.names = &buffers.names;
  request.rounds = options.rounds;
  request.useGraphs = options.graph;
  request.cublas = options.cublas;
  Result<BenchResult> bench = runBench(device, request);
  if (!bench)
    return bench.error();
  report.bench = std::move(*bench);
  return Success{};
}

} // namespace

Status validateRequest(const RunOptions &options, const Manifest &manifest) {
  Result<std::vector<NamedText>> saves = parseFiles("--save", options.saves, manifest);
  if (!saves)
    return saves.error();
  if (Result<std::vector<NamedText>> compares = parseFiles("--compare", options.compares, manifest); !compares)
    return compares.error();
  if (Status status = checkOutputs(options, *saves); !status)
    return status;
  // One multiprocessor stands for any number: only the values of defaults can depend on it.
  Result<Bindings> bindings = Bindings::bind(manifest, options.arguments, 1);
  if (!bindings)
    return bindings.error();
  if (Status status = checkDivisibility(manifest, *bindings); !status)
    return status;
  if (options.check && manifest.expect.empty())
    return makeError(
        TILE_ERROR_INVALID_ARGUMENT,
        "--check: kernel '{}' declares nothing to check; add '#: expect c == ... within 1e-3' to its source",
        manifest.kernel);
  if (Result<Grid> grid = chooseGrid(options, manifest, *bindings); !grid)
    return grid.error();
  return Success{};
}

Result<RunReport> runKernel(const RunOptions &options, const Manifest &manifest, Device &device,
                            const std::string &artifactName) {
  if (options.bench && !device.asCuda())
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "--bench needs a GPU; device '{}' cannot be measured", device.name());
  if (Status status = validateRequest(options, manifest); !status)
    return status.error();
  Result<std::vector<NamedText>> saves = parseFiles("--save", options.saves, manifest);
  if (!saves)
    return saves.error();
  Result<std::vector<NamedText>> compares = parseFiles("--compare", options.compares, manifest);
  if (!compares)
    return compares.error();
  Result<Bindings> bindings = Bindings::bind(manifest, options.arguments, device.multiprocessorCount());
  if (!bindings)
    return bindings.error();
  if (Status status = checkDivisibility(manifest, *bindings); !status)
    return status.error();
  Result<Grid> grid = chooseGrid(options, manifest, *bindings);
  if (!grid)
    return grid.error();
  Result<Buffers> buffers = makeBuffers(manifest, *bindings, options.seed);
  if (!buffers)
    return buffers.error();
  if (options.check)
    if (Status status = validateExpectations(manifest, *buffers); !status)
      return status.error();
  if (Status status = loadRecorded(*compares, *buffers); !status)
    return status.error();

  RunReport report;
  report.kernel = manifest.kernel;
  report.artifact = artifactName;
  report.target = manifest.target;
  report.sourceHash = manifest.sourceHash;
  report.device = device.name();
  report.arguments = bindings->summary(manifest);
  report.grid = *grid;
  const int64_t runs = int64_t(options.repeat) * options.orders;
  for (int64_t run = 0; run < runs && report.passed(); ++run)
    if (Status status = runOnce(options, manifest, device, *bindings, *buffers, report); !status)
      return status.error();
  if (!report.passed())
    report.lastRun = device.lastRun();
  for (const NamedText &save : *saves) {
    const size_t index = static_cast<size_t>(manifest.findParameter(save.name) - manifest.parameters.data());
    if (Status status = saveBufferFile(buffers->after[index], save.value); !status)
      return status.error();
  }
  if (options.bench && report.passed())
    if (Status status = measure(options, manifest, *device.asCuda(), *bindings, *buffers, report); !status)
      return status.error();
  return report;
}

/// "kernel.tile:5:9: error: ...", as the interpreter says where it stopped.
static bool namesPlace(const std::string &message) {
  size_t end = message.find(": error: ");
  if (end == std::string::npos)
    return false;
  for (int number = 0; number < 2; ++number) { // line and column
    const size_t digits = message.find_last_not_of("0123456789", end - 1);
    if (digits == std::string::npos || digits + 1 == end || message[digits] != ':')
      return false;
    end = digits;
  }
  return end > 0;
}

int reportFailure(const RunOptions &options, const Error &error) {
  std::fflush(stdout);
  if (namesPlace(error.message))
    fmt::print(stderr, "{}\n", error.message);
  else
    fmt::print(stderr, "{}: error: {}\n", options.program, error.message);
  return error.code == TILE_ERROR_INVALID_ARGUMENT ? 2 : 1;
}

int finishOutput(const std::string &program, int code) {
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && !std::ferror(stdout))
    return code;
  fmt::print(stderr, "{}: error: cannot write to standard output{}{}\n", program, flushed ? "" : ": ",
             flushed ? "" : std::strerror(errno));
  return code ? code : 1;
}

Status printReport(const RunOptions &options, const RunReport &report, bool isFirst) {
  if (options.format == "json")
    fmt::print("{}", formatJson(report, "", options.labels));
  else if (options.format == "csv")
    fmt::print("{}{}", isFirst ? csvHeader() : "", formatCsv(report));
  else if (report.label.empty())
    fmt::print("{}", formatText(report));
  else
    fmt::print("{}{}", isFirst ? rowHeader() : "", formatRow(report));
  std::fflush(stdout);
  if (options.benchJson.empty() || !report.bench)
    return Success{};
  std::FILE *file = std::fopen(options.benchJson.c_str(), "a");
  const std::string line = formatJson(report, options.command, options.labels);
  bool ok = file && std::fwrite(line.data(), 1, line.size(), file) == line.size();
  ok = file && std::fclose(file) == 0 && ok;
  if (ok)
    return Success{};
  return makeError(TILE_ERROR_FILE, "cannot append to '{}': {}", options.benchJson, std::strerror(errno));
}

int runOnDevice(const RunOptions &options, const Manifest &manifest, Device &device) {
  Result<RunReport> report = runKernel(options, manifest, device, options.artifact);
  if (!report)
    return reportFailure(options, report.error());
  if (Status status = printReport(options, *report, true); !status)
    return reportFailure(options, status.error());
  return report->passed() ? 0 : 1;
}

int runArtifact(const RunOptions &options, const Artifact &artifact) {
  if (Status status = validateRequest(options, artifact.manifest); !status)
    return reportFailure(options, status.error());
  Result<DeviceLoader> loader = DeviceLoader::open(options);
  if (!loader)
    return reportFailure(options, loader.error());
  Result<std::unique_ptr<Device>> device = loader->load(artifact);
  if (!device)
    return reportFailure(options, device.error());
  return runOnDevice(options, artifact.manifest, **device);
}

} // namespace tile::runner
