// Starts tile-lsp for .tile files and, if tile.python is set, for Python files; runs tilec for the commands of its code
// lenses.
const { execFile } = require('child_process');
const { mkdtempSync, readFileSync, rmSync } = require('fs');
const { tmpdir } = require('os');
const { dirname, join } = require('path');
const { commands, ProcessExecution, ProgressLocation, Task, tasks, TaskScope, Uri, ViewColumn, window, workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

/// Saves the file, because tilec reads it; returns its path.
async function savedPath(uri) {
  const document = await workspace.openTextDocument(Uri.parse(uri));
  await document.save();
  return document.uri.fsPath;
}

/// Shows the page that `tilec explain` writes about a kernel.
async function explain(uri, kernel) {
  const path = await savedPath(uri);
  const folder = mkdtempSync(join(tmpdir(), 'tile-explain-'));
  const page = join(folder, 'kernel.html');
  const settings = workspace.getConfiguration('tile');
  const words = ['explain', ...settings.get('options'), path, `--kernel=${kernel}`, '-o', page];
  const run = () =>
    new Promise((resolve) => execFile(settings.get('compiler'), words, { cwd: dirname(path) }, (error, out, errors) => resolve(error && (errors || error.message))));
  const failure = await window.withProgress({ location: ProgressLocation.Notification, title: `Explaining ${kernel}` }, run);
  if (failure) window.showErrorMessage(`tilec explain: ${failure}`);
  else window.createWebviewPanel('tileExplain', kernel, ViewColumn.Beside, { enableScripts: true }).webview.html = readFileSync(page, 'utf8');
  rmSync(folder, { recursive: true });
}

/// Runs a kernel in the simulator, with the values of its directives, in a terminal.
async function run(uri, kernel) {
  const path = await savedPath(uri);
  const settings = workspace.getConfiguration('tile');
  const words = ['run', ...settings.get('options'), path, `--kernel=${kernel}`, '--device=sim', '--check'];
  const execution = new ProcessExecution(settings.get('compiler'), words, { cwd: dirname(path) });
  await tasks.executeTask(new Task({ type: 'tile' }, TaskScope.Workspace, `run ${kernel}`, 'tile', execution));
}

exports.activate = function (context) {
  context.subscriptions.push(commands.registerCommand('tile.explain', explain), commands.registerCommand('tile.run', run));
  const settings = workspace.getConfiguration('tile');
  const documentSelector = [{ language: 'tile' }];
  if (settings.get('python')) documentSelector.push({ scheme: 'file', language: 'python' });
  client = new LanguageClient('tile', 'tile', { command: settings.get('server'), args: settings.get('options') }, { documentSelector });
  return client.start();
};

exports.deactivate = () => client && client.stop();
