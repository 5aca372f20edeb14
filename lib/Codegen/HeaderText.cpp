// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns names of kernels and parameters into C identifiers that collide with no keyword or local name.
#include "Codegen/HeaderText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using llvm::formatv;
using llvm::StringRef;

namespace tile::codegen {
namespace {

/// Returns true for keywords of C and C++, and for names that generated functions use themselves.
bool isReserved(StringRef name) {
  static constexpr StringRef words[] = {"alignas",     "alignof",      "and",          "and_eq",
                                        "arguments",   "asm",          "auto",         "bitand",
                                        "bitor",       "bool",         "break",        "bytes",
                                        "case",        "catch",        "char",         "class",
                                        "compl",       "const",        "constexpr",    "continue",
                                        "decltype",    "default",      "delete",       "do",
                                        "double",      "else",         "enum",         "explicit",
                                        "export",      "extern",       "false",        "float",
                                        "for",         "friend",       "goto",         "if",
                                        "inline",      "int",          "kernel",       "kernels",
                                        "long",        "mutable",      "namespace",    "new",
                                        "noexcept",    "not",          "not_eq",       "nullptr",
                                        "operator",    "options",      "or",           "or_eq",
                                        "private",     "protected",    "public",       "register",
                                        "restrict",    "return",       "runtime",      "short",
                                        "signed",      "sizeof",       "static",       "stream",
                                        "struct",      "switch",       "template",     "this",
                                        "throw",       "true",         "try",          "typedef",
                                        "typeid",      "typename",     "typeof",       "union",
                                        "unsigned",    "using",        "virtual",      "void",
                                        "volatile",    "wchar_t",      "while",        "xor",
                                        "xor_eq",      "NULL",         "thread_local", "static_assert",
                                        "static_cast", "dynamic_cast", "const_cast",   "reinterpret_cast",
                                        "char16_t",    "char32_t"};
  // A name that starts with `tile_` could hide tile_launch and others; names like _Bool and __x are reserved in C.
  bool isOfImplementation = name.size() > 1 && name[0] == '_' && (name[1] == '_' || llvm::isUpper(name[1]));
  return llvm::is_contained(words, name) || isOfImplementation || name.starts_with("tile_");
}

/// Returns the condition under which an int64_t does not fit into the parameter's type; empty if it always fits.
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

/// Describes the requirements for a parameter that is accessed through a tensor map (cuTensorMapEncodeTiled).
std::string describeTensorMap(const runtime::TensorMapSpec &map, StringRef name) {
  std::string text = formatv("   {0}: accessed by TMA; its address", name);
  if (!map.strides.empty())
    text += formatv(" and its strides in bytes ({0} times {1})", llvm::join(map.strides, ", "),
                    runtime::dataTypeSize(map.element));
  return text + " must be multiples of 16\n";
}

/// The names that a kernel's header has declared so far, without the kernel's prefix.
class DeclaredNames {
public:
  DeclaredNames() { used.insert("load"), used.insert("launch"), used.insert("artifact"); }
  std::string add(std::string name) {
    while (!used.insert(name).second)
      name += '_';
    return name;
  }

private:
  llvm::StringSet<> used;
};

/// Emits the constants that all variants have in common.
void emitConstants(llvm::raw_ostream &os, llvm::ArrayRef<runtime::Manifest> variants, StringRef kernel,
                   DeclaredNames &names) {
  std::string text;
  for (const auto &[name, value] : variants.front().constants) {
    bool isShared = llvm::all_of(variants, [&, constant = std::pair(name, value)](const runtime::Manifest &variant) {
      return llvm::is_contained(variant.constants, constant);
    });
    const int64_t *integer = std::get_if<int64_t>(&value);
    const bool *flag = std::get_if<bool>(&value);
    const double *real = std::get_if<double>(&value);
    if (!isShared || name.empty() || (real && !std::isfinite(*real)) || std::holds_alternative<std::string>(value))
      continue;
    std::string spelled = (kernel + "_" + names.add(identifier(name))).str();
    if (flag || (integer && llvm::isInt<32>(*integer) && *integer != INT32_MIN))
      text += formatv("enum {{ {0} = {1} };\n", spelled, flag ? int64_t(*flag) : *integer);
    else if (integer)
      text += formatv("static const int64_t {0} = {1};\n", spelled,
                      *integer == INT64_MIN ? "INT64_MIN" : formatv("INT64_C({0})", *integer).str());
    else
      text += formatv("static const double {0} = {1};\n", spelled, llvm::format("%.17g", *real));
  }
  if (!text.empty())
    os << "/* Compile-time parameters of " << kernel << ". */\n" << text << '\n';
}

/// Returns true if the word occurs in any of the expressions.
bool mentions(llvm::ArrayRef<std::string> expressions, StringRef word) {
  auto isPart = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  for (StringRef text : expressions)
    for (size_t at = text.find(word); at != StringRef::npos; at = text.find(word, at + 1))
      if ((at == 0 || !isPart(text[at - 1])) && (at + word.size() == text.size() || !isPart(text[at + word.size()])))
        return true;
  return false;
}

/// Emits `tile_status KERNEL_BUFFER_bytes(kernel, M, ..., &bytes)`, which takes the integers on which the size depends.
void emitBufferBytes(llvm::raw_ostream &os, const runtime::Manifest &manifest, StringRef kernel, size_t index,
                     DeclaredNames &declared) {
  const runtime::BufferSpec &buffer = *manifest.parameters[index].buffer;
  std::vector<std::string> names = parameterNames(manifest), expressions = buffer.shape;
  llvm::append_range(expressions, buffer.strides);
  bool usesSms = mentions(expressions, "num_sms") && !manifest.findParameter("num_sms");
  std::string declarations = usesSms ? ", int num_sms" : "", body;
  for (auto [position, parameter, name] : llvm::enumerate(manifest.parameters, names)) {
    bool isUsed = parameter.isInteger() && mentions(expressions, parameter.name);
    if (isUsed) {
      declarations += formatv(", {0}{1}", cType(parameter), name).str();
      if (std::string overflow = describeOverflow(parameter, name); !overflow.empty())
        body +=
            formatv("  if ({0})\n    return tile_check_integer(kernel, {1}, {2});\n", overflow, position, name).str();
    }
    body += formatv("  arguments[{0}] = &{1};\n", position, isUsed ? StringRef(name) : "tile_unused").str();
  }
  os << "/* Computes the bytes of " << names[index] << ": [" << commentText(llvm::join(buffer.shape, ", "))
     << (buffer.strides.empty() ? "" : "] with strides [") << commentText(llvm::join(buffer.strides, ", ")) << "] of "
     << runtime::dataTypeName(manifest.parameters[index].type) << ". */\n"
     << "static inline tile_status " << kernel << '_' << declared.add(names[index] + "_bytes")
     << "(const tile_kernel *kernel" << declarations << ", size_t *bytes) {\n"
     << "  uint64_t tile_unused = 0;\n"
     << "  void *arguments[" << names.size() << "];\n"
     << body << "  return tile_kernel_buffer_bytes(kernel, " << index << ", arguments, " << names.size() << ", "
     << (usesSms ? "num_sms" : "0") << ", bytes);\n"
     << "}\n";
}

void emitLaunch(llvm::raw_ostream &os, const runtime::Manifest &manifest, StringRef kernel) {
  std::vector<std::string> names = parameterNames(manifest);
  std::string declarations, comments;
  for (auto [parameter, name] : llvm::zip(manifest.parameters, names)) {
    declarations += formatv(", {0}{1}", cType(parameter), name).str();
    comments += describeParameter(parameter, name);
  }
  for (const runtime::TensorMapSpec &map : manifest.tensorMaps) {
    // Several tensor maps of one tensor have the same requirements.
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
    // Little endian, so this also works for narrower integers.
    os << "  arguments[" << index << "] = &" << name << ";\n";
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

std::string commentText(StringRef text) {
  std::string result;
  for (char c : text)
    result += result.ends_with('*') && c == '/' ? std::string(" /") : std::string(1, c);
  return result;
}

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

std::string describeTargets(llvm::ArrayRef<runtime::Manifest> variants) {
  llvm::SmallVector<StringRef> targets;
  for (const runtime::Manifest &variant : variants)
    if (!llvm::is_contained(targets, StringRef(variant.target)))
      targets.push_back(variant.target);
  return llvm::join(targets, ", ");
}

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

void emitBytes(llvm::raw_ostream &os, StringRef bytes) {
  for (size_t start = 0; start < bytes.size(); start += 20) {
    os << "   ";
    for (unsigned char byte : bytes.substr(start, 20))
      os << ' ' << unsigned(byte) << ',';
    os << '\n';
  }
}

void emitKernel(llvm::raw_ostream &os, llvm::ArrayRef<runtime::Manifest> variants, StringRef kernel) {
  const runtime::Manifest &manifest = variants.front();
  DeclaredNames names;
  emitConstants(os, variants, kernel, names);
  emitLaunch(os, manifest, kernel);
  for (auto [index, parameter] : llvm::enumerate(manifest.parameters)) {
    if (!parameter.isPointer || !parameter.buffer || parameter.buffer->shape.empty())
      continue;
    os << '\n';
    emitBufferBytes(os, manifest, kernel, index, names);
  }
}

} // namespace tile::codegen
