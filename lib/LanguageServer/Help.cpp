// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looks up functions of the language by their spelling in kernels, and methods by the name after the last dot.
#include "LanguageServer/Help.h"

#include "Frontend/Syntax/BuiltinDocs.h"

namespace tile::lsp {

using frontend::BuiltinDoc;

/// Returns true if the function is a method of a descriptor or dictionary, which may have any name.
static bool isOfObject(llvm::StringRef spelling) {
  return spelling.starts_with("desc.") || spelling.starts_with("dict.");
}

static const BuiltinDoc *findDoc(llvm::StringRef word) {
  const std::vector<BuiltinDoc> &docs = frontend::builtinDocs();
  auto exact = llvm::find_if(docs, [&](const BuiltinDoc &doc) { return llvm::StringRef(doc.spelling) == word; });
  if (exact != docs.end())
    return &*exact;
  auto [value, method] = word.rsplit('.');
  if (method.empty() || value == "tl")
    return nullptr;
  for (const BuiltinDoc &doc : docs) {
    llvm::StringRef name = doc.name;
    if ((doc.isMethod && name == method) || (isOfObject(name) && name.split('.').second == method))
      return &doc;
  }
  return nullptr;
}

static std::string textOf(const BuiltinDoc &doc) {
  std::string text = "```python\n" + doc.signature + "\n```\n" + std::string(doc.text);
  return doc.types.empty() ? text : text + "\n\n" + std::string(doc.types);
}

static llvm::json::Object markdown(std::string text) {
  return llvm::json::Object{{"kind", "markdown"}, {"value", llvm::json::fixUTF8(text)}};
}

/// Describes the name at the offset in the style of a definition: "def f(x, y)", "acc: fp32[128, 64]". Returns "" if
/// the file does not define the name.
static std::string describeName(const Document &document, uint32_t offset) {
  const ScopeTree &tree = document.scopes();
  const NameUse *use = tree.useAt(offset);
  const size_t owner = use ? tree.ownerOf(*use) : Scope::none;
  if (owner == Scope::none)
    return "";
  if (size_t function = tree.functionNamed(use->name, use->scope); function != Scope::none)
    return "def " + document.text(tree.scopes()[function].head).str();
  std::string type = document.values().ofName(use->range);
  if (type.empty() && use->role == NameUse::Role::Read)
    type = document.values().ofExpression(offset);
  if (type.empty()) // the name of an argument, or a value that has not been computed yet
    type = document.values().ofName(tree.scopes()[owner].bound.at(use->name));
  return type.empty() ? "" : use->name + ": " + type;
}

llvm::json::Value hover(const Document &document, uint32_t offset) {
  std::string text;
  const BuiltinDoc *doc = findDoc(document.wordAround(offset));
  const std::string name = describeName(document, offset), type = document.values().ofExpression(offset);
  if (!name.empty())
    text = "```python\n" + name + "\n```";
  else if (doc)
    text = textOf(*doc) + (type.empty() ? "" : "\n\nHere: `" + type + "`");
  else if (!type.empty())
    text = "```python\n" + type + "\n```";
  for (const std::string &remark : document.remarks(offset))
    text += (text.empty() ? "" : "\n\n") + remark;
  if (text.empty())
    return nullptr;
  return llvm::json::Object{{"contents", markdown(std::move(text))}};
}

/// Returns completions. A label is the text that is inserted: the part after the last dot, which is what editors regard
/// as a word.
llvm::json::Array complete(const Document &document, uint32_t offset) {
  llvm::StringRef word = document.wordBefore(offset);
  size_t dot = word.rfind('.');
  llvm::StringRef prefix = dot == llvm::StringRef::npos ? "" : word.take_front(dot + 1);
  llvm::StringRef begun = word.drop_front(prefix.size());
  const std::vector<BuiltinDoc> &docs = frontend::builtinDocs();
  // After a value and a dot, methods are offered.
  const bool isKnown = prefix.empty() || llvm::any_of(docs, [&](const BuiltinDoc &doc) {
                         return llvm::StringRef(doc.spelling).starts_with(prefix) && !isOfObject(doc.spelling);
                       });
  constexpr int isFunction = 3, isVariable = 6;
  llvm::json::Array items;
  for (const BuiltinDoc &doc : docs) {
    llvm::StringRef spelling = doc.spelling;
    llvm::StringRef name = spelling.substr(spelling.rfind('.') + 1);
    bool isWritten = isKnown ? spelling.size() == prefix.size() + name.size() && spelling.starts_with(prefix)
                             : doc.isMethod || isOfObject(spelling);
    if (isWritten && name.starts_with(begun))
      items.push_back(llvm::json::Object{
          {"label", name}, {"kind", isFunction}, {"detail", doc.signature}, {"documentation", markdown(textOf(doc))}});
  }
  if (prefix.empty())
    for (const std::string &name : document.names())
      if (llvm::StringRef(name).starts_with(begun) && begun != name)
        items.push_back(llvm::json::Object{{"label", name}, {"kind", isVariable}});
  return items;
}

llvm::json::Value signatureHelp(const Document &document, uint32_t offset) {
  llvm::StringRef text = document.text();
  int depth = 0, commas = 0;
  // Longer calls are rare, and a bracket may never be closed.
  const uint32_t farthest = offset > 4000 ? offset - 4000 : 0;
  for (uint32_t at = offset; at > farthest; --at) {
    char c = text[at - 1];
    depth += c == ')' || c == ']' ? 1 : c == '(' || c == '[' ? -1 : 0;
    commas += c == ',' && depth == 0;
    if (depth >= 0)
      continue;
    const BuiltinDoc *doc = c == '(' ? findDoc(document.wordBefore(at - 1)) : nullptr;
    if (!doc)
      return nullptr;
    llvm::json::Array parameters;
    llvm::StringRef list = llvm::StringRef(doc->signature).split('(').second.drop_back();
    llvm::SmallVector<llvm::StringRef> names;
    list.split(names, ", ", -1, /*KeepEmpty=*/false);
    for (llvm::StringRef name : names)
      parameters.push_back(llvm::json::Object{{"label", name}});
    llvm::json::Object signature{
        {"label", doc->signature}, {"documentation", markdown(textOf(*doc))}, {"parameters", std::move(parameters)}};
    return llvm::json::Object{
        {"signatures", llvm::json::Array{std::move(signature)}}, {"activeSignature", 0}, {"activeParameter", commas}};
  }
  return nullptr;
}

} // namespace tile::lsp
