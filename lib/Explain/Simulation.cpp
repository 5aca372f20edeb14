// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Explain/Simulation.h"

#include "Explain/Pipeline.h"
#include "Runner/Device/Execution.h"
#include "Runner/Run.h"

namespace tile::explain {
namespace {

std::vector<BufferView> viewsOf(const runtime::Manifest &manifest, const runner::Bindings &bindings) {
  std::vector<BufferView> views;
  for (const runtime::Parameter &parameter : manifest.parameters) {
    if (!parameter.isPointer || !parameter.buffer)
      continue;
    BufferView view;
    view.name = parameter.name;
    view.elementBytes = std::max(1u, runtime::dataTypeSize(parameter.type));
    view.isOutput = parameter.buffer->role != runtime::BufferRole::Random;
    runtime::Result<std::vector<int64_t>> shape = bindings.evaluate(parameter.buffer->shape, manifest);
    runtime::Result<std::vector<int64_t>> strides = bindings.evaluate(parameter.buffer->strides, manifest);
    if (!shape || !strides)
      continue;             // the run reports the error
    if (strides->empty()) { // dense rows
      strides->assign(shape->size(), 1);
      for (size_t dim = shape->size(); dim-- > 1;)
        (*strides)[dim - 1] = (*strides)[dim] * (*shape)[dim];
    }
    view.setShape(std::move(*shape), std::move(*strides));
    views.push_back(std::move(view));
  }
  return views;
}

uint32_t findMainFile(const sim::Module &module, const std::string &name) {
  for (uint32_t i = 1; i < module.files.size(); ++i)
    if (module.files[i] == name)
      return i;
  return 1;
}

Json makeDocument(const Evidence &evidence, const std::string &arguments, const std::string &whyNotRun) {
  Json document = {{"schema", 1},
                   {"kernel", evidence.manifest.kernel},
                   {"target", evidence.manifest.target},
                   {"device", evidence.gpu.deviceName},
                   {"compiler", evidence.manifest.compiler},
                   {"arguments", arguments},
                   {"simulated", evidence.run != nullptr},
                   {"findings", Json::array()}};
  if (evidence.run)
    document["headline"] = nullptr; // reserves the position after the findings
  else
    document["why_not_simulated"] = whyNotRun;
  document["source"] = describeSource(evidence);
  document["code"] = describeCode(evidence);
  document["grid"] = describeGrid(evidence);
  document["layouts"] = describeLayouts(evidence);
  document["memory"] = describeMemory(evidence);
  document["pipeline"] = describePipeline(evidence);
  document["resources"] = describeResources(evidence);
  document["passes"] = describePasses(evidence);
  document["findings"] = describeFindings(evidence, document);
  if (evidence.run)
    document["headline"] = describeHeadline(evidence, document);
  return document;
}

} // namespace

runtime::Status simulate(const runner::RunOptions &run, const runtime::Artifact &artifact, const target::GpuTarget &gpu,
                         WatchedRun &watched) {
  const runtime::Manifest &manifest = artifact.manifest;
  runner::SimOptions sim;
  sim.multiprocessors = run.multiprocessors ? run.multiprocessors : int(gpu.numSms);
  sim.threads = 1; // a deterministic order is recorded
  sim.steps = run.steps;
  sim.checks = false;
  sim.limit = run.limit;
  runtime::Result<runner::Bindings> bindings = runner::Bindings::bind(manifest, run.arguments, sim.multiprocessors);
  if (!bindings)
    return bindings.error();
  watched.record.emplace(viewsOf(manifest, *bindings));
  sim.watcher = &*watched.record;
  runtime::Result<std::unique_ptr<runner::Device>> device = runner::openSimDevice(artifact, sim);
  if (!device)
    return device.error();
  watched.device = std::move(*device);
  runtime::Result<runner::Execution> execution = runner::Execution::prepare(run, manifest, *watched.device);
  if (!execution)
    return execution.error();
  watched.programs = execution->launchGrid();
  runner::RunReport report = runner::startReport(*execution, *watched.device, run.artifact);
  return execution->run(report);
}

Explanation describe(Evidence evidence, const WatchedRun &watched, const runner::RunOptions &run,
                     std::string whyNotRun) {
  Explanation made;
  std::string arguments;
  const bool hasRun = whyNotRun.empty() && watched.record && watched.record->function();
  if (!hasRun && whyNotRun.empty())
    whyNotRun = "the grid is empty";
  evidence.programs = watched.programs;
  if (hasRun) {
    evidence.run = &*watched.record;
    evidence.mainFile = findMainFile(*watched.record->module(), evidence.manifest.sourceFile);
    evidence.timeline = replay(*watched.record, target::ratesOf(evidence.gpu), evidence.mainFile);
    if (runtime::Result<runner::Bindings> bindings =
            runner::Bindings::bind(evidence.manifest, run.arguments, int(evidence.multiprocessors)))
      arguments = bindings->summary(evidence.manifest);
    made.trace = makeTrace(evidence);
  }
  made.document = makeDocument(evidence, arguments, whyNotRun).dump(-1, ' ', false, Json::error_handler_t::replace);
  return made;
}

} // namespace tile::explain
