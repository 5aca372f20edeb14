// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recognizes facts about the machine by their names. Projects define them in different modules: `is_hip`, `_is_hip`,
// `is_hip_`, `IS_HIP` and `current_platform.is_rocm` are members of objects or modules that are not read. So only the
// last part of a name counts, without outer underscores and regardless of case.

#include "Frontend/Host/HostFacts.h"

#include "Frontend/Emit/Builtins.h"
#include "Frontend/Syntax/Ast.h"

#include "llvm/ADT/StringSwitch.h"

using llvm::StringRef;

namespace tile::frontend {

/// Objects that host functions return: the target, a device and its properties. They are represented as modules whose
/// members are facts.
static constexpr const char *targetObject = "host.target", *deviceObject = "host.device",
                            *propertiesObject = "host.properties";

static StringRef lastPart(StringRef path) {
  return path.substr(path.rfind('.') + 1);
}

static std::optional<bool> flagOf(StringRef path, int capability) {
  std::string name = lastPart(path).trim('_').lower();
  for (StringRef family : {"is_gfx", "is_hip_", "is_rocm_", "is_rdna", "is_cdna", "is_intel", "is_ascend"})
    if (StringRef(name).starts_with(family))
      return false;
  return llvm::StringSwitch<std::optional<bool>>(name)
      .Cases({"is_cuda", "is_nvidia", "is_cuda_alike", "is_nvidia_gpu", "is_cuda_available", "has_cuda"}, true)
      .Cases({"is_hip", "is_rocm", "is_amd", "is_amd_gpu", "is_xpu", "is_npu", "is_musa", "is_hpu"}, false)
      .Case("type_checking", false)
      .Cases({"is_tpu", "is_mps", "is_cpu", "is_mlu", "is_fp8_fnuz", "is_navi", "use_rocm"}, false)
      .Cases({"is_hopper", "is_nvidia_hopper"}, capability >= 90 && capability < 100)
      .Cases({"is_blackwell", "is_nvidia_blackwell"}, capability >= 100)
      .Default(std::nullopt);
}

/// Returns true if the name is spelled like a variable rather than a function.
static bool isSpelledAsVariable(StringRef name) {
  return name.starts_with("_") || name.ends_with("_") || name.upper() == name;
}

std::optional<Value> hostFact(StringRef path, int capability, bool isVariable) {
  auto [object, member] = path.rsplit('.');
  if (object == "torch.version" && (member == "hip" || member == "xpu" || member == "rocm"))
    return Value(NoneValue{});
  if (object == "torch.version" && member == "cuda")
    return Value(std::string("12.8"));
  if (object == targetObject && member == "backend")
    return Value(std::string("cuda"));
  if (object == targetObject && member == "arch")
    return Value(Int128(capability));
  if (object == deviceObject && member == "type")
    return Value(std::string("cuda"));
  if ((object == targetObject || object == propertiesObject) && member == "warp_size")
    return Value(Int128(32));
  if (object == propertiesObject && member == "major")
    return Value(Int128(capability / 10));
  if (object == propertiesObject && member == "minor")
    return Value(Int128(capability % 10));
  if (std::optional<bool> flag = flagOf(path, capability); flag && (isVariable || isSpelledAsVariable(lastPart(path))))
    return Value(*flag);
  return std::nullopt;
}

std::optional<SymValue> hostAnswer(StringRef path, llvm::ArrayRef<SymValue> arguments, int capability) {
  StringRef name = lastPart(path);
  auto object = [](const char *kind) { return SymValue::makeConstant(NamespaceValue{kind}); };
  auto number = [](int value) { return SymValue::makeConstant(Int128(value)); };
  if (name == "get_current_target" || name == "current_target")
    return object(targetObject);
  if (name == "get_active_torch_device")
    return object(deviceObject);
  if (name == "get_device_properties")
    return object(propertiesObject);
  if (name == "get_device_capability")
    return SymValue::makeTuple({number(capability / 10), number(capability % 10)});
  if (name == "has_device_capability" && !arguments.empty() && arguments[0].isConstant())
    if (std::optional<Int128> least = asInteger(arguments[0].constant))
      return SymValue::makeConstant(Int128(capability) >= *least);
  // Some projects look up libdevice functions by name, to support all Triton versions.
  if (const std::string *wanted = name == "libdevice_find" && arguments.size() == 1 && arguments[0].isConstant()
                                      ? std::get_if<std::string>(&arguments[0].constant)
                                      : nullptr)
    if (const BuiltinInfo *info = findBuiltin("libdevice." + *wanted))
      return SymValue::makeConstant(info);
  if (name == "fp8_dtype")
    return SymValue::makeConstant(DType(Scalar::Float8E4M3));
  if (name == "is_available")
    return SymValue::makeConstant(path.contains("cuda"));
  if (path == "os.getenv" || path == "os.environ.get")
    return arguments.size() > 1 ? arguments[1] : SymValue::makeConstant(NoneValue{});
  if (std::optional<bool> flag = flagOf(path, capability))
    return SymValue::makeConstant(*flag);
  return std::nullopt;
}

std::optional<bool> hostCondition(const Expr &condition, int capability) {
  if (const auto *flag = as<BoolExpr>(&condition))
    return flag->value;
  if (const auto *name = as<NameExpr>(&condition))
    return flagOf(name->id, capability);
  if (const auto *member = as<AttributeExpr>(&condition))
    return flagOf(member->attribute, capability);
  if (const auto *call = as<CallExpr>(&condition))
    return hostCondition(*call->callee, capability);
  const auto *unary = as<UnaryExpr>(&condition);
  std::optional<bool> operand =
      unary && unary->op == UnaryOp::Not ? hostCondition(*unary->operand, capability) : std::nullopt;
  return operand ? std::optional(!*operand) : std::nullopt;
}

} // namespace tile::frontend
