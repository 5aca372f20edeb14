// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SameAs.h"

#include "CommandWords.h"
#include "Driver/Compilation.h"
#include "Driver/InterpreterDevice.h"
#include "Lab/Verify/Verdict.h"
#include "Messages.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace tile;
using driver::Outcome;

namespace {

constexpr int exitIncomplete = 6; // with --strict
constexpr int interpretedSms = 8; // InterpreterDevice::multiprocessorCount
constexpr double compareSeconds = 60;
constexpr uint64_t comparedCalls = 40;

/// Returns the tolerance for outputs whose `expect` states none: a few rounding steps.
double withinOf(runtime::DataType type) {
  switch (type) {
  case runtime::DataType::F64:
    return 1e-12;
  case runtime::DataType::F32:
    return 1e-5;
  case runtime::DataType::F16:
    return 2e-3;
  case runtime::DataType::BF16:
    return 1.6e-2;
  case runtime::DataType::F8E4M3:
    return 0.125;
  case runtime::DataType::F8E5M2:
    return 0.25;
  default:
    return 0;
  }
}

/// A kernel, compiled for the interpreter.
struct Compiled {
  std::unique_ptr<driver::Compilation> compilation;
  std::unique_ptr<runner::Device> device;
  std::string name; ///< "softmax of a.tile"

  const runtime::Manifest &manifest() const { return compilation->manifest(); }
};

std::optional<int> compile(const driver::CompilerOptions &options, Compiled &compiled) {
  compiled.compilation = std::make_unique<driver::Compilation>(options, messages());
  const bool isLoaded = compiled.compilation->load();
  compiled.compilation->printDiagnostics();
  if (!isLoaded)
    return int(compiled.compilation->outcome());
  auto kernels = compiled.compilation->module().getOps<KernelOp>();
  if (kernels.empty())
    return fail(options, Outcome::Rejected,
                "'" + options.input + "' has already been lowered; --same-as needs sources");
  compiled.name = ((*kernels.begin()).getSymName() + " of " + options.input).str();
  return std::nullopt;
}

void openDevice(Compiled &compiled, const std::optional<runner::TimeLimit> &limit) {
  driver::InterpreterOptions options;
  options.limit = limit;
  compiled.device = driver::createInterpreterDevice(*compiled.compilation->module().getOps<KernelOp>().begin(), options,
                                                    interp::DebugInfo());
}

bool hasName(const runtime::Manifest &manifest, llvm::StringRef name) {
  return manifest.findParameter(name) ||
         llvm::any_of(manifest.constants, [&](const auto &constant) { return constant.first == name; });
}

/// Returns a command for one call: the words without the arguments and the options that the call replaces.
std::string commandWith(llvm::ArrayRef<const char *> words, const SameAsOptions &options,
                        const runner::Difference &difference) {
  std::string command = "tilec verify";
  for (size_t i = 0; i < words.size(); ++i) {
    llvm::StringRef word = words[i];
    const bool isReplaced = word.starts_with("--trials") || word.starts_with("--seed") || word.starts_with("--inputs");
    if (isReplaced) {
      i += !word.contains('=');
      continue;
    }
    if (!llvm::is_contained(options.agreement.run.arguments, word.str()) && word != "--json")
      command += " " + runner::quoteWord(word.str());
  }
  for (const std::string &argument : difference.call.arguments)
    command += " " + runner::quoteWord(argument);
  return command + llvm::formatv(" --seed={0} --trials=1 --inputs=random", difference.call.seed).str();
}

class Comparison {
public:
  Comparison(SameAsOptions options, llvm::ArrayRef<const char *> words, bool isJson)
      : options(std::move(options)), words(words), isJson(isJson) {}

  /// Returns an exit code if the kernels cannot be compared.
  std::optional<int> compare(const driver::CompilerOptions &first, const driver::CompilerOptions &second) {
    Compiled ours, theirs;
    if (std::optional<int> code = compile(first, ours))
      return code;
    if (std::optional<int> code = compile(second, theirs))
      return code;
    runner::AgreementOptions agreement = options.agreement;
    openDevice(ours, agreement.run.limit);
    openDevice(theirs, agreement.run.limit);
    std::vector<std::string> common, own; // arguments for both kernels, and arguments for the second one only
    for (const std::string &argument : agreement.run.arguments) {
      llvm::StringRef name = llvm::StringRef(argument).split('=').first;
      const bool isOwn = !hasName(ours.manifest(), name) && hasName(theirs.manifest(), name);
      (isOwn ? own : common).push_back(argument);
    }
    std::string bounds;
    agreement.within = [&](const runtime::Parameter &output) { return within(output, ours, theirs); };
    for (const runtime::Parameter &parameter : ours.manifest().parameters)
      if (parameter.isPointer && !(parameter.buffer && parameter.buffer->role == runtime::BufferRole::Random)) {
        const double error = agreement.within(parameter);
        bounds +=
            (bounds.empty() ? "" : ", ") + parameter.name + (error == 0 ? " equal" : fmt::format(" within {}", error));
      }
    runner::Result<runner::TrialPlan> plan =
        runner::TrialPlan::make(common, ours.manifest(), ours.manifest(), interpretedSms, &theirs.manifest());
    if (!plan)
      return runner::reportFailure(agreement.run, plan.error());
    plan->keepAligned(); // addresses do not matter to the interpreter
    const runtime::Manifest &manifest = theirs.manifest();
    auto adapt = [&](const std::vector<std::string> &arguments) {
      std::vector<std::string> known = own;
      for (const std::string &argument : arguments)
        if (hasName(manifest, llvm::StringRef(argument).split('=').first))
          known.push_back(argument);
      return known;
    };
    runner::Agreement pair(*plan, {ours.name, &ours.manifest(), ours.device.get(), {}},
                           {theirs.name, &manifest, theirs.device.get(), adapt}, agreement);
    runner::Result<runner::AgreementResult> result = pair.run();
    if (!result)
      return runner::reportFailure(agreement.run, result.error());
    report(*result, ours.name, theirs.name, bounds);
    return std::nullopt;
  }

  int finish(bool isStrict) {
    if (isJson)
      llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(document)));
    return isDifferent ? int(Outcome::Rejected) : isStrict && isIncomplete ? exitIncomplete : int(Outcome::Success);
  }

private:
  double within(const runtime::Parameter &output, const Compiled &ours, const Compiled &theirs) const {
    if (options.agreement.run.within)
      return *options.agreement.run.within;
    for (const Compiled *side : {&ours, &theirs})
      for (const runtime::Expectation &expectation : side->manifest().expect)
        if (expectation.buffer == output.name && runtime::isFloatType(output.type))
          return expectation.tolerance;
    return withinOf(output.type);
  }

  void report(const runner::AgreementResult &result, const std::string &ours, const std::string &theirs,
              const std::string &bounds) {
    const bool hasDifference = result.difference.has_value();
    isDifferent |= hasDifference || result.compared == 0;
    isIncomplete |= result.isTimeOver || result.failing > 0;
    const std::string command = hasDifference ? commandWith(words, options, *result.difference) : "";
    if (isJson) {
      llvm::json::Object entry{{"first", ours},
                               {"second", theirs},
                               {"bounds", bounds},
                               {"compared", int64_t(result.compared)},
                               {"both_fail", int64_t(result.failing)},
                               {"complete", !result.isTimeOver},
                               {"same", !hasDifference && result.compared > 0}};
      if (hasDifference) {
        entry["difference"] = result.difference->text(ours, theirs);
        entry["arguments"] = llvm::join(result.difference->call.arguments, " ");
        entry["command"] = command;
      }
      document.push_back(std::move(entry));
      return;
    }
    if (hasDifference)
      llvm::outs() << llvm::formatv("{0} and {1} differ ({2}):\n  {3}\n  again: {4}\n", ours, theirs, bounds,
                                    result.difference->text(ours, theirs), command);
    else
      llvm::outs() << ours << " and " << theirs << ": "
                   << (result.compared ? llvm::formatv("{0} calls agree ({1})", result.compared, bounds).str()
                                       : std::string("no call could be compared"))
                   << (result.isTimeOver ? "; the time limit was reached\n" : "\n");
    if (result.failing)
      llvm::outs() << llvm::formatv("  both report an error for {0} calls: {1}\n", result.failing, result.firstFailure);
    llvm::outs().flush();
  }

  SameAsOptions options;
  llvm::ArrayRef<const char *> words;
  bool isJson;
  bool isDifferent = false, isIncomplete = false;
  llvm::json::Array document;
};

} // namespace

void tile::addSameAsOptions(CLI::App &app, SameAsOptions &options) {
  const std::string group = "Comparing two kernels";
  runner::AgreementOptions &agreement = options.agreement;
  agreement.trials = comparedCalls;
  CLI::Option *sameAs = app.add_option("--same-as", options.file,
                                       "Compare the results of the kernel with those of this source, in the "
                                       "interpreter, instead of proving bounds")
                            ->type_name("FILE")
                            ->group(group);
  const auto add = [&](CLI::Option *option) { option->needs(sameAs)->group(group); };
  runner::addKernelOptions(app, agreement.run);
  for (const char *name : {"--device", "--offset", "--overlap"})
    app.remove_option(app.get_option(name));
  for (const char *name : {"arguments", "--grid", "--seed"})
    add(app.get_option(name));
  app.get_option("arguments")
      ->description("NAME=VALUE fixes an argument, NAME=LOW..HIGH samples an integer from a range; other sizes are "
                    "sampled around multiples of block sizes; buffers as for tilec run");
  add(app.add_option("--same-kernel", options.kernel, "Kernel of the other source")->type_name("NAME"));
  add(app.add_option("--same-define", options.definitions,
                     "Value of a constexpr parameter of the other kernel, to which -D also applies")
          ->type_name("NAME=VALUE")
          ->allow_extra_args(false));
  add(app.add_option("--trials", agreement.trials, "Number of calls")
          ->check(CLI::Range(uint64_t(1), uint64_t(1000000)))
          ->capture_default_str());
  add(runner::addInputKinds(app, agreement.inputs));
  add(app.add_option(
             "--within", agreement.run.within,
             "Allowed error, relative to an element and to the root mean square of its buffer. Default: what "
             "`expect` allows; otherwise a few rounding errors of the type, 1e-5 for f32; integers must be equal")
          ->check(CLI::NonNegativeNumber));
}

int tile::compareSources(const CommandLine &line, SameAsOptions options, llvm::ArrayRef<const char *> words,
                         bool isJson, bool isStrict) {
  CommandLine other = line;
  other.compiler.input = options.file;
  if (std::optional<int> code = readInput(other))
    return *code;
  for (const std::string &definition : options.definitions) {
    auto [name, value] = llvm::StringRef(definition).split('=');
    if (name.size() == definition.size())
      return fail(line.compiler, Outcome::Usage, "--same-define: '" + definition + "' is not of the form NAME=VALUE");
    other.compiler.definitions[name.str()] = value.str();
  }
  options.agreement.run.program = "tilec";
  options.agreement.run.artifact = line.compiler.input;
  options.agreement.run.colours = colours();
  if (!options.agreement.run.limit)
    options.agreement.run.limit.emplace(compareSeconds);
  Comparison comparison(options, words, isJson);
  for (const std::string &kernel : listSelectedKernels(line)) {
    driver::CompilerOptions first = line.compiler, second = other.compiler;
    if (!kernel.empty())
      first.kernel = second.kernel = kernel;
    if (!options.kernel.empty())
      second.kernel = options.kernel;
    if (std::optional<int> code = comparison.compare(first, second))
      return *code;
  }
  return comparison.finish(isStrict);
}
