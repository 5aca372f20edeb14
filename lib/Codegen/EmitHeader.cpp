// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The generated header. Names of kernels and parameters become C identifiers that collide with no keyword or local
// name.
#include "Codegen/EmitHeader.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using llvm::formatv;
using llvm::StringRef;

namespace tile::codegen {
namespace {

/// Keywords of C and C++, and the names that the generated functions use themselves.
bool isReserved(StringRef name) {
  static constexpr StringRef words[] = {
      "alignas",      "alignof",       "and",         "and_eq",       "arguments",  "asm",
      "auto",         "bitand",        "bitor",       "bool",         "break",      "case",
      "catch",        "char",          "class",       "compl",        "const",      "constexpr",
      "continue",     "decltype",      "default",     "delete",       "do",         "double",
      "else",         "enum",          "explicit",    "export",       "extern",     "false",
      "float",        "for",           "friend",      "goto",         "if",         "inline",
      "int",          "kernel",        "long",        "mutable",      "namespace",  "new",
      "noexcept",     "not",           "not_eq",      "nullptr",      "operator",   "options",
      "or",           "or_eq",         "private",     "protected",    "public",     "register",
      "restrict",     "return",        "runtime",     "short",        "signed",     "sizeof",
      "static",       "stream",        "struct",      "switch",       "template",   "this",
      "throw",        "true",          "try",         "typedef",      "typeid",     "typename",
      "typeof",       "union",         "unsigned",    "using",        "virtual",    "void",
      "volatile",     "wchar_t",       "while",       "xor",          "xor_eq",     "NULL",
      "thread_local", "static_assert", "static_cast", "dynamic_cast", "const_cast", "reinterpret_cast",
      "char16_t",     "char32_t"};
  // `tile_` names would hide tile_launch and others; names like _Bool and __x are reserved in C.
  bool isOfImplementation = name.size() > 1 && name[0] == '_' && (name[1] == '_' || llvm::isUpper(name[1]));
  return llvm::is_contained(words, name) || isOfImplementation || name.starts_with("tile_");
}

std::string identifier(StringRef name) {
  std::string result;
  for (char c : name)
    result += llvm::isAlnum(c) || c == '_' ? c : '_';
  if (result.empty() || llvm::isDigit(result.front()))
    result.insert(result.begin(), '_');
  return isReserved(result) ? result + "_" : result;
}

StringRef cType(const runtime::Parameter &parameter) {
  if (parameter.isPointer)
    return parameter.buffer && parameter.buffer->role == runtime::BufferRole::Random ? "const void *" : "void *";
  return llvm::StringSwitch<StringRef>(parameter.typeName())
      .Case("u64", "uint64_t ")
      .Case("f16", "tile_f16 ")
      .Case("bf16", "tile_bf16 ")
      .Case("f32", "float ")
      .Case("f64", "double ")
      .Default("int64_t "); // values that do not fit a narrower integer are rejected, not truncated
}

/// Returns the condition under which an int64_t does not fit the parameter's type; empty if it always fits.
std::string describeOverflow(const runtime::Parameter &parameter, StringRef name) {
  if (!parameter.isInteger() || runtime::dataTypeSize(parameter.type) == sizeof(int64_t))
    return "";
  runtime::IntegerRange range = runtime::integerRange(parameter.type);
  return formatv("{0} < {1} || {0} > {2}", name, int64_t(range.lowest), int64_t(range.highest));
}

std::string describeParameter(const runtime::Parameter &parameter, StringRef name) {
  std::string text = formatv("   {0}: {1}", name, parameter.typeName());
  if (parameter.alignment > 1)
    text += formatv(", address a multiple of {0} bytes", parameter.alignment).str();
  if (parameter.divisibility > 1)
    text += formatv(", a multiple of {0}", parameter.divisibility).str();
  if (parameter.buffer)
    text += formatv(", [{0}]", llvm::join(parameter.buffer->shape, ", ")).str();
  if (!parameter.isPointer && (parameter.typeName() == "f16" || parameter.typeName() == "bf16"))
    text += formatv(", tile_{0}_from(number)", parameter.typeName());
  return text + "\n";
}

/// Describes the launch requirements of a parameter that is accessed through a tensor map (cuTensorMapEncodeTiled).
std::string describeTensorMap(const runtime::TensorMapSpec &map, StringRef name) {
  std::string text = formatv("   {0}: accessed by TMA; its address", name);
  if (!map.strides.empty())
    text += formatv(" and its strides in bytes ({0} times {1})", llvm::join(map.strides, ", "),
                    runtime::dataTypeSize(map.element));
  return text + " must be multiples of 16\n";
}

/// Returns a list of targets: "sm_80, sm_90a".
std::string describeTargets(llvm::ArrayRef<runtime::Manifest> variants) {
  llvm::SmallVector<StringRef> targets;
  for (const runtime::Manifest &variant : variants)
    if (!llvm::is_contained(targets, StringRef(variant.target)))
      targets.push_back(variant.target);
  return llvm::join(targets, ", ");
}

/// Returns a comment that lists the variants of the artifact; empty for a single kernel.
std::string describeVariants(llvm::ArrayRef<runtime::Manifest> variants) {
  if (variants.size() == 1)
    return "";
  std::string text = formatv("/* A launch picks the variant that is expected to be the fastest for its arguments "
                             "among these {0}:\n",
                             variants.size());
  for (const runtime::Manifest &variant : variants)
    text += formatv("   {0} for {1}\n", variant.variant, variant.target);
  return text + "*/\n";
}

/// Escapes the end of a comment, which a directive or a file name may contain.
std::string commentText(StringRef text) {
  std::string result;
  for (char c : text)
    result += result.ends_with('*') && c == '/' ? std::string(" /") : std::string(1, c);
  return result;
}

void emitBytes(llvm::raw_ostream &os, StringRef bytes) {
  for (size_t start = 0; start < bytes.size(); start += 20) {
    os << "   ";
    for (unsigned char byte : bytes.substr(start, 20))
      os << ' ' << unsigned(byte) << ',';
    os << '\n';
  }
}

/// Returns distinct C identifiers for the parameters.
std::vector<std::string> parameterNames(const runtime::Manifest &manifest) {
  std::vector<std::string> names;
  llvm::StringSet<> used;
  for (const runtime::Parameter &parameter : manifest.parameters) {
    std::string name = identifier(parameter.name);
    while (!used.insert(name).second)
      name += '_';
    names.push_back(name);
  }
  return names;
}

void emitLaunch(llvm::raw_ostream &os, const runtime::Manifest &manifest, StringRef kernel) {
  std::vector<std::string> names = parameterNames(manifest);
  std::string declarations, comments;
  for (auto [parameter, name] : llvm::zip(manifest.parameters, names)) {
    declarations += formatv(", {0}{1}", cType(parameter), name).str();
    comments += describeParameter(parameter, name);
  }
  for (const runtime::TensorMapSpec &map : manifest.tensorMaps) {
    // Several maps of one tensor have the same requirements.
    std::string text = describeTensorMap(map, names[manifest.findParameter(map.base) - manifest.parameters.data()]);
    if (!StringRef(comments).contains(text))
      comments += text;
  }
  os << "/* Launches in the current context; `stream` is a CUstream.\n"
     << commentText(comments) << "   Pointers are device addresses; a CUdeviceptr is cast to one. */\n"
     << "static inline tile_status " << kernel << "_launch(tile_kernel *kernel, void *stream" << declarations << ") {\n"
     << "  tile_launch_options options;\n";
  if (names.empty())
    os << "  void *const *arguments = NULL;\n";
  else
    os << "  void *arguments[" << names.size() << "];\n";
  for (auto [index, parameter, name] : llvm::enumerate(manifest.parameters, names)) {
    if (std::string overflow = describeOverflow(parameter, name); !overflow.empty())
      os << "  if (" << overflow << ")\n    return tile_check_integer(kernel, " << index << ", " << name << ");\n";
    os << "  arguments[" << index << "] = &" << name << ";\n"; // little endian: the argument is the low bytes
  }
  os << "  options.stream = stream;\n"
     << "  options.grid = NULL;\n"
     << "  options.scratch = NULL;\n"
     << "  options.scratch_bytes = 0;\n"
     << "  options.overlap = 0;\n"
     << "  return tile_launch(kernel, &options, arguments, " << names.size() << ");\n"
     << "}\n";
}

} // namespace

std::string emitHeader(llvm::ArrayRef<runtime::Manifest> variants, StringRef artifact, StringRef name) {
  const runtime::Manifest &manifest = variants.front();
  std::string text;
  llvm::raw_string_ostream os(text);
  std::string kernel = identifier(name.empty() ? StringRef(manifest.kernel) : name);
  std::string guard = "TILE_KERNEL_" + kernel + "_H";
  std::string version = formatv("{0:x16}u", llvm::xxh3_64bits(artifact));
  os << "/* " << commentText(manifest.kernel) << " for " << describeTargets(variants) << ", generated by "
     << manifest.compiler << " from " << commentText(manifest.sourceFile) << ". Do not edit. */\n"
     << "#if defined(" << guard << ") && " << guard << " != " << version << "\n"
     << "#error \"another header declares " << kernel << "_load and " << kernel
     << "_launch for another artifact; give one of the two another name: --header-name of tilec, NAME of "
        "tile_add_kernel\"\n#endif\n"
     << "#ifndef " << guard << "\n#define " << guard << " " << version << "\n\n"
     << "#include \"tile/tilert.h\"\n\n"
     << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
     << "static const unsigned char " << kernel << "_artifact[" << artifact.size() << "] = {\n";
  emitBytes(os, artifact);
  os << "};\n\n"
     << describeVariants(variants) << "/* Call tile_kernel_destroy when the kernel is no longer needed. */\n"
     << "static inline tile_status " << kernel << "_load(tile_runtime *runtime, tile_kernel **kernel) {\n"
     << "  return tile_kernel_load_memory(runtime, " << kernel << "_artifact, sizeof " << kernel
     << "_artifact, kernel);\n"
     << "}\n\n";
  emitLaunch(os, manifest, kernel);
  os << "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
  return text;
}

} // namespace tile::codegen
