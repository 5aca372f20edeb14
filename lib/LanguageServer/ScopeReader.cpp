// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds scopes and uses in statements and directives; ScopeExpressions.cpp handles expressions.
#include "LanguageServer/ScopeReader.h"

#include "llvm/ADT/StringExtras.h"

namespace tile::lsp {

using namespace frontend;
using Role = NameUse::Role;

namespace {

bool startsBlock(Tok kind) {
  switch (kind) {
  case Tok::KwIf:
  case Tok::KwElif:
  case Tok::KwElse:
  case Tok::KwFor:
  case Tok::KwWhile:
  case Tok::KwWith:
  case Tok::KwTry:
  case Tok::KwExcept:
  case Tok::KwFinally:
    return true;
  default:
    return false;
  }
}

} // namespace

ScopeReader::ScopeReader(std::string_view text, ScopeTree &tree) : text(text), tree(tree), stream(lexFile(text, 0)) {
  tokens = &stream.tokens;
  closing = findClosing(*tokens);
  tree.scopeList.emplace_back();
  tree.scopeList[0].range = {0, static_cast<uint32_t>(text.size()), 0};
}

std::vector<size_t> ScopeReader::findClosing(const std::vector<Token> &tokens) {
  std::vector<size_t> closing(tokens.size(), tokens.size()), opened;
  for (size_t i = 0; i < tokens.size(); ++i) {
    int nesting = nestingOf(tokens[i].kind);
    if (nesting > 0) {
      opened.push_back(i);
    } else if (nesting < 0 && !opened.empty()) {
      closing[opened.back()] = i;
      opened.pop_back();
    }
  }
  return closing;
}

void ScopeReader::run() {
  readLines(0, tokens->size(), 0);
  readDirectives();
  llvm::stable_sort(tree.useList, [](const NameUse &a, const NameUse &b) { return a.range.begin < b.range.begin; });
}

NameUse &ScopeReader::add(size_t i, size_t scope, Role role) {
  NameUse use;
  use.range = rangeAt(i);
  use.name = textAt(i);
  use.role = role;
  use.scope = scope;
  return tree.useList.emplace_back(std::move(use));
}

void ScopeReader::bind(size_t i, size_t scope, Role role) {
  add(i, scope, role);
  scopeAt(scope).bound.try_emplace(textAt(i), rangeAt(i));
}

size_t ScopeReader::open(Scope::Kind kind, size_t parent) {
  Scope scope;
  scope.kind = kind;
  scope.parent = parent;
  tree.scopeList.push_back(std::move(scope));
  return tree.scopeList.size() - 1;
}

void ScopeReader::readLines(size_t i, size_t end, size_t scope) {
  std::optional<size_t> head; // the first of the decorators above the line
  while (i < end) {
    Tok kind = kindAt(i);
    if (endsLine(kind)) {
      ++i;
      continue;
    }
    size_t lineEnd = i;
    while (lineEnd < end && kindAt(lineEnd) != Tok::Newline && kindAt(lineEnd) != Tok::End)
      ++lineEnd;
    if (kind == Tok::At) {
      head = head.value_or(i);
      readExpression(i + 1, lineEnd, scope);
      i = lineEnd;
      continue;
    }
    size_t keyword = i + (kind == Tok::KwAsync);
    bool isDefinition = kindAt(keyword) == Tok::KwDef || kindAt(keyword) == Tok::KwClass;
    if (isDefinition && kindAt(keyword + 1) == Tok::Name)
      i = readDefinition(keyword, lineEnd, end, scope, head);
    else
      readStatements(i, lineEnd, scope), i = lineEnd;
    head.reset();
  }
}

size_t ScopeReader::readDefinition(size_t keyword, size_t lineEnd, size_t end, size_t outer,
                                   std::optional<size_t> head) {
  const bool isFunction = kindAt(keyword) == Tok::KwDef;
  bind(keyword + 1, outer);
  size_t scope = open(isFunction ? Scope::Kind::Function : Scope::Kind::Class, outer);
  scopeAt(scope).name = textAt(keyword + 1);
  scopeAt(scope).nameRange = rangeAt(keyword + 1);
  size_t colon = findColon(keyword, lineEnd), at = keyword + 2;
  scopeAt(scope).head = join(rangeAt(keyword + 1), rangeAt(colon - 1));
  if (kindAt(at) == Tok::LeftParen) {
    size_t close = matching(at, lineEnd);
    if (isFunction)
      readParameters(at + 1, close, outer, scope);
    else
      readArguments(at + 1, close, outer, "");
    at = close;
  }
  readExpression(at, colon, outer);
  size_t bodyEnd = lineEnd;
  if (colon + 1 < lineEnd) {
    readStatements(colon + 1, lineEnd, scope);
  } else if (kindAt(lineEnd) == Tok::Newline && kindAt(lineEnd + 1) == Tok::Indent) {
    bodyEnd = lineEnd + 2;
    for (int depth = 1; bodyEnd < end; ++bodyEnd)
      if ((depth += (kindAt(bodyEnd) == Tok::Indent) - (kindAt(bodyEnd) == Tok::Dedent)) == 0)
        break;
    readLines(lineEnd + 2, bodyEnd, scope);
  }
  size_t last = bodyEnd;
  while (last > keyword && endsLine(kindAt(last)))
    --last;
  size_t first = head.value_or(keyword);
  scopeAt(scope).range = {rangeAt(first).begin, rangeAt(last).end, 0};
  readTexts(first, std::min(colon, lineEnd), scope);
  return bodyEnd;
}

void ScopeReader::readParameters(size_t i, size_t end, size_t outer, size_t scope) {
  while (i < end) {
    size_t comma = find(i, end, Tok::Comma);
    while (i < comma && (kindAt(i) == Tok::Star || kindAt(i) == Tok::DoubleStar || kindAt(i) == Tok::Slash))
      ++i;
    if (i < comma && kindAt(i) == Tok::Name) {
      bind(i, scope);
      scopeAt(scope).parameters.push_back(textAt(i));
      readExpression(i + 1, comma, outer);
    }
    i = comma + 1;
  }
}

/// Reads strings in the head of a function that contain names of parameters, such as keys of configurations or block
/// sizes.
void ScopeReader::readTexts(size_t i, size_t end, size_t scope) {
  for (; i < end; ++i) {
    if (kindAt(i) != Tok::String)
      continue;
    SourceRange range = rangeAt(i);
    for (uint32_t at = range.begin; at < range.end;) {
      auto isPart = [&](uint32_t place) { return llvm::isAlnum(text[place]) || text[place] == '_'; };
      uint32_t begin = at;
      while (at < range.end && isPart(at))
        ++at;
      std::string word(text.substr(begin, at - begin));
      if (llvm::is_contained(scopeAt(scope).parameters, word))
        addText({begin, at, 0}, word, scope);
      at += at == begin;
    }
  }
}

void ScopeReader::addText(SourceRange range, std::string name, size_t scope) {
  NameUse use;
  use.range = range;
  use.name = std::move(name);
  use.role = Role::Text;
  use.scope = scope;
  tree.useList.push_back(std::move(use));
}

/// Reads statements that are separated by ';', possibly after the head of a block.
void ScopeReader::readStatements(size_t i, size_t end, size_t scope) {
  while (i < end) {
    i += kindAt(i) == Tok::KwAsync;
    if (startsBlock(kindAt(i))) {
      size_t colon = findColon(i, end);
      readHead(i, colon, scope);
      i = colon + 1;
      continue;
    }
    size_t stop = find(i, end, Tok::Semicolon);
    readSimple(i, stop, scope);
    i = stop + 1;
  }
}

void ScopeReader::readHead(size_t i, size_t end, size_t scope) {
  Tok kind = kindAt(i);
  if (kind == Tok::KwFor) {
    size_t in = find(i + 1, end, Tok::KwIn);
    readTargets(i + 1, in, scope);
    return readExpression(in, end, scope);
  }
  if (kind != Tok::KwWith && kind != Tok::KwExcept)
    return readExpression(i + 1, end, scope);
  for (++i; i < end;) {
    size_t comma = find(i, end, Tok::Comma), as = find(i, comma, Tok::KwAs);
    readExpression(i, as, scope);
    readTargets(as + 1, comma, scope);
    i = comma + 1;
  }
}

void ScopeReader::readSimple(size_t i, size_t end, size_t scope) {
  switch (kindAt(i)) {
  case Tok::KwImport:
  case Tok::KwFrom:
    return readImport(i, end, scope);
  case Tok::KwGlobal:
  case Tok::KwNonlocal:
    for (++i; i < end; ++i)
      if (kindAt(i) == Tok::Name) {
        scopeAt(scope).foreign.push_back(textAt(i));
        add(i, scope, Role::Read);
      }
    return;
  default:
    break;
  }
  // target: annotation = value, target = target = value
  size_t colon = findColon(i, end);
  size_t firstAssignment = find(i, end, isAssignment);
  if (colon < firstAssignment) {
    readTargets(i, colon, scope);
    readExpression(colon + 1, firstAssignment, scope);
    return readExpression(firstAssignment + 1, end, scope);
  }
  for (size_t equal; (equal = findAssignment(i, end)) < end; i = equal + 1)
    readTargets(i, equal, scope);
  readExpression(i, end, scope);
}

/// Returns the next "=" that does not belong to a lambda's parameters.
size_t ScopeReader::findAssignment(size_t i, size_t end) const {
  size_t lambda = find(i, end, Tok::KwLambda);
  size_t found = find(i, lambda, isAssignment);
  return found < lambda ? found : end;
}

/// Binds the names in a target, including names within tuples and lists. Targets with an index or an attribute bind no
/// name and are only read.
void ScopeReader::readTargets(size_t i, size_t end, size_t scope) {
  while (i < end) {
    Tok kind = kindAt(i);
    Tok next = i + 1 < end ? kindAt(i + 1) : Tok::End;
    if (nestingOf(kind) > 0) {
      size_t close = matching(i, end);
      readTargets(i + 1, close, scope);
      i = close + 1;
    } else if (kind == Tok::Name && next != Tok::Dot && next != Tok::LeftBracket && next != Tok::LeftParen) {
      bind(i++, scope);
    } else {
      size_t comma = find(i, end, Tok::Comma);
      readExpression(i, comma, scope);
      i = comma + 1;
    }
  }
}

void ScopeReader::readImport(size_t i, size_t end, size_t scope) {
  const bool isFrom = kindAt(i) == Tok::KwFrom;
  ImportedName import;
  if (isFrom) {
    for (++i; i < end && kindAt(i) != Tok::KwImport; ++i) {
      if (kindAt(i) == Tok::Dot && !import.module.empty())
        import.module += '.';
      else if (kindAt(i) == Tok::Dot || kindAt(i) == Tok::Ellipsis)
        import.level += kindAt(i) == Tok::Dot ? 1 : 3;
      else
        import.module += textAt(i);
    }
  }
  for (++i; i < end;) {
    if (kindAt(i) == Tok::Star) {
      import.name = "*";
      import.bound.clear();
      import.range = import.nameRange = rangeAt(i);
      tree.importList.push_back(import);
    }
    if (kindAt(i) != Tok::Name) {
      ++i;
      continue;
    }
    size_t first = i, comma = find(i, end, Tok::Comma), as = find(i, comma, Tok::KwAs);
    std::string path = textAt(i);
    for (++i; i < as && (kindAt(i) == Tok::Dot || kindAt(i) == Tok::Name); ++i)
      path += textAt(i);
    import.isRenamed = as + 1 < comma && kindAt(as + 1) == Tok::Name;
    size_t bound = import.isRenamed ? as + 1 : first;
    import.bound = textAt(bound);
    import.range = rangeAt(bound);
    import.nameRange = join(rangeAt(first), rangeAt(i - 1));
    if (isFrom)
      import.name = path;
    else // "import a.b" binds "a"
      import.module = import.isRenamed ? path : import.bound;
    bind(bound, scope, Role::Import);
    if (import.isRenamed && isFrom)
      add(first, scope, Role::Attribute); // a name of the other file
    tree.importList.push_back(import);
    i = std::max(i, comma);
  }
}

/// Returns the index of the scope of the function with this name in the file, or Scope::none.
static size_t findFunction(const std::vector<Scope> &scopes, const std::string &name) {
  for (auto [index, scope] : llvm::enumerate(scopes))
    if (scope.kind == Scope::Kind::Function && scope.name == name)
      return index;
  return Scope::none;
}

/// Reads directives, which refer to functions and to the parameters of the next function or of functions that run
/// before it.
void ScopeReader::readDirectives() {
  std::map<size_t, std::vector<size_t>> earlier; // functions that run before another: "#: after"
  for (const bool readsOrder : {true, false})
    for (const DirectiveLine &line : stream.directives) {
      size_t next = Scope::none;
      for (auto [index, scope] : llvm::enumerate(tree.scopeList))
        if (scope.kind == Scope::Kind::Function && scope.range.begin >= line.range.end &&
            (next == Scope::none || scope.range.begin < tree.scopeList[next].range.begin))
          next = index;
      if (next == Scope::none)
        continue;
      std::vector<Token> words = lexExpression(text, line.range);
      const std::vector<Token> *outside = std::exchange(tokens, &words);
      if ((words.size() > 1 && textAt(0) == "after") == readsOrder)
        readDirective(next, earlier[next]);
      tokens = outside;
    }
}

/// Reads the words of a directive of the function `next`. If it is "#: after", adds the functions that it names to
/// `earlier`.
void ScopeReader::readDirective(size_t next, std::vector<size_t> &earlier) {
  auto hasParameter = [&](size_t function, const std::string &name) {
    return llvm::is_contained(tree.scopeList[function].parameters, name);
  };
  const size_t end = tokens->size() - 1;
  // The first word is the kind of directive. The last word of a buffer directive is its filling.
  const std::string directive = end > 0 ? textAt(0) : "";
  const bool isNew = llvm::is_contained(
      {"grid", "buffer", "default", "expect", "require", "let", "after", "config", "instance"}, directive);
  const bool hasRole = directive == "buffer" && kindAt(end - 1) == Tok::Name;
  for (size_t i = isNew; i < end - hasRole; ++i) {
    if (kindAt(i) != Tok::Name || (i > 0 && kindAt(i - 1) == Tok::Dot))
      continue;
    const std::string name = textAt(i);
    const bool isCall = kindAt(i + 1) == Tok::LeftParen;
    const auto owner = llvm::find_if(earlier, [&](size_t function) { return hasParameter(function, name); });
    if (directive == "after") {
      earlier.push_back(findFunction(tree.scopeList, name));
      if (earlier.back() == Scope::none)
        earlier.pop_back();
      else
        addText(rangeAt(i), name, 0);
    } else if (!isCall && hasParameter(next, name)) {
      addText(rangeAt(i), name, next);
    } else if (!isCall && owner != earlier.end()) {
      addText(rangeAt(i), name, *owner);
    } else if (directive == "instance" && isCall) {
      addText(rangeAt(i), name, 0);
    }
  }
}

ScopeTree::ScopeTree(std::string_view text) {
  ScopeReader(text, *this).run();
}

} // namespace tile::lsp
