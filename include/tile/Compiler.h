/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// libtilec for C++17 and later: wraps tilec.h in owning classes. Failures are statuses; only std::bad_alloc is thrown.
//
//   tile::Compiler compiler;
//   tile::CompileResult made = compiler.compile(text, {"--target=sm_90a"});
//   if (!made)
//     for (const tile::Diagnostic &diagnostic : made.diagnostics) std::cerr << diagnostic.message << '\n';
//   else
//     tile_kernel_load_memory(runtime, made.data(), made.size(), &kernel);
//
// All classes are inline wrappers of the C functions, so they work whichever C++ library libtilec was built with.
#ifndef TILE_COMPILER_H
#define TILE_COMPILER_H

#include "tile/tilec.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tile {

struct Diagnostic {
  tilec_severity severity = TILEC_NOTE;
  std::string message, flag, file;
  uint32_t line = 0, column = 0, endLine = 0, endColumn = 0;
};

struct CompilerSettings {
  std::string ptxas, cudaPath; ///< empty: search as described in tilec.h
  std::string cacheFolder;     ///< empty: no cache
  uint64_t cacheBytes = 0;     ///< 0: 1 GiB
  bool isolated = false;       ///< compile in a separate process
  std::string worker;          ///< path of tilec for that process; empty: the installed one
  uint64_t memoryBytes = 0;    ///< memory limit of that process; 0: none
};

/// Cancels compilations from another thread.
class Cancellation {
public:
  Cancellation() {
    tilec_cancellation *made = nullptr;
    tilec_cancellation_create(&made);
    handle.reset(made);
  }
  void cancel() { tilec_cancel(handle.get()); }
  tilec_cancellation *get() const { return handle.get(); }

private:
  struct Destroy {
    void operator()(tilec_cancellation *cancellation) const { tilec_cancellation_destroy(cancellation); }
  };
  std::unique_ptr<tilec_cancellation, Destroy> handle;
};

class CompileResult {
public:
  explicit operator bool() const { return status == TILEC_OK; }
  const void *data() const { return tilec_result_data(handle.get()); }
  size_t size() const { return tilec_result_bytes(handle.get()); }
  std::string_view text() const { return {static_cast<const char *>(data()), size()}; }
  bool isCached() const { return tilec_result_is_cached(handle.get()) != 0; }

  tilec_status status = TILEC_OK;
  std::string error; ///< the first error; empty on success
  std::vector<Diagnostic> diagnostics;

private:
  friend class Compiler;
  struct Destroy {
    void operator()(tilec_result *result) const { tilec_result_destroy(result); }
  };
  std::unique_ptr<tilec_result, Destroy> handle;
};

class Compiler {
public:
  /// Creates a compiler. Invalid settings are reported by the first compilation.
  explicit Compiler(const CompilerSettings &settings = {}) {
    auto textOrNull = [](const std::string &text) { return text.empty() ? nullptr : text.c_str(); };
    tilec_compiler_options options = TILEC_COMPILER_OPTIONS_INIT;
    options.ptxas = textOrNull(settings.ptxas);
    options.cuda_path = textOrNull(settings.cudaPath);
    options.cache_folder = textOrNull(settings.cacheFolder);
    options.cache_bytes = settings.cacheBytes;
    options.isolate = settings.isolated ? 1 : 0;
    options.worker = textOrNull(settings.worker);
    options.memory_bytes = settings.memoryBytes;
    tilec_compiler *made = nullptr;
    creation = tilec_compiler_create(&options, &made);
    if (creation != TILEC_OK)
      creationError = tilec_last_error();
    handle.reset(made);
  }

  CompileResult compile(std::string_view source, const std::vector<std::string> &options = {},
                        const std::string &name = {}, const Cancellation *cancellation = nullptr) const {
    CompileResult result;
    result.status = creation;
    result.error = creationError;
    if (creation != TILEC_OK)
      return result;
    std::vector<const char *> words;
    for (const std::string &option : options)
      words.push_back(option.c_str());
    tilec_request request = TILEC_REQUEST_INIT;
    request.source = source.data();
    request.source_bytes = source.size();
    request.name = name.empty() ? nullptr : name.c_str();
    request.options = words.data();
    request.option_count = words.size();
    request.on_diagnostic = [](void *user, const tilec_diagnostic *one) {
      static_cast<std::vector<Diagnostic> *>(user)->push_back(
          {one->severity, one->message, one->flag, one->file, one->line, one->column, one->end_line, one->end_column});
    };
    request.user = &result.diagnostics;
    request.cancellation = cancellation ? cancellation->get() : nullptr;
    tilec_result *made = nullptr;
    result.status = tilec_compile(handle.get(), &request, &made);
    if (result.status != TILEC_OK)
      result.error = tilec_last_error();
    result.handle.reset(made);
    return result;
  }

  tilec_compiler *get() const { return handle.get(); }

private:
  struct Destroy {
    void operator()(tilec_compiler *compiler) const { tilec_compiler_destroy(compiler); }
  };
  std::unique_ptr<tilec_compiler, Destroy> handle;
  tilec_status creation = TILEC_OK;
  std::string creationError;
};

} // namespace tile
#endif
