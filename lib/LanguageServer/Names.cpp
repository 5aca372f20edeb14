// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Definitions, references and renaming. Renaming rejects names if not all of their uses can be found: attributes,
// definitions in other files, and names of the language.
#include "LanguageServer/Names.h"

#include "Frontend/Emit/Builtins.h"
#include "Frontend/Syntax/BuiltinDocs.h"
#include "Frontend/Syntax/ModuleFiles.h"
#include "LanguageServer/Scopes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/LSP/Protocol.h"

namespace tile::lsp {

using namespace frontend;
using Role = NameUse::Role;

llvm::json::Array symbols(const Document &document) {
  constexpr int isFunction = 12, isVariable = 13, isClass = 5;
  const std::vector<Scope> &scopes = document.scopes().scopes();
  llvm::json::Array found;
  for (const Scope &scope : scopes) {
    if (scope.kind != Scope::Kind::Function && scope.kind != Scope::Kind::Class)
      continue;
    llvm::json::Array parameters;
    for (const std::string &name : scope.parameters)
      parameters.push_back(llvm::json::Object{{"name", name},
                                              {"kind", isVariable},
                                              {"range", document.range(scope.bound.at(name))},
                                              {"selectionRange", document.range(scope.bound.at(name))}});
    found.push_back(llvm::json::Object{{"name", scope.name},
                                       {"kind", scope.kind == Scope::Kind::Class ? isClass : isFunction},
                                       {"range", document.range(scope.range)},
                                       {"selectionRange", document.range(scope.nameRange)},
                                       {"children", std::move(parameters)}});
  }
  return found;
}

namespace {

constexpr unsigned maxFiles = 16; // limit for circular imports

const ImportedName *importOf(const ScopeTree &tree, llvm::StringRef bound) {
  auto found = llvm::find_if(tree.imports(), [&](const ImportedName &import) { return import.bound == bound; });
  return found == tree.imports().end() ? nullptr : &*found;
}

llvm::json::Value locationOf(llvm::StringRef uri, llvm::json::Object range) {
  return llvm::json::Object{{"uri", uri.str()}, {"range", std::move(range)}}; // a StringRef would not be copied
}

/// Resolves imports across files.
class Definitions {
public:
  explicit Definitions(const OtherFiles &others) : others(others) {}

  /// Resolves "from module import name", relative to the importing file. Without a name, resolves the module.
  llvm::json::Value ofImport(const std::string &importer, const ImportedName &import, llvm::StringRef name) {
    auto fileOf = [&](const std::string &dotted) {
      return findModuleFile(moduleFolders(importer, import.level, others.importPaths), dotted);
    };
    if (std::string path = fileOf(import.module); !path.empty()) {
      llvm::json::Value found = name.empty() ? start(path) : inFile(path, name);
      if (found.kind() != llvm::json::Value::Null)
        return found;
    }
    if (name.empty())
      return nullptr;
    std::string submodule = fileOf(import.module + (import.module.empty() ? "" : ".") + name.str());
    return submodule.empty() ? llvm::json::Value(nullptr) : start(submodule);
  }

private:
  static std::optional<std::string> uriOf(const std::string &path) {
    llvm::Expected<llvm::lsp::URIForFile> uri = llvm::lsp::URIForFile::fromFile(path);
    if (uri)
      return uri->uri().str();
    llvm::consumeError(uri.takeError());
    return std::nullopt;
  }

  llvm::json::Value start(const std::string &path) {
    std::optional<std::string> uri = uriOf(path);
    return uri ? locationOf(*uri, Document(path, "", std::nullopt).range({})) : llvm::json::Value(nullptr);
  }

  llvm::json::Value inFile(const std::string &path, llvm::StringRef name) {
    std::optional<std::string> text = ++files > maxFiles ? std::nullopt : others.read(path);
    std::optional<std::string> uri = uriOf(path);
    if (!text || !uri)
      return nullptr;
    const Document document(path, std::move(*text), std::nullopt);
    const ScopeTree &tree = document.scopes();
    if (const ImportedName *import = importOf(tree, name))
      return ofImport(path, *import, import->name);
    const Scope &module = tree.scopes().front();
    if (auto found = module.bound.find(name.str()); found != module.bound.end())
      return locationOf(*uri, document.range(found->second));
    for (const ImportedName &import : tree.imports())
      if (import.name == "*")
        if (llvm::json::Value found = ofImport(path, import, name); found.kind() != llvm::json::Value::Null)
          return found;
    return nullptr;
  }

  const OtherFiles &others;
  unsigned files = 0;
};

llvm::Error refuse(const llvm::Twine &message) {
  return llvm::make_error<llvm::lsp::LSPError>(message.str(), llvm::lsp::ErrorCode::RequestFailed);
}

/// Returns the scope that owns all uses of the name.
llvm::Expected<size_t> findRenamable(const Document &document, const NameUse *use) {
  if (!use)
    return refuse("there is no name at this position");
  const ScopeTree &tree = document.scopes();
  const std::string quoted = "'" + use->name + "'";
  if (use->role == Role::Attribute)
    return refuse(quoted + " is an attribute, whose other uses are not known");
  const size_t owner = tree.ownerOf(*use);
  if (owner == Scope::none)
    return refuse(quoted + (findBuiltinDoc(use->name) || findBuiltin(use->name) || use->name == "tl"
                                ? " is part of the language"
                                : " is not defined in this file"));
  const Scope &scope = tree.scopes()[owner];
  if (scope.kind == Scope::Kind::Class)
    return refuse(quoted + " is a member of a class, whose other uses are not known");
  llvm::StringRef declaration = document.text().drop_front(scope.bound.at(use->name).end);
  declaration = declaration.take_until([](char c) { return c == ',' || c == ')'; });
  if (llvm::is_contained(scope.parameters, use->name) && declaration.rtrim().ends_with("= auto"))
    return refuse(quoted + " is an auto parameter, which the compiler recognizes by this name");
  const ImportedName *import = importOf(tree, use->name);
  if (import && !import->isRenamed && scope.bound.at(use->name).begin == import->range.begin)
    return refuse(quoted + " is imported from another file");
  return owner;
}

bool isKeyword(llvm::StringRef word) {
  static constexpr llvm::StringRef keywords[] = {
#define TILE_KEYWORD(name, spelling) spelling,
#define TILE_OPERATOR(name, spelling)
#include "Frontend/Syntax/Tokens.def"
  };
  return llvm::is_contained(keywords, word);
}

bool isIdentifier(llvm::StringRef word) {
  return !word.empty() && !llvm::isDigit(word.front()) && !isKeyword(word) &&
         llvm::all_of(word, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

} // namespace

llvm::json::Value define(const Document &document, llvm::StringRef uri, uint32_t offset, const OtherFiles &others) {
  const ScopeTree &tree = document.scopes();
  Definitions definitions(others);
  for (const ImportedName &import : tree.imports())
    if (import.nameRange.begin <= offset && offset <= import.nameRange.end && import.name != "*")
      return definitions.ofImport(document.file().name, import, import.name);
  const NameUse *use = tree.useAt(offset);
  if (!use)
    return nullptr;
  if (use->role == Role::Attribute) {
    const ImportedName *import = use->of.empty() ? nullptr : importOf(tree, use->of.front());
    if (!import)
      return nullptr;
    // a.b.c.name is defined in the file of a.b.c.
    ImportedName module = *import;
    if (!import->name.empty())
      module.module += (module.module.empty() ? "" : ".") + import->name;
    for (const std::string &part : llvm::ArrayRef(use->of).drop_front())
      module.module += "." + part;
    return definitions.ofImport(document.file().name, module, use->name);
  }
  const size_t owner = tree.ownerOf(*use);
  if (owner == Scope::none) {
    for (const ImportedName &import : tree.imports())
      if (import.name == "*")
        if (llvm::json::Value found = definitions.ofImport(document.file().name, import, use->name);
            found.kind() != llvm::json::Value::Null)
          return found;
    return nullptr;
  }
  SourceRange first = tree.scopes()[owner].bound.at(use->name);
  const ImportedName *import = importOf(tree, use->name);
  if (import && import->range.begin == first.begin)
    if (llvm::json::Value found = definitions.ofImport(document.file().name, *import, import->name);
        found.kind() != llvm::json::Value::Null)
      return found;
  return locationOf(uri, document.range(first));
}

llvm::json::Array references(const Document &document, uint32_t offset) {
  const ScopeTree &tree = document.scopes();
  const NameUse *use = tree.useAt(offset);
  llvm::json::Array ranges;
  if (!use)
    return ranges;
  const size_t owner = tree.ownerOf(*use);
  if (owner != Scope::none)
    for (const NameUse *other : tree.usesOf(owner, use->name))
      ranges.push_back(document.range(other->range));
  return ranges;
}

llvm::Expected<llvm::json::Value> prepareRename(const Document &document, uint32_t offset) {
  const NameUse *use = document.scopes().useAt(offset);
  if (llvm::Expected<size_t> owner = findRenamable(document, use); !owner)
    return owner.takeError();
  return llvm::json::Object{{"range", document.range(use->range)}, {"placeholder", use->name}};
}

llvm::Expected<llvm::json::Array> rename(const Document &document, uint32_t offset, llvm::StringRef newName) {
  const ScopeTree &tree = document.scopes();
  const NameUse *use = tree.useAt(offset);
  llvm::Expected<size_t> owner = findRenamable(document, use);
  if (!owner)
    return owner.takeError();
  if (!isIdentifier(newName))
    return refuse("'" + newName + "' is not a valid name");
  if (newName != use->name) {
    // Reject a new name that is in use, even in another scope, because it could capture uses.
    auto other = llvm::find_if(tree.uses(), [&](const NameUse &known) {
      return known.name == newName && known.role != Role::Attribute && known.role != Role::Argument;
    });
    if (other != tree.uses().end())
      return refuse("'" + newName + "' is already in use, in line " +
                    llvm::Twine(*document.position(other->range.begin).getInteger("line") + 1));
  }
  llvm::json::Array edits;
  for (const NameUse *one : tree.usesOf(*owner, use->name))
    edits.push_back(llvm::json::Object{{"range", document.range(one->range)}, {"newText", newName}});
  return edits;
}

} // namespace tile::lsp
