// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tuple parameters of a kernel, which are split into separate arguments.
//
//   args: (*fp32, (i32, None), constexpr)     arguments args_0 and args_1_0; args_2 is a constant, from -D args_2=...
//   x: Tensor(ptr=*fp32, shape=(i32, i32))    for a class Tensor(NamedTuple): x_ptr, x_shape_0, x_shape_1
//
// This is the syntax of signatures; quotes around the types, as Triton prints them, are ignored. An annotation is a
// tuple of annotations, the same text as a string, or the class, whose fields have annotations.

#include "Directives/ExpressionTree.h"
#include "Frontend/Sema/Evaluator.h"
#include "Frontend/Sema/ModuleNames.h"
#include "Frontend/Sema/Signature.h"

using namespace mlir;

namespace tile::frontend {

namespace {

/// Returns true if the last character closes the bracket at the front.
bool isEnclosed(StringRef text) {
  if (!text.starts_with("(") || !text.ends_with(")"))
    return false;
  int depth = 0;
  for (auto [index, c] : llvm::enumerate(text)) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth == 0)
      return index + 1 == text.size();
  }
  return false;
}

/// Splits "shape=(i32, i32)" into "shape" and the remainder; the name is empty if there is none.
std::pair<StringRef, StringRef> splitName(StringRef text) {
  auto [name, remaining] = text.split('=');
  bool isNamed = directives::isIdentifier(name.trim()) && !remaining.empty() && !remaining.starts_with("=");
  return isNamed ? std::pair(name.trim(), remaining.trim()) : std::pair(StringRef(), text.trim());
}

constexpr unsigned maxTupleDepth = 32;

struct TupleNesting {
  explicit TupleNesting(unsigned &depth) : depth(depth) { ++depth; }
  ~TupleNesting() { --depth; }
  unsigned &depth;
};

bool isTupleName(const Expr &expr) {
  const auto *name = as<NameExpr>(&expr);
  const auto *member = as<AttributeExpr>(&expr);
  StringRef last = name ? StringRef(name->id) : member ? StringRef(member->attribute) : StringRef();
  return last == "tuple" || last == "Tuple";
}

} // namespace

std::string Signature::elementName(const std::string &name, size_t index, const std::vector<std::string> &fields) {
  return name + "_" + (index < fields.size() && !fields[index].empty() ? fields[index] : std::to_string(index));
}

SmallVector<std::string> Signature::splitTopLevel(StringRef text) {
  SmallVector<std::string> parts;
  std::string current;
  int depth = 0;
  char quote = 0;
  for (char c : text) {
    if (quote)
      quote = c == quote ? 0 : quote;
    else if (c == '\'' || c == '"')
      quote = c;
    else
      depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
    if (c == ',' && depth == 0 && !quote) {
      parts.push_back(StringRef(current).trim().str());
      current.clear();
      continue;
    }
    current += c;
  }
  if (!StringRef(current).trim().empty() || !parts.empty())
    parts.push_back(StringRef(current).trim().str());
  return parts;
}

/// Returns the named tuple class of an annotation.
const ClassStmt *Signature::recordOf(const Expr *annotation) {
  if (!annotation || (annotation->kind != ExprKind::Name && annotation->kind != ExprKind::Attribute))
    return nullptr;
  std::optional<SymValue> value = sema.evaluator.evaluateQuietly(*annotation);
  const auto *type = value && value->isConstant() ? std::get_if<const ClassStmt *>(&value->constant) : nullptr;
  return type && (*type)->isNamedTuple() ? *type : nullptr;
}

/// Returns true for "(...)" or "Class(...)" of a named tuple.
bool Signature::isTupleText(StringRef text) {
  text = text.trim();
  if (isEnclosed(text))
    return true;
  StringRef name = text.take_until([](char c) { return c == '('; });
  if (!directives::isIdentifier(name) || !isEnclosed(text.drop_front(name.size())))
    return false;
  std::optional<SymValue> value = sema.names.lookupGlobal(name.str(), {});
  const auto *type = value && value->isConstant() ? std::get_if<const ClassStmt *>(&value->constant) : nullptr;
  return type && (*type)->isNamedTuple();
}

bool Signature::isTupleAnnotation(const Expr &annotation) {
  if (const auto *text = as<StringExpr>(&annotation))
    return isTupleText(text->value);
  if (const auto *subscript = as<SubscriptExpr>(&annotation))
    return isTupleName(*subscript->value);
  return annotation.kind == ExprKind::Tuple || recordOf(&annotation);
}

/// Returns the value of an element from -D.
std::optional<KernelParameter> Signature::elementFromDefinition(const std::string &name) {
  auto defined = request.definitions.find(name);
  if (defined == request.definitions.end())
    return std::nullopt;
  KernelParameter element;
  element.constant = evaluateText(defined->second, "<-D " + name + ">");
  return element.constant ? std::optional(element) : std::nullopt;
}

/// Adds an element to the error that lists all missing types and values.
void Signature::addMissingElement(const std::string &name, bool isConstexpr) {
  missingElements +=
      (missingElements.empty() ? "" : ", ") + name + (isConstexpr ? " (needs a value, by -D)" : " (needs a type)");
}

/// Parses one element of a signature, or all of it; 'annotation' is that of the field, if there is one.
std::optional<KernelParameter> Signature::elementFromText(const std::string &name, StringRef text,
                                                          const Expr *annotation, SourceRange range) {
  if (request.definitions.contains(name))
    return elementFromDefinition(name);
  TupleNesting nesting(tupleDepth);
  if (tupleDepth > maxTupleDepth) {
    error(Diag::too_deep, range, {"tuples", std::to_string(maxTupleDepth)});
    return std::nullopt;
  }
  text = text.trim();
  bool isQuoted = text.size() > 1 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0];
  StringRef inner = isQuoted ? text.drop_front().drop_back().trim() : text;
  if (isTupleText(inner))
    return tupleFromText(name, inner, recordOf(annotation), range);
  // A string that is not a type is a constant.
  bool isType = inner == "constexpr" || inner.starts_with("*") || inner.starts_with("tensordesc<") ||
                dtypeByName(inner.rsplit(':').first.trim().str());
  if (isQuoted && !isType) {
    KernelParameter element;
    element.constant = SymValue::makeConstant(inner.str());
    return element;
  }
  size_t errorsBefore = diagnostics.numErrors();
  std::optional<KernelParameter> element = parseSpecification(inner.str(), range);
  if (!element && diagnostics.numErrors() == errorsBefore)
    addMissingElement(name, /*isConstexpr=*/true);
  return element;
}

std::optional<KernelParameter> Signature::tupleFromText(const std::string &name, StringRef text,
                                                        const ClassStmt *record, SourceRange range) {
  StringRef className = text.take_until([](char c) { return c == '('; });
  if (!className.empty())
    record = std::get<const ClassStmt *>(sema.names.lookupGlobal(className.str(), range)->constant);
  SmallVector<std::string> parts = splitTopLevel(text.drop_front(className.size() + 1).drop_back());
  bool hasComma = parts.size() > 1;
  if (!parts.empty() && parts.back().empty())
    parts.pop_back();
  bool hasNames = !parts.empty() && !splitName(parts.front()).first.empty();
  if (parts.size() == 1 && !hasComma && !hasNames && !record)
    return elementFromText(name, parts.front(), nullptr, range);
  KernelParameter tuple;
  tuple.isTuple = true;
  tuple.record = record;
  std::vector<StringRef> texts;
  if (record) {
    for (const AnnAssignStmt *field : record->fields)
      tuple.fields.push_back(field->target->id);
    texts.resize(tuple.fields.size());
  }
  for (auto [index, part] : llvm::enumerate(parts)) {
    auto [field, remaining] = splitName(part);
    size_t place = index;
    if (record && !field.empty())
      place = static_cast<size_t>(llvm::find(tuple.fields, field) - tuple.fields.begin());
    if (remaining.empty() || (record ? place >= texts.size() || !texts[place].empty() : field.empty() == hasNames)) {
      error(Diag::bad_parameter_type, range, {text.str(), ""});
      return std::nullopt;
    }
    if (!record) {
      texts.push_back(remaining);
      if (hasNames)
        tuple.fields.push_back(field.str());
    } else {
      texts[place] = remaining;
    }
  }
  bool isComplete = true;
  for (size_t i = 0; i < texts.size(); ++i) {
    const Expr *annotation = record ? record->fields[i]->annotation : nullptr;
    std::string path = elementName(name, i, tuple.fields);
    std::optional<KernelParameter> element = texts[i].empty() ? elementFromAnnotation(path, *annotation)
                                                              : elementFromText(path, texts[i], annotation, range);
    isComplete &= element.has_value();
    tuple.elements.push_back(element.value_or(KernelParameter()));
  }
  return isComplete ? std::optional(tuple) : std::nullopt;
}

/// Evaluates the annotation of an element, or of a tuple parameter.
std::optional<KernelParameter> Signature::elementFromAnnotation(const std::string &name, const Expr &annotation) {
  if (request.definitions.contains(name))
    return elementFromDefinition(name);
  TupleNesting nesting(tupleDepth);
  if (tupleDepth > maxTupleDepth) { // a class may contain itself
    error(Diag::too_deep, annotation.range, {"tuples", std::to_string(maxTupleDepth)});
    return std::nullopt;
  }
  if (const auto *text = as<StringExpr>(&annotation))
    return elementFromText(name, "\"" + text->value + "\"", nullptr, annotation.range);
  KernelParameter tuple;
  tuple.isTuple = true;
  std::vector<const Expr *> annotations;
  const auto *subscript = as<SubscriptExpr>(&annotation);
  const Expr *list = subscript && isTupleName(*subscript->value) ? subscript->index : &annotation;
  if (const auto *elements = as<TupleExpr>(list)) {
    annotations = elements->elements;
  } else if (list != &annotation) {
    annotations = {list};
  } else if ((tuple.record = recordOf(&annotation))) {
    for (const AnnAssignStmt *field : tuple.record->fields) {
      tuple.fields.push_back(field->target->id);
      annotations.push_back(field->annotation);
    }
  } else {
    bool isLiteral = annotation.kind == ExprKind::Int || annotation.kind == ExprKind::Float ||
                     annotation.kind == ExprKind::Bool || annotation.kind == ExprKind::None;
    if (isLiteral) {
      KernelParameter constant;
      constant.constant = sema.evaluator.evaluate(annotation);
      return constant;
    }
    size_t errorsBefore = diagnostics.numErrors();
    std::optional<KernelParameter> element = fromAnnotation(annotation);
    if (!element && diagnostics.numErrors() == errorsBefore)
      addMissingElement(name, StringRef(unparse(annotation)).contains("constexpr"));
    return element;
  }
  bool isComplete = true;
  for (auto [index, element] : llvm::enumerate(annotations)) {
    std::optional<KernelParameter> resolved = elementFromAnnotation(elementName(name, index, tuple.fields), *element);
    isComplete &= resolved.has_value();
    tuple.elements.push_back(resolved.value_or(KernelParameter()));
  }
  return isComplete ? std::optional(tuple) : std::nullopt;
}

SymValue Signature::tupleValue(const KernelParameter &parameter,
                               llvm::function_ref<SymValue(const KernelParameter &)> valueOf) {
  SymValue tuple = SymValue::makeTuple({});
  for (const KernelParameter &element : parameter.elements)
    tuple.elements.push_back(valueOf(element));
  tuple.names = parameter.fields;
  tuple.record = parameter.record;
  return tuple;
}

/// Represents a parameter while heuristics are evaluated: constants, and unknown values.
SymValue Signature::unknownOf(const KernelParameter &parameter) {
  if (parameter.constant)
    return *parameter.constant;
  if (parameter.isTuple)
    return tupleValue(parameter, [this](const KernelParameter &element) { return unknownOf(element); });
  return SymValue::makeTensor(unknownValue(parameter.type), parameter.type);
}

/// Visits the parameter, or its elements, with their names.
void Signature::forEachLeaf(const std::string &name, const KernelParameter &parameter,
                            llvm::function_ref<void(const std::string &, const KernelParameter &)> visit) {
  if (!parameter.isTuple)
    return visit(name, parameter);
  for (auto [index, element] : llvm::enumerate(parameter.elements))
    forEachLeaf(elementName(name, index, parameter.fields), element, visit);
}

/// Records the values of the elements, which directives refer to by name.
void Signature::rememberLeaves(const std::string &name, const SymValue &value) {
  for (auto [index, element] : llvm::enumerate(value.elements)) {
    std::string path = elementName(name, index, value.names);
    tupleLeaves[path] = element;
    if (element.isTuple())
      rememberLeaves(path, element);
  }
}

/// Returns a note for a parameter that is used as a tuple, but has another type.
std::optional<std::pair<SourceRange, std::string>> Signature::tupleHint(const SymValue &value) {
  auto argument = value.isScalar() ? dyn_cast<BlockArgument>(value.value) : BlockArgument();
  auto kernel = argument ? dyn_cast_or_null<KernelOp>(argument.getOwner()->getParentOp()) : KernelOp();
  if (!kernel)
    return std::nullopt;
  auto name = kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), argNameAttrName);
  auto place = name ? argumentRanges.find(name.str()) : argumentRanges.end();
  if (place == argumentRanges.end())
    return std::nullopt;
  return std::pair(place->second, "parameter '" + name.str() + "' has the type " + describe(value) +
                                      "; a tuple is given by the types of its elements, as in --signature '" +
                                      name.str() + ": (*fp32, i32)'");
}

/// Represents an argument while heuristics are evaluated; operations emitted meanwhile are discarded.
mlir::Value Signature::unknownValue(DType type) {
  return UnrealizedConversionCastOp::create(builder, UnknownLoc::get(&emitter.context), emitter.mlirType(type),
                                            ValueRange())
      .getResult(0);
}

} // namespace tile::frontend
