// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C API of libtilec: validates arguments, stops exceptions, and delegates.
#include "AnswerCache.h"
#include "Guard.h"
#include "Worker.h"

#include "Driver/Version.h"
#include "Target/GpuTarget.h"
#include "tile/tilec.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

#include <nlohmann/json.hpp>

using llvm::formatv;
using llvm::StringRef;
using Json = nlohmann::json;
using tile::Answer;
using tile::Request;
using tile::driver::DiskCache;
using tile::driver::Outcome;

struct tilec_compiler {
  std::vector<std::string> options; ///< prepended to the options of each request
  std::optional<DiskCache> cache;
  std::optional<tile::WorkerSettings> worker;
};

struct tilec_cancellation {
  std::atomic<bool> isCancelled = false;
};

struct tilec_result {
  Answer answer;
  bool isCached;
};

namespace {

std::string &lastError() {
  static thread_local std::string text;
  return text;
}

tilec_status fail(tilec_status status, const llvm::Twine &message) {
  lastError() = message.str();
  return status;
}

/// Runs `body`, which returns a status, and converts exceptions to a status.
template <typename Body> tilec_status guarded(Body body) {
  try {
    lastError().clear();
    return body();
  } catch (const std::bad_alloc &) {
    return TILEC_ENVIRONMENT; // no memory for a message
  } catch (const std::exception &exception) {
    return fail(TILEC_INTERNAL, formatv("unexpected failure: {0}", exception.what()));
  }
}

/// Reads a caller's structure of this version or of an older one with fewer fields.
template <typename T> bool readStruct(const T *given, T &whole) {
  constexpr size_t maxBytes = 4096; // larger values are not plausible sizes
  if (given->struct_bytes < sizeof given->struct_bytes || given->struct_bytes > maxBytes)
    return false;
  std::memcpy(static_cast<void *>(&whole), given, std::min(given->struct_bytes, sizeof whole));
  return true;
}

Answer failure(Outcome outcome, const llvm::Twine &message) {
  return {
      outcome, "", tile::driver::DiagnosticLog::printError(tile::driver::DiagnosticsFormat::Json, message.str()), {}};
}

/// Compiles in this process.
Answer compileInProcess(tile::CommandLine line) {
  Answer answer;
  std::optional<std::string> failed = tile::runGuarded([&] {
    try {
      answer = tile::answerRequest(std::move(line));
    } catch (const std::bad_alloc &) {
      answer = failure(Outcome::Environment, "out of memory");
    }
  });
  return failed ? failure(Outcome::Internal, "internal error: " + *failed) : std::move(answer);
}

Answer compile(const tilec_compiler &compiler, const Request &request, const std::atomic<bool> *cancelled,
               bool &isCached) {
  tile::CommandLine line;
  line.compiler.isGuest = true;
  line.compiler.cancelled = cancelled;
  if (std::optional<Answer> wrong = tile::prepareRequest(request, line))
    return std::move(*wrong);
  std::chrono::system_clock::time_point begin = std::chrono::system_clock::now();
  std::string key = compiler.cache ? tile::keyOf(request, line) : "";
  if (compiler.cache)
    if (std::optional<Answer> kept = tile::findAnswer(*compiler.cache, key)) {
      isCached = true;
      return std::move(*kept);
    }
  if (cancelled && *cancelled)
    return failure(Outcome::Cancelled, "the compilation was cancelled");
  Answer answer =
      compiler.worker ? compileInWorker(*compiler.worker, request, cancelled) : compileInProcess(std::move(line));
  if (compiler.cache) // a full cache does not fail the compilation
    llvm::consumeError(tile::keepAnswer(*compiler.cache, key, request, answer, begin));
  return answer;
}

/// Passes one diagnostic of the JSON document, with its notes, to the caller.
void deliver(const Json &one, const tilec_request &request, std::string &firstError) {
  auto text = [&](const char *key) { return one.value(key, std::string()); };
  auto number = [&](const char *key) { return one.value(key, uint32_t(0)); };
  const std::string severity = text("severity"), message = text("message"), flag = text("flag"), file = text("file");
  tilec_diagnostic diagnostic = {severity == "error"     ? TILEC_ERROR
                                 : severity == "warning" ? TILEC_WARNING
                                 : severity == "remark"  ? TILEC_REMARK
                                                         : TILEC_NOTE,
                                 message.c_str(),
                                 flag.c_str(),
                                 file.c_str(),
                                 number("line"),
                                 number("column"),
                                 number("endLine"),
                                 number("endColumn")};
  if (diagnostic.severity == TILEC_ERROR && firstError.empty())
    firstError = diagnostic.line ? formatv("{0}:{1}:{2}: {3}", file, diagnostic.line, diagnostic.column, message).str()
                                 : message;
  if (request.on_diagnostic)
    request.on_diagnostic(request.user, &diagnostic);
  if (one.contains("notes"))
    for (const Json &note : one["notes"])
      deliver(note, request, firstError);
}

tilec_status report(const Answer &answer, const tilec_request &request) {
  std::string firstError;
  Json document = Json::parse(answer.diagnostics, nullptr, /*allow_exceptions=*/false);
  if (document.is_object() && document.contains("diagnostics"))
    for (const Json &one : document["diagnostics"])
      deliver(one, request, firstError);
  if (answer.outcome != Outcome::Success)
    lastError() = firstError.empty() ? "the compilation failed" : firstError;
  return tilec_status(int(answer.outcome));
}

tilec_status readRequest(const tilec_request &given, const tilec_compiler &compiler, Request &request) {
  constexpr size_t maxOptions = 10000;
  if (!given.source && given.source_bytes != 0)
    return fail(TILEC_USAGE, "tilec_compile: 'source' is a null pointer");
  if (given.option_count > maxOptions || (!given.options && given.option_count != 0))
    return fail(TILEC_USAGE, formatv("tilec_compile: 'option_count' is {0}, but 'options' is {1}", given.option_count,
                                     static_cast<const void *>(given.options)));
  request.name = given.name && *given.name ? given.name : "<source>";
  if (given.source_bytes)
    request.text.assign(given.source, given.source_bytes);
  request.options = compiler.options;
  for (size_t i = 0; i < given.option_count; ++i) {
    if (!given.options[i])
      return fail(TILEC_USAGE, formatv("tilec_compile: option {0} is a null pointer", i));
    request.options.push_back(given.options[i]);
  }
  return TILEC_OK;
}

} // namespace

extern "C" {

const char *tilec_last_error(void) {
  return lastError().c_str();
}

const char *tilec_version(void) {
  return tile::driver::compilerVersion;
}

const char *tilec_target(size_t index) {
  auto targets = tile::target::allTargets();
  return index < targets.size() ? targets[index]->name.data() : nullptr; // the table's strings are null-terminated
}

tilec_status tilec_compiler_create(const tilec_compiler_options *given, tilec_compiler **compiler) {
  return guarded([&] {
    constexpr uint64_t usualCache = uint64_t(1) << 30;
    if (!compiler)
      return fail(TILEC_USAGE, "tilec_compiler_create: 'compiler' is a null pointer");
    *compiler = nullptr;
    tilec_compiler_options options = TILEC_COMPILER_OPTIONS_INIT;
    if (given && !readStruct(given, options))
      return fail(TILEC_USAGE, "tilec_compiler_create: 'struct_bytes' is not a valid size of tilec_compiler_options");
    auto made = std::make_unique<tilec_compiler>();
    if (options.ptxas)
      made->options.push_back("--ptxas=" + std::string(options.ptxas));
    if (options.cuda_path)
      made->options.push_back("--cuda-path=" + std::string(options.cuda_path));
    if (options.cache_folder)
      made->cache.emplace(options.cache_folder, options.cache_bytes ? options.cache_bytes : usualCache);
    if (options.memory_bytes != 0 && !options.isolate)
      return fail(TILEC_USAGE, "tilec_compiler_create: 'memory_bytes' limits a process, so it needs 'isolate'");
    if (options.isolate) {
      std::string program = options.worker ? options.worker : tile::findWorker();
      if (!llvm::sys::fs::can_execute(program))
        return fail(TILEC_ENVIRONMENT, program.empty() ? "cannot find the program tilec; give its path as 'worker'"
                                                       : formatv("cannot run '{0}'", program).str());
      made->worker = tile::WorkerSettings{program, options.memory_bytes};
    }
    *compiler = made.release();
    return TILEC_OK;
  });
}

void tilec_compiler_destroy(tilec_compiler *compiler) {
  delete compiler;
}

tilec_status tilec_compile(tilec_compiler *compiler, const tilec_request *given, tilec_result **result) {
  return guarded([&] {
    if (result)
      *result = nullptr;
    for (auto [name, argument] :
         {std::pair<const char *, const void *>("compiler", compiler), {"request", given}, {"result", result}})
      if (!argument)
        return fail(TILEC_USAGE, formatv("tilec_compile: '{0}' is a null pointer", name));
    tilec_request whole = TILEC_REQUEST_INIT;
    if (!readStruct(given, whole))
      return fail(TILEC_USAGE, "tilec_compile: 'struct_bytes' is not a valid size of tilec_request");
    Request request;
    if (tilec_status status = readRequest(whole, *compiler, request); status != TILEC_OK)
      return status;
    auto made = std::make_unique<tilec_result>();
    const std::atomic<bool> *cancelled = whole.cancellation ? &whole.cancellation->isCancelled : nullptr;
    made->answer = compile(*compiler, request, cancelled, made->isCached);
    tilec_status status = report(made->answer, whole);
    if (status == TILEC_OK)
      *result = made.release();
    return status;
  });
}

const void *tilec_result_data(const tilec_result *result) {
  return result ? result->answer.artifact.data() : nullptr;
}

size_t tilec_result_bytes(const tilec_result *result) {
  return result ? result->answer.artifact.size() : 0;
}

int tilec_result_is_cached(const tilec_result *result) {
  return result && result->isCached;
}

const char *tilec_result_file(const tilec_result *result, size_t index) {
  return result && index < result->answer.files.size() ? result->answer.files[index].c_str() : nullptr;
}

void tilec_result_destroy(tilec_result *result) {
  delete result;
}

tilec_status tilec_cancellation_create(tilec_cancellation **cancellation) {
  return guarded([&] {
    if (!cancellation)
      return fail(TILEC_USAGE, "tilec_cancellation_create: 'cancellation' is a null pointer");
    *cancellation = new tilec_cancellation;
    return TILEC_OK;
  });
}

void tilec_cancel(tilec_cancellation *cancellation) {
  if (cancellation)
    cancellation->isCancelled = true;
}

void tilec_cancellation_destroy(tilec_cancellation *cancellation) {
  delete cancellation;
}

} // extern "C"
