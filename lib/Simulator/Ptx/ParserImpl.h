// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The PTX parser: recursive descent over the tokens of a module. Every function that can fail calls fail(), which keeps
// the first message, and returns false. Nothing throws, and the resources that a file can request are limited (see
// `limits`).
//
//   Parser.cpp          the module: directives, function headers
//   ParseBody.cpp       bodies: scopes, labels, .loc, instructions
//   ParseOperands.cpp   operands, calls
//   ParseVariables.cpp  registers, variables, parameters, initialisers
//   ParseConstants.cpp  constant expressions
//
// Names are resolved where they are used, innermost scope first. Labels are resolved at the end of their scope, since a
// branch may precede its label, and a label of an inner scope hides a label of an outer one.
#pragma once

#include "Simulator/Ptx/Lexer.h"
#include "Simulator/Ptx/Module.h"

#include <memory>
#include <unordered_map>

namespace tile::sim {

/// Limits that real programs do not reach.
namespace limits {
constexpr size_t registers = 1 << 18; ///< registers of a module
constexpr size_t variables = 1 << 16;
constexpr size_t targets = 1 << 20; ///< targets of all indexed branches together
constexpr size_t files = 1 << 16;
constexpr size_t scopes = 64;        ///< nesting depth
constexpr size_t depth = 64;         ///< nesting depth of a constant expression or initialiser
constexpr uint64_t bytes = 1u << 30; ///< bytes of a variable
constexpr size_t text = 32u << 20;   ///< bytes of a module
constexpr size_t names = 16u << 20;  ///< total size of the names of a range, such as .reg .b32 %r<30>
} // namespace limits

class PtxParser {
public:
  explicit PtxParser(std::vector<Token> tokens) : tokens(std::move(tokens)), scopes(1) {}
  bool parseModule();

  Module module;
  std::string message; ///< the error message: "line 12: …"

private:
  struct Symbol {
    enum class Kind : uint8_t { Register, Variable };
    Kind kind = Kind::Register;
    uint32_t index = 0; ///< into Function::registers or Module::variables
    uint32_t count = 1; ///< number of registers or variables in a range: %r<count>
  };
  struct LabelUse {
    uint32_t instruction;
    uint32_t operand;
    std::string_view name;
    uint32_t line;
  };
  struct Scope {
    std::unordered_map<std::string_view, Symbol> names;
    std::unordered_map<std::string_view, Symbol> ranges; ///< ranges of registers: %r<30> is found by "%r"
    std::unordered_map<std::string_view, uint32_t> labels;
    std::unordered_map<std::string_view, std::vector<std::string_view>> branchTargets;
    std::vector<LabelUse> uses;
  };
  /// The value of a constant expression.
  struct Constant {
    uint64_t bits = 0;
    uint8_t floatBits = 0;
    bool isUnsigned = false;
  };
  /// The part of a declaration before the variable's name.
  struct VariableHead {
    Variable variable;
    uint64_t elementBytes = 0; ///< the size of an element; for vectors, of a whole vector
    uint64_t scalarBytes = 0;
  };

  // Access to tokens.
  const Token &token(size_t ahead = 0) const { return tokens[std::min(at + ahead, tokens.size() - 1)]; }
  bool atEnd() const { return token().kind == TokenKind::End; }
  bool take(std::string_view punctuation);
  bool takeDirective(std::string_view name);
  bool expect(std::string_view punctuation, std::string_view where);
  bool takeName(std::string_view &name, std::string_view what);
  bool takeInteger(uint64_t &value, std::string_view what);
  static std::string quoted(const Token &token);

  template <typename... Args> bool failAt(uint32_t line, fmt::format_string<Args...> format, Args &&...args) {
    if (message.empty())
      message = fmt::format("line {}: ", line) + fmt::format(format, std::forward<Args>(args)...);
    return false;
  }
  template <typename... Args> bool fail(fmt::format_string<Args...> format, Args &&...args) {
    return failAt(token().line, format, std::forward<Args>(args)...);
  }

  // Defined in Parser.cpp.
  bool parseTopLevel();
  bool parseTarget();
  bool parseFile();
  bool skipSection();
  bool parsePragma();
  bool parseUsedBytes(std::string_view text);
  bool parseFunction(bool isEntry, bool isExtern);
  bool parseParameters(Function &parsed, std::vector<uint32_t> &list, bool isEntry);
  bool parsePerformanceDirectives(Function &parsed);
  bool parseThree(uint32_t (&values)[3]);
  bool addFunction(Function added, bool isDefinition);

  // Defined in ParseBody.cpp.
  bool parseBody();
  bool parseStatement();
  bool parseBodyDirective();
  bool parseLabel();
  bool parseLoc();
  bool parsePrototype();
  bool parseInstruction();
  bool parseGuard(Instruction &instruction);
  bool closeScope();
  bool resolveLabel(const Scope &scope, const LabelUse &use, bool &found);
  void endFunction();

  // Defined in ParseOperands.cpp.
  bool parseOperands(Instruction &instruction);
  bool parseOperand(Operand &operand);
  bool parseSimpleOperand(Operand &operand);
  bool parseNamedOperand(Operand &operand);
  bool parseSpecialRegister(std::string_view name, uint32_t line, Operand &operand);
  bool parseVector(Operand &operand);
  bool parseAddress(Operand &operand);
  bool parseOffset(int64_t &offset);
  bool parseCall(Instruction &instruction);
  bool parseArguments(Operand &operand);
  bool parseBranch(Instruction &instruction);
  bool lookUpRegister(std::string_view name, uint32_t &index) const;
  std::optional<Symbol> lookUp(std::string_view name) const;
  const Function *findFunction(std::string_view name) const;

  // Defined in ParseVariables.cpp.
  bool parseRegisters();
  bool parseVariables(Space space, bool isExtern);
  bool parseVariableHead(VariableHead &head);
  bool parseArraySizes(uint64_t &count, bool &isOpen);
  bool parseInitializer(VariableHead &head, uint64_t count, bool isOpen);
  bool parseInitializerElement(VariableHead &head);
  bool parseAddressInitializer(VariableHead &head);
  bool checkNames(std::string_view name, uint64_t count, uint32_t line);
  bool declare(std::string_view name, Symbol symbol, uint32_t line);

  // Defined in ParseConstants.cpp.
  bool atConstant() const;
  bool parseConstant(Constant &value);
  bool parseUnary(Constant &value, size_t depth);
  bool parseBinary(Constant &value, int least, size_t depth);
  bool applyBinary(std::string_view op, Constant &left, const Constant &right);

  std::vector<Token> tokens;
  size_t at = 0;
  std::vector<Scope> scopes; ///< the open scopes; [0] is the module's
  Function *function = nullptr;
  SourceLoc location;       ///< the position given by the latest `.loc`
  uint32_t usedBytes = ~0u; ///< set by a pragma, for the next instruction
  bool isVideo = false;     ///< the instruction may select parts of registers and negate operands
  size_t registerCount = 0;
  size_t targetCount = 0;
  std::vector<std::unique_ptr<std::string>> names; ///< names of the variables of ranges, to which the scopes refer
};

/// Returns the register named "%laneid", "%tid.x", …; nullopt if a thread has no such special register.
std::optional<SpecialRegister> parseSpecialRegisterName(std::string_view name);

} // namespace tile::sim
