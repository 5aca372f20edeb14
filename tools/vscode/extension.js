// Starts tile-lsp for .tile files and, where tile.python says so, for Python files.
const { workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

exports.activate = function () {
  const settings = workspace.getConfiguration('tile');
  const documentSelector = [{ language: 'tile' }];
  if (settings.get('python')) documentSelector.push({ scheme: 'file', language: 'python' });
  client = new LanguageClient('tile', 'tile', { command: settings.get('server') }, { documentSelector });
  return client.start();
};

exports.deactivate = () => client && client.stop();
