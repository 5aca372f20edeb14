// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Imports from the language's own modules, and from other files of a project.
//
// ModuleFiles.h implements the file search. Imported files are not executed; names are looked up when a kernel uses
// them, so modules that only host code needs are never read.

#include "Frontend/Emit/Builtins.h"
#include "Frontend/Host/HostFacts.h"
#include "Frontend/Sema/HelperModules.h"
#include "Frontend/Sema/ModuleNames.h"
#include "Frontend/Syntax/ModuleFiles.h"

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace mlir;

namespace tile::frontend {

namespace {

/// Maximum number of files that are read for one kernel; more would indicate a wrong search path.
constexpr size_t maxModules = 512;

/// Returns true for the names under which Triton and projects (the last one: FlagGems) provide libdevice.
bool isLibdevice(std::string_view path) {
  return path.ends_with("libdevice") || path.ends_with("tldevice") || path.ends_with("tl_extra_shim");
}

/// Maps module paths to the namespaces that they denote.
std::string namespaceOf(std::string_view path) {
  if (path == "triton.language" || path == "tl" || path == "tile" || path == "tile.language")
    return "tl";
  if (path == "triton" || path == "triton.runtime.jit")
    return "triton";
  if (path == "math")
    return "math";
  if (isLibdevice(path))
    return "libdevice";
  if (path == "triton.language.target_info")
    return "target_info";
  if (path.starts_with("triton.language."))
    return "tl." + std::string(path.substr(16));
  return std::string(path);
}

std::string withDots(const ModuleScope::Import &import) {
  return std::string(import.level, '.') + import.module + (import.module.empty() ? "" : ".") + import.name;
}

} // namespace

void ModuleNames::declareImport(const ImportStmt &import) {
  warnMissingModule(import);
  for (const ImportStmt::Alias &alias : import.names) {
    if (alias.name == "*") {
      current->stars.push_back({import.module, "*", import.level, import.range});
      continue;
    }
    std::string bound = alias.asName.empty() ? alias.name : alias.asName;
    if (!import.isFrom) {
      // "import a.b" binds "a".
      bool bindsRoot = alias.asName.empty() && alias.name.find('.') != std::string::npos;
      std::string root = alias.name.substr(0, alias.name.find('.')), dotted = bindsRoot ? root : alias.name;
      current->globals[bindsRoot ? root : bound] =
          SymValue::makeConstant(NamespaceValue{namespaceOf(dotted), findModule(0, dotted)});
      continue;
    }
    // Projects re-export the language under its usual names.
    bool isAlias = alias.name == "tl" || alias.name == "triton" || isLibdevice(alias.name);
    std::optional<Value> member = import.level ? std::nullopt : namespaceMember(namespaceOf(import.module), alias.name);
    if (isAlias) {
      current->globals[bound] = SymValue::makeConstant(NamespaceValue{namespaceOf(alias.name)});
    } else if (member) {
      current->globals[bound] = SymValue::makeConstant(*member);
    } else {
      hide(bound);
      current->imports[bound] = {import.module, alias.name, import.level, import.range};
    }
  }
}

std::vector<std::string> ModuleNames::moduleFolders(uint32_t level) {
  return frontend::moduleFolders(current->path, level, request.importPaths);
}

/// Returns the file of a module as seen from the current file; empty if there is none.
std::string ModuleNames::findModule(uint32_t level, const std::string &dotted) {
  bool isLanguage = level == 0 && (dotted == "triton" || StringRef(dotted).starts_with("triton."));
  if (level == 0 && !helperModule(dotted).empty())
    return "<" + dotted + ">";
  if (current->path.starts_with('<') || isLanguage)
    return {};
  return findModuleFile(moduleFolders(level), dotted);
}

/// Explains why "from module import name" fails.
std::string ModuleNames::explainMissing(const ModuleScope::Import &import) {
  std::string path = findModule(import.level, import.module);
  if (auto failed = unreadable.find(path); failed != unreadable.end())
    return failed->second;
  if (!path.empty()) {
    auto loaded = modules.find(path);
    if (loaded != modules.end() && loaded->second)
      for (const SkippedName &skipped : *loaded->second->skipped)
        if (skipped.name == import.name)
          return "in '" + path + "' it is a " + skipped.what + " of the host program";
    return "'" + path + "' does not define it";
  }
  if (import.level == 0 && (import.module == "triton" || StringRef(import.module).starts_with("triton.")))
    return "the language does not provide it";
  std::string module = std::string(import.level, '.') + import.module;
  std::vector<std::string> folders = moduleFolders(import.level);
  constexpr size_t mostNamed = 3;
  std::string searched;
  for (size_t i = 0; i < std::min(folders.size(), mostNamed); ++i)
    searched += (i == 0 ? "'" : ", '") + folders[i] + "'";
  if (folders.size() > mostNamed)
    searched += " and the folders above";
  for (const std::string &given : request.importPaths)
    if (folders.size() > mostNamed && import.level == 0)
      searched += ", '" + given + "'";
  return "there is no .py or .tile file of the module '" + module + "' in " +
         (searched.empty() ? "any folder" : searched) + (import.level == 0 ? "; -I adds a folder" : "");
}

/// Reports the use of a name from a module that is not read.
SymValue ModuleNames::unknownImport(const std::string &name, SourceRange range) {
  for (StringRef known = name; !known.empty(); known = known.rsplit('.').first) {
    if (auto found = missingImports.find(known.str()); found != missingImports.end())
      return error(Diag::unknown_import, range, {name, found->second.reason},
                   std::pair{found->second.range, std::string("it is imported here")});
    if (!known.contains('.'))
      break;
  }
  auto [module, member] = StringRef(name).rsplit('.');
  return error(Diag::unknown_import, range, {name, explainMissing({module.str(), member.str(), /*level=*/0, range})});
}

/// Warns about a missing part of the package of the compiled file. If no kernel needs it, it is not an error.
void ModuleNames::warnMissingModule(const ImportStmt &import) {
  if (!import.isFrom || import.level == 0 || import.isOptional || current->module != &module ||
      current->path.starts_with('<'))
    return;
  if (!findModule(import.level, import.module).empty())
    return;
  for (const ImportStmt::Alias &alias : import.names) {
    // A folder is a package without a file, and may contain the module.
    std::string dotted = import.module + (import.module.empty() ? "" : ".") + alias.name;
    if (alias.name != "*" && !findModule(import.level, dotted).empty())
      continue;
    warn(Diag::missing_module, import.range, {explainMissing({import.module, alias.name, import.level, import.range})});
    return;
  }
}

/// Reads and declares a module; null on failure.
ModuleScope *ModuleNames::loadModule(const std::string &path) {
  auto [entry, isNew] = modules.try_emplace(path);
  if (!isNew)
    return entry->second.get();
  // Check the size first, because the file may be larger than memory.
  std::error_code failed;
  uintmax_t bytes = path.starts_with('<') ? 0 : std::filesystem::file_size(path, failed);
  if (bytes > maxSourceBytes || failed) {
    unreadable[path] = failed ? "'" + path + "' cannot be read: " + failed.message()
                              : "'" + path + "' is " + std::to_string(bytes >> 20) + " MiB; the limit is " +
                                    std::to_string(maxSourceBytes >> 20) + " MiB";
    return nullptr;
  }
  std::stringstream text;
  if (path.starts_with('<')) {
    text << helperModule(std::string_view(path).substr(1, path.size() - 2));
  } else {
    std::ifstream file(path, std::ios::binary);
    text << file.rdbuf();
    if (!file) {
      unreadable[path] = "'" + path + "' cannot be read";
      return nullptr;
    }
  }
  if (modules.size() > maxModules) {
    unreadable[path] = "more than " + std::to_string(maxModules) + " files are imported";
    return nullptr;
  }
  size_t reported = diagnostics.all().size();
  Module &parsed = importedModules.emplace_back(parse({path, text.str()}, diagnostics, /*defersErrors=*/true));
  // Errors outside functions do not concern the kernel.
  (void)diagnostics.takeSince(reported);
  entry->second = std::make_unique<ModuleScope>();
  ModuleScope *loaded = entry->second.get();
  loaded->module = &parsed;
  loaded->skipped = &parsed.skipped;
  loaded->path = path;
  InModule inside(sema, loaded);
  declare(parsed.body);
  return loaded;
}

std::optional<SymValue> ModuleNames::lookupIn(ModuleScope &module, const std::string &name, SourceRange range) {
  // "pending" stops circular imports.
  if (!module.pending.insert("import " + name).second)
    return std::nullopt;
  std::optional<SymValue> value;
  {
    InModule inside(sema, &module);
    value = lookupGlobal(name, range);
  }
  module.pending.erase("import " + name);
  return value;
}

/// Resolves "from module import name": a definition of the module, or a submodule.
std::optional<SymValue> ModuleNames::importMember(const ModuleScope::Import &import, SourceRange range) {
  std::string path = findModule(import.level, import.module);
  if (ModuleScope *loaded = path.empty() ? nullptr : loadModule(path))
    if (std::optional<SymValue> value = lookupIn(*loaded, import.name, range))
      return value;
  std::string dotted = import.module + (import.module.empty() ? "" : ".") + import.name;
  std::string submodule = findModule(import.level, dotted);
  if (submodule.empty())
    return std::nullopt;
  return SymValue::makeConstant(NamespaceValue{dotted, submodule});
}

std::optional<SymValue> ModuleNames::lookupImport(const std::string &name, SourceRange range) {
  if (auto found = current->imports.find(name); found != current->imports.end()) {
    ModuleScope::Import import = found->second;
    std::optional<SymValue> value = importMember(import, range);
    // A name from a module that is not read is an error only if it is used.
    if (!value) {
      std::string path = namespaceOf(withDots(import));
      std::optional<Value> fact = hostFact(path, request.targetCapability, /*isVariable=*/false);
      if (!fact && import.name == "constexpr") // in Gluon, and in projects that wrap Triton
        fact = TypeNameValue{import.name};
      if (!fact)
        missingImports[path] = {import.range, explainMissing(import)};
      value = SymValue::makeConstant(fact.value_or(Value(NamespaceValue{path})));
    }
    if (!host) // the host reader may see a list of configurations instead
      current->globals[name] = *value;
    return value;
  }
  for (auto star = current->stars.rbegin(); star != current->stars.rend(); ++star) {
    if (std::optional<Value> member = namespaceMember(namespaceOf(star->module), name))
      return SymValue::makeConstant(*member);
    std::string path = findModule(star->level, star->module);
    if (ModuleScope *loaded = path.empty() ? nullptr : loadModule(path))
      if (std::optional<SymValue> value = lookupIn(*loaded, name, range))
        return value;
  }
  return std::nullopt;
}

/// Reports parser errors of a function that is now used. Returns true if there are any.
bool ModuleNames::reportBroken(const FunctionStmt &function, std::optional<SourceRange> call) {
  if (function.errors.empty())
    return false;
  std::vector<Diagnostic> errors = function.errors;
  if (call)
    errors.front().notes.push_back(
        {Severity::Note, "", /*isWarning=*/false, *call, "in '" + function.name + "' called here", {}, {}});
  diagnostics.report(errors);
  return true;
}

} // namespace tile::frontend
