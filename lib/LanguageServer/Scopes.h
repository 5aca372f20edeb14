// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scopes of a file, as in Python. They are found in the tokens, so the file need not parse.
//
//   def f(x):            scope of the function: x, i
//       i = x + N        N belongs to the enclosing scope
//       return [i for i in range(4)]      scope of the comprehension: another i
//
// Directives and strings also name parameters: "#: default N = 512", triton.Config({"BLOCK_M": 128}).
#pragma once

#include "Frontend/Syntax/Lexer.h"

#include "llvm/ADT/StringRef.h"

#include <map>

namespace tile::lsp {

/// A use of a name in the text.
struct NameUse {
  enum class Role : uint8_t {
    Read,
    Binding,   // assignment, parameter or definition
    Import,    // bound by an import
    Attribute, // after a dot
    Argument,  // f(name=...)
    Text,      // in a string or a directive, which refers to parameters
  };

  frontend::SourceRange range;
  std::string name;
  Role role = Role::Read;
  size_t scope = 0;            // scope in which the name is looked up
  std::vector<std::string> of; // for attributes: the names before it, "a", "b" of a.b.name
  std::string callee;          // for arguments: the callee, if it is a plain name
};

struct Scope {
  enum class Kind : uint8_t { Module, Class, Function, Comprehension, Lambda };
  static constexpr size_t none = ~size_t(0);

  Kind kind = Kind::Module;
  size_t parent = none;
  std::string name;                                   // for functions and classes
  frontend::SourceRange nameRange;                    // for functions and classes
  frontend::SourceRange range;                        // from the decorators to the end of the body
  frontend::SourceRange head;                         // for functions: "f(x, y=1) -> int"
  std::vector<std::string> parameters;                // for functions
  std::map<std::string, frontend::SourceRange> bound; // names bound in the scope, with their first occurrence
  std::vector<std::string> foreign;                   // "global" and "nonlocal" names
};

/// "from .module import name as bound", "import module as bound".
struct ImportedName {
  uint32_t level = 0; // leading dots
  std::string module;
  std::string name;                // empty: the module itself; "*": all of its names
  std::string bound;               // empty for "*"
  frontend::SourceRange range;     // range of the bound name, or of the star
  frontend::SourceRange nameRange; // as spelled in the other file
  bool isRenamed = false;          // renamed by "as"
};

class ScopeTree {
public:
  explicit ScopeTree(std::string_view text);

  const std::vector<Scope> &scopes() const { return scopeList; }
  /// Returns the uses in text order.
  const std::vector<NameUse> &uses() const { return useList; }
  const std::vector<ImportedName> &imports() const { return importList; }

  /// Returns the name at the offset, or one that ends there; null if there is none.
  const NameUse *useAt(uint32_t offset) const;
  /// Returns the scope that binds the name; `Scope::none` if there is none.
  size_t ownerOf(const NameUse &use) const;
  /// Returns all uses of a name that the scope binds.
  std::vector<const NameUse *> usesOf(size_t scope, llvm::StringRef name) const;
  /// Returns the scope of the function with this name in the module or class, as seen from a scope; `Scope::none` if
  /// there is none.
  size_t functionNamed(llvm::StringRef name, size_t from) const;

private:
  friend class ScopeReader;

  std::vector<Scope> scopeList;
  std::vector<NameUse> useList;
  std::vector<ImportedName> importList;
};

} // namespace tile::lsp
