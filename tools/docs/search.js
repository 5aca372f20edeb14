// Script of every page: searches all pages, also when opened as files. The index is a script that is loaded when the
// search field is first used. An entry is [page, anchor, title, heading, text]. All words must occur; matches in
// headings have a higher weight than those in text.
const field = document.getElementById("site-search"), list = document.getElementById("site-results"), up = document.body.dataset.up;
let wanted = "";

function score(entry, words) {
  const title = entry[2].toLowerCase(), heading = entry[3].toLowerCase(), text = entry[4].toLowerCase();
  let sum = 0;
  for (const word of words) {
    const at = heading.indexOf(word);
    if (at >= 0) sum += (heading === word || heading.split(/[^a-z0-9_]+/).includes(word) ? 40 : 20) - Math.min(at, 10) / 10;
    else if (title.includes(word)) sum += 5;
    else if (text.includes(word)) sum += 1 + Math.min(text.split(word).length, 5) / 5;
    else return 0;
  }
  return sum;
}

function excerpt(text, word) {
  const at = Math.max(text.toLowerCase().indexOf(word) - 40, 0);
  return (at ? "…" : "") + text.slice(at, at + 140);
}

function show() {
  wanted = field.value.trim().toLowerCase();
  const words = wanted.split(/\s+/).filter(Boolean);
  list.replaceChildren();
  list.hidden = !words.length;
  if (!words.length || !window.searchIndex) return;
  const found = window.searchIndex.map(entry => [score(entry, words), entry]).filter(([points]) => points > 0);
  found.sort((a, b) => b[0] - a[0]);
  for (const [, [page, anchor, title, heading, text]] of found.slice(0, 20)) {
    const link = document.createElement("a"), where = document.createElement("small");
    link.href = up + page + ".html" + (anchor ? "#" + anchor : "");
    link.textContent = heading === title ? title : heading + " – " + title;
    where.textContent = excerpt(text, words[0]);
    link.append(where);
    const item = document.createElement("li");
    item.append(link);
    list.append(item);
  }
  if (!found.length) list.textContent = "Nothing has all of these words.";
}

function load() {
  if (document.getElementById("search-index")) return;
  const script = document.createElement("script");
  script.id = "search-index";
  script.src = up + "search-index.js";
  script.onload = show;
  document.body.append(script);
}

function choose(step) {
  const links = [...list.querySelectorAll("a")], now = links.findIndex(link => link.classList.contains("chosen"));
  links[now]?.classList.remove("chosen");
  const next = links[(now + step + links.length) % links.length];
  next?.classList.add("chosen");
  next?.scrollIntoView({ block: "nearest" });
}

field.addEventListener("focus", load);
field.addEventListener("input", () => { load(); show(); });
field.addEventListener("keydown", event => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    choose(event.key === "ArrowDown" ? 1 : -1);
    event.preventDefault();
  } else if (event.key === "Enter") {
    (list.querySelector("a.chosen") ?? list.querySelector("a"))?.click();
  } else if (event.key === "Escape") {
    field.value = "";
    show();
  }
});
document.addEventListener("keydown", event => {
  if (event.key === "/" && document.activeElement !== field) {
    field.focus();
    event.preventDefault();
  }
});
const question = new URLSearchParams(location.search).get("q"); // search link: index.html?q=words
if (question) {
  field.value = question;
  load();
}

const menu = document.querySelector("nav"), here = menu.querySelector("a.here"); // scroll the menu to the current page
if (here) menu.scrollTop = here.offsetTop - menu.clientHeight / 2;
