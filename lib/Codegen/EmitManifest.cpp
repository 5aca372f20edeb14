// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fills the manifest from IR. Expressions are copied as text; the runtime validates them.
#include "Codegen/EmitManifest.h"

#include "Codegen/LaunchConditions.h"
#include "Codegen/RunPtxas.h"
#include "Target/Card/CardTarget.h"
#include "Target/Plan/Residency.h"
#include "Target/TimeRecords.h"
#include "Tile/TileDialect.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using llvm::createStringError;
using llvm::formatv;

namespace tile::codegen {
namespace {

std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::optional<runtime::DataType> dataTypeOf(Type type, bool isUnsigned) {
  if (isa<Float8E4M3FNType>(type))
    return runtime::DataType::F8E4M3;
  if (isa<Float8E5M2Type>(type))
    return runtime::DataType::F8E5M2;
  std::string name = print(type);
  if (isUnsigned && !name.empty() && name.front() == 'i' && name != "i1")
    name.front() = 'u';
  return runtime::parseDataType(name);
}

std::vector<std::string> textsOf(ArrayRef<StringAttr> list) {
  std::vector<std::string> texts;
  for (StringAttr text : list)
    texts.push_back(text.str());
  return texts;
}

runtime::BufferRole roleOf(BufferRole role) {
  switch (role) {
  case BufferRole::random:
    return runtime::BufferRole::Random;
  case BufferRole::output:
    return runtime::BufferRole::Output;
  case BufferRole::inout:
    return runtime::BufferRole::Inout;
  case BufferRole::zeros:
    return runtime::BufferRole::Zeros;
  }
  llvm_unreachable("unknown role");
}

llvm::Expected<runtime::Parameter> describeParameter(FunctionOpInterface kernel, unsigned index, LaunchAttr launch) {
  runtime::Parameter parameter;
  auto name = kernel.getArgAttrOfType<StringAttr>(index, argNameAttrName);
  parameter.name = name ? name.str() : "arg" + std::to_string(index);
  Type type = kernel.getArgumentTypes()[index];
  Type element = type;
  if (auto pointer = dyn_cast<PtrType>(type)) {
    parameter.isPointer = true;
    element = pointer.getPointee();
  } else if (isa<LLVM::LLVMPointerType>(type)) {
    parameter.isPointer = true;
    element = IntegerType::get(type.getContext(), 8); // the element type is no longer known
  }
  std::optional<runtime::DataType> dataType =
      dataTypeOf(element, kernel.getArgAttr(index, unsignedAttrName) != nullptr);
  if (!dataType)
    return createStringError(formatv("parameter '{0}' has type {1}, which an artifact cannot describe; expected a "
                                     "scalar or a pointer to scalars",
                                     parameter.name, print(type)));
  parameter.type = *dataType;
  if (auto divisor = kernel.getArgAttrOfType<IntegerAttr>(index, divisibilityAttrName))
    (parameter.isPointer ? parameter.alignment : parameter.divisibility) = divisor.getInt();
  if (!launch)
    return parameter;

  if (DefaultAttr value = launch.findDefault(parameter.name))
    parameter.defaultValue = value.getValue().str();
  if (BufferAttr buffer = launch.findBuffer(parameter.name))
    parameter.buffer = {textsOf(buffer.getShape()), textsOf(buffer.getStrides()), roleOf(buffer.getRole())};
  return parameter;
}

bool isHiddenArgument(FunctionOpInterface kernel, unsigned index) {
  return kernel.getArgAttr(index, tensorMapAttrName) || kernel.getArgAttr(index, gridSizeAttrName) ||
         kernel.getArgAttr(index, scratchAttrName);
}

llvm::Expected<runtime::TensorMapSpec> describeTensorMap(TensorMapAttr recipe, const runtime::Manifest &manifest) {
  const runtime::Parameter *parameter = manifest.findParameter(recipe.getBase().getValue());
  if (!parameter)
    return createStringError(
        formatv("the tensor map of '{0}' has no parameter of this name as its base", recipe.getBase().getValue()));
  runtime::TensorMapSpec map{.base = recipe.getBase().str(),
                             .element = parameter->type,
                             .shape = textsOf(recipe.getShape()),
                             .strides = textsOf(recipe.getStrides()),
                             .box = recipe.getBox().vec(),
                             .swizzle = recipe.getSwizzle(),
                             .l2Promotion = recipe.getL2Promotion()};
  if (map.box.empty())
    return createStringError(formatv("the tensor map of '{0}' has no box", map.base));
  if (Type element = recipe.getElement()) {
    std::optional<runtime::DataType> type = dataTypeOf(element, /*isUnsigned=*/false);
    if (!type)
      return createStringError(formatv("the tensor map of '{0}' has elements of type {1}, which an artifact cannot "
                                       "describe",
                                       map.base, print(element)));
    map.element = *type;
  }
  return map;
}

/// Returns the size in bytes of the scratch memory per thread block.
llvm::Expected<int64_t> describeScratch(LLVM::LLVMFuncOp kernel, unsigned index) {
  auto bytes = kernel.getArgAttrOfType<IntegerAttr>(index, scratchAttrName);
  if (Type type = kernel.getArgumentTypes()[index]; !isa<LLVM::LLVMPointerType>(type))
    return createStringError(formatv("the scratch memory of the lowered kernel '{0}' has type {1}; expected a pointer",
                                     kernel.getName(), print(type)));
  return bytes.getInt();
}

/// Describes the hidden arguments that follow the parameters: tensor maps, then either no or all three dimensions of
/// the grid, then scratch memory, if there is any.
llvm::Error describeHiddenArguments(LLVM::LLVMFuncOp kernel, runtime::Manifest &manifest) {
  unsigned index = manifest.parameters.size(), count = kernel.getNumArguments();
  for (; index < count && kernel.getArgAttr(index, tensorMapAttrName); ++index) {
    auto map = describeTensorMap(kernel.getArgAttrOfType<TensorMapAttr>(index, tensorMapAttrName), manifest);
    if (!map)
      return map.takeError();
    manifest.tensorMaps.push_back(std::move(*map));
  }
  unsigned axis = 0;
  for (; axis < 3 && index < count; ++axis, ++index) {
    auto dimension = kernel.getArgAttrOfType<IntegerAttr>(index, gridSizeAttrName);
    if (!dimension || dimension.getInt() != axis)
      break;
  }
  if (axis == 3 && index < count && kernel.getArgAttr(index, scratchAttrName)) {
    llvm::Expected<int64_t> bytes = describeScratch(kernel, index);
    if (!bytes)
      return bytes.takeError();
    manifest.launch.scratchPerCta = *bytes;
    manifest.launch.sharesTails = kernel.getArgAttr(index++, sharesTailsAttrName) != nullptr;
  }
  if (index != count || (axis != 0 && axis != 3))
    return createStringError(formatv("argument {0} of the lowered kernel '{1}' is not the expected parameter, tensor "
                                     "map, grid dimension or scratch memory; expected {2} parameters, tensor maps, "
                                     "and none or three grid dimensions with or without scratch memory",
                                     index, manifest.entry, manifest.parameters.size()));
  manifest.launch.persistent = axis == 3;
  return llvm::Error::success();
}

runtime::ConstantValue describeConstant(Attribute attribute) {
  if (auto flag = dyn_cast<BoolAttr>(attribute))
    return flag.getValue();
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return integer.getValue().getSExtValue();
  if (auto real = dyn_cast<FloatAttr>(attribute))
    return real.getValueAsDouble();
  if (auto text = dyn_cast<StringAttr>(attribute))
    return text.str();
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

/// Adds assumed conditions that the runtime can evaluate, up to its limit; requirements given by directives come first.
void addAssumptions(KernelOp kernel, runtime::Manifest &manifest) {
  std::vector<std::string> &all = manifest.requirements;
  const runtime::ExpressionNames names = runtime::expressionNames(manifest);
  for (std::string &condition : assumedConditions(kernel))
    if (all.size() < runtime::maxRequirements && !llvm::is_contained(all, condition) &&
        runtime::Expression::compile(condition, names))
      all.push_back(std::move(condition));
}

} // namespace

bool isLoweredKernel(FunctionOpInterface function) {
  return isa<LLVM::LLVMFuncOp>(function) && function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
}

llvm::Expected<runtime::Manifest> describeKernel(FunctionOpInterface kernel, const SourceInfo &source) {
  runtime::Manifest manifest;
  manifest.compiler = source.compiler;
  manifest.kernel = kernel.getName().str();
  manifest.entry = manifest.kernel;
  manifest.sourceFile = source.file;
  manifest.sourceHash = source.hash;
  auto kernelOp = dyn_cast<KernelOp>(*kernel);
  LaunchAttr launch;
  DictionaryAttr constants;
  if (kernelOp) {
    manifest.launch.numWarps = kernelOp.getNumWarps();
    launch = kernelOp.getLaunchAttr();
    constants = kernelOp.getConstantsAttr();
  }
  for (unsigned index = 0, count = kernel.getArgumentTypes().size(); index < count; ++index) {
    if (isHiddenArgument(kernel, index))
      continue;
    auto parameter = describeParameter(kernel, index, launch);
    if (!parameter)
      return parameter.takeError();
    manifest.parameters.push_back(std::move(*parameter));
  }
  if (constants)
    for (NamedAttribute constant : constants)
      manifest.constants.emplace_back(constant.getName().str(), describeConstant(constant.getValue()));
  if (launch) {
    manifest.launch.grid = textsOf(launch.getGrid());
    manifest.requirements = textsOf(launch.getRequirements());
    for (ExpectAttr expect : launch.getExpect())
      manifest.expect.push_back(
          {expect.getBuffer().str(), expect.getExpression().str(), expect.getTolerance().getValueAsDouble()});
  }
  if (kernelOp)
    addAssumptions(kernelOp, manifest);
  return manifest;
}

llvm::Error describeLaunch(ModuleOp lowered, const target::GpuTarget &target, runtime::Manifest &manifest) {
  auto kernel = lowered.lookupSymbol<LLVM::LLVMFuncOp>(manifest.entry);
  if (!kernel)
    return createStringError(formatv("the lowered module has no kernel '{0}'", manifest.entry));
  runtime::LaunchInfo &launch = manifest.launch;
  manifest.target = target.name;
  if (target.card)
    manifest.card = target.card->card;
  auto readArray = [&](StringRef name) {
    auto array = kernel->getAttrOfType<DenseI32ArrayAttr>(name);
    return array ? array.asArrayRef() : ArrayRef<int32_t>();
  };
  if (ArrayRef<int32_t> threads = readArray(NVVM::NVVMDialect::getReqntidAttrName()); !threads.empty()) {
    launch.threadsPerCta = 1;
    for (int32_t extent : threads)
      launch.threadsPerCta *= extent;
  }
  if (launch.threadsPerCta == 0)
    return createStringError(
        formatv("kernel '{0}' does not say how many threads run it (nvvm.reqntid)", manifest.entry));
  launch.numWarps = llvm::divideCeil(launch.threadsPerCta, target::threadsPerWarp);
  for (auto [index, extent] : llvm::enumerate(readArray(NVVM::NVVMDialect::getClusterDimAttrName())))
    if (index < 3)
      launch.cluster[index] = extent;
  for (auto [index, extent] : llvm::enumerate(readArray(programsPerClusterAttrName)))
    if (index < 3)
      launch.programsPerCluster[index] = extent;
  launch.pdl = kernel->hasAttr(pdlAttrName);
  if (auto bytes = kernel->getAttrOfType<IntegerAttr>(sharedBytesAttrName))
    launch.sharedDynamic = bytes.getInt();
  if (launch.sharedDynamic > target.maxSharedPerCta)
    return createStringError(formatv("kernel '{0}' needs {1} bytes of shared memory, but {2} has {3} per block",
                                     manifest.entry, launch.sharedDynamic, StringRef(target.name),
                                     target.maxSharedPerCta));
  // A persistent kernel runs at most the number of CTAs per multiprocessor for which it was compiled.
  if (auto ctas = kernel->getAttrOfType<IntegerAttr>(NVVM::NVVMDialect::getMinctasmAttrName())) {
    target::Residency held =
        target::planResidency(target, {.threads = launch.threadsPerCta, .sharedBytes = launch.sharedDynamic});
    launch.ctasPerSm = std::clamp<int64_t>(held.byShared, 1, ctas.getInt());
  }
  return describeHiddenArguments(kernel, manifest);
}

void describeTimes(runtime::Manifest &manifest) {
  runtime::Parameter times;
  times.name = target::timesName;
  times.type = runtime::DataType::I64;
  times.isPointer = true;
  times.alignment = target::timeBytes;                                          // a record is stored in one access
  const int64_t warps = manifest.launch.threadsPerCta / target::threadsPerWarp; // 0: unknown so far
  times.buffer = {{std::to_string(target::timedCtas), std::to_string(target::timesPerCta(warps)), "2"},
                  {},
                  runtime::BufferRole::Zeros};
  if (manifest.findParameter(times.name))
    manifest.parameters.pop_back();
  manifest.parameters.push_back(std::move(times));
}

void describeResources(const KernelResources &resources, const target::GpuTarget &target, runtime::Manifest &manifest) {
  runtime::LaunchInfo &launch = manifest.launch;
  launch.registers = resources.registers;
  launch.spillBytes = resources.spillStores;
  launch.sharedStatic = resources.staticShared;
  // A multiprocessor runs only one CTA of a cluster kernel, since the CTAs of a cluster must be co-scheduled.
  if (launch.persistent && launch.cluster[0] == 1)
    launch.ctasPerSm =
        std::max<int64_t>(target::planResidency(target, {.threads = launch.threadsPerCta,
                                                         .registers = launch.registers,
                                                         .sharedBytes = launch.sharedStatic + launch.sharedDynamic})
                              .ctas(),
                          1);
}

} // namespace tile::codegen
