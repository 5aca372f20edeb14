// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-mutate: measures how many synchronization errors the simulator finds.
//
//   tile-mutate KERNEL.ptx [--run="name=value …"]… [--orders=N] [--equivalent=FILE] [--list] [--jobs=N] [--verbose]
//
// Runs the artifact as it is, which must find nothing, then each of its mutants (Mutants.h) with checks, comparing the
// results with the reference. A mutant is caught by a report, a wrong result or a deadlock. Those that are not, but are
// listed with a reason in FILE as equivalent, count as correct programs. Each mutant runs in a separate process.
#include "Mutants.h"

#include "Runner/Run.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <map>
#include <poll.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace tile;
using mutation::Mutant;

namespace {

struct Options {
  std::string artifact;
  std::vector<std::string> runs;
  std::string equivalent;
  int orders = 10;
  int processors = 2;
  unsigned seconds = 120;
  int jobs = 2;
  bool list = false, verbose = false;
  std::string only;
};

/// Returns the finding of one run of the artifact: empty if it passed all checks.
std::string runOnce(const Options &options, const runtime::Artifact &artifact, const std::string &arguments) {
  runner::RunOptions run;
  run.device = "sim";
  run.orders = options.orders;
  run.multiprocessors = options.processors;
  run.threads = 1;
  run.check = true;
  std::istringstream words(arguments);
  for (std::string word; words >> word;) {
    if (word.starts_with("sms="))
      run.multiprocessors = std::stoi(word.substr(4));
    else
      run.arguments.push_back(word);
  }
  runtime::Result<runner::DeviceLoader> loader = runner::DeviceLoader::open(run);
  if (!loader)
    return loader.error().message;
  runtime::Result<std::unique_ptr<runner::Device>> device = loader->load(artifact);
  if (!device)
    return device.error().message;
  runtime::Result<runner::RunReport> report = runner::runKernel(run, artifact.manifest, **device, options.artifact);
  if (!report)
    return report.error().message;
  return report->passed() ? "" : "wrong result";
}

/// Returns the finding of the first run that has one.
std::string run(const Options &options, const std::string &text) {
  runtime::Result<runtime::Artifact> artifact =
      runtime::readArtifact({reinterpret_cast<const unsigned char *>(text.data()), text.size()});
  if (!artifact)
    return "not an artifact: " + artifact.error().message;
  for (const std::string &arguments : options.runs)
    if (std::string found = runOnce(options, *artifact, arguments); !found.empty())
      return found;
  return {};
}

/// A child process that runs one mutant and writes its finding.
struct Job {
  pid_t process = 0;
  int pipe = -1;
  size_t mutant = 0;
  std::string output;
};

Job start(const Options &options, size_t index, const std::string &text) {
  int ends[2];
  Job job;
  job.mutant = index;
  if (::pipe(ends) != 0)
    return job;
  std::fflush(stdout);
  job.process = fork();
  job.pipe = ends[0];
  if (job.process != 0) {
    close(ends[1]);
    return job;
  }
  alarm(options.seconds);
  if (!std::freopen("/dev/null", "w", stdout)) // kernels may print
    _exit(2);
  std::string found = run(options, text);
  for (size_t done = 0; done < found.size();) {
    ssize_t count = write(ends[1], found.data() + done, found.size() - done);
    if (count <= 0)
      break;
    done += count;
  }
  _exit(found.empty() ? 0 : 1);
}

/// Returns the finding of the mutant's process, after its end.
std::string finish(Job &job) {
  char buffer[4096];
  for (ssize_t count; (count = read(job.pipe, buffer, sizeof(buffer))) > 0;)
    job.output.append(buffer, count);
  close(job.pipe);
  int status = 0;
  waitpid(job.process, &status, 0);
  if (WIFSIGNALED(status))
    return WTERMSIG(status) == SIGALRM ? "does not end"
                                       : "crash of the simulator, signal " + std::to_string(WTERMSIG(status));
  return job.output;
}

/// "early-use" of the first report, or the first line of another error.
std::string kindOf(const std::string &found) {
  size_t line = found.find(":\n");
  std::string first = line == std::string::npos ? found : found.substr(line + 2);
  return first.substr(0, std::min(first.find(':'), first.find('\n')));
}

/// Lines `KERNEL: MUTANT NAME  # reason`; a name may end in `*`.
std::vector<std::string> readEquivalents(const Options &options, const std::string &kernel) {
  std::vector<std::string> names;
  std::ifstream file(options.equivalent);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#") || !line.starts_with(kernel + ": "))
      continue;
    line = line.substr(kernel.size() + 2);
    size_t comment = line.find("  ");
    names.push_back(line.substr(0, comment));
  }
  return names;
}

bool isListed(const std::vector<std::string> &names, const std::string &name) {
  for (const std::string &listed : names)
    if (listed.ends_with('*') ? name.starts_with(listed.substr(0, listed.size() - 1)) : name == listed)
      return true;
  return false;
}

std::vector<std::string> runAll(const Options &options, const std::vector<Mutant> &mutants) {
  std::vector<std::string> found(mutants.size());
  std::vector<Job> running;
  for (size_t next = 0; next < mutants.size() || !running.empty();) {
    if (next < mutants.size() && running.size() < size_t(options.jobs)) {
      running.push_back(start(options, next, mutants[next].text));
      ++next;
      continue;
    }
    std::vector<pollfd> pipes;
    for (const Job &job : running)
      pipes.push_back({job.pipe, POLLIN | POLLHUP, 0});
    poll(pipes.data(), pipes.size(), -1);
    for (size_t i = 0; i < running.size(); ++i)
      if (pipes[i].revents) {
        found[running[i].mutant] = finish(running[i]);
        running.erase(running.begin() + i);
        break;
      }
  }
  return found;
}

int judge(const Options &options, const std::string &kernel, const std::vector<Mutant> &mutants,
          const std::vector<std::string> &found) {
  std::vector<std::string> equivalents = readEquivalents(options, kernel);
  std::map<std::string, unsigned> kinds;
  unsigned survived = 0, equivalent = 0, crashed = 0;
  for (size_t i = 0; i < mutants.size(); ++i) {
    const Mutant &mutant = mutants[i];
    bool crash = found[i].starts_with("crash");
    crashed += crash;
    if (!found[i].empty())
      ++kinds[kindOf(found[i])];
    bool listed = found[i].empty() && isListed(equivalents, mutant.name());
    equivalent += listed;
    survived += found[i].empty() && !listed;
    if (options.verbose || crash || (found[i].empty() && !listed))
      fmt::print("{}: {}  (PTX line {}: {}): {}\n", kernel, mutant.name(), mutant.line, mutant.instruction,
                 found[i].empty()  ? (listed ? "equivalent" : "SURVIVED")
                 : options.verbose ? found[i]
                                   : kindOf(found[i]));
  }
  fmt::print("{}: {} mutants, {} caught, {} equivalent, {} not caught:", kernel, mutants.size(),
             mutants.size() - equivalent - survived, equivalent, survived);
  for (const auto &[kind, count] : kinds)
    fmt::print(" {} {},", count, kind);
  fmt::print("\n");
  return survived || crashed ? 1 : 0;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Puts mistakes into an artifact's PTX and counts how many the simulator finds.");
  app.add_option("artifact", options.artifact, "PTX artifact")->required();
  app.add_option("--run", options.runs, "name=value … of one run, as for tile-run, and sms=N");
  app.add_option("--orders", options.orders, "orders for each mutant");
  app.add_option("--sms", options.processors, "multiprocessors");
  app.add_option("--jobs", options.jobs, "processes at a time");
  app.add_option("--seconds", options.seconds, "limit for a mutant");
  app.add_option("--equivalent", options.equivalent, "file with mutants that are correct programs");
  app.add_option("--only", options.only, "only mutants whose name has this text");
  app.add_flag("--list", options.list, "print the mutants' names and run none");
  app.add_flag("--verbose", options.verbose, "print what was found for each mutant");
  CLI11_PARSE(app, argc, argv);
  if (options.runs.empty())
    options.runs.push_back("");

  runtime::Result<std::string> text = runtime::readFile(options.artifact, 1 << 26);
  if (!text) {
    fmt::print(stderr, "tile-mutate: error: {}\n", text.error().message);
    return 2;
  }
  std::string kernel = options.artifact.substr(options.artifact.find_last_of('/') + 1);
  kernel = kernel.substr(0, kernel.rfind('.'));
  std::vector<Mutant> mutants = mutation::mutantsOf(*text);
  std::erase_if(mutants, [&](const Mutant &mutant) { return mutant.name().find(options.only) == std::string::npos; });
  if (options.list) {
    for (const Mutant &mutant : mutants)
      fmt::print("{}  (PTX line {}: {})\n", mutant.name(), mutant.line, mutant.instruction);
    return 0;
  }
  Job original = start(options, 0, *text);
  if (std::string found = finish(original); !found.empty()) {
    fmt::print("{}: the kernel without a mistake: {}\n", kernel, found);
    return 1;
  }
  return judge(options, kernel, mutants, runAll(options, mutants));
}
