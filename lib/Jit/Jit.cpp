// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C API of tile/jit.h. A kernel is identified by its source and options. A launch finds the specialization for its
// class of arguments without taking a lock. One thread compiles the requested specializations in order.
#include "tile/jit.h"

#include "Jit/Specialization.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <shared_mutex>
#include <string_view>
#include <thread>
#include <unordered_map>

using Json = nlohmann::json;
using tile::jit::CallClass;
using tile::jit::Specialization;
using tile::jit::SpecializationTable;

struct tile_jit_kernel {
  tile_jit *jit = nullptr;
  std::string source, target; ///< `target`: the --target option for the device; "" if the options contain one
  std::vector<std::string> options;

  std::mutex compiling;
  std::string failure; ///< error message if the source cannot be compiled; "" otherwise
  /// Compiled with the language's default assumption that pointers are multiples of 16.
  std::atomic<tile_kernel *> general = nullptr;
  std::atomic<tile_kernel *> unaligned = nullptr; ///< compiled without this assumption, for calls that violate it
  // Written before `general` is set.
  std::vector<tile::jit::Parameter> parameters;
  CallClass promised; ///< assumptions of `general`
  std::string constants;
  SpecializationTable specializations;
};

struct tile_jit {
  struct Task {
    tile_jit_kernel *kernel;
    Specialization *specialization;
  };

  tilec_compiler *compiler = nullptr;
  tile_runtime *runtime = nullptr;
  bool countsSizes = false;
  size_t limit = SpecializationTable::most;

  std::shared_mutex finding;
  /// Keyed by the hash of source and options.
  std::unordered_multimap<size_t, std::unique_ptr<tile_jit_kernel>> kernels;

  std::mutex waiting;
  std::condition_variable changed;
  std::deque<Task> tasks;
  bool isBusy = false, isEnding = false;
  tilec_cancellation *cancellation = nullptr;
  std::thread worker;

  ~tile_jit() { tilec_cancellation_destroy(cancellation); }
};

namespace {

std::string &lastError() {
  static thread_local std::string text;
  return text;
}

tile_status fail(tile_status status, std::string text) {
  lastError() = std::move(text);
  return status;
}

/// Fails with the last error of libtilert.
tile_status failed(tile_status status) {
  return fail(status, tile_last_error());
}

/// Reports that memory is exhausted. The message is so short that assigning it allocates nothing.
tile_status outOfMemory() {
  lastError() = "out of memory";
  return TILE_ERROR_OUT_OF_MEMORY;
}

template <typename Body> tile_status guarded(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  } catch (const std::exception &exception) {
    return fail(TILE_ERROR_UNSUPPORTED, fmt::format("unexpected failure: {}", exception.what()));
  }
}

/// Returns the constants on which the grid may depend. Kernels with equal constants can be launched with the same grid.
std::string constantsOf(const tile_kernel *kernel) {
  const char *text = "";
  if (tile_kernel_manifest(kernel, &text) != TILE_OK)
    return {};
  const Json manifest = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return manifest.is_object() ? manifest.value("constants", Json()).dump() : std::string();
}

tile_status compile(const tile_jit_kernel &kernel, const std::vector<std::string> &further, tile_kernel **made) {
  std::vector<const char *> words;
  if (!kernel.target.empty())
    words.push_back(kernel.target.c_str());
  for (const std::string &option : further)
    words.push_back(option.c_str());
  for (const std::string &option : kernel.options) // the last option wins, so the caller's take precedence
    words.push_back(option.c_str());
  tilec_request request = TILEC_REQUEST_INIT;
  request.source = kernel.source.data();
  request.source_bytes = kernel.source.size();
  request.options = words.data();
  request.option_count = words.size();
  request.cancellation = kernel.jit->cancellation;
  tilec_result *result = nullptr;
  if (const tilec_status status = tilec_compile(kernel.jit->compiler, &request, &result); status != TILEC_OK)
    return fail(status == TILEC_USAGE ? TILE_ERROR_INVALID_ARGUMENT : TILE_ERROR_COMPILE, tilec_last_error());
  const tile_status loaded =
      tile_kernel_load_memory(kernel.jit->runtime, tilec_result_data(result), tilec_result_bytes(result), made);
  tilec_result_destroy(result);
  return loaded == TILE_OK ? TILE_OK : failed(loaded);
}

tile_status compileGeneral(tile_jit_kernel &kernel) {
  std::lock_guard lock(kernel.compiling);
  if (kernel.general.load(std::memory_order_relaxed))
    return TILE_OK; // another thread has compiled it
  if (!kernel.failure.empty())
    return fail(TILE_ERROR_COMPILE, kernel.failure);
  tile_kernel *made = nullptr;
  if (const tile_status status = compile(kernel, {"--variants=none"}, &made); status != TILE_OK) {
    if (status == TILE_ERROR_COMPILE)
      kernel.failure = lastError();
    return status;
  }
  kernel.parameters = tile::jit::parametersOf(made);
  kernel.promised = tile::jit::promisesOf(made);
  kernel.constants = constantsOf(made);
  kernel.general.store(made, std::memory_order_release);
  return TILE_OK;
}

tile_status compileUnaligned(tile_jit_kernel &kernel, void *const *arguments) {
  std::lock_guard lock(kernel.compiling);
  if (kernel.unaligned.load(std::memory_order_relaxed))
    return TILE_OK;
  tile_kernel *made = nullptr;
  const tile_status status = compile(kernel, optionsFor(kernel.parameters, CallClass(), arguments), &made);
  if (status == TILE_OK)
    kernel.unaligned.store(made, std::memory_order_release);
  return status;
}

/// Compiles a specialization. If that fails, the general kernel continues to serve the calls of this class.
void compileSpecialized(const tile_jit::Task &task) {
  tile_kernel *made = nullptr;
  if (compile(*task.kernel, task.specialization->options, &made) != TILE_OK)
    return;
  task.specialization->hasConstantsOfGeneral = constantsOf(made) == task.kernel->constants;
  task.specialization->kernel.store(made, std::memory_order_release);
}

void work(tile_jit &jit) {
  std::unique_lock lock(jit.waiting);
  while (true) {
    jit.isBusy = false;
    if (jit.tasks.empty())
      jit.changed.notify_all();
    jit.changed.wait(lock, [&] { return jit.isEnding || !jit.tasks.empty(); });
    if (jit.isEnding)
      return;
    const tile_jit::Task task = jit.tasks.front();
    jit.tasks.pop_front();
    jit.isBusy = true;
    lock.unlock();
    (void)guarded([&] {
      compileSpecialized(task);
      return TILE_OK;
    });
    lock.lock();
  }
}

/// Returns the specialization for a class. The first request for a class queues it for the compiling thread.
Specialization *ask(tile_jit_kernel &kernel, const CallClass &wanted, void *const *arguments) {
  bool isNew = false;
  Specialization *entry = kernel.specializations.add(wanted, kernel.jit->limit, isNew);
  if (!isNew)
    return entry;
  entry->options = optionsFor(kernel.parameters, wanted, arguments);
  std::lock_guard lock(kernel.jit->waiting);
  kernel.jit->tasks.push_back({&kernel, entry});
  kernel.jit->changed.notify_all();
  return entry;
}

/// Chooses the kernel for a launch. There must be as many arguments as the kernel has parameters.
tile_status choose(tile_jit_kernel &kernel, bool hasGrid, void *const *arguments, tile_kernel *&chosen) {
  const CallClass wanted = classify(kernel.parameters, kernel.jit->countsSizes, arguments);
  const bool isKept = wanted.has(kernel.promised); // the assumptions of the general kernel hold
  const CallClass promised = isKept ? kernel.promised : CallClass();
  const std::atomic<tile_kernel *> &other = isKept ? kernel.general : kernel.unaligned;
  chosen = other.load(std::memory_order_acquire);
  if (!chosen) {
    if (const tile_status status = compileUnaligned(kernel, arguments); status != TILE_OK)
      return status;
    chosen = other.load(std::memory_order_acquire);
  }
  if (wanted == promised)
    return TILE_OK;
  Specialization *entry = kernel.specializations.find(wanted);
  if (!entry)
    entry = ask(kernel, wanted, arguments);
  tile_kernel *special = entry ? entry->kernel.load(std::memory_order_acquire) : nullptr;
  if (special && (!hasGrid || entry->hasConstantsOfGeneral))
    chosen = special;
  return TILE_OK;
}

/// Returns true if the arguments match the parameters of the kernel; otherwise libtilert reports the error.
bool areArguments(const tile_jit_kernel &kernel, void *const *arguments, size_t count) {
  if (!arguments || count != kernel.parameters.size())
    return false;
  for (size_t i = 0; i < count; ++i)
    if (!arguments[i])
      return false;
  return true;
}

size_t hashOf(std::string_view source, const char *const *options, size_t count) {
  std::hash<std::string_view> hash;
  size_t sum = hash(source);
  for (size_t i = 0; i < count; ++i)
    sum = sum * 31 + hash(options[i]);
  return sum;
}

bool hasTarget(const char *const *options, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (std::strncmp(options[i], "--target", std::strlen("--target")) == 0)
      return true;
  return false;
}

/// Sets `option` to "--target=sm_90a" or similar, for the device of the current context.
tile_status findTarget(tile_runtime *runtime, char (&option)[32]) {
  std::strcpy(option, "--target=");
  char *name = option + std::strlen(option);
  if (const tile_status status = tile_device_target(runtime, name, 16); status != TILE_OK)
    return failed(status);
  // Prefer the architecture-specific target, if there is one.
  const size_t length = std::strlen(name);
  const char *known = nullptr;
  for (size_t i = 0; const char *target = tilec_target(i); ++i)
    if (std::strncmp(target, name, length) == 0 && (target[length] == 0 || std::strcmp(target + length, "a") == 0) &&
        (!known || target[length] != 0))
      known = target;
  if (!known)
    return fail(TILE_ERROR_ARCHITECTURE, fmt::format("the compiler does not support the device's {}", name));
  std::strcpy(name, known);
  return TILE_OK;
}

tile_jit_kernel *find(const tile_jit &jit, size_t hash, std::string_view source, std::string_view target,
                      const char *const *options, size_t count) {
  const auto [begin, end] = jit.kernels.equal_range(hash);
  for (auto entry = begin; entry != end; ++entry) {
    tile_jit_kernel &kernel = *entry->second;
    if (kernel.source == source && kernel.target == target &&
        std::equal(kernel.options.begin(), kernel.options.end(), options, options + count))
      return &kernel;
  }
  return nullptr;
}

tile_jit_kernel *findOrAdd(tile_jit &jit, std::string_view source, std::string_view target, const char *const *options,
                           size_t count) {
  const size_t hash = hashOf(source, options, count);
  {
    std::shared_lock lock(jit.finding);
    if (tile_jit_kernel *found = find(jit, hash, source, target, options, count))
      return found;
  }
  std::unique_lock lock(jit.finding);
  if (tile_jit_kernel *found = find(jit, hash, source, target, options, count))
    return found;
  auto made = std::make_unique<tile_jit_kernel>();
  made->jit = &jit;
  made->source = source;
  made->target = target;
  made->options.assign(options, options + count);
  return jit.kernels.emplace(hash, std::move(made))->second.get();
}

} // namespace

extern "C" {

const char *tile_jit_last_error(void) {
  return lastError().c_str();
}

tile_status tile_jit_create(tilec_compiler *compiler, tile_runtime *runtime, const tile_jit_options *options,
                            tile_jit **jit) {
  if (jit)
    *jit = nullptr;
  if (!compiler || !runtime || !jit)
    return fail(TILE_ERROR_INVALID_ARGUMENT, "tile_jit_create: an argument is a null pointer");
  if (options && options->struct_bytes < sizeof *options)
    return fail(TILE_ERROR_INVALID_ARGUMENT,
                "tile_jit_create: 'struct_bytes' does not match any version of tile_jit_options");
  if (options && options->specializations > SpecializationTable::most)
    return fail(TILE_ERROR_INVALID_ARGUMENT, fmt::format("{} specializations; at most {} are allowed",
                                                         options->specializations, SpecializationTable::most));
  return guarded([&] {
    auto made = std::make_unique<tile_jit>();
    made->compiler = compiler;
    made->runtime = runtime;
    made->countsSizes = options && options->sizes != 0;
    if (options && options->specializations != 0)
      made->limit = options->specializations;
    if (tilec_cancellation_create(&made->cancellation) != TILEC_OK)
      return outOfMemory();
    made->worker = std::thread([&jit = *made] { work(jit); });
    *jit = made.release();
    return TILE_OK;
  });
}

void tile_jit_destroy(tile_jit *jit) {
  if (!jit)
    return;
  tilec_cancel(jit->cancellation);
  {
    std::lock_guard lock(jit->waiting);
    jit->isEnding = true;
    jit->changed.notify_all();
  }
  jit->worker.join();
  for (auto &[hash, kernel] : jit->kernels) {
    for (size_t i = 0; i < kernel->specializations.size(); ++i)
      tile_kernel_destroy(kernel->specializations[i].kernel);
    tile_kernel_destroy(kernel->general);
    tile_kernel_destroy(kernel->unaligned);
  }
  delete jit;
}

tile_status tile_jit_get(tile_jit *jit, const char *source, size_t source_bytes, const char *const *options,
                         size_t option_count, tile_jit_kernel **kernel) {
  if (kernel)
    *kernel = nullptr;
  if (!jit || !source || !kernel || (!options && option_count != 0))
    return fail(TILE_ERROR_INVALID_ARGUMENT, "tile_jit_get: an argument is a null pointer");
  for (size_t i = 0; i < option_count; ++i)
    if (!options[i])
      return fail(TILE_ERROR_INVALID_ARGUMENT, fmt::format("tile_jit_get: option {} is a null pointer", i));
  return guarded([&] {
    char target[32] = "";
    if (!hasTarget(options, option_count))
      if (const tile_status status = findTarget(jit->runtime, target); status != TILE_OK)
        return status;
    tile_jit_kernel *found = findOrAdd(*jit, {source, source_bytes}, target, options, option_count);
    if (!found->general.load(std::memory_order_acquire))
      if (const tile_status status = compileGeneral(*found); status != TILE_OK)
        return status;
    *kernel = found;
    return TILE_OK;
  });
}

tile_status tile_jit_launch(tile_jit_kernel *kernel, const tile_launch_options *options, void *const *arguments,
                            size_t count) {
  if (!kernel)
    return fail(TILE_ERROR_INVALID_ARGUMENT, "tile_jit_launch: 'kernel' is a null pointer");
  tile_kernel *chosen = kernel->general.load(std::memory_order_acquire);
  const auto chooseKernel = [&] { return choose(*kernel, options && options->grid, arguments, chosen); };
  if (areArguments(*kernel, arguments, count))
    if (const tile_status status = guarded(chooseKernel); status != TILE_OK)
      return status;
  tile_launch_options own = {};
  // Scratch memory given by the caller belongs to one kernel, but the chosen kernel varies.
  if (options && options->scratch) {
    own = *options;
    own.scratch = nullptr;
    own.scratch_bytes = 0;
    options = &own;
  }
  const tile_status status = tile_launch(chosen, options, arguments, count);
  return status == TILE_OK ? TILE_OK : failed(status);
}

tile_status tile_jit_run(tile_jit *jit, const char *source, const char *const *options, size_t option_count,
                         const tile_launch_options *launch, void *const *arguments, size_t count) {
  tile_jit_kernel *kernel = nullptr;
  const size_t bytes = source ? std::strlen(source) : 0;
  if (const tile_status status = tile_jit_get(jit, source, bytes, options, option_count, &kernel); status != TILE_OK)
    return status;
  return tile_jit_launch(kernel, launch, arguments, count);
}

tile_status tile_jit_wait(tile_jit *jit) {
  if (!jit)
    return fail(TILE_ERROR_INVALID_ARGUMENT, "tile_jit_wait: 'jit' is a null pointer");
  return guarded([&] {
    std::unique_lock lock(jit->waiting);
    jit->changed.wait(lock, [&] { return jit->tasks.empty() && !jit->isBusy; });
    return TILE_OK;
  });
}

tile_status tile_jit_choice(tile_jit_kernel *kernel, void *const *arguments, size_t count, tile_kernel **choice) {
  if (!kernel || !choice)
    return fail(TILE_ERROR_INVALID_ARGUMENT, "tile_jit_choice: an argument is a null pointer");
  if (!areArguments(*kernel, arguments, count))
    return fail(TILE_ERROR_INVALID_ARGUMENT, fmt::format("tile_jit_choice: got {} arguments, but the kernel takes {}",
                                                         count, kernel->parameters.size()));
  return guarded([&] { return choose(*kernel, /*hasGrid=*/false, arguments, *choice); });
}

} // extern "C"
