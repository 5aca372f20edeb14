// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes one random kernel, statement by statement. The kernel is well-defined: no access out of bounds, no race
// between programs, no uninitialized read, and no value that could be rounded (Value.h).
//
//   header            #: grid, buffers, defaults, the functions that the kernel calls
//   frame             which program computes what: one or two axes, perhaps many tiles in turn (Frames.cpp)
//   statements        loads, arithmetic, reductions, dots, loops, branches, stores, in any order
//
// A statement adds its result to `values`; definitions in a loop or branch go out of scope after it.
#pragma once

#include "KernelGenerator.h"
#include "Random.h"
#include "Value.h"

#include <functional>

namespace tile::fuzz {

/// Indices of one dimension of the data: the variable `offsets` holds `block` of them, from `start` on. Programs have
/// different indices. Only those below `bound` are valid.
struct Axis {
  std::string offsets;
  std::string start; ///< a scalar expression
  std::string bound; ///< a scalar expression: the end of the group's columns
  int64_t size = 0;  ///< the value of `bound` in this launch
  int64_t block = 0;
  bool isOwn = true;        ///< no other program has the same indices
  bool isUnaligned = false; ///< `start` need not be a multiple of `block`
};

struct Buffer {
  std::string name;
  Scalar type;
  Range range;                    ///< range of an input's elements
  std::vector<std::string> sizes; ///< bounds of the axes that index it
  std::vector<std::string> strides;
  std::vector<int64_t> strideValues;
  int64_t first = 0; ///< elements before the one whose indices are 0
  bool suitsDescriptor = false;

  /// Returns the pointer to the element whose indices are 0.
  std::string origin() const { return name + (first ? " + " + std::to_string(first) : ""); }
};

Shape shapeOf(const std::vector<Axis> &axes);

inline int64_t ceilDivide(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/// The purpose of a buffer.
enum class Contents { Input, Output, Zeros, Updated };

class KernelBuilder {
public:
  KernelBuilder(uint64_t seed, KernelKind kind) : random(seed), isAboutLoops(kind == KernelKind::Loops) {}
  std::string build();

private:
  // KernelBuilder.cpp: text, names, what is in scope.
  void line(const std::string &text);
  std::string freshName(const std::string &prefix) { return prefix + std::to_string(nextName++); }
  Value define(const std::string &prefix, Value value);
  std::optional<Value> find(const std::function<bool(const Value &)> &accepts);
  std::string addInteger(const std::string &name, int64_t value);
  int64_t anySize(int64_t block, int64_t most);
  std::string addSize(const std::string &name, int64_t size);
  void indented(const std::function<void()> &body);
  void statement(int depth);
  void statements(int count, int depth);

  // Frames.cpp
  void openFrame();
  void lineFrame();
  void matrixFrame();
  bool makeTail();
  void takeProgram(const std::vector<Axis> &axes);
  bool makeLarge();

  // OddBlocks.cpp
  void oddFrame();
  void oddStatement();
  static const char *nameOfBlock(size_t axis);
  std::string oddHeader() const;

  // Groups.cpp
  struct GroupForm {
    int64_t rows, columns, block; ///< sizes of a tile, and along k
    int64_t k;                    ///< maximum number
    Scalar type, stored;
    bool sharesWeights, describesWeights, describesResult;
    std::string strideA, strideB, strideC;
    std::string bound;   ///< number of columns
    std::string weights; ///< where the group's rows begin
  };
  void groupFrame();
  void openGroup(const GroupForm &form);
  void groupTile(const GroupForm &form);
  void declareTable(const std::string &name, const std::string &type, const std::vector<int64_t> &numbers);
  std::string declareMatrix(const std::string &name, Scalar type, int64_t rows, int64_t columns,
                            const std::string &role);

  // Expressions.cpp
  Value expression(const Shape &shape, int depth);
  Value leaf(const Shape &shape);
  Value literal(Scalar like);
  Value operand(const Shape &shape, int depth);
  std::optional<Value> anyOperation(const Shape &shape, int depth);
  std::optional<Value> arithmetic(const std::string &name, const Value &first, const Value &second);
  std::optional<Value> division(const Value &a, const Value &b);
  std::optional<Value> bits(const Shape &shape, int depth);
  std::optional<Value> shift(const Shape &shape, int depth);
  std::optional<Value> comparison(const Value &a, const Value &b);
  std::optional<Value> select(const Value &condition, const Value &a, const Value &b);
  std::optional<Value> function(const Shape &shape, int depth);
  Value condition(const Shape &shape, int depth);
  Value scalarCondition();
  Value cast(const Value &value, Scalar type);
  Value narrow(const Value &value, double low, double high);
  Value expand(const Value &value, const Shape &shape);
  Scalar anyType();
  Scalar computeType();

  // Memory.cpp
  Buffer makeBuffer(const std::string &prefix, Scalar type, const std::vector<Axis> &axes, Contents contents);
  std::string place(const Buffer &buffer, const std::vector<Axis> &axes, const std::vector<std::string> &indices);
  std::string maskOf(const std::vector<Axis> &axes, const std::vector<std::string> &indices);
  std::vector<Axis> someAxes();
  /// Axes that distinguish programs: a store must cover all of them, otherwise two programs would write the same
  /// elements.
  std::vector<Axis> ownAxes() const;
  void loadStatement();
  void scalarStatement();
  void storeUnused();
  Value load(const std::vector<Axis> &axes, Scalar type, bool isPlain = false);
  Value loadGroups(const std::vector<Axis> &axes, Scalar type);
  void storeStatement();
  void store(const std::vector<Axis> &axes, const Value &value);
  void approximateStatement();

  // Descriptors.cpp
  std::string startsOf(const std::vector<Axis> &axes, bool moves);
  bool isDescribable(const Buffer &buffer, const std::vector<Axis> &axes) const;
  std::string makeDescriptor(const Buffer &buffer, const std::vector<Axis> &axes);
  Value loadByDescriptor(const std::vector<Axis> &axes, Scalar type);
  std::string blockPointer(const Buffer &buffer, const std::vector<Axis> &axes, const std::string &starts);
  Value loadByBlockPointer(const std::vector<Axis> &axes, Scalar type);
  void rowsStatement();
  void descriptorUpdate();
  void addByDescriptor(const std::vector<Axis> &axes, const Value &value);
  bool storeBatch(const std::vector<Axis> &axes, const Value &value);
  std::vector<Axis> inBatch(const std::vector<Axis> &axes);

  // Updates.cpp
  void atomicStatement();
  void ownAtomicStatement();
  void messageStatement();
  void overlapStatement();
  void updateStatement();
  void update(const Buffer &buffer, const std::vector<Axis> &axes);

  // Blocks.cpp
  void blockStatement();
  void pairStatement(const Value &value);
  void wholeWarpStatement();
  void sink(const Value &value);
  std::string combine(Scalar type);
  std::optional<Value> reduction(const Value &given);
  std::optional<Value> scan(const Value &value);
  std::optional<Value> rearrangement(const Value &value);

  // ControlFlow.cpp
  void loopStatement(int depth);
  void branchStatement(int depth);
  void whileStatement(int depth);
  void carriedPointerLoop();
  void helperStatement();
  void assignStatement();
  void returnStatement();
  struct Loop {
    std::string head;
    int64_t trips = 0; ///< maximum number of iterations
    std::optional<Value> counter;
    std::optional<Axis> axis;      ///< the axes of its blocks
    std::string tail;              ///< the last statement of the body
    std::function<void()> opening; ///< writes the beginning of the body
  };
  void loop(const Loop &loop, int depth);
  Shape someShape();
  Value fit(const Value &value, const Value &variable);
  Value materialise(const Value &value);
  Value defineVariable(const Shape &shape);
  void updateVariable();

  // Idioms.cpp
  void idiomStatement();
  void nameMask();
  std::string namedMask(const std::vector<Axis> &axes, const std::vector<std::string> &indices) const;
  void rowSumStatement();
  void normalizeStatement();
  struct GroupLimits {
    Buffer buffer;
    std::string pointer;
    int64_t group; ///< number of elements that share one value
  };
  std::optional<GroupLimits> makeLimits(const std::vector<Axis> &of, Scalar type);
  Value limit(const Value &value, const GroupLimits &limits, const std::vector<Axis> &of, const std::string &left);
  Value advancedDot(const std::vector<Axis> &own);
  void laterIterations(const Value &counter);
  void mapStatement();

  // Masks.cpp
  Value limitOf(const Value &value);
  Value edgeComparison(const Shape &shape);
  void selectionStatement();
  void storeSelection(const std::vector<Axis> &own, const std::vector<std::string> &indices, const Value &selected,
                      const std::string &mask);

  // Tables.cpp
  void tableStatement();

  // Ranges.cpp
  void rangeStatement(int depth);
  std::string integerExpression(int64_t value, Scalar type);
  std::string firstOffset(int64_t block, int64_t size);

  // Conversions.cpp, Signs.cpp
  void conversionStatement();
  void tieStatement();
  void signStatement();

  // Dots.cpp
  void dotStatement();
  std::optional<Value> dotLoop();
  Value dotChain();
  Value scaledLoop(const std::vector<Axis> &own);
  std::vector<std::string> twoViews(const Axis &rows, const Axis &columns, Scalar type);
  Value plainGemm(const std::vector<Axis> &own);
  void differInFirst(const std::string &counter, const Value &sum, bool isOneOfTwo);
  std::optional<Value> dot(const Value &a, const Value &b, double rounds, const Value *accumulator);
  Value dotOperand(const Axis &first, const Axis &second, Scalar type);
  Scalar operandType();

  Random random;
  bool isAboutLoops;
  int nextName = 0;
  std::string helpers, directives, text;
  std::vector<std::string> pointers, integers; ///< parameters with their types
  int depthOfText = 1;
  std::vector<Value> values;    ///< in scope
  std::vector<Value> variables; ///< in scope, and assignable again with values in their range
  std::vector<Axis> axes;       ///< in scope: those of the frame, then those of loops
  std::vector<Buffer> inputs, outputs;
  std::vector<std::pair<std::string, int64_t>> launchIntegers;
  int programs = 1;
  std::string programNumber = "pid"; ///< an expression with a value below `programs`
  int loops = 0;
  bool inHelper = false;
  bool isGemm = false;      ///< the kernel is about a matrix multiplication
  int64_t padding = 0;      ///< range of the operands that are loaded for a dot
  bool splitsK = false;     ///< CTAs of a cluster share the steps of each program
  bool isOrdinary = false;  ///< the following statements must allow tensor maps and wgmma
  bool isPlainForm = false; ///< only operations that tensor maps support
  std::string maskName;     ///< name of the mask of `maskedAxes`, if it has one
  std::vector<Axis> maskedAxes;
  int budget = 0;                 ///< remaining statements
  bool isLarge = false;           ///< blocks may exceed the registers or the shared memory
  int64_t maxElements = 4096;     ///< maximum elements of a block that is composed of others
  bool sharesTail = false;        ///< programs have many steps, and several CTAs share the last ones
  std::vector<int64_t> oddBlocks; ///< BLOCK_M and BLOCK_N are not powers of two
};

} // namespace tile::fuzz
