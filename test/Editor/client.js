// A client of the language server: JSON-RPC over the standard streams of a process.
const { spawn } = require('child_process');

exports.Client = class {
  constructor(server, onNotification) {
    this.process = spawn(server, [], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.waiting = new Map();
    this.lastId = 0;
    this.rest = Buffer.alloc(0);
    this.process.stdout.on('data', (data) => this.read(data, onNotification));
    this.ended = new Promise((resolve) => this.process.on('exit', resolve));
  }

  send(message) {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.process.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  notify(method, params) {
    this.send({ method, params });
  }

  /// The result, or { error: message }.
  ask(method, params) {
    const id = ++this.lastId;
    this.send({ id, method, params });
    return new Promise((resolve) => this.waiting.set(id, resolve));
  }

  read(data, onNotification) {
    this.rest = Buffer.concat([this.rest, data]);
    for (;;) {
      const header = this.rest.indexOf('\r\n\r\n');
      if (header < 0) return;
      const length = Number(/Content-Length: (\d+)/.exec(this.rest.subarray(0, header))[1]);
      if (this.rest.length < header + 4 + length) return;
      const message = JSON.parse(this.rest.subarray(header + 4, header + 4 + length));
      this.rest = this.rest.subarray(header + 4 + length);
      if (message.id === undefined) onNotification(message.method, message.params);
      else {
        this.waiting.get(message.id)(message.error ? { error: message.error.message } : message.result);
        this.waiting.delete(message.id);
      }
    }
  }
};
