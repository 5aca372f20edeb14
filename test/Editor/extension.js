// Loads the extension with a stand-in for Visual Studio Code's programming interface, and calls its commands, which run
// the real compiler.
//   node extension.js TILEC KERNEL.tile
const assert = require('assert');
const { spawnSync } = require('child_process');
const Module = require('module');
const { join } = require('path');
const { pathToFileURL } = require('url');

const [compiler, kernel] = process.argv.slice(2);
const settings = { server: 'some-lsp', compiler, options: ['--target=sm_90a'], python: true };
const registered = {}, panels = [], ran = [], errors = [];
let started;

const vscode = {
  commands: { registerCommand: (name, action) => (registered[name] = action) },
  ProcessExecution: class { constructor(program, words, options) { Object.assign(this, { program, words, options }); } },
  ProgressLocation: { Notification: 15 },
  Task: class { constructor(definition, scope, name, source, execution) { Object.assign(this, { name, execution }); } },
  tasks: { executeTask: async (task) => ran.push(task) },
  TaskScope: { Workspace: 2 },
  Uri: { parse: (uri) => ({ fsPath: new URL(uri).pathname }) },
  ViewColumn: { Beside: -2 },
  window: {
    withProgress: (_, action) => action(),
    showErrorMessage: (text) => errors.push(text),
    createWebviewPanel: (type, title, column, options) => { panels.push({ title, options, webview: {} }); return panels.at(-1); },
  },
  workspace: {
    getConfiguration: () => ({ get: (name) => settings[name] }),
    openTextDocument: async (uri) => ({ uri, save: async () => true }),
  },
};
class LanguageClient {
  constructor(id, name, server, options) { started = { server, options }; }
  async start() { started.isRunning = true; }
  async stop() { started.isRunning = false; }
}
const load = Module._load;
Module._load = (name, ...rest) => (name === 'vscode' ? vscode : name === 'vscode-languageclient/node' ? { LanguageClient } : load(name, ...rest));

async function main() {
  const extension = require(join(__dirname, '../../tools/vscode/extension.js'));
  const context = { subscriptions: [] };
  await extension.activate(context);
  assert.deepStrictEqual(started.server, { command: 'some-lsp', args: ['--target=sm_90a'] });
  assert.deepStrictEqual(started.options.documentSelector.map((one) => one.language), ['tile', 'python']);
  assert.strictEqual(context.subscriptions.length, 2);

  const uri = pathToFileURL(kernel).href, name = 'vector_add';
  await registered['tile.explain'](uri, name);
  assert.deepStrictEqual(errors, []);
  assert.strictEqual(panels[0].title, name);
  assert.match(panels[0].webview.html, /<html/i);
  console.log('explain: a page');

  await registered['tile.run'](uri, name);
  const { program, words } = ran[0].execution;
  const result = spawnSync(program, words, { encoding: 'utf8' });
  assert.strictEqual(result.status, 0, result.stderr);
  console.log('run:', result.stdout.trim());

  await registered['tile.explain'](uri, 'nothing');
  assert.match(errors[0], /tilec explain: .*'nothing'/s);
  console.log('explain: an error');
  await extension.deactivate();
  assert.strictEqual(started.isRunning, false);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
