// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Semantic analysis of a module and emission of its kernel in one forward pass over the syntax tree: names are bound to
// symbolic values, and run-time operations are emitted as MLIR as soon as their operands are known.
//
// SSA form needs no phi nodes, because environments are values. An 'if' runs both branches on copies and yields the
// names that differ; a loop carries the names that its body assigns. Helpers are emitted inline at each call for their
// argument types and constants, which is monomorphization. Functions that return early are folded: the statements after
// an 'if' with a 'return' become the other branch (SemaControl.cpp).

#pragma once

#include "Frontend/Configurations.h"
#include "Frontend/Emit/Emitter.h"
#include "Frontend/Sema/ModuleScope.h"
#include "Frontend/Sema/Tuning.h"
#include "Frontend/Values/Python.h"

namespace tile::frontend {

struct BuiltinCall;
struct BuiltinInfo;
class HostReader;

/// Statements that remain to be emitted: a range of one block, then those of the enclosing blocks.
struct Continuation {
  const Block *block;
  size_t index;
  const Continuation *next;
};

class ModuleSema final : public Emitter, public PythonContext {
  friend class HostReader;

public:
  ModuleSema(mlir::MLIRContext &context, const Module &module, const CompileRequest &request,
             DiagnosticEngine &diagnostics);

  mlir::OwningOpRef<mlir::ModuleOp> run();
  KernelConfigurations listConfigurations();

  SymValue error(Diag id, SourceRange range, const std::vector<std::string> &arguments = {},
                 std::optional<std::pair<SourceRange, std::string>> note = std::nullopt) override;
  DiagnosticEngine::Builder warn(Diag id, SourceRange range, const std::vector<std::string> &arguments = {}) override;
  mlir::Location location(SourceRange range) override;
  SymValue condition(const SymValue &value, SourceRange range) override;
  SymValue callValue(const SymValue &callee, const std::vector<SymValue> &arguments, SourceRange range) override;
  SymValue attributeOf(const SymValue &value, const AttributeExpr &expr) override;
  bool hasAttribute(const SymValue &value, const std::string &name) override;
  SymValue fromResult(const EvalResult &result, SourceRange range) override;
  std::optional<Value> namespaceMember(const std::string &space, const std::string &name) override;
  void rebind(mlir::Value from, mlir::Value to) override;

  // SemaExpr.cpp
  SymValue evaluate(const Expr &expr);
  SymValue applyBinary(BinaryOp op, const SymValue &left, const SymValue &right, SourceRange range) override;
  std::optional<bool> callCondition(const SymValue &condition, SymValue &item, SourceRange range) override;

private:
  // SemaLimits.cpp
  bool charge(size_t amount, SourceRange range);
  SymValue limitSize(SymValue value, SourceRange range, size_t times = 1);

  struct Frame {
    const FunctionStmt *function;
    SourceRange call;
    mlir::Location caller;
  };

  struct BlockResult {
    bool returned = false;
    SymValue value = SymValue::makeConstant(NoneValue{});
    SourceRange range;
  };

  // SemaKernel.cpp
  struct KernelParameter {
    DType type;
    int divisibility = 1;
    std::optional<SymValue> constant;       // for a compile-time parameter
    bool isOpen = false;                    // `auto`: the constant is not chosen yet
    bool isDefault = false;                 // the constant is the parameter's default
    std::vector<int64_t> block;             // of a tensor descriptor; `type` is its element type
    bool padsNan = false;                   // of a descriptor: reads out of bounds are NaN
    std::map<std::string, int> assumptions; // assumptions about its arguments
    bool isTuple = false;                   // `elements` are separate arguments
    std::vector<KernelParameter> elements;
    std::vector<std::string> fields;   // names of a named tuple's elements
    const ClassStmt *record = nullptr; // class of the named tuple, if there is one
  };
  using ResolvedParameters = std::map<std::string, std::optional<KernelParameter>>;
  /// An argument that the launcher passes.
  struct KernelArgument {
    std::string name;
    DType type;
    int divisibility = 1;
  };
  static std::vector<KernelArgument> argumentsOf(const std::string &name, const KernelParameter &parameter);
  SymValue parameterValue(const KernelParameter &parameter, mlir::ValueRange arguments, SourceRange range);
  std::optional<KernelParameter> parseDescriptor(llvm::StringRef text, SourceRange range);
  const FunctionStmt *selectKernel(const InstanceDirective *&instance);
  static std::map<std::string, std::string> namesOtherThanIntegers(const FunctionStmt &kernel,
                                                                   const std::vector<KernelParameter> &parameters);
  SymValue evaluateType(const Expr &expr);
  void warnConstantOperand(BinaryOp op, const SymValue &left, const SymValue &right, SourceRange range);
  bool checkHeldBlocks(KernelOp kernel, SourceRange name);
  void warnOfRedefinitions(const FunctionStmt &kernel);
  bool resolveParameters(const FunctionStmt &kernel, const InstanceDirective *instance,
                         std::vector<KernelParameter> &parameters);
  static bool assumeNothing(const FunctionStmt &kernel, ResolvedParameters &resolved,
                            std::vector<KernelParameter> &parameters);
  std::map<std::string, std::string> resolveDeclared(const FunctionStmt &kernel, const InstanceDirective *instance,
                                                     ResolvedParameters &resolved);
  void collectSignature(const FunctionStmt &kernel, const InstanceDirective *instance);
  std::optional<KernelParameter> resolveParameter(const Parameter &parameter);
  std::optional<KernelParameter> parseSpecification(const std::string &text, SourceRange range);
  std::optional<KernelParameter> fromAnnotation(const Expr &annotation);
  std::optional<KernelParameter> fromValue(const SymValue &value, SourceRange range);
  std::optional<SymValue> evaluateText(const std::string &text, const std::string &description);
  std::optional<SymValue> constantOnly(const SymValue &value, const std::string &what, SourceRange range);
  void selectOptions(const FunctionStmt &kernel, const InstanceDirective *instance);
  bool applyAssumption(const std::string &name, SourceRange range, KernelParameter &resolved);
  mlir::OwningOpRef<mlir::ModuleOp> emitKernel(const FunctionStmt &kernel, const InstanceDirective *instance,
                                               const std::vector<KernelParameter> &parameters);
  void setKernelAttributes(KernelOp op, const FunctionStmt &kernel, const InstanceDirective *instance,
                           const std::vector<KernelParameter> &parameters);

  // SemaTupleParameters.cpp
  /// Splits at commas outside brackets and quotes.
  static llvm::SmallVector<std::string> splitTopLevel(llvm::StringRef text);
  /// Returns names such as args_0 and args_shape.
  static std::string elementName(const std::string &name, size_t index, const std::vector<std::string> &fields);
  const ClassStmt *recordOf(const Expr *annotation);
  bool isTupleText(llvm::StringRef text);
  bool isTupleAnnotation(const Expr &annotation);
  std::optional<KernelParameter> tupleFromText(const std::string &name, llvm::StringRef text, const ClassStmt *record,
                                               SourceRange range);
  std::optional<KernelParameter> elementFromText(const std::string &name, llvm::StringRef text, const Expr *annotation,
                                                 SourceRange range);
  std::optional<KernelParameter> elementFromAnnotation(const std::string &name, const Expr &annotation);
  std::optional<KernelParameter> elementFromDefinition(const std::string &name);
  void addMissingElement(const std::string &name, bool isConstexpr);
  static void forEachLeaf(const std::string &name, const KernelParameter &parameter,
                          llvm::function_ref<void(const std::string &, const KernelParameter &)> visit);
  static SymValue tupleValue(const KernelParameter &parameter,
                             llvm::function_ref<SymValue(const KernelParameter &)> valueOf);
  SymValue unknownOf(const KernelParameter &parameter);
  void rememberLeaves(const std::string &name, const SymValue &value);
  std::optional<std::pair<SourceRange, std::string>> tupleHint(const SymValue &value);

  // SemaChoices.cpp
  bool isLeftOpen(const Parameter &parameter);
  bool chooseOpen(const FunctionStmt &kernel, std::vector<KernelParameter> &parameters);
  void allowOpenSizes(const FunctionStmt &kernel, const std::vector<KernelParameter> &parameters);
  bool describeGemm(const DirectiveSet &directives, const std::map<std::string, KernelParameter> &parameters,
                    OpenGemm &product);

  // SemaDecorators.cpp
  std::optional<SymValue> evaluateQuietly(const Expr &expr);
  void applyHeuristics(const CallExpr &decorator, ResolvedParameters &parameters);
  void applyDecorators(const FunctionStmt &kernel, ResolvedParameters &parameters);
  std::optional<bool> divisibility(const Expr &condition, const std::string &arguments,
                                   const ResolvedParameters &parameters);
  mlir::Value unknownValue(DType type);

  // SemaConfigs.cpp
  void applyAutotune(const FunctionStmt &kernel, const CallExpr &decorator, ResolvedParameters &parameters);
  Tuning readAutotune(const FunctionStmt &kernel, const CallExpr &decorator, const ResolvedParameters &parameters);
  void prune(HostReader &reader, const Expr &rules, const ResolvedParameters &parameters,
             std::vector<SymValue> &configurations);
  std::optional<std::string> definitionOf(const SymValue &value);
  KernelConfigurations listTuned();

  // SemaHost.cpp
  void declareStatement(const Stmt &stmt);
  void declareHost(const HostStmt &host);
  void rememberDecorators(const FunctionStmt &function);
  std::optional<bool> moduleCondition(const Expr &condition);
  void hide(const std::string &name);
  SymValue runStatements(const std::string &name, const Block &statements);
  bool needsRun(const std::string &name) const;
  std::optional<SymValue> hostFunction(const std::string &name);
  std::optional<SymValue> callHostFunction(const FunctionStmt &function, const std::vector<SymValue> &arguments,
                                           SourceRange range);
  void walkElements(const ForStmt &stmt, const std::vector<SymValue> &items);
  void keepEarlier(const std::string &name, SourceRange range, bool isChange);
  void forget(const std::string &name, SourceRange reason);
  void declareSkipped(const SkippedStmt &stmt);
  void rememberGuess(const IfStmt &stmt, SourceRange condition);
  /// Returns true in code of the host program, which may call the host's functions.
  bool isHostCode() const { return hostDepth > 0 || isConstexprFunction(); }

  // SemaCollections.cpp
  bool changeList(const Expr &expr);
  void assignItem(const SubscriptExpr &target, const SymValue &value);

  // SemaAsserts.cpp
  std::string valuesIn(const Expr &condition);
  std::string messageText(const Expr &message);
  std::optional<SymValue> staticAssert(const CallExpr &call);
  std::optional<std::pair<SourceRange, std::string>> originOf(const Expr &expr, const SymValue &value);

  // SemaDirectives.cpp
  bool checkDirectives(const FunctionStmt &kernel, const std::vector<KernelParameter> &parameters);
  void checkConfigExists(const ConfigDirective &config);
  void checkConfig(const ConfigDirective &config, const FunctionStmt &kernel,
                   const std::vector<KernelParameter> &parameters);
  double evaluateTolerance(const ExpectDirective &directive);
  std::vector<std::string> gridOfHost(const FunctionStmt &kernel); // SemaLaunch.cpp
  LaunchAttr launchAttribute(const FunctionStmt &kernel, const InstanceDirective *instance);

  // SemaImport.cpp
  void declareImport(const ImportStmt &import);
  std::optional<SymValue> lookupImport(const std::string &name, SourceRange range);
  std::optional<SymValue> importMember(const ModuleScope::Import &import, SourceRange range);
  std::optional<SymValue> lookupIn(ModuleScope &module, const std::string &name, SourceRange range);
  std::string findModule(uint32_t level, const std::string &dotted);
  std::vector<std::string> moduleFolders(uint32_t level);
  std::string explainMissing(const ModuleScope::Import &import);
  SymValue unknownImport(const std::string &name, SourceRange range);
  void warnMissingModule(const ImportStmt &import);
  ModuleScope *loadModule(const std::string &path);
  ModuleScope *ownerOf(const FunctionStmt &function) { return owners.at(&function); }
  bool reportBroken(const FunctionStmt &function, std::optional<SourceRange> call = std::nullopt);

  /// While an instance exists, names are looked up in a module instead of the current kernel or helper.
  class InModule {
  public:
    InModule(ModuleSema &sema, ModuleScope *module) : sema(sema), module(sema.current) {
      std::swap(scope, sema.scope);
      sema.current = module;
    }
    ~InModule() {
      std::swap(scope, sema.scope);
      sema.current = module;
    }

  private:
    ModuleSema &sema;
    ModuleScope *module;
    Environment scope;
  };

  // SemaModule.cpp
  void declare(const Block &block);
  std::optional<SymValue> lookupGlobal(const std::string &name, SourceRange range);
  SymValue evaluateGlobal(const std::string &name);
  SymValue lookupAttribute(const NamespaceValue &space, const std::string &name, SourceRange range);
  SymValue changedName(const std::string &name, SourceRange change, SourceRange range);
  SymValue unknownName(const std::string &name, SourceRange range);
  bool isSkipped(const std::string &name) const;

  // SemaExpr.cpp
  SymValue evaluateKind(const Expr &expr);
  SymValue evaluateName(const NameExpr &expr);
  SymValue evaluateBinary(const BinaryExpr &expr);
  SymValue evaluateUnary(const UnaryExpr &expr);
  std::optional<SymValue> containerOperator(BinaryOp op, const SymValue &left, const SymValue &right,
                                            SourceRange range);
  std::optional<SymValue> formatText(const SymValue &pattern, const SymValue &values, SourceRange range);
  SymValue evaluateBoolOp(const BoolOpExpr &expr);
  SymValue evaluateCompare(const CompareExpr &expr);
  SymValue structuresEqual(const SymValue &left, const SymValue &right, SourceRange range);
  SymValue evaluateConditional(const ConditionalExpr &expr);
  SymValue evaluateFString(const FStringExpr &expr);
  SymValue evaluateElements(const std::vector<const Expr *> &elements);
  SymValue joinRegions(mlir::scf::IfOp skeleton, const SymValue &thenValue, const SymValue &elseValue);

  // SemaAccess.cpp
  SymValue attributeOfTensor(const SymValue &value, const AttributeExpr &expr);
  SymValue attributeOfType(DType type, const AttributeExpr &expr);
  SymValue evaluateSubscript(const SubscriptExpr &expr);
  SymValue indexTensor(const SymValue &value, const SubscriptExpr &expr);
  SymValue indexText(const std::string &text, const SubscriptExpr &expr);
  SymValue indexTuple(const SymValue &value, const SubscriptExpr &expr);

  // SemaCollections.cpp
  std::optional<SymValue> typeOf(const SymValue &value);
  SymValue typeOfTuple(const std::vector<SymValue> &types, SourceRange range);
  SymValue evaluateComprehension(const ComprehensionExpr &expr);
  bool evaluateClauses(const ComprehensionExpr &expr, size_t clause, std::vector<SymValue> &results);
  std::optional<std::vector<SymValue>> itemsOf(const Expr &iterable);
  SymValue evaluateDictionary(const DictExpr &expr);
  SymValue lookupKey(const SymValue &dictionary, const SubscriptExpr &expr);
  SymValue contains(const SymValue &item, const SymValue &items, const CompareExpr &expr);

  // SemaCall.cpp
  struct BoundArgument {
    std::string name;
    SymValue value;
    SourceRange range;
  };
  SymValue evaluateCall(const CallExpr &expr);
  bool evaluateArguments(const CallExpr &expr, std::vector<BoundArgument> &arguments);
  bool unpackMapping(const SymValue &value, const StarredExpr &expr, std::vector<BoundArgument> &arguments);
  SymValue callValue(const SymValue &callee, std::vector<BoundArgument> arguments, SourceRange range,
                     SourceRange calleeRange);
  std::optional<SymValue> callFunction(const SymValue &callee, std::vector<BoundArgument> &arguments,
                                       SourceRange range);
  SymValue callBuiltin(const BuiltinInfo &info, const std::vector<BoundArgument> &arguments, SourceRange range);
  SymValue unknownCall(const BuiltinCall &call);
  SymValue callType(const SymValue &callee, const std::vector<BoundArgument> &arguments, SourceRange range);
  /// If 'self' is given, it receives the final value of the first parameter.
  SymValue callHelper(const FunctionStmt &function, const std::vector<BoundArgument> &arguments, SourceRange range,
                      SymValue *self = nullptr);
  bool bindParameters(const FunctionStmt &function, const std::vector<BoundArgument> &arguments, SourceRange range,
                      Environment &scope);

  // SemaClass.cpp
  std::vector<const ClassStmt *> basesOf(const ClassStmt &type, unsigned depth);
  const FunctionStmt *findMethod(const ClassStmt &type, const std::string &name, unsigned depth = 0);
  std::optional<SymValue> classConstant(const ClassStmt &type, const std::string &name, unsigned depth = 0);
  std::optional<SymValue> evaluateConstant(const ClassStmt &type, const std::string &name, unsigned depth);
  std::optional<SymValue> memberOf(const SymValue &value, const std::string &name, SourceRange range);
  SymValue instantiate(const ClassStmt &type, std::vector<BoundArgument> arguments, SourceRange range);
  SymValue makeNamedTuple(const ClassStmt &type, const std::vector<BoundArgument> &arguments, SourceRange range);
  SymValue makeObject(const ClassStmt &type, std::vector<BoundArgument> arguments, SourceRange range);
  std::optional<SymValue> declareNamedTuple(const std::vector<BoundArgument> &arguments);
  void assignAttribute(const AttributeExpr &target, const SymValue &value, SourceRange range);
  std::optional<SymValue> callSpecial(const SymValue &object, const std::string &name,
                                      const std::vector<SymValue> &arguments, SourceRange range);
  std::optional<SymValue> objectOperator(BinaryOp op, const SymValue &left, const SymValue &right, SourceRange range);
  /// Calls an operator by its method name: x.__lshift__(4); nullopt if it is not one of Python's.
  std::optional<SymValue> callOperator(const SymValue &receiver, llvm::StringRef name, const CallExpr &expr);

  // SemaVariables.cpp
  /// Records a variable. With `isAssigned`, it is valid from here on; otherwise wherever its value is available: at the
  /// head of a loop, or after it.
  void recordVariable(const std::string &name, const Binding &binding, bool isAssigned = true);
  void recordVariables(const std::vector<std::string> &names);
  void dropErasedVariables(KernelOp kernel);
  void observe(SourceRange range, const SymValue &value, bool isName = false);

  // SemaWarnings.cpp
  void rememberProduct(const SymValue &value, const BinaryExpr &expr);
  void rememberAccess(const SymValue &result, SourceRange range);
  std::vector<std::pair<SourceRange, std::string>> callsAround() const;
  void warnLostWeakness(const SymValue &left, const SymValue &right, DType common, bool isDivision,
                        SourceRange range) override;
  void warnUnusedAdvance(const Expr &expr);
  void warnIgnoredAnnotation(const AnnAssignStmt &stmt, const SymValue &annotation, const SymValue &value);
  void warnDeadBranches();
  void addLiveBranches(const IfStmt *stmt, size_t branch) { liveBranches[stmt].insert(branch); }

  // SemaStatements.cpp
  BlockResult emitBlock(const Continuation &start);
  void enterContexts(const WithStmt &stmt);
  bool emitSimple(const Stmt &stmt);
  void emitAssign(const AssignStmt &stmt);
  void emitAugAssign(const AugAssignStmt &stmt);
  void emitAnnAssign(const AnnAssignStmt &stmt);
  void emitAssert(const AssertStmt &stmt);
  void assign(const Expr &target, const SymValue &value, SourceRange range);
  void bind(const NameExpr &target, SymValue value);
  void rememberLiterals(const SymValue &value, const SymValue &bound, const NameExpr &name);
  SymValue decay(const SymValue &value, SourceRange range);
  SymValue decayAll(const SymValue &value, SourceRange range);
  void decayApart(SymValue &value, const SymValue &other, SourceRange range);

  // SemaControl.cpp
  std::optional<BlockResult> emitIf(const IfStmt &stmt, size_t branch, const Continuation &rest);
  BlockResult emitFoldedIf(const IfStmt &stmt, size_t branch, const SymValue &condition, const Continuation &rest);
  void emitJoinedIf(const IfStmt &stmt, size_t branch, const SymValue &condition);
  void emitBranch(const IfStmt &stmt, size_t branch);
  void emitDoubtful(const Block &body, SourceRange reason);
  void joinEnvironments(const Environment &thenEnv, const Environment &elseEnv, const IfStmt &stmt,
                        std::vector<std::string> &changed);
  bool checkReturnTypes(mlir::scf::IfOp skeleton, BlockResult &thenResult, BlockResult &elseResult);
  void decayBranches(mlir::scf::IfOp skeleton, SymValue &thenValue, SymValue &elseValue, SourceRange thenRange,
                     SourceRange elseRange);

  // SemaJumps.cpp
  struct JumpingLoop {
    Block statements;           // replaces the loop and, if it returns, includes the function's return
    Block withoutReturn;        // the same if no return is reached
    const Stmt *loop = nullptr; // the loop itself, without jumps
    bool returnsValue = false;
  };
  const JumpingLoop *rewriteJumps(const Stmt &stmt);
  const Block *bindReturnPlaceholder(const JumpingLoop &rewritten, SourceRange range);
  std::optional<SymValue> placeholderLike(const SymValue &value, SourceRange range);

  // SemaLoops.cpp
  struct LoopRange {
    std::string kind;
    std::vector<SymValue> bounds; // lower, upper, step
    SourceRange range;
  };
  void emitFor(const ForStmt &stmt);
  bool evaluateRange(const Expr &iterator, LoopRange &out);
  void emitDoubtfulLoop(const ForStmt &stmt, SourceRange reason);
  void emitUnrolled(const ForStmt &stmt, const LoopRange &range);
  void emitRangeLoop(const ForStmt &stmt, const LoopRange &range);
  void emitStoppingLoop(const ForStmt &stmt, llvm::ArrayRef<SymValue> bounds, bool isDown);
  SymValue loopVariable(const ForStmt &stmt, mlir::Value counter, llvm::ArrayRef<SymValue> bounds, bool isDown);
  void emitWhile(const WhileStmt &stmt);
  void walkWhile(const WhileStmt &stmt);
  /// Returns true in a function that runs at compile time.
  bool isConstexprFunction() const { return !frames.empty() && frames.back().function->isConstexpr; }
  void decayCarriedTuples(const Block &body, const Expr *condition, SourceRange loop);
  void checkLoopConstants(const Stmt &loop, const std::vector<std::string> &carried, const Environment &before,
                          const Environment &after);
  bool loopCarried(const std::vector<std::string> &names, const Environment &before, const Environment &after,
                   SourceRange loop, llvm::SmallVectorImpl<mlir::Value> &values);
  void leaveLoop(const Environment &before, const std::vector<std::string> &names, mlir::ValueRange results,
                 const Environment &after, SourceRange loop);

  const Module &module;
  DiagnosticEngine &diagnostics;
  Environment scope;
  std::vector<Frame> frames;
  std::deque<Module> importedModules;
  std::map<std::string, std::unique_ptr<ModuleScope>> modules; // by path; null: cannot be read
  ModuleScope *current = nullptr;
  std::vector<std::unique_ptr<ModuleScope>> hostScopes;
  struct MissingImport {
    SourceRange range;
    std::string reason;
  };
  std::map<std::string, MissingImport> missingImports; // by the name shown in messages
  std::map<std::string, std::string> unreadable;       // files, with reasons
  /// Values of the names in a function's decorators at its definition; the module may rebind the names.
  std::map<const FunctionStmt *, std::map<std::string, ModuleValue>> decoratorValues;
  HostReader *host = nullptr;  // reads the decorators of the kernel
  std::vector<Tuning> tunings; // innermost decorator first
  std::vector<UnknownHost> unknownHosts;
  std::map<std::string, std::optional<SymValue>> readableTexts;
  unsigned hostDepth = 0;    // nesting of evaluations outside kernels
  unsigned quietDepth = 0;   // nesting of evaluations that report nothing
  unsigned messageDepth = 0; // nesting of texts that may mention run-time values
  std::map<const FunctionStmt *, ModuleScope *> owners;
  std::map<const ClassStmt *, ModuleScope *> classOwners;
  unsigned tupleDepth = 0;
  std::string missingElements;                 // of the parameter that is being resolved
  std::map<std::string, SymValue> tupleLeaves; // elements of tuple parameters by name
  std::map<std::string, SourceRange> argumentRanges;
  /// Type or value by parameter, from the instance directive and --signature.
  std::map<std::string, std::pair<std::string, SourceRange>> specifications;
  std::optional<int> tunedWarps, tunedStages; // from the configuration that provided values
  std::optional<int> numWarps, numStages;     // of the kernel; may be `leftOpen` until they are chosen
  std::optional<ClusterShape> cluster;        // likewise
  std::optional<Schedule> schedule;           // likewise
  std::deque<Module> scratchModules;          // owns the expressions of -D and --signature
  unsigned loopDepth = 0;
  unsigned foldDepth = 0;
  unsigned folds = 0;
  unsigned inlinedCalls = 0;
  size_t unrolledIterations = 0;
  size_t work = 0;
  bool exhausted = false;

  std::map<const Stmt *, JumpingLoop> jumpingLoops;

  // For warnings and debuggers.
  KernelText text;
  struct NamedLiteral {
    std::string name;
    SourceRange definition;
  };
  /// Scalars that are run-time values only because a constant was assigned to a name.
  llvm::DenseMap<mlir::Value, NamedLiteral> namedLiterals;
  /// Possible branches of the 'if' statements that were reached; the else branch has the index after the last one.
  std::map<const IfStmt *, std::set<size_t>> liveBranches;
};

/// Returns the kernels that run before this one (`#: after`), in the order in which they run.
std::vector<const FunctionStmt *> functionsBefore(const Module &module, const FunctionStmt &kernel);

} // namespace tile::frontend
