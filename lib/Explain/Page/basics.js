'use strict';
// Helpers for all views: elements, number formats, colours. The palette is Okabe and Ito's, which colour-blind readers
// can distinguish.
const palette = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#f0e442', '#666666'];

/// element('p', {class: 'note', onclick: f}, 'text', otherElement)
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, '');
    else if (value !== undefined && value !== false && value !== null) made.setAttribute(key, value);
  }
  made.append(...children.filter(child => child !== null && child !== undefined));
  return made;
}

/// 1234567 → "1.23 M"
function shortNumber(value) {
  const units = ['', ' k', ' M', ' G', ' T'];
  let unit = 0;
  while (Math.abs(value) >= 10000 || (unit > 0 && Math.abs(value) >= 1000)) {
    value /= 1000;
    ++unit;
  }
  return (unit === 0 ? String(Math.round(value * 100) / 100) : value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)) + units[unit];
}

const percent = (part, whole) => whole ? Math.round(100 * part / whole) + ' %' : '';

function table(heads, rows) {
  const cell = (name, value) => {
    const text = typeof value === 'object' ? value.text : value;
    return element(name, {class: typeof value === 'object' ? value.class : undefined}, String(text));
  };
  return element('div', {class: 'scroll'},
    element('table', {}, element('thead', {}, element('tr', {}, ...heads.map(head => cell('th', head)))),
      element('tbody', {}, ...rows.map(row => element('tr', {}, ...row.map(value => cell('td', value)))))));
}

function legend(entries) {
  return element('div', {class: 'legend'}, ...entries.map(([colour, text]) =>
    element('span', {}, element('i', {style: `background:${colour}`}), text)));
}

/// Returns the colour of a class, for any number of classes: the palette, then lighter and darker shades of it.
function colourOf(index) {
  if (index < 0) return '#ffffff';
  const base = palette[index % palette.length];
  const round = Math.floor(index / palette.length) % 4;
  if (round === 0) return base;
  const target = round === 2 ? 0 : 255, share = [0, .55, .35, .3][round];
  return '#' + [1, 3, 5].map(at => Math.round(parseInt(base.slice(at, at + 2), 16) * (1 - share) + target * share)
    .toString(16).padStart(2, '0')).join('');
}

/// Returns a colour of a sequential scale for ordered values: from pale yellow to dark blue.
function shade(share) {
  const from = [255, 247, 188], middle = [65, 160, 180], to = [8, 48, 107];
  const [a, b, t] = share < .5 ? [from, middle, share * 2] : [middle, to, share * 2 - 1];
  return `rgb(${a.map((value, i) => Math.round(value + (b[i] - value) * t)).join(',')})`;
}

/// Creates a canvas of cells coloured by `colour(row, column)`, with zoom, a cursor moved by arrow keys, and the text
/// `describe(row, column)` of the cell under it.
function cellCanvas(rows, columns, colour, describe, label) {
  const text = element('div', {class: 'hover', 'aria-live': 'polite'}, describe(0, 0));
  const canvas = element('canvas', {tabindex: 0, role: 'img', 'aria-label': label});
  const holder = element('div', {class: 'scroll'}, canvas);
  let size = Math.max(2, Math.min(24, Math.floor(900 / columns), Math.floor(560 / Math.min(rows, 560))));
  let cursor = [0, 0];
  const draw = () => {
    canvas.width = columns * size;
    canvas.height = rows * size;
    canvas.style.maxWidth = 'none';
    const context = canvas.getContext('2d');
    for (let row = 0; row < rows; ++row)
      for (let column = 0; column < columns; ++column) {
        context.fillStyle = colour(row, column);
        context.fillRect(column * size, row * size, size - (size > 5 ? 1 : 0), size - (size > 5 ? 1 : 0));
      }
    context.strokeStyle = '#000';
    context.lineWidth = 2;
    context.strokeRect(cursor[1] * size + 1, cursor[0] * size + 1, Math.max(size - 2, 1), Math.max(size - 2, 1));
  };
  const move = (row, column) => {
    cursor = [Math.min(Math.max(row, 0), rows - 1), Math.min(Math.max(column, 0), columns - 1)];
    text.textContent = describe(...cursor);
    draw();
  };
  canvas.addEventListener('pointermove', event => {
    const box = canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top) / box.height * rows);
    const column = Math.floor((event.clientX - box.left) / box.width * columns);
    if (row !== cursor[0] || column !== cursor[1]) move(row, column);
  });
  canvas.addEventListener('keydown', event => {
    const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
    if (!step) return;
    event.preventDefault();
    move(cursor[0] + step[0], cursor[1] + step[1]);
  });
  const zoom = factor => {
    size = Math.max(1, Math.min(40, Math.round(size * factor), Math.floor(8000 / Math.max(rows, columns))));
    draw();
  };
  const controls = element('div', {class: 'controls'},
    element('button', {type: 'button', onclick: () => zoom(1.6), 'aria-label': 'zoom in'}, '+'),
    element('button', {type: 'button', onclick: () => zoom(1 / 1.6), 'aria-label': 'zoom out'}, '−'),
    element('span', {class: 'note'}, 'point at a cell, or move with the arrow keys'));
  draw();
  return {node: element('div', {}, controls, holder, text), redraw: draw, describe: () => move(...cursor)};
}
