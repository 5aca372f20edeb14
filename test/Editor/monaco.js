// Types into Monaco as a user would, and checks the state of the editor.
//   node monaco.js TILE-LSP [FOLDER]      screenshots go into the folder
const assert = require('assert');
const { existsSync } = require('fs');
const { delimiter, join } = require('path');
const { chromium } = require('playwright-core');
const { Client } = require('./client');

const [server, folder] = process.argv.slice(2);
const browserPath = process.env.PATH.split(delimiter).map((path) => join(path, 'chromium')).find(existsSync);
const kernel = `#: grid(cdiv(n, BLOCK))
#: buffer x[n] = inout
#: default n = 1000
@tile.kernel
def halve(x: ptr[f32], n: i32, BLOCK: constexpr = 256):
    first = tl.program_id(0) * BLOCK
    i = first + tl.arange(0, BLOCK)
    value=tl.load(x + i, mask=i < n)
    if n = 0:
        value = -value
    tl.
    tl.store(x + i, value * 0.5, mask=i < n)
`;

async function main() {
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
  const page = await browser.newPage({ viewport: { width: 1000, height: 480 } });
  page.on('pageerror', (error) => console.error('page:', error.message));
  let published;
  const client = new Client(server, async (method, params) => {
    if (method !== 'textDocument/publishDiagnostics') return;
    published = params;
    await page.evaluate((diagnostics) => showDiagnostics(diagnostics), params.diagnostics);
  });
  await client.ask('initialize', {});
  await page.exposeFunction('ask', (method, params) => client.ask(method, params));
  await page.exposeFunction('notify', (method, params) => client.notify(method, params));
  const monaco = join(__dirname, 'node_modules/monaco-editor/min');
  await page.route('http://tile/**', (route) => {
    const path = new URL(route.request().url()).pathname;
    return route.fulfill({ path: path === '/' ? join(__dirname, 'page.html') : join(monaco, path) });
  });
  await page.goto('http://tile/');
  await page.evaluate((text) => start(text), kernel);

  const text = () => page.evaluate(() => editor.getValue());
  const goTo = (line, column) => page.evaluate(([lineNumber, column]) => { editor.setPosition({ lineNumber, column }); editor.focus(); }, [line, column]);
  const shown = (selector, words) => page.locator(selector, { hasText: words }).first().waitFor({ timeout: 10000 });
  const photograph = (name) => folder && page.screenshot({ path: join(folder, `${name}.png`) });
  const lineOf = async (words) => (await text()).split('\n').findIndex((line) => line.includes(words)) + 1;
  const check = (what) => console.log(`${what} ${what.endsWith('s') ? 'work' : 'works'}`);

  await shown('.codelens-decoration', 'run in the simulator');
  check('code lens');

  // Completion: the list has the function with its signature, and Enter inserts it.
  await goTo(11, 8);
  await page.keyboard.type('sto');
  await page.keyboard.press('Control+Space');
  await shown('.suggest-widget .monaco-list-row', 'store');
  await photograph('completion');
  await page.locator('.suggest-widget .monaco-list-row', { hasText: /^store/ }).first().click();
  assert.match(await text(), /^    tl\.store$/m);
  await page.evaluate(() => editor.executeEdits('test', [{ range: new monaco.Range(11, 1, 12, 1), text: '' }]));
  check('completion');

  // A fix-it: "=" is underlined, and the light bulb's menu corrects it.
  await shown('.squiggly-error', '');
  await goTo(9, 11);
  await page.keyboard.press('Control+.');
  await shown('.action-widget', "Write '=='");
  await photograph('fix-it');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => /if n == 0:/.test(editor.getValue()));
  await page.waitForFunction(() => monaco.editor.getModelMarkers({}).every((marker) => marker.severity < monaco.MarkerSeverity.Error));
  check('fix-it');

  // Hover with the mouse.
  const hover = async (words, column, expected) => {
    const line = await lineOf(words);
    const { left, top, height } = await page.evaluate(([lineNumber, column]) => editor.getScrolledVisiblePosition({ lineNumber, column }), [line, column]);
    await page.mouse.move(left + 4, top + height / 2, { steps: 4 });
    await shown('.monaco-hover', expected);
  };
  await hover('tl.arange', 21, 'tl.arange(start, end)');
  await photograph('hover');
  await page.mouse.move(5, 470);
  await hover('first + ', 9, /first: int32/);
  check('hover');

  // Types are shown after names.
  await shown('.view-line', /:\sint32\[256\]/);
  await photograph('hints');
  check('inlay hints');

  // Renaming changes the directives, too.
  await goTo(await lineOf('def halve'), 25);
  await page.keyboard.press('F2');
  await page.waitForFunction(() => document.activeElement.closest('.rename-box'));
  await page.keyboard.press('Control+A');
  await page.keyboard.type('count');
  await photograph('rename');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => /default count = 1000/.test(editor.getValue()));
  assert.doesNotMatch(await text(), /\bn\b/);
  check('rename');

  await page.evaluate(() => editor.getAction('editor.action.formatDocument').run());
  assert.match(await text(), /^    value = tl\.load/m);
  check('formatting');

  await page.waitForFunction(() => monaco.editor.getModelMarkers({}).length === 0);
  await photograph('end');
  assert.strictEqual(published.diagnostics.length, 0);
  await client.ask('shutdown', null);
  client.notify('exit', null);
  assert.strictEqual(await client.ended, 0);
  await browser.close();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
