// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Distributes the calls over processes, one per GPU, which append measurements to one journal. Afterwards the journal
// is converted to a tuning table.
#include "Lab/Tune/Tune.h"

#include "Lab/Tune/TuneJournal.h"
#include "Runner/Inputs/Npy.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

namespace tile::runner {

using runtime::Artifact;
using runtime::makeError;
using runtime::Success;
using runtime::TuningTable;
using OrderedJson = nlohmann::ordered_json;

namespace {

std::string nameOf(const CallArguments &shape) {
  return fmt::format("{}", fmt::join(shape, " "));
}

/// Measures calls on one GPU.
class DeviceTuner {
public:
  DeviceTuner(const TuneOptions &options, const Artifact &artifact, const std::string &journal)
      : options(options), artifact(artifact), journalPath(journal) {}

  Status run(const std::vector<CallArguments> &shapes, Shard shard, const std::string &device) {
    RunOptions run = options.run;
    run.device = device;
    Result<DeviceLoader> loader = DeviceLoader::open(run);
    if (!loader)
      return loader.error();
    if (!loader->gpu())
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "only a GPU can be measured; the device is '{}'", loader->name());
    Result<Variants> variants = Variants::open(run, artifact, *loader);
    if (!variants)
      return variants.error();
    Result<Tuner> tuner = Tuner::create(options.tuner, *variants, *loader->cuda());
    if (!tuner)
      return tuner.error();
    Result<TuneJournal> journal = TuneJournal::open(journalPath, tuner->identity());
    if (!journal)
      return journal.error();
    const auto begin = std::chrono::steady_clock::now();
    bool hasMeasured = false;
    for (size_t i = 0; i < shapes.size(); ++i)
      if (shard.has(i) && !journal->has(nameOf(shapes[i]))) {
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
        if (hasMeasured && options.seconds && passed.count() > *options.seconds)
          break;
        run.arguments = shapes[i];
        if (Status status = measure(*tuner, run, *journal, fmt::format("[{}/{}]", i + 1, shapes.size())); !status)
          return runtime::withContext(nameOf(shapes[i]), status.error());
        hasMeasured = true;
      }
    return Success{};
  }

private:
  Status measure(Tuner &tuner, const RunOptions &run, TuneJournal &journal, const std::string &position) const {
    const std::string name = nameOf(run.arguments);
    Result<Tuned> tuned = tuner.tune(run);
    if (!tuned && tuned.error().code == TILE_ERROR_OUT_OF_MEMORY) {
      reportWarning(run, fmt::format("{}: skipped: {}", name, tuned.error().message));
      return Success{};
    }
    if (!tuned)
      return tuned.error();
    const double ratio = tuned->untunedMicroseconds / tuned->entry.microseconds;
    fmt::print("{} {}: {} {:.2f} us, of {} variants that serve, {} measured{}\n", position, name, tuned->entry.variant,
               tuned->entry.microseconds, tuned->serving, tuned->times.size(),
               ratio > 1 ? fmt::format("; {:.2f} times as fast as without a table", ratio) : std::string());
    std::fflush(stdout);
    if (Status status = appendTimes(name, tuned->times); !status)
      return status;
    return journal.append(name, tuned->entry);
  }

  Status appendTimes(const std::string &call, const std::vector<VariantTime> &times) const {
    if (options.times.empty())
      return Success{};
    std::string lines;
    for (const VariantTime &time : times)
      lines += OrderedJson{{"call", call},
                           {"variant", time.variant},
                           {"expected", time.expected < 0 ? nullptr : OrderedJson(time.expected)},
                           {"microseconds", time.microseconds},
                           {"rounds", time.rounds}}
                   .dump() +
               "\n";
    const Status status = appendToFile(options.times, lines);
    return status ? status : Status(runtime::withContext("--times", status.error()));
  }

  const TuneOptions &options;
  const Artifact &artifact;
  const std::string journalPath;
};

/// Uses one process per GPU, so that a fault or a hang does not affect the other GPUs. CUDA must not be initialized
/// before the fork.
int tuneInProcesses(const TuneOptions &options, const Artifact &artifact, const std::string &journal,
                    const std::vector<CallArguments> &shapes) {
  std::vector<pid_t> processes;
  const size_t count = options.devices.size();
  std::fflush(stdout);
  for (size_t i = 0; i < count; ++i) {
    const pid_t process = fork();
    if (process < 0) {
      for (pid_t other : processes) {
        kill(other, SIGTERM);
        waitpid(other, nullptr, 0);
      }
      return reportFailure(options.run,
                           makeError(TILE_ERROR_DRIVER, "cannot start a process: {}", std::strerror(errno)));
    }
    if (process > 0) {
      processes.push_back(process);
      continue;
    }
    const Shard part = {options.shard.index + options.shard.count * i, options.shard.count * count};
    const Status status =
        DeviceTuner(options, artifact, journal).run(shapes, part, fmt::format("cuda:{}", options.devices[i]));
    const int code = status ? 0 : reportFailure(options.run, status.error());
    std::fflush(stdout);
    _exit(code);
  }
  int code = 0;
  for (size_t i = 0; i < processes.size(); ++i) {
    int state = 0;
    waitpid(processes[i], &state, 0);
    if (WIFSIGNALED(state))
      code = reportFailure(options.run, makeError(TILE_ERROR_DRIVER, "the process for cuda:{} was ended by signal {}",
                                                  options.devices[i], WTERMSIG(state)));
    else if (WEXITSTATUS(state) != 0)
      code = WEXITSTATUS(state);
  }
  return code;
}

/// Writes the table to a separate file, merged with the table that the file may already contain.
Status writeTable(const std::string &path, TuningTable table) {
  if (std::filesystem::exists(path)) {
    Result<TuningTable> old = runtime::readTuningFile(path);
    if (!old)
      return old.error();
    Result<TuningTable> merged = runtime::mergeTuning(*old, table);
    if (!merged)
      return runtime::withContext("'" + path + "'", merged.error());
    table = std::move(*merged);
  }
  return writeFileAtomically(path, runtime::toJson(table));
}

/// Embeds the table in an artifact, merged with a table for the same device that the artifact may already contain.
Status embedTable(const std::string &path, TuningTable table) {
  constexpr uint64_t largest = uint64_t(1) << 30;
  Result<std::string> text = runtime::readFile(path, largest);
  if (!text)
    return text.error();
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t *>(text->data()), text->size());
  Result<Artifact> artifact = runtime::readArtifact(bytes);
  if (!artifact)
    return runtime::withContext("'" + path + "'", artifact.error());
  for (const Result<std::string> &old :
       artifact->pack ? artifact->pack->tuning() : std::vector<Result<std::string>>()) {
    Result<TuningTable> parsed = old ? runtime::parseTuning(*old) : Result<TuningTable>(old.error());
    if (!parsed)
      return runtime::withContext("'" + path + "'", parsed.error());
    // Measurements for other variants, or with another driver, are obsolete.
    if (parsed->device != table.device || !runtime::checkTuning(*parsed, *artifact->pack, table.device, table.driver))
      continue;
    Result<TuningTable> merged = runtime::mergeTuning(*parsed, table);
    if (!merged)
      return runtime::withContext("'" + path + "'", merged.error());
    table = std::move(*merged);
  }
  Result<std::string> with = runtime::withTuning(bytes, table);
  return with ? writeFileAtomically(path, *with) : runtime::withContext("'" + path + "'", with.error());
}

Status checkWritable(const char *option, const std::string &path) {
  Status status = checkAppendable(path);
  return status ? status : Status(runtime::withContext(option, status.error()));
}

/// Detects output errors that would otherwise occur only after all measurements.
Status validateOutput(const std::string &path, const Artifact &artifact) {
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored))
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "-o: '{}' is a directory", path);
  if (Status status = checkWritable("-o", path); !status)
    return status;
  if (!std::filesystem::exists(path))
    return Success{};
  Result<TuningTable> table = runtime::readTuningFile(path);
  if (!table)
    return runtime::withContext("-o", table.error());
  if (table->pack != artifact.pack->hash())
    return makeError(TILE_ERROR_INVALID_ARGUMENT,
                     "-o: '{}' is a table for other variants ({}, not {}); remove it, or name another file", path,
                     table->pack, artifact.pack->hash());
  return Success{};
}

} // namespace

int runTune(const TuneOptions &options, const Artifact &artifact) {
  if (!artifact.pack)
    return reportFailure(options.run,
                         makeError(TILE_ERROR_INVALID_ARGUMENT, "'{}' has one variant: there is nothing to choose from",
                                   options.run.artifact));
  // Shards use separate files, since they may run concurrently in one folder.
  const std::string part =
      options.shard.count > 1 ? fmt::format(".{}-of-{}", options.shard.index + 1, options.shard.count) : std::string();
  if (!part.empty() && options.embed)
    return reportFailure(options.run,
                         makeError(TILE_ERROR_INVALID_ARGUMENT,
                                   "--shard writes a separate table for each part; omit --embed, and merge "
                                   "the tables with tile-run tune merge"));
  if (std::error_code ignored; options.embed && !std::filesystem::exists(options.run.artifact, ignored))
    return reportFailure(options.run, makeError(TILE_ERROR_INVALID_ARGUMENT,
                                                "--embed: '{}' is a kernel of a pack, which holds no tables; write the "
                                                "table to a file with -o, or tune the kernel's artifact before it is "
                                                "packed",
                                                options.run.artifact));
  const std::string output = options.output.empty() ? options.run.artifact + ".tuning" + part : options.output;
  if (Status status = options.embed ? checkWritable("--embed", options.run.artifact) : validateOutput(output, artifact);
      !status)
    return reportFailure(options.run, status.error());
  if (Status status = checkWritable("--times", options.times); !status)
    return reportFailure(options.run, status.error());
  ShapeRequest request = options.shapes;
  request.arguments = options.run.arguments;
  request.seed = options.run.seed;
  Result<std::vector<CallArguments>> shapes = listShapes(request, artifact.manifest);
  if (!shapes)
    return reportFailure(options.run, shapes.error());
  for (const CallArguments &shape : *shapes) {
    RunOptions run = options.run;
    run.arguments = shape;
    if (Status status = validateRequest(run, artifact.manifest); !status)
      return reportFailure(options.run, runtime::withContext(nameOf(shape), status.error()));
  }
  const std::string journal = output + ".journal";
  if (options.devices.size() > 1) {
    if (const int code = tuneInProcesses(options, artifact, journal, *shapes))
      return code;
  } else {
    const std::string device =
        options.devices.empty() ? options.run.device : fmt::format("cuda:{}", options.devices[0]);
    if (Status status = DeviceTuner(options, artifact, journal).run(*shapes, options.shard, device); !status)
      return reportFailure(options.run, status.error());
  }
  Result<TuneJournal::Measured> measured = TuneJournal::read(journal);
  if (!measured)
    return reportFailure(options.run, measured.error());
  const size_t calls = measured->table.entries.size();
  // Without a time limit, the only calls that remain are those that do not fit in memory.
  size_t left = 0;
  for (size_t i = 0; options.seconds && i < shapes->size(); ++i)
    left += options.shard.has(i) && !measured->calls.contains(nameOf((*shapes)[i]));
  const std::string where = options.embed ? options.run.artifact : output;
  if (Status status =
          options.embed ? embedTable(where, std::move(measured->table)) : writeTable(where, std::move(measured->table));
      !status)
    return reportFailure(options.run, status.error());
  if (left > 0) {
    fmt::print("tune: {} calls measured, {} left; table in {}; run again to continue\n", calls, left, where);
    return 0;
  }
  std::filesystem::remove(journal);
  fmt::print("tune: {} calls measured; table in {}\n", calls, where);
  return 0;
}

int runMerge(const MergeOptions &options) {
  std::optional<TuningTable> all;
  for (const std::string &path : options.inputs) {
    Result<TuningTable> table = runtime::readTuningFile(path);
    if (!table)
      return reportFailure(options.run, table.error());
    if (all) {
      table = runtime::mergeTuning(*all, *table);
      if (!table)
        return reportFailure(options.run, runtime::withContext("'" + path + "'", table.error()));
    }
    all = std::move(*table);
  }
  if (!all || (options.output.empty() && options.run.artifact.empty()))
    return reportFailure(options.run, makeError(TILE_ERROR_INVALID_ARGUMENT,
                                                "tune merge takes tables, and -o FILE or --embed ARTIFACT"));
  if (!options.output.empty())
    if (Status status = writeFileAtomically(options.output, runtime::toJson(*all)); !status)
      return reportFailure(options.run, status.error());
  if (!options.run.artifact.empty())
    if (Status status = embedTable(options.run.artifact, *all); !status)
      return reportFailure(options.run, status.error());
  fmt::print("tune: {} calls from {} tables\n", all->entries.size(), options.inputs.size());
  return 0;
}

} // namespace tile::runner
