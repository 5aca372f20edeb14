// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes the manifest as JSON. Unknown keys, which a newer compiler may add within schema 1, are ignored. A
// wrong type or a missing required key is an error that contains the path of the key.
#include "Runtime/CostJson.h"
#include "Runtime/JsonReader.h"
#include "Runtime/Manifest.h"

#include <algorithm>
#include <cmath>

namespace tile::runtime {
namespace {

BufferSpec readBuffer(const Json &json, const std::string &path, std::optional<Error> &error) {
  const ObjectReader reader(json, path, error);
  BufferSpec buffer;
  buffer.shape = reader.strings("shape", true);
  buffer.strides = reader.strings("strides");
  const std::string role = reader.find("role") ? reader.string("role") : "random";
  for (BufferRole candidate : {BufferRole::Random, BufferRole::Output, BufferRole::Inout, BufferRole::Zeros})
    if (bufferRoleName(candidate) == role) {
      buffer.role = candidate;
      return buffer;
    }
  reader.fail(reader.pathOf("role"), fmt::format("unknown role '{}'; expected random, output, inout or zeros", role));
  return buffer;
}

Parameter readParameter(const Json &json, const std::string &path, std::optional<Error> &error) {
  const ObjectReader reader(json, path, error);
  Parameter parameter;
  parameter.name = reader.string("name", true);
  const std::string type = reader.string("type", true);
  std::string_view element = type;
  if (element.starts_with("ptr<") && element.ends_with(">")) {
    parameter.isPointer = true;
    element = element.substr(4, element.size() - 5);
  }
  if (std::optional<DataType> parsed = parseDataType(element))
    parameter.type = *parsed;
  else
    reader.fail(reader.pathOf("type"), fmt::format("unknown type '{}'", type));
  parameter.alignment = reader.integer("alignment", 1);
  parameter.divisibility = reader.integer("divisibility", 1);
  if (const Json *value = reader.find("default")) {
    if (value->is_string())
      parameter.defaultValue = value->get<std::string>();
    else if (value->is_number())
      parameter.defaultValue = value->dump();
    else
      reader.fail(reader.pathOf("default"), "expected an expression");
  }
  if (const Json *value = reader.find("buffer"); value && !value->is_null())
    parameter.buffer = readBuffer(*value, reader.pathOf("buffer"), error);
  return parameter;
}

TensorMapSpec readTensorMap(const Json &json, const std::string &path, std::optional<Error> &error) {
  const ObjectReader reader(json, path, error);
  TensorMapSpec map;
  map.base = reader.string("base", true);
  const std::string element = reader.string("element", true);
  if (std::optional<DataType> parsed = parseDataType(element))
    map.element = *parsed;
  else
    reader.fail(reader.pathOf("element"), fmt::format("unknown type '{}'", element));
  map.shape = reader.strings("shape", true);
  map.strides = reader.strings("strides");
  map.box = reader.integers("box");
  map.swizzle = reader.integer("swizzle", 0);
  map.l2Promotion = reader.integer("l2_promotion", map.l2Promotion);
  return map;
}

/// Reads a list of three integers, which may be absent.
void readExtents(const ObjectReader &reader, const char *name, int64_t (&extents)[3]) {
  const Json *list = reader.find(name);
  if (!list)
    return;
  const bool isList =
      list->is_array() && list->size() == 3 &&
      std::all_of(list->begin(), list->end(), [](const Json &item) { return integerOf(item).has_value(); });
  if (isList)
    for (size_t i = 0; i < 3; ++i)
      extents[i] = (*list)[i].get<int64_t>();
  else
    reader.fail(reader.pathOf(name), "expected a list of three integers");
}

LaunchInfo readLaunch(const Json &json, std::optional<Error> &error) {
  const ObjectReader reader(json, "launch", error);
  LaunchInfo launch;
  launch.threadsPerCta = reader.integer("threads_per_cta", 0, true);
  launch.numWarps = reader.integer("num_warps", launch.threadsPerCta / 32 + (launch.threadsPerCta % 32 != 0));
  launch.sharedStatic = reader.integer("shared_static", 0);
  launch.sharedDynamic = reader.integer("shared_dynamic", 0);
  launch.registers = reader.integer("registers", 0);
  launch.spillBytes = reader.integer("spill_bytes", 0);
  launch.grid = reader.strings("grid");
  launch.pdl = reader.boolean("pdl");
  launch.cooperative = reader.boolean("cooperative");
  launch.persistent = reader.boolean("persistent");
  launch.ctasPerSm = reader.integer("ctas_per_sm", 1);
  launch.scratchPerCta = reader.integer("scratch_per_cta", 0);
  launch.sharesTails = reader.boolean("shares_tails", launch.scratchPerCta > 0);
  readExtents(reader, "cluster", launch.cluster);
  readExtents(reader, "programs_per_cluster", launch.programsPerCluster);
  return launch;
}

void readConstants(const Json &json, Manifest &manifest, const ObjectReader &reader) {
  if (!json.is_object())
    return reader.fail("constants", "expected an object");
  for (const auto &[name, value] : json.items()) {
    if (value.is_boolean())
      manifest.constants.emplace_back(name, value.get<bool>());
    else if (const std::optional<int64_t> integer = integerOf(value))
      manifest.constants.emplace_back(name, *integer);
    else if (value.is_number())
      manifest.constants.emplace_back(name, value.get<double>());
    else
      manifest.constants.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
  }
}

/// Doubles keep their JSON form. Infinities and NaN, which JSON lacks, become strings.
Json constantJson(const ConstantValue &value) {
  if (const double *number = std::get_if<double>(&value); number && !std::isfinite(*number))
    return Json(fmt::format("{}", *number));
  return std::visit([](const auto &alternative) { return Json(alternative); }, value);
}

Json parameterJson(const Parameter &parameter) {
  Json json = {{"name", parameter.name}, {"type", parameter.typeName()}};
  if (parameter.isPointer)
    json["alignment"] = parameter.alignment;
  else if (parameter.isInteger())
    json["divisibility"] = parameter.divisibility;
  if (parameter.defaultValue)
    json["default"] = *parameter.defaultValue;
  if (parameter.buffer) {
    Json buffer = {{"shape", parameter.buffer->shape}};
    if (!parameter.buffer->strides.empty())
      buffer["strides"] = parameter.buffer->strides;
    buffer["role"] = bufferRoleName(parameter.buffer->role);
    json["buffer"] = std::move(buffer);
  }
  return json;
}

Json tensorMapJson(const TensorMapSpec &map) {
  return {{"base", map.base},
          {"element", dataTypeName(map.element)},
          {"shape", map.shape},
          {"strides", map.strides},
          {"box", map.box},
          {"swizzle", map.swizzle},
          {"l2_promotion", map.l2Promotion}};
}

Order readOrder(const Json &json, std::optional<Error> &error) {
  const ObjectReader reader(json, "order", error);
  Order order;
  order.value = reader.string("value");
  order.program = reader.string("program");
  order.steps = reader.string("steps");
  order.arithmetic = reader.string("arithmetic");
  order.list = reader.strings("list");
  order.unknown = reader.strings("unknown");
  if (!order.value.empty() && !order.unknown.empty())
    reader.fail(reader.pathOf("value"), "is given, but order.unknown is not empty");
  return order;
}

Json orderJson(const Order &order) {
  Json json = Json::object();
  for (const auto &[key, hash] : {std::pair("value", &order.value), std::pair("program", &order.program),
                                  std::pair("steps", &order.steps), std::pair("arithmetic", &order.arithmetic)})
    if (!hash->empty())
      json[key] = *hash;
  if (!order.list.empty())
    json["list"] = order.list;
  if (!order.unknown.empty())
    json["unknown"] = order.unknown;
  return json;
}

/// Puts each list of scalars in pretty-printed JSON on one line: `"box": [128, 64]`.
std::string joinPlainLists(std::string_view text) {
  std::string result;
  bool inString = false;
  size_t list = std::string::npos; // start of the innermost list in `result`, while it has only scalars
  std::string joined;              // the list without white space
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inString && c == '\\') { // an escaped quote does not end the string
      result.append(text.substr(i, 2));
      joined.append(text.substr(i++, 2));
      continue;
    }
    inString ^= c == '"';
    result += c;
    if (inString || c == '"') {
      joined += c;
    } else if (c == '[') {
      list = result.size() - 1;
      joined = "[";
    } else if (c == '{') {
      list = std::string::npos;
    } else if (c == ']' && list != std::string::npos) {
      result.replace(list, std::string::npos, joined + "]");
      list = std::string::npos;
    } else if (c != ' ' && c != '\n') {
      joined += c == ',' ? ", " : std::string(1, c);
    }
  }
  return result;
}

} // namespace

Result<Manifest> parseManifest(std::string_view text) {
  const Json json = parseJson(text);
  if (json.is_discarded())
    return makeError(TILE_ERROR_MANIFEST, "manifest: not valid JSON, or nested too deeply or too large ({} bytes)",
                     text.size());
  std::optional<Error> error;
  const ObjectReader reader(json, "", error);
  // Check the versions first: nothing else of an unknown schema can be trusted.
  if (const int64_t schema = reader.integer("schema", 0, true); !error && schema != manifestSchema)
    return makeError(TILE_ERROR_MANIFEST, "manifest: schema {} is unknown; this version reads schema {}", schema,
                     manifestSchema);
  if (const int64_t abi = reader.integer("abi_version", 0, true); !error && abi != TILE_ABI_VERSION)
    return makeError(TILE_ERROR_MANIFEST, "manifest: abi_version {} is unknown; this version launches abi_version {}",
                     abi, TILE_ABI_VERSION);
  Manifest manifest;
  manifest.compiler = reader.string("compiler");
  manifest.entry = reader.string("entry", true);
  manifest.kernel = reader.find("kernel") ? reader.string("kernel") : manifest.entry;
  manifest.target = reader.string("target");
  manifest.format = reader.string("format");
  if (reader.find("card")) {
    target::CardResult card = target::parseCard(reader.string("card"));
    if (card.card)
      manifest.card = std::move(card.card);
    else
      reader.fail("card", card.error);
  }
  if (const Json *source = reader.find("source")) {
    const ObjectReader sourceReader(*source, "source", error);
    manifest.sourceFile = sourceReader.string("file");
    manifest.sourceHash = sourceReader.string("hash");
  }
  reader.forEach("parameters", [&](const Json &element, const std::string &path) {
    manifest.parameters.push_back(readParameter(element, path, error));
  });
  reader.forEach("tensor_maps", [&](const Json &element, const std::string &path) {
    manifest.tensorMaps.push_back(readTensorMap(element, path, error));
  });
  if (const Json *constants = reader.find("constants"))
    readConstants(*constants, manifest, reader);
  if (const Json *launch = reader.find("launch"))
    manifest.launch = readLaunch(*launch, error);
  else
    reader.fail("launch", "is missing");
  reader.forEach("expect", [&](const Json &element, const std::string &path) {
    const ObjectReader item(element, path, error);
    manifest.expect.push_back({item.string("buffer", true), item.string("expression", true), item.number("tolerance")});
  });
  manifest.requirements = reader.strings("requires");
  manifest.variant = reader.string("variant");
  manifest.isFallback = reader.boolean("fallback");
  manifest.isAlternative = reader.boolean("alternative");
  if (const Json *cost = reader.find("cost")) {
    manifest.cost = readCost(*cost, error);
    manifest.programs = readPrograms(*cost, error);
  }
  if (const Json *order = reader.find("order"))
    manifest.order = readOrder(*order, error);
  if (error)
    return withContext("manifest", *error);
  if (Status status = validate(manifest); !status)
    return status.error();
  return manifest;
}

std::string toJson(const Manifest &manifest, int indent) {
  const LaunchInfo &launch = manifest.launch;
  Json json = {
      {"schema", manifestSchema},      {"abi_version", TILE_ABI_VERSION},
      {"compiler", manifest.compiler}, {"kernel", manifest.kernel},
      {"entry", manifest.entry},       {"source", {{"file", manifest.sourceFile}, {"hash", manifest.sourceHash}}},
      {"target", manifest.target},     {"format", manifest.format}};
  if (manifest.card) {
    target::Card card = *manifest.card;
    card.notes.clear();
    json["card"] = target::printCard(card);
  }
  if (!manifest.variant.empty())
    json["variant"] = manifest.variant;
  if (manifest.isFallback)
    json["fallback"] = true;
  if (manifest.isAlternative)
    json["alternative"] = true;
  json["parameters"] = Json::array();
  for (const Parameter &parameter : manifest.parameters)
    json["parameters"].push_back(parameterJson(parameter));
  for (const TensorMapSpec &map : manifest.tensorMaps)
    json["tensor_maps"].push_back(tensorMapJson(map));
  json["constants"] = Json::object();
  for (const auto &[name, value] : manifest.constants)
    json["constants"][name] = constantJson(value);
  Json launchJson = {{"threads_per_cta", launch.threadsPerCta},
                     {"num_warps", launch.numWarps},
                     {"cluster", Json::array({launch.cluster[0], launch.cluster[1], launch.cluster[2]})},
                     {"shared_static", launch.sharedStatic},
                     {"shared_dynamic", launch.sharedDynamic},
                     {"registers", launch.registers},
                     {"spill_bytes", launch.spillBytes}};
  if (!launch.grid.empty())
    launchJson["grid"] = launch.grid;
  launchJson["pdl"] = launch.pdl;
  launchJson["cooperative"] = launch.cooperative;
  if (launch.persistent) {
    launchJson["persistent"] = true;
    launchJson["ctas_per_sm"] = launch.ctasPerSm;
  }
  if (launch.programsPerCluster[0] != 0)
    launchJson["programs_per_cluster"] =
        Json::array({launch.programsPerCluster[0], launch.programsPerCluster[1], launch.programsPerCluster[2]});
  if (launch.scratchPerCta > 0) {
    launchJson["scratch_per_cta"] = launch.scratchPerCta;
    launchJson["shares_tails"] = launch.sharesTails;
  }
  json["launch"] = std::move(launchJson);
  if (!manifest.requirements.empty())
    json["requires"] = manifest.requirements;
  if (manifest.cost)
    json["cost"] = costJson(*manifest.cost);
  else if (manifest.programs)
    json["cost"] = costJson(*manifest.programs);
  for (const Expectation &expectation : manifest.expect)
    json["expect"].push_back(
        {{"buffer", expectation.buffer}, {"expression", expectation.expression}, {"tolerance", expectation.tolerance}});
  if (manifest.order.isRecorded())
    json["order"] = orderJson(manifest.order);
  // Replaces text that is not UTF-8 (a file name, for example) instead of rejecting it.
  const std::string text = json.dump(indent, ' ', false, Json::error_handler_t::replace);
  return indent < 0 ? text : joinPlainLists(text);
}

} // namespace tile::runtime
