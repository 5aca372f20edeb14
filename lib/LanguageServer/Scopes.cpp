// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Name lookup in the scopes that ScopeReader.cpp finds.
#include "LanguageServer/Scopes.h"

#include "llvm/ADT/STLExtras.h"

namespace tile::lsp {

const NameUse *ScopeTree::useAt(uint32_t offset) const {
  for (const NameUse &use : useList)
    if (use.range.begin <= offset && offset <= use.range.end)
      return &use;
  return nullptr;
}

/// Looks up a name, beginning with scope `from`. Names of a class are visible only to statements directly in the class.
static size_t lookUp(const std::vector<Scope> &scopes, llvm::StringRef name, size_t from) {
  for (size_t at = from; at != Scope::none; at = scopes[at].parent) {
    const Scope &scope = scopes[at];
    bool isHidden = scope.kind == Scope::Kind::Class && at != from;
    if (!isHidden && scope.bound.contains(name.str()) && !llvm::is_contained(scope.foreign, name))
      return at;
  }
  return Scope::none;
}

size_t ScopeTree::functionNamed(llvm::StringRef name, size_t from) const {
  size_t owner = lookUp(scopeList, name, from);
  for (auto [index, scope] : llvm::enumerate(scopeList))
    if (owner != Scope::none && scope.kind == Scope::Kind::Function && scope.name == name && scope.parent == owner)
      return index;
  return Scope::none;
}

size_t ScopeTree::ownerOf(const NameUse &use) const {
  if (use.role == NameUse::Role::Attribute)
    return Scope::none;
  if (use.role != NameUse::Role::Argument)
    return lookUp(scopeList, use.name, use.scope);
  size_t function = use.callee.empty() ? Scope::none : functionNamed(use.callee, use.scope);
  bool isParameter = function != Scope::none && llvm::is_contained(scopeList[function].parameters, use.name);
  return isParameter ? function : Scope::none;
}

std::vector<const NameUse *> ScopeTree::usesOf(size_t scope, llvm::StringRef name) const {
  std::vector<const NameUse *> found;
  for (const NameUse &use : useList)
    if (use.name == name && ownerOf(use) == scope)
      found.push_back(&use);
  return found;
}

} // namespace tile::lsp
