// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Ptx/Parser.h"

#include "Simulator/Ptx/ParserImpl.h"

#include <charconv>

namespace tile::sim {

bool PtxParser::take(std::string_view punctuation) {
  if (!token().is(punctuation))
    return false;
  ++at;
  return true;
}

bool PtxParser::takeDirective(std::string_view name) {
  if (token().kind != TokenKind::Directive || token().text != name)
    return false;
  ++at;
  return true;
}

bool PtxParser::expect(std::string_view punctuation, std::string_view where) {
  return take(punctuation) || fail("expected '{}' {}, found {}", punctuation, where, quoted(token()));
}

bool PtxParser::takeName(std::string_view &name, std::string_view what) {
  if (token().kind != TokenKind::Name)
    return fail("expected {}, found {}", what, quoted(token()));
  name = token().text;
  ++at;
  return true;
}

bool PtxParser::takeInteger(uint64_t &value, std::string_view what) {
  if (token().kind != TokenKind::Integer)
    return fail("expected {}, found {}", what, quoted(token()));
  value = token().bits;
  ++at;
  return true;
}

/// Returns a token in quotes for messages, abbreviated if it is long.
std::string PtxParser::quoted(const Token &token) {
  if (token.kind == TokenKind::End)
    return "the end of the file";
  std::string_view text = token.text.substr(0, 60);
  return token.kind == TokenKind::Directive ? fmt::format("'.{}'", text) : fmt::format("'{}'", text);
}

bool PtxParser::parseModule() {
  while (!atEnd())
    if (!take(";") && !parseTopLevel())
      return false;
  return true;
}

bool PtxParser::parseTopLevel() {
  if (token().kind != TokenKind::Directive)
    return fail("expected a directive, found {}", quoted(token()));
  if (takeDirective("version")) {
    module.version = token().text;
    if (token().kind != TokenKind::Float && token().kind != TokenKind::Integer)
      return fail("expected a version, found {}", quoted(token()));
    ++at;
    return true;
  }
  if (takeDirective("target"))
    return parseTarget();
  if (takeDirective("address_size")) {
    uint64_t bits = 0;
    return takeInteger(bits, "a number of bits") &&
           (bits == 64 || fail("addresses of {} bits are not supported", bits));
  }
  if (takeDirective("file"))
    return parseFile();
  if (takeDirective("section"))
    return skipSection();
  if (takeDirective("pragma"))
    return parsePragma();
  bool isExtern = false;
  for (;;)
    if (takeDirective("extern"))
      isExtern = true;
    else if (!takeDirective("visible") && !takeDirective("weak") && !takeDirective("common"))
      break;
  if (takeDirective("entry"))
    return parseFunction(true, isExtern);
  if (takeDirective("func"))
    return parseFunction(false, isExtern);
  for (Space space : {Space::Global, Space::Const, Space::Shared})
    if (takeDirective(spaceName(space)))
      return parseVariables(space, isExtern);
  if (token().kind != TokenKind::Directive)
    return fail("expected a directive, found {}", quoted(token()));
  return fail("unknown directive {}", quoted(token()));
}

/// Parses   .target sm_90a, debug
bool PtxParser::parseTarget() {
  std::string_view name;
  if (!takeName(name, "a target"))
    return false;
  constexpr std::string_view prefix = "sm_", digits = "0123456789";
  if (!name.starts_with(prefix) || name.size() == prefix.size() || digits.find(name[prefix.size()]) == digits.npos)
    return fail("'{}' is not a target; expected one such as sm_90a", name);
  module.target = name;
  while (take(","))
    if (!takeName(name, "an option of the target"))
      return false;
  return true;
}

/// Parses   .file 1 "name"   or, with time and size,   .file 1 "name", 1234, 567
bool PtxParser::parseFile() {
  uint64_t index = 0, ignored = 0;
  if (!takeInteger(index, "the number of a file"))
    return false;
  if (index >= limits::files)
    return fail("more than {} files", limits::files);
  if (token().kind != TokenKind::String)
    return fail("expected the name of a file, found {}", quoted(token()));
  if (module.files.size() <= index)
    module.files.resize(index + 1);
  module.files[index] = token().text;
  ++at;
  while (take(","))
    if (!takeInteger(ignored, "the time or size of a file"))
      return false;
  return true;
}

/// Skips   .section .debug_info { … }   which only debuggers use.
bool PtxParser::skipSection() {
  uint32_t line = token().line;
  if (token().kind != TokenKind::Directive && token().kind != TokenKind::Name)
    return fail("expected the name of a section, found {}", quoted(token()));
  ++at;
  if (!expect("{", "after the name of a section"))
    return false;
  for (size_t depth = 1; depth; ++at) {
    if (atEnd())
      return failAt(line, "the section that begins here has no end");
    if (token().is("{"))
      ++depth;
    else if (token().is("}"))
      --depth;
  }
  return true;
}

/// Parses   .pragma "nounroll";   unknown pragmas have no effect.
bool PtxParser::parsePragma() {
  do {
    if (token().kind != TokenKind::String)
      return fail("expected a string after '.pragma', found {}", quoted(token()));
    if (!parseUsedBytes(token().text))
      return false;
    ++at;
  } while (take(","));
  return expect(";", "after '.pragma'");
}

/// Parses "used_bytes_mask 0x7", which says that the next instruction, a load, reads more bytes than the program uses.
/// PTX ISA, "Pragma Strings".
bool PtxParser::parseUsedBytes(std::string_view text) {
  constexpr std::string_view name = "used_bytes_mask";
  if (!text.starts_with(name))
    return true;
  std::string_view digits = text.substr(name.size());
  digits.remove_prefix(std::min(digits.find_first_not_of(" \t"), digits.size()));
  const bool isHex = digits.starts_with("0x") || digits.starts_with("0X");
  if (isHex)
    digits.remove_prefix(2);
  const char *end = digits.data() + digits.size();
  auto [last, error] = std::from_chars(digits.data(), end, usedBytes, isHex ? 16 : 10);
  return (error == std::errc() && last == end) || fail("'{}' has no mask of 32 bits", text.substr(0, 60));
}

const Function *PtxParser::findFunction(std::string_view name) const {
  for (const Function &known : module.functions)
    if (known.name == name)
      return &known;
  return nullptr;
}

/// Adds a function to the module. A declaration may be repeated, and a definition replaces a declaration.
bool PtxParser::addFunction(Function added, bool isDefinition) {
  for (Function &known : module.functions)
    if (known.name == added.name) {
      if (!isDefinition)
        return true;
      if (!known.isDeclaration)
        return failAt(added.loc.ptxLine, "'{}' is defined twice", added.name);
      known = std::move(added);
      return true;
    }
  module.functions.push_back(std::move(added));
  return true;
}

bool PtxParser::parseFunction(bool isEntry, bool isExtern) {
  Function parsed;
  parsed.isEntry = isEntry;
  parsed.isDeclaration = true;
  scopes.emplace_back();
  function = &parsed;
  location = {};
  if (takeDirective("attribute")) {
    if (!expect("(", "after '.attribute'"))
      return false;
    while (!atEnd() && !token().is(";") && !token().is("{") && !token().is(")"))
      ++at;
    // Skips .attribute(.unified(1, 2)), which has nested parentheses.
    while (take(")"))
      continue;
  }
  takeDirective("noreturn");
  if (!isEntry && take("(") && !parseParameters(parsed, parsed.results, false))
    return false;
  parsed.loc.ptxLine = token().line;
  std::string_view name;
  if (!takeName(name, "the name of a function"))
    return false;
  parsed.name = name;
  if (take("(") && !parseParameters(parsed, parsed.parameters, isEntry))
    return false;
  if (!parsePerformanceDirectives(parsed))
    return false;
  // The function is declared before its body is parsed, so it may call itself.
  Function declaration = parsed;
  if (!addFunction(std::move(declaration), false))
    return false;
  if (!take(";")) {
    if (!expect("{", "at the beginning of a function"))
      return false;
    parsed.isDeclaration = false;
    if (isExtern)
      return fail("'{}' is extern but has a body", name);
    if (!parseBody() || !addFunction(std::move(parsed), true))
      return false;
  } else {
    scopes.pop_back();
  }
  function = nullptr;
  location = {};
  return true;
}

/// Parses   ( .param .b64 a, .param .align 4 .b8 b[16] )
bool PtxParser::parseParameters(Function &parsed, std::vector<uint32_t> &list, bool isEntry) {
  if (take(")"))
    return true;
  do {
    uint32_t line = token().line;
    if (token().kind == TokenKind::Directive && token().text == "reg")
      return fail("parameters in registers are not supported");
    if (!takeDirective("param"))
      return fail("expected '.param', found {}", quoted(token()));
    VariableHead head;
    head.variable.space = Space::Param;
    head.variable.loc.ptxLine = line;
    std::string_view name;
    uint64_t count = 1;
    bool isOpen = false;
    if (!parseVariableHead(head) || !takeName(name, "the name of a parameter") || !parseArraySizes(count, isOpen))
      return false;
    head.variable.size = isOpen ? 0 : count * head.elementBytes;
    if (head.variable.size > limits::bytes || (isOpen && isEntry))
      return failAt(line, "parameter '{}' has an invalid size", name);
    head.variable.name = name;
    uint32_t index = uint32_t(module.variables.size());
    // `_` is the name of a prototype's parameter that needs no name.
    if (name != "_" && !declare(name, {Symbol::Kind::Variable, index}, line))
      return false;
    module.variables.push_back(std::move(head.variable));
    list.push_back(index);
  } while (take(","));
  return expect(")", "at the end of the parameters");
}

/// Parses one, two or three integers; missing ones are 1.
bool PtxParser::parseThree(uint32_t (&values)[3]) {
  for (uint32_t &value : values)
    value = 1;
  for (unsigned i = 0; i < 3; ++i) {
    uint64_t value = 0;
    uint32_t line = token().line;
    if (!takeInteger(value, "a size"))
      return false;
    if (value == 0 || value > UINT32_MAX)
      return failAt(line, "{} is not a valid size", value);
    values[i] = uint32_t(value);
    if (!take(","))
      return true;
  }
  return fail("more than three sizes");
}

/// Parses the directives between a function's parameters and its body: PTX ISA 11.4 and 11.6.
bool PtxParser::parsePerformanceDirectives(Function &parsed) {
  while (token().kind == TokenKind::Directive) {
    bool isKnown = false;
    for (auto [name, values] : {std::pair<std::string_view, uint32_t (*)[3]>{"reqntid", &parsed.requiredThreads},
                                {"maxntid", &parsed.maxThreads},
                                {"reqnctapercluster", &parsed.requiredCluster}})
      if (takeDirective(name)) {
        if (!parseThree(*values))
          return false;
        isKnown = true;
      }
    for (std::string_view name :
         {"minnctapersm", "maxnctapersm", "maxnreg", "maxclusterrank", "abi_preserve", "abi_preserve_control"})
      if (takeDirective(name)) {
        uint64_t value = 0;
        if (!takeInteger(value, "a number"))
          return false;
        if (name == "minnctapersm")
          parsed.minCtas = uint32_t(value);
        else if (name == "maxnreg")
          parsed.maxRegisters = uint32_t(value);
        isKnown = true;
      }
    for (std::string_view name : {"explicitcluster", "noreturn", "blocksareclusters"})
      isKnown |= takeDirective(name);
    if (takeDirective("pragma")) {
      if (!parsePragma())
        return false;
      isKnown = true;
    }
    if (!isKnown)
      return fail("unknown directive {} of a function", quoted(token()));
  }
  return true;
}

runtime::Result<Module> parsePtx(std::string_view text) {
  // Some compilers append a zero byte to the text.
  while (!text.empty() && text.back() == '\0')
    text.remove_suffix(1);
  if (text.size() > limits::text)
    return runtime::makeError(TILE_ERROR_INVALID_ARGUMENT, "line 1: the PTX has {} bytes; at most {} are allowed",
                              text.size(), limits::text);
  runtime::Result<std::vector<Token>> tokens = lexPtx(text);
  if (!tokens)
    return tokens.error();
  PtxParser parser(std::move(*tokens));
  if (!parser.parseModule())
    return runtime::Error{TILE_ERROR_INVALID_ARGUMENT, parser.message};
  if (parser.module.files.empty())
    parser.module.files.emplace_back();
  return std::move(parser.module);
}

} // namespace tile::sim
