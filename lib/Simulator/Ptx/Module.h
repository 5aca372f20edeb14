// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A PTX module as parsed: plain data, close to the text. An instruction is a name, suffixes, and operands whose names
// have been resolved. The decoders in Exec/ interpret instructions.
//
//   @!%p1 ld.global.v2.b32 {%r1, %r2}, [%rd1+16];
//   guard = p1, negated   name = "ld"   suffixes = {"global", "v2", "b32"}   operands = {Vector, Address}
//
// PTX ISA 8.7, chapters 4 (syntax) and 5 (state spaces, types).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tile::sim {

enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32,
  F32x2,
  F64,
  E4M3,
  E5M2,
  E4M3x2,
  E5M2x2,
  E2M1x2,
  E2M3x2,
  E3M2x2,
  UE8M0x2,
  U16x2,
  S16x2
};
/// Returns the size of a value in a register, in bits; 1 for Pred, 0 for None.
unsigned bitWidth(Type type);
/// Returns the type with the name "b32", "f16x2", …, given without the dot; nullopt if there is no such type.
std::optional<Type> parseType(std::string_view name);
std::string_view typeName(Type type);

/// The state spaces. Tensor is tensor memory, which only tcgen05 instructions access; no operand names it.
enum class Space : uint8_t { Generic, Global, Shared, Local, Const, Param, Tensor };
std::string_view spaceName(Space space);

/// The origin of an instruction: its line in the PTX, and the position that the latest `.loc` directive gives.
struct SourceLoc {
  uint32_t ptxLine = 0;    ///< from 1
  uint32_t file = 0;       ///< index into Module::files; 0 = no source line is known
  uint32_t sourceLine = 0; ///< from 1; 0 = unknown
  uint32_t sourceColumn = 0;
};

enum class SpecialRegister : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NWarpId,
  SmId,
  NSmId,
  GridId,
  IsExplicitCluster,
  ClusterIdX,
  ClusterIdY,
  ClusterIdZ,
  NClusterIdX,
  NClusterIdY,
  NClusterIdZ,
  ClusterCtaIdX,
  ClusterCtaIdY,
  ClusterCtaIdZ,
  ClusterNCtaIdX,
  ClusterNCtaIdY,
  ClusterNCtaIdZ,
  ClusterCtaRank,
  ClusterNCtaRank,
  LaneMaskEq,
  LaneMaskLe,
  LaneMaskLt,
  LaneMaskGe,
  LaneMaskGt,
  Clock,
  ClockHi,
  Clock64,
  GlobalTimer,
  GlobalTimerLo,
  GlobalTimerHi,
  DynamicSmemSize,
  TotalSmemSize,
  AggrSmemSize,
  EnvReg1,     ///< upper half of LaunchConfig::gridWorkspace
  EnvReg2,     ///< lower half
  StackPointer ///< the end of the stack in local memory, which alloca changes; it has no name in PTX
};
constexpr unsigned numSpecialRegisters = unsigned(SpecialRegister::StackPointer) + 1;

struct Operand {
  enum class Kind : uint8_t {
    Register,  ///< `index` into Function::registers; `negated`: !%p, or -%r (vmad); `part`: %r.b3 (video instructions)
    Immediate, ///< `bits`; `floatBits` is 32 / 64 for 0f… / 0d…, 0 for an integer
    Symbol,    ///< address of variable or parameter `index` in `space`, plus `offset`: mov.b64 %rd1, tile_shared+64
    Special,   ///< the register `special`
    Label,     ///< `index` of the instruction in Function::instructions
    Function,  ///< `name`, the callee of a call
    Vector,    ///< {a, b, …}: `elements`
    Address,   ///< [base+offset]: elements[0] is a Register, Symbol or Immediate; [map, {x, y}]: elements[1…] follow
    Pair,      ///< a|b: elements[0], elements[1]
    Sink,      ///< _
    Arguments  ///< ( … ) of a call: `elements`
  };
  Kind kind = Kind::Sink;
  bool negated = false;
  uint8_t floatBits = 0;
  Space space = Space::Generic; ///< offset of a Symbol
  SpecialRegister special = SpecialRegister::TidX;
  uint32_t index = 0;
  int64_t offset = 0;
  uint64_t bits = 0;
  std::string name;
  std::string part; ///< the bytes or halves of a register that a video instruction selects: "b3", "h10", "b7654"
  std::vector<Operand> elements;
};

struct Instruction {
  std::string name;                  ///< "ld", "wgmma", "cp"
  std::vector<std::string> suffixes; ///< {"global", "v4", "b32"}; "shared::cta" is one suffix
  /// The operands as parsed, except that two instructions are normalized: `call` has {Arguments (results), Function or
  /// Register, Arguments}, and `brx.idx` has {index, Vector of Labels}.
  std::vector<Operand> operands;
  int32_t guard = -1; ///< register of `@p`; -1: none
  bool guardNegated = false;
  /// For a load, bit i tells whether the program uses byte i of the result (`.pragma "used_bytes_mask 0x7"`).
  uint32_t usedBytes = ~0u;
  SourceLoc loc;
  std::string text() const; ///< Returns "ld.global.v4.b32", for messages.
  bool has(std::string_view suffix) const;
};

struct Register {
  std::string name; ///< "%r12"
  Type type = Type::B32;
};

/// A variable of a module or function, or a parameter.
struct Variable {
  std::string name;
  Space space = Space::Global;
  Type type = Type::B8;
  uint64_t alignment = 1;
  uint64_t size = 0;     ///< in bytes
  bool isExtern = false; ///< `.extern .shared`: dynamic shared memory
  /// The first bytes. The remaining ones are zero (global, const) or undefined (shared, local).
  std::vector<uint8_t> initial;
  /// Positions in `initial` to which the address of another variable (given by its index) is added when the module is
  /// loaded.
  std::vector<std::pair<uint64_t, uint32_t>> relocations;
  SourceLoc loc;
};

struct Function {
  std::string name;
  bool isEntry = false;
  bool isDeclaration = false;
  std::vector<Register> registers;
  std::vector<uint32_t> parameters; ///< indices into Module::variables, in order; space Param
  std::vector<uint32_t> results;    ///< indices of the result variables of a .func
  std::vector<Instruction> instructions;
  /// The number of threads per CTA that the directives require (.reqntid) or allow at most (.maxntid); 0 = not given.
  uint32_t requiredThreads[3] = {0, 0, 0};
  uint32_t maxThreads[3] = {0, 0, 0};
  uint32_t requiredCluster[3] = {0, 0, 0}; ///< .reqnctapercluster
  uint32_t minCtas = 0;                    ///< .minnctapersm; 0 = not given
  uint32_t maxRegisters = 0;               ///< .maxnreg; 0 = not given
  SourceLoc loc;
};

struct Module {
  std::string version;             ///< "8.7"
  std::string target;              ///< "sm_90a"
  std::vector<std::string> files;  ///< indexed by the number in `.file`; [0] is ""
  std::vector<Variable> variables; ///< variables of all scopes, so names may repeat
  std::vector<Function> functions;

  const Function *findEntry(std::string_view name) const;
};

} // namespace tile::sim
