// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the names of a file belong: scopes as Python has them, found among the tokens, so that a file need not parse.
//
//   def f(x):            scope of the function: x, i
//       i = x + N        N belongs to the scope around it
//       return [i for i in range(4)]      scope of the comprehension: another i
//
// Directives and strings name parameters, too: "#: default N = 512", triton.Config({"BLOCK_M": 128}).
#pragma once

#include "Frontend/Syntax/Lexer.h"

#include "llvm/ADT/StringRef.h"

#include <map>

namespace tile::lsp {

/// A name where it stands in the text.
struct NameUse {
  enum class Role : uint8_t {
    Read,
    Binding,   // gets a value: an assignment, a parameter, a definition
    Import,    // gets what another file has
    Attribute, // behind a dot
    Argument,  // f(name=...)
    Text,      // in a string or a directive, which speaks of parameters
  };

  frontend::SourceRange range;
  std::string name;
  Role role = Role::Read;
  size_t scope = 0;            // that it is looked up from
  std::vector<std::string> of; // Attribute: the names before it, "a", "b" of a.b.name
  std::string callee;          // Argument: what is called, if that is a plain name
};

struct Scope {
  enum class Kind : uint8_t { Module, Class, Function, Comprehension, Lambda };
  static constexpr size_t none = ~size_t(0);

  Kind kind = Kind::Module;
  size_t parent = none;
  std::string name;                                   // of a function or class
  frontend::SourceRange nameRange;                    // likewise
  frontend::SourceRange range;                        // from its decorators to the end of its body
  frontend::SourceRange head;                         // of a function: "f(x, y=1) -> int"
  std::vector<std::string> parameters;                // of a function
  std::map<std::string, frontend::SourceRange> bound; // names that belong to it, and where each comes first
  std::vector<std::string> foreign;                   // "global" and "nonlocal" names
};

/// "from .module import name as bound", "import module as bound".
struct ImportedName {
  uint32_t level = 0; // leading dots
  std::string module;
  std::string name;                // empty: the module itself; "*": all of its names
  std::string bound;               // empty for "*"
  frontend::SourceRange range;     // of the bound name, or of the star
  frontend::SourceRange nameRange; // as the other file has it
  bool isRenamed = false;          // "as"
};

class ScopeTree {
public:
  explicit ScopeTree(std::string_view text);

  const std::vector<Scope> &scopes() const { return scopeList; }
  /// In the order of the text.
  const std::vector<NameUse> &uses() const { return useList; }
  const std::vector<ImportedName> &imports() const { return importList; }

  /// The name that stands at or ends before the offset; null if none does.
  const NameUse *useAt(uint32_t offset) const;
  /// The scope that the name belongs to; `Scope::none` for what no scope binds.
  size_t ownerOf(const NameUse &use) const;
  /// All uses of the name of a scope.
  std::vector<const NameUse *> usesOf(size_t scope, llvm::StringRef name) const;
  /// The scope of the function of this name in the module or in the class, from a scope's point of view.
  size_t functionNamed(llvm::StringRef name, size_t from) const;

private:
  friend class ScopeReader;

  std::vector<Scope> scopeList;
  std::vector<NameUse> useList;
  std::vector<ImportedName> importList;
};

} // namespace tile::lsp
