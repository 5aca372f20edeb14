// Imports: from the language's own modules, and from other files of a project.
//
// A file is found as Python finds it, without its search path: relative to the importing file for "from .m import f",
// else in the folders above that file, and then in those of -I. Nothing of it is executed; what a kernel uses of it is
// looked up when it is used, so that modules that only host code needs are never read.

#include "Frontend/Builtins.h"
#include "Frontend/HelperModules.h"
#include "Frontend/HostFacts.h"
#include "Frontend/Sema.h"

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace mlir;

namespace tile::frontend {

namespace {

/// Files that are read for one kernel; more would be a sign that we search in the wrong place.
constexpr size_t maxModules = 512;

/// The names under which Triton and projects (the last one: FlagGems) have the functions of libdevice.
bool isLibdevice(std::string_view path) {
  return path.ends_with("libdevice") || path.ends_with("tldevice") || path.ends_with("tl_extra_shim");
}

/// Module paths -> the namespaces that they denote here.
std::string namespaceOf(std::string_view path) {
  if (path == "triton.language" || path == "tl" || path == "tile" || path == "tile.language")
    return "tl";
  if (path == "triton")
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

/// The file of a dotted module below 'folder'; empty if there is none.
std::string moduleFile(const std::filesystem::path &folder, const std::string &dotted) {
  std::filesystem::path stem = folder;
  for (StringRef part : llvm::split(dotted, '.'))
    if (!part.empty())
      stem /= part.str();
  std::error_code failed;
  for (const std::filesystem::path &candidate : {std::filesystem::path(stem.string() + ".py"), stem / "__init__.py",
                                                 std::filesystem::path(stem.string() + ".tile")})
    if (std::filesystem::is_regular_file(candidate, failed))
      return std::filesystem::weakly_canonical(candidate, failed).string();
  return {};
}

} // namespace

void Sema::declareImport(const ImportStmt &import) {
  for (const ImportStmt::Alias &alias : import.names) {
    if (alias.name == "*") {
      current->stars.push_back({import.module, "*", import.level});
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
      current->globals.erase(bound);
      current->imports[bound] = {import.module, alias.name, import.level};
    }
  }
}

/// The file of a module as the current file sees it; empty if there is none.
std::string Sema::findModule(uint32_t level, const std::string &dotted) {
  bool isLanguage = StringRef(dotted).starts_with("triton") && level == 0;
  if (level == 0 && !helperModule(dotted).empty())
    return "<" + dotted + ">";
  if (current->path.starts_with('<') || isLanguage)
    return {};
  std::error_code failed;
  std::filesystem::path folder = std::filesystem::absolute(current->path, failed).parent_path();
  if (level > 0) {
    for (uint32_t up = 1; up < level; ++up)
      folder = folder.parent_path();
    return moduleFile(folder, dotted);
  }
  for (; !failed; folder = folder.parent_path()) {
    if (std::string file = moduleFile(folder, dotted); !file.empty())
      return file;
    if (folder == folder.root_path())
      break;
  }
  for (const std::string &path : request.importPaths)
    if (std::string file = moduleFile(path, dotted); !file.empty())
      return file;
  return {};
}

/// Reads and declares a module; null if that fails.
ModuleScope *Sema::loadModule(const std::string &path) {
  auto [entry, isNew] = modules.try_emplace(path);
  if (!isNew)
    return entry->second.get();
  std::stringstream text;
  if (path.starts_with('<')) {
    text << helperModule(std::string_view(path).substr(1, path.size() - 2));
  } else {
    std::ifstream file(path, std::ios::binary);
    text << file.rdbuf();
    if (!file)
      return nullptr;
  }
  if (modules.size() > maxModules)
    return nullptr;
  size_t reported = diagnostics.all().size();
  Module &parsed = importedModules.emplace_back(parse({path, text.str()}, diagnostics, /*defersErrors=*/true));
  // What is wrong outside of functions is no concern of the kernel's.
  (void)diagnostics.takeSince(reported);
  entry->second = std::make_unique<ModuleScope>();
  ModuleScope *loaded = entry->second.get();
  loaded->module = &parsed;
  loaded->path = path;
  InModule inside(*this, loaded);
  declare(parsed.body);
  return loaded;
}

std::optional<SymValue> Sema::lookupIn(ModuleScope &module, const std::string &name, SourceRange range) {
  // "pending" stops modules that import from each other.
  if (!module.pending.insert("import " + name).second)
    return std::nullopt;
  std::optional<SymValue> value;
  {
    InModule inside(*this, &module);
    value = lookupGlobal(name, range);
  }
  module.pending.erase("import " + name);
  return value;
}

/// What "from module import name" means: something that the module defines, or a module below it.
std::optional<SymValue> Sema::importMember(const ModuleScope::Import &import, SourceRange range) {
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

std::optional<SymValue> Sema::lookupImport(const std::string &name, SourceRange range) {
  if (auto found = current->imports.find(name); found != current->imports.end()) {
    ModuleScope::Import import = found->second;
    std::optional<SymValue> value = importMember(import, range);
    // A module that is not read: its members are only an error when they are used.
    if (!value) {
      std::string path = namespaceOf(withDots(import));
      std::optional<Value> fact = hostFact(path, request.targetCapability, /*isVariable=*/false);
      value = SymValue::makeConstant(fact.value_or(Value(NamespaceValue{path})));
    }
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

/// Reports what the parser found wrong in a function that is now used; true if there is something.
bool Sema::reportBroken(const FunctionStmt &function, std::optional<SourceRange> call) {
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
