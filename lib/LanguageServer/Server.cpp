// Messages -> documents. One thread answers them in their order, so that no diagnostic is of an older text than the
// version that it names.
#include "LanguageServer/Server.h"

#include "LanguageServer/Help.h"
#include "LanguageServer/Symbols.h"

#include "llvm/ADT/StringExtras.h"

namespace tile::lsp {

namespace {

/// Parameters of a message as they come. Only their members are looked at, and any may be missing.
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

/// Of another scheme ("untitled:") the path is the whole URI.
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
  explicit Server(llvm::lsp::MessageHandler &handler)
      : publish(handler.outgoingNotification<llvm::json::Value>("textDocument/publishDiagnostics")) {
    handler.method("initialize", this, &Server::initialize);
    handler.method("shutdown", this, &Server::shutdown);
    handler.notification("initialized", this, &Server::ignore);
    handler.notification("textDocument/didOpen", this, &Server::open);
    handler.notification("textDocument/didChange", this, &Server::change);
    handler.notification("textDocument/didClose", this, &Server::close);
    handler.method("textDocument/hover", this, &Server::hover);
    handler.method("textDocument/completion", this, &Server::complete);
    handler.method("textDocument/documentSymbol", this, &Server::documentSymbol);
    handler.method("textDocument/definition", this, &Server::definition);
    handler.method("textDocument/codeAction", this, &Server::codeAction);
    handler.method("textDocument/signatureHelp", this, &Server::signatureHelp);
  }

  bool isShutDown = false;

private:
  void ignore(const Message &) {}

  void initialize(const Message &, Reply reply) {
    llvm::json::Object sync{{"openClose", true}, {"change", 1}}; // 1: the whole text
    llvm::json::Object capabilities{
        {"textDocumentSync", std::move(sync)},
        {"hoverProvider", true},
        {"documentSymbolProvider", true},
        {"definitionProvider", true},
        {"codeActionProvider", true},
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
    llvm::json::Object parameters{{"uri", message.uri()}, {"diagnostics", document->diagnose()}};
    if (version)
      parameters["version"] = *version;
    publish(std::move(parameters));
  }

  void close(const Message &message) {
    documents.erase(message.uri());
    publish(llvm::json::Object{{"uri", message.uri()}, {"diagnostics", llvm::json::Array{}}});
  }

  /// Null if no such file is open.
  const Document *find(const Message &message) const {
    auto found = documents.find(message.uri());
    return found == documents.end() ? nullptr : found->second.get();
  }

  /// Answers what `ask` says of the place that the message names; null where no such file is open.
  template <typename Ask> void answer(const Message &message, Reply reply, Ask ask) {
    const Document *document = find(message);
    const llvm::json::Object *place = message.fields.getObject("position");
    if (!document || !place)
      return reply(nullptr);
    auto number = [&](llvm::StringRef name) {
      return uint32_t(std::clamp<int64_t>(place->getInteger(name).value_or(0), 0, UINT32_MAX - 1));
    };
    reply(llvm::json::Value(ask(*document, document->offset(number("line"), number("character")))));
  }

  void hover(const Message &message, Reply reply) { answer(message, std::move(reply), lsp::hover); }
  void complete(const Message &message, Reply reply) { answer(message, std::move(reply), lsp::complete); }
  void signatureHelp(const Message &message, Reply reply) { answer(message, std::move(reply), lsp::signatureHelp); }

  void documentSymbol(const Message &message, Reply reply) {
    const Document *document = find(message);
    reply(document ? symbols(*document) : llvm::json::Value(nullptr));
  }

  void definition(const Message &message, Reply reply) {
    answer(message, std::move(reply), [&](const Document &document, uint32_t offset) -> llvm::json::Value {
      llvm::json::Value range = define(document, offset);
      if (range.kind() == llvm::json::Value::Null)
        return nullptr;
      return llvm::json::Object{{"uri", message.uri()}, {"range", std::move(range)}};
    });
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

  llvm::StringMap<std::unique_ptr<Document>> documents; // by URI
  llvm::lsp::OutgoingNotification<llvm::json::Value> publish;
};

} // namespace

int serve(std::unique_ptr<llvm::lsp::JSONTransportInput> input, llvm::raw_ostream &output) {
  llvm::lsp::JSONTransport transport(std::move(input), output);
  llvm::lsp::MessageHandler handler(transport);
  Server server(handler);
  llvm::consumeError(transport.run(handler));
  return server.isShutDown ? 0 : 1;
}

} // namespace tile::lsp
