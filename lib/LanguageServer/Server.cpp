// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dispatches messages to documents. One thread answers all messages in order, so diagnostics always belong to the
// document version that they state.
#include "LanguageServer/Server.h"

#include "Driver/OutputFile.h"
#include "Format/Format.h"
#include "LanguageServer/Help.h"
#include "LanguageServer/Names.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/LSP/Protocol.h"

namespace tile::lsp {

namespace {

/// The raw parameters of a message. Only members that are accessed are parsed, and any of them may be missing.
struct Message {
  llvm::json::Object fields;

  llvm::StringRef uri() const {
    const llvm::json::Object *document = fields.getObject("textDocument");
    return document ? document->getString("uri").value_or("") : "";
  }
};

bool fromJSON(const llvm::json::Value &value, Message &message, llvm::json::Path) {
  if (const llvm::json::Object *object = value.getAsObject())
    message.fields = *object;
  return true;
}

/// Returns the path of a file URI; for other schemes ("untitled:"), returns the whole URI.
std::string pathOf(llvm::StringRef uri) {
  llvm::Expected<llvm::lsp::URIForFile> file = llvm::lsp::URIForFile::fromURI(uri);
  if (file)
    return file->file().str();
  llvm::consumeError(file.takeError());
  return uri.str();
}

using Reply = llvm::lsp::Callback<llvm::json::Value>;

class Server {
public:
  Server(llvm::lsp::MessageHandler &handler, driver::CompilerOptions given)
      : options(std::move(given)),
        publish(handler.outgoingNotification<llvm::json::Value>("textDocument/publishDiagnostics")) {
    handler.method("initialize", this, &Server::initialize);
    handler.method("shutdown", this, &Server::shutdown);
    handler.notification("initialized", this, &Server::ignore);
    handler.notification("textDocument/didOpen", this, &Server::open);
    handler.notification("textDocument/didChange", this, &Server::change);
    handler.notification("textDocument/didSave", this, &Server::save);
    handler.notification("textDocument/didClose", this, &Server::close);
    handler.method("textDocument/hover", this, &Server::hover);
    handler.method("textDocument/completion", this, &Server::complete);
    handler.method("textDocument/documentSymbol", this, &Server::documentSymbol);
    handler.method("textDocument/definition", this, &Server::definition);
    handler.method("textDocument/references", this, &Server::references);
    handler.method("textDocument/documentHighlight", this, &Server::highlight);
    handler.method("textDocument/prepareRename", this, &Server::prepareRename);
    handler.method("textDocument/rename", this, &Server::rename);
    handler.method("textDocument/codeAction", this, &Server::codeAction);
    handler.method("textDocument/codeLens", this, &Server::codeLens);
    handler.method("textDocument/inlayHint", this, &Server::inlayHint);
    handler.method("textDocument/formatting", this, &Server::formatting);
    handler.method("textDocument/signatureHelp", this, &Server::signatureHelp);
  }

  bool isShutDown = false;

private:
  void ignore(const Message &) {}

  void initialize(const Message &, Reply reply) {
    llvm::json::Object sync{{"openClose", true}, {"change", 1}, {"save", true}}; // 1: full text
    llvm::json::Object capabilities{
        {"textDocumentSync", std::move(sync)},
        {"hoverProvider", true},
        {"documentSymbolProvider", true},
        {"definitionProvider", true},
        {"referencesProvider", true},
        {"documentHighlightProvider", true},
        {"renameProvider", llvm::json::Object{{"prepareProvider", true}}},
        {"codeActionProvider", true},
        {"codeLensProvider", llvm::json::Object{}},
        {"inlayHintProvider", true},
        {"documentFormattingProvider", true},
        {"completionProvider", llvm::json::Object{{"triggerCharacters", llvm::json::Array{"."}}}},
        {"signatureHelpProvider", llvm::json::Object{{"triggerCharacters", llvm::json::Array{"(", ","}}}}};
    reply(llvm::json::Object{{"capabilities", std::move(capabilities)},
                             {"serverInfo", llvm::json::Object{{"name", "tile-lsp"}}}});
  }

  void shutdown(const Message &, Reply reply) {
    isShutDown = true;
    reply(nullptr);
  }

  void open(const Message &message) {
    if (const llvm::json::Object *document = message.fields.getObject("textDocument"))
      update(message, document->getString("text"));
  }

  void change(const Message &message) {
    const llvm::json::Array *changes = message.fields.getArray("contentChanges");
    const llvm::json::Object *last = changes && !changes->empty() ? changes->back().getAsObject() : nullptr;
    if (last)
      update(message, last->getString("text"));
  }

  void update(const Message &message, std::optional<llvm::StringRef> text) {
    if (!text)
      return;
    std::optional<int64_t> version = message.fields.getObject("textDocument")->getInteger("version");
    std::unique_ptr<Document> &document = documents[message.uri()];
    document = std::make_unique<Document>(pathOf(message.uri()), text->str(), version);
    llvm::json::Object parameters{{"uri", message.uri()}, {"diagnostics", document->diagnose(options)}};
    if (version)
      parameters["version"] = *version;
    publish(std::move(parameters));
  }

  void save(const Message &message) {
    if (auto found = documents.find(message.uri()); found != documents.end())
      found->second->compile(options);
  }

  void close(const Message &message) {
    documents.erase(message.uri());
    publish(llvm::json::Object{{"uri", message.uri()}, {"diagnostics", llvm::json::Array{}}});
  }

  /// Returns the document that the message names; null if the file is not open.
  const Document *find(const Message &message) const {
    auto found = documents.find(message.uri());
    return found == documents.end() ? nullptr : found->second.get();
  }

  /// Replies with the result of `ask` for the position in the message, or with null if the file is not open.
  template <typename Ask> void answer(const Message &message, Reply reply, Ask ask) {
    const Document *document = find(message);
    const llvm::json::Object *place = message.fields.getObject("position");
    if (!document || !place)
      return reply(nullptr);
    llvm::Expected<llvm::json::Value> result = ask(*document, offsetOf(*document, *place));
    reply(std::move(result));
  }

  static uint32_t offsetOf(const Document &document, const llvm::json::Object &position) {
    auto number = [&](llvm::StringRef name) {
      return uint32_t(std::clamp<int64_t>(position.getInteger(name).value_or(0), 0, UINT32_MAX - 1));
    };
    return document.offset(number("line"), number("character"));
  }

  void hover(const Message &message, Reply reply) { answer(message, std::move(reply), lsp::hover); }
  void complete(const Message &message, Reply reply) { answer(message, std::move(reply), lsp::complete); }
  void signatureHelp(const Message &message, Reply reply) { answer(message, std::move(reply), lsp::signatureHelp); }

  void documentSymbol(const Message &message, Reply reply) {
    const Document *document = find(message);
    reply(document ? symbols(*document) : llvm::json::Value(nullptr));
  }

  /// Returns the text of a file, from the open document or else from disk.
  std::optional<std::string> readFile(const std::string &path) const {
    for (const auto &[uri, document] : documents)
      if (document->file().name == path)
        return document->file().text;
    llvm::Expected<std::string> text = driver::readInput(path);
    if (text)
      return std::move(*text);
    llvm::consumeError(text.takeError());
    return std::nullopt;
  }

  void definition(const Message &message, Reply reply) {
    answer(message, std::move(reply), [&](const Document &document, uint32_t offset) {
      return define(document, message.uri(), offset,
                    {options.importPaths, [&](const std::string &path) { return readFile(path); }});
    });
  }

  void references(const Message &message, Reply reply) {
    answer(message, std::move(reply), [&](const Document &document, uint32_t offset) {
      llvm::json::Array locations;
      for (llvm::json::Value &range : lsp::references(document, offset))
        locations.push_back(llvm::json::Object{{"uri", message.uri()}, {"range", std::move(range)}});
      return locations;
    });
  }

  void highlight(const Message &message, Reply reply) {
    answer(message, std::move(reply), [](const Document &document, uint32_t offset) {
      llvm::json::Array highlights;
      for (llvm::json::Value &range : lsp::references(document, offset))
        highlights.push_back(llvm::json::Object{{"range", std::move(range)}});
      return highlights;
    });
  }

  void prepareRename(const Message &message, Reply reply) { answer(message, std::move(reply), lsp::prepareRename); }

  void rename(const Message &message, Reply reply) {
    answer(message, std::move(reply),
           [&](const Document &document, uint32_t offset) -> llvm::Expected<llvm::json::Value> {
             llvm::StringRef newName = message.fields.getString("newName").value_or("");
             llvm::Expected<llvm::json::Array> edits = lsp::rename(document, offset, newName);
             if (!edits)
               return edits.takeError();
             llvm::json::Object changes;
             changes[message.uri()] = std::move(*edits);
             return llvm::json::Object{{"changes", std::move(changes)}};
           });
  }

  /// Replies with commands that the editor implements (tools/vscode/extension.js).
  void codeLens(const Message &message, Reply reply) {
    const Document *document = find(message);
    if (!document)
      return reply(nullptr);
    llvm::json::Array lenses;
    for (const Document::Kernel &kernel : document->kernels())
      for (auto [title, command] : {std::pair{"explain", "tile.explain"}, {"run in the simulator", "tile.run"}}) {
        llvm::json::Array arguments{message.uri(), kernel.name};
        lenses.push_back(llvm::json::Object{
            {"range", document->range(kernel.nameRange)},
            {"command",
             llvm::json::Object{{"title", title}, {"command", command}, {"arguments", std::move(arguments)}}}});
      }
    reply(std::move(lenses));
  }

  void inlayHint(const Message &message, Reply reply) {
    const Document *document = find(message);
    if (!document)
      return reply(nullptr);
    auto place = [&](llvm::StringRef name, uint32_t otherwise) {
      const llvm::json::Object *range = message.fields.getObject("range");
      const llvm::json::Object *position = range ? range->getObject(name) : nullptr;
      return position ? offsetOf(*document, *position) : otherwise;
    };
    reply(document->values().hints(*document, place("start", 0), place("end", document->text().size())));
  }

  /// Formats .tile files only; Python files have their own formatters.
  void formatting(const Message &message, Reply reply) {
    const Document *document = find(message);
    if (!document || llvm::StringRef(document->file().name).ends_with(".py"))
      return reply(nullptr);
    frontend::DiagnosticEngine diagnostics;
    std::optional<std::string> text = format::format(document->file(), diagnostics);
    if (!text)
      return reply(llvm::make_error<llvm::lsp::LSPError>("cannot format: " + diagnostics.all().front().message,
                                                         llvm::lsp::ErrorCode::RequestFailed));
    reply(document->replaceBy(*text));
  }

  void codeAction(const Message &message, Reply reply) {
    const Document *document = find(message);
    const llvm::json::Object *range = message.fields.getObject("range");
    const llvm::json::Object *start = range ? range->getObject("start") : nullptr;
    const llvm::json::Object *end = range ? range->getObject("end") : nullptr;
    if (!document || !start || !end)
      return reply(nullptr);
    reply(document->fixes(message.uri(), start->getInteger("line").value_or(0), end->getInteger("line").value_or(0)));
  }

  const driver::CompilerOptions options;
  llvm::StringMap<std::unique_ptr<Document>> documents; // by URI
  llvm::lsp::OutgoingNotification<llvm::json::Value> publish;
};

} // namespace

int serve(std::unique_ptr<llvm::lsp::JSONTransportInput> input, llvm::raw_ostream &output,
          driver::CompilerOptions options) {
  llvm::lsp::JSONTransport transport(std::move(input), output);
  llvm::lsp::MessageHandler handler(transport);
  Server server(handler, std::move(options));
  llvm::consumeError(transport.run(handler));
  return server.isShutDown ? 0 : 1;
}

} // namespace tile::lsp
