// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles plans to variants in several processes, and combines the worthwhile ones into one artifact.
#include "Driver/CompileVariants.h"

#include "Codegen/EmitHeader.h"
#include "Driver/Alternatives.h"
#include "Driver/EqualEstimates.h"
#include "Driver/WorkerProcesses.h"
#include "Runtime/NearestName.h"
#include "Target/Card/CardTarget.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Threading.h"

#include <nlohmann/json.hpp>

using llvm::formatv;
using llvm::StringRef;
using Json = nlohmann::json;

namespace tile::driver {
namespace {

double secondsSince(Timing::Clock::time_point begin) {
  return std::chrono::duration<double>(Timing::Clock::now() - begin).count();
}

/// Returns options for a variant that only contributes its code. The general variant provides the diagnostics.
CompilerOptions silent(CompilerOptions options) {
  options.emit = EmitKind::Cubin;
  options.diagnosticsFormat = DiagnosticsFormat::Text;
  options.warnings.silence();
  options.slowSeconds.reset();
  options.dumpDirectory.clear();
  options.remarks.clear();
  options.timePasses = options.printLayouts = options.advise = options.explainConfig = options.printsText = false;
  return options;
}

std::string firstLine(StringRef text) {
  return text.ltrim().split('\n').first.rtrim().str();
}

} // namespace

VariantCompilation::VariantCompilation(CompilerOptions options, VariantOptions variants, llvm::raw_ostream &errors)
    : options(std::move(options)), variants(std::move(variants)), errors(errors) {
  // Headers and tilepacks may run on other machines, so they may contain PTX instead of cubins. If a cubin is
  // requested, the output must be a cubin.
  this->options.takesPtx = this->options.emit == EmitKind::Header || this->options.emit == EmitKind::Tilepack;
  if (this->variants.targets.empty())
    this->variants.targets.push_back(this->options.target);
  if (this->variants.jobs == 0)
    this->variants.jobs = llvm::hardware_concurrency().compute_thread_count();
}

/// Fills `jobs` and creates the compilation of the general variant.
bool VariantCompilation::planAll() {
  bool isPlanned = variants.mode != VariantMode::None;
  const VariantPlan only{.name = "general", .why = "any call"};
  for (const std::string &target : variants.targets) {
    CompilerOptions aimed = options;
    aimed.target = target;
    if (!isPlanned) {
      std::vector<VariantPlan> plans = {only};
      if (!followOrder(plans, aimed))
        return false;
      jobs.push_back({only, withPlan(aimed, plans.front()), 0});
      continue;
    }
    const target::GpuTarget *gpu = target::findTarget(target, options.card);
    if (!gpu) { // the compilation reports the unknown target
      jobs = {{only, std::move(aimed), 0}};
      break;
    }
    aimed.advise = false; // variants already use the assumptions that advice would suggest
    if (std::string reason = explainBadAlternative(aimed, *gpu); !reason.empty()) {
      general = std::make_unique<Compilation>(options, errors);
      return general->fail(Outcome::Usage, formatv("{0}", reason));
    }
    VariantPlans plans = planVariants(aimed, *gpu, variants.mode);
    explanation += plans.explanation;
    aimed.configurations = std::move(plans.configurations);
    untimed = plans.untimed;
    kernelName = plans.kernel;
    appendAlternatives(
        plans, *gpu,
        [this](StringRef name) { return variants.alternatives || tables.choose(name) || name == variants.name; },
        [this](StringRef name) {
          return (variants.alternatives && tables.choose(name)) || tables.chooseFurther(name) ||
                 StringRef(variants.name).starts_with((name + "+").str());
        });
    if (!variants.name.empty() && !chooseOne(plans))
      return false;
    if (!followOrder(plans.plans, aimed))
      return false;
    for (size_t rank = 0; rank < plans.plans.size(); ++rank)
      jobs.push_back({plans.plans[rank], withPlan(aimed, plans.plans[rank]), rank});
  }
  CompilerOptions first = jobs.front().options;
  if (first.emit == EmitKind::Tilepack)
    first.emit = EmitKind::Cubin;
  general = std::make_unique<Compilation>(std::move(first), errors);
  return true;
}

/// Keeps the plans of the artifact that the option --bits=like names. Fails if one of them is missing.
bool VariantCompilation::followOrder(std::vector<VariantPlan> &plans, const CompilerOptions &aimed) {
  if (!followed)
    return true;
  llvm::Error error = followed->follow(plans, aimed);
  if (!error)
    return true;
  general = std::make_unique<Compilation>(options, errors);
  return general->fail(Outcome::Rejected, std::move(error));
}

/// Fails if a variant may add in another order than that artifact, so that the results could differ in some bits.
bool VariantCompilation::checkOrder(const runtime::Manifest &manifest) {
  llvm::Error error = followed ? followed->check(manifest) : llvm::Error::success();
  return !error || general->fail(Outcome::Rejected, std::move(error));
}

/// Embeds the tuning tables in an artifact and warns about tables that do not fit. Returns false if a warning is an
/// error.
bool VariantCompilation::embedTables(std::string &artifact) {
  return llvm::all_of(tables.embed(artifact), [&](const TuningTables::Stale &stale) {
    return general->warn(frontend::Diag::stale_tuning, {stale.path, stale.reason});
  });
}

/// Warns if launches cannot choose among some configurations by expected time and use the first one. Returns false if
/// the warning is an error.
bool VariantCompilation::warnOfUntimed() {
  if (untimed > 0)
    return general->warn(frontend::Diag::untimed_configurations,
                         {std::to_string(untimed), kernelName, "the first",
                          "their speed cannot be estimated; declare '#: grid' and '#: buffer', write"});
  size_t equal = countEqualEstimates(made);
  return equal == 0 || general->warn(frontend::Diag::untimed_configurations,
                                     {std::to_string(equal), kernelName, "only one",
                                      "their expected times are equal for every size; write"});
}

/// Keeps only the variant that the user has named.
bool VariantCompilation::chooseOne(VariantPlans &plans) {
  auto isNamed = [&](const VariantPlan &plan) { return plan.name == variants.name; };
  if (llvm::none_of(plans.plans, isNamed)) {
    std::vector<std::string> names;
    for (const VariantPlan &plan : plans.plans)
      names.push_back(plan.name);
    general = std::make_unique<Compilation>(options, errors);
    return general->fail(Outcome::Usage,
                         formatv("--variant: '{0}' has no variant '{1}'{2}; --explain-config lists all variants",
                                 options.input, variants.name, runtime::knownNames(variants.name, std::move(names))));
  }
  llvm::erase_if(plans.plans, [&](const VariantPlan &plan) { return !isNamed(plan); });
  return true;
}

bool VariantCompilation::run() {
  llvm::Expected<TuningTables> read = TuningTables::read(variants.tuning);
  if (!read) {
    general = std::make_unique<Compilation>(options, errors);
    return general->fail(Outcome::Environment, read.takeError());
  }
  tables = std::move(*read);
  if (!variants.sameBitsAs.empty()) {
    llvm::Expected<FollowedOrder> order = FollowedOrder::read(variants.sameBitsAs);
    if (!order) {
      general = std::make_unique<Compilation>(options, errors);
      return general->fail(Outcome::Environment, order.takeError());
    }
    followed = std::move(*order);
  }
  if (!planAll())
    return false;
  if (options.explainConfig)
    errors << explanation;
  bool makesSeveral = jobs.size() > 1 && makesArtifact();
  if (makesSeveral && untimed > 0 && !warnOfUntimed())
    return false;
  WorkerProcesses workers(makesSeveral && !options.isGuest ? jobs.size() - 1 : 0,
                          [this](size_t index) { return compileInOtherProcess(jobs[index + 1]); });
  workers.start(variants.jobs - 1); // this process also compiles
  Timing::Clock::time_point begin = Timing::Clock::now();
  bool isMade = general->run();
  files = general->sourceFiles();
  llvm::append_range(files, variants.tuning);
  if (followed)
    files.push_back(variants.sameBitsAs);
  if (!options.cardFile.empty())
    files.push_back(options.cardFile);
  if (!isMade)
    return false;
  if (!makesArtifact() || (jobs.size() == 1 && options.emit != EmitKind::Tilepack && !variants.budget)) {
    output = general->result();
    if (makesArtifact() && !checkOrder(general->manifest()))
      return false;
    if (makesArtifact() && !embedTables(output))
      return false;
    if (jobs.size() > 1 && options.emit == EmitKind::Manifest)
      listInManifest();
    return true;
  }
  keep(jobs.front(), {general->manifest(), general->assembly().image, general->assembly().ptx}, secondsSince(begin));
  llvm::Expected<std::vector<WorkerProcesses::Result>> results = compileOthers(workers);
  if (!results)
    return general->fail(Outcome::Environment, results.takeError());
  for (auto [job, result] : llvm::zip(llvm::ArrayRef(jobs).drop_front(), *results))
    if (!collect(job, result))
      return false;
  return assemble();
}

/// Compiles all variants except the general one. If the compiler is part of a host program, compiles them one after
/// another in this process: the host has other threads, which fork does not copy.
llvm::Expected<std::vector<WorkerProcesses::Result>> VariantCompilation::compileOthers(WorkerProcesses &workers) const {
  if (!options.isGuest)
    return workers.finish(variants.jobs);
  std::vector<WorkerProcesses::Result> results;
  for (const Job &job : llvm::ArrayRef(jobs).drop_front())
    results.push_back({true, compileInOtherProcess(job), "", false});
  return results;
}

/// Compiles a variant in a worker process. If there is an error, returns only the error message.
std::string VariantCompilation::compileInOtherProcess(const Job &job) const {
  Timing::Clock::time_point begin = Timing::Clock::now();
  std::string text;
  llvm::raw_string_ostream stream(text);
  Compilation compilation(silent(job.options), stream);
  if (job.rank != 0) // all other variants are optional: they only improve performance
    compilation.refuseLargeKernels();
  compilation.run();
  Json json = {{"outcome", int(compilation.outcome())}, {"files", compilation.sourceFiles()}, {"errors", text}};
  if (compilation.outcome() == Outcome::Success) {
    json["manifest"] = runtime::toJson(compilation.manifest());
    json["image"] = compilation.assembly().image;
    json["ptx"] = compilation.assembly().ptx;
    json["warnings"] = compilation.assembly().warnings;
  }
  json["seconds"] = secondsSince(begin);
  std::vector<uint8_t> bytes = Json::to_cbor(json);
  return std::string(bytes.begin(), bytes.end());
}

bool VariantCompilation::collect(const Job &job, const WorkerProcesses::Result &result) {
  const std::string &name = job.plan.name, &target = job.options.target;
  bool isNeeded = job.rank == 0; // the general variant of its target
  auto fail = [&](Outcome outcome, StringRef why) {
    return general->fail(outcome, formatv("variant '{0}' for {1}: {2}", name, target, why));
  };
  // With more memory the variant might have compiled. An artifact must not depend on the available memory, so this is
  // an error.
  if (result.isKilled)
    return fail(Outcome::Environment, "its compilation was killed, possibly because memory ran out");
  if (!result.isDone && isNeeded)
    return fail(Outcome::Internal, "its compilation crashed: " + result.failure);
  if (!result.isDone)
    return skipped.push_back({name, target, result.failure}), true;
  Json json = Json::from_cbor(result.bytes);
  for (const Json &file : json["files"])
    if (!llvm::is_contained(files, file.get<std::string>()))
      files.push_back(file);
  std::string said = json["errors"];
  auto outcome = Outcome(json["outcome"].get<int>());
  if (outcome == Outcome::Environment || outcome == Outcome::Cancelled || (outcome != Outcome::Success && isNeeded)) {
    StringRef why = StringRef(said).trim();
    why.consume_front("tilec: error: ");
    return fail(outcome, why);
  }
  if (outcome != Outcome::Success)
    return skipped.push_back({name, target, firstLine(said)}), true;
  // Warnings about alternatives are not shown, because measurements decide which of them are used.
  for (const Json &warning : job.plan.isAlternative ? Json::array() : json["warnings"])
    general->warnOfPtxas(formatv("variant '{0}': {1}", name, warning.get<std::string>()).str());
  runtime::Result<runtime::Manifest> manifest = runtime::parseManifest(json["manifest"].get<std::string>());
  if (!manifest)
    return fail(Outcome::Internal, manifest.error().message);
  keep(job, {std::move(*manifest), json["image"], json["ptx"]}, json["seconds"]);
  return true;
}

void VariantCompilation::keep(const Job &job, runtime::PackedVariant variant, double seconds) {
  variant.manifest.variant = job.plan.name;
  variant.manifest.isFallback = job.plan.isFallback;
  variant.manifest.isAlternative = job.plan.isAlternative;
  variant.manifest.cost = job.plan.cost;
  for (const std::string &condition : job.plan.requirements)
    if (!llvm::is_contained(variant.manifest.requirements, condition))
      variant.manifest.requirements.push_back(condition);
  // An estimate that exceeds the limits of a manifest is dropped; the kernel itself is still valid.
  variant.manifest.programs = job.plan.programs;
  if (job.plan.programs && !runtime::validatePrograms(*job.plan.programs, runtime::expressionNames(variant.manifest)))
    variant.manifest.programs.reset();
  if (followed)
    followed->keepChoice(variant.manifest);
  made.push_back({std::move(variant), job.rank, job.plan.why, seconds, job.plan.isNeeded, job.plan.configuration,
                  job.plan.isFallback || !job.plan.requirements.empty()});
}

bool VariantCompilation::assemble() {
  for (const MadeVariant &variant : made)
    if (!checkOrder(variant.packed.manifest))
      return false;
  dropRedundant(made, skipped);
  if (untimed == 0 && !warnOfUntimed())
    return false;
  if (!options.keepsPtx())
    for (MadeVariant &variant : made)
      variant.packed.ptx.clear();
  llvm::Expected<std::string> artifact =
      variants.budget ? fitToBudget(made, options.emit, *variants.budget, skipped) : writeArtifact(made, options.emit);
  if (!artifact) {
    llvm::Error error = artifact.takeError();
    Outcome outcome = error.isA<BudgetError>() ? Outcome::Rejected : Outcome::Internal;
    return general->fail(outcome, std::move(error));
  }
  if (!embedTables(*artifact))
    return false;
  if (options.explainConfig && variants.mode != VariantMode::None)
    errors << describeVariants(made, skipped, artifact->size());
  std::vector<runtime::Manifest> manifests;
  for (const MadeVariant &variant : made)
    manifests.push_back(variant.packed.manifest);
  output = options.emit == EmitKind::Header ? codegen::emitHeader(manifests, *artifact, options.headerName)
                                            : std::move(*artifact);
  return true;
}

/// Appends the names of all variants to the manifest of the general one.
void VariantCompilation::listInManifest() {
  StringRef manifest = StringRef(general->result()).rtrim();
  manifest.consume_back("\n}");
  output = (manifest + ",\n  \"variants\": [").str();
  for (const Job &job : jobs)
    output += formatv("{0}\n    {{\"name\": {1}, \"for\": {2}}", &job == &jobs.front() ? "" : ",",
                      Json(job.plan.name).dump(), Json(job.plan.why).dump());
  output += "\n  ]\n}\n";
}

} // namespace tile::driver
