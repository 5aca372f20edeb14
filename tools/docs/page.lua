-- A pandoc filter for one page: converts links between sources to links between pages, gives headings of functions short
-- anchors, and writes the search index.
--
-- Metadata variables: source (path in the repository), root (of the repository), pages (file "name<TAB>source"), functions
-- (the page about them), and index and files, to which lines are appended: search entries; linked files of the
-- repository and broken links.

local meta = {}
local pageOf = {} -- source -> page
local places = {} -- words in `code` -> link: folders with a page, and functions of the language

local function readPages()
  for line in io.lines(meta.pages) do
    local name, source = line:match("^(%S+)\t(%S+)$")
    pageOf[source] = name .. ".html"
    local folder = source:match("^(.*)/README%.md$")
    if folder then places[folder] = name .. ".html" end
  end
  for line in io.lines(meta.functions) do
    local name = line:match("^### `([%w_.]+)%(")
    if name and name:match("%.") then places[name] = "builtins.html#" .. name end
  end
end

local function exists(path)
  local file = io.open(meta.root .. "/" .. path, "r")
  if file then file:close() end
  return file ~= nil
end

local function append(path, line)
  local file = assert(io.open(path, "a"))
  file:write(line, "\n")
  file:close()
end

-- "lib/Runner" and "../Runtime/README.md" -> "lib/Runtime/README.md"
local function resolve(folder, target)
  local parts = {}
  for part in (folder .. "/" .. target):gmatch("[^/]+") do
    if part == ".." then table.remove(parts) elseif part ~= "." then table.insert(parts, part) end
  end
  return table.concat(parts, "/")
end

local function rewrite(target)
  if target:match("^%a+:") or target:match("^#") then return target end
  local path, anchor = target:match("^([^#]*)(#?.*)$")
  local folder = meta.source:match("^(.*)/[^/]*$") or ""
  if meta.source:match("^@") then folder, path = "", pageOf["@" .. path] and "@" .. path or path end -- relative to the repository
  local source = resolve(folder, path):gsub("^build/site/(.*)%.html$", "@%1.md") -- a page that is generated
  local page = pageOf[source] or pageOf[source .. "/README.md"]
  if page then return page .. anchor end
  if exists(source) then
    append(meta.files, source)
    return "source/" .. source .. (source:match("%.svg$") and "" or ".html") .. anchor
  end
  append(meta.files, "!" .. meta.source .. " links to " .. target .. ", which does not exist")
  return target
end

local function quoted(text)
  return '"' .. text:gsub('[%c"\\]', function(c) return c == '"' and '\\"' or c == "\\" and "\\\\" or " " end) .. '"'
end

-- One entry for each heading: page, anchor, title of the page, heading, text below it.
local function writeIndex(doc, title)
  local anchor, heading, text = "", title, {}
  local function flush()
    local body = table.concat(text, " "):gsub("%s+", " ")
    append(meta.index, "[" .. table.concat({ quoted(meta.page), quoted(anchor), quoted(title), quoted(heading), quoted(body) }, ",") .. "],")
    text = {}
  end
  for _, block in ipairs(doc.blocks) do
    if block.t == "Header" then
      if block.level > 1 then
        flush()
        anchor, heading = block.identifier, pandoc.utils.stringify(block.content)
      end
    else
      local function take(part) table.insert(text, part.text or pandoc.utils.stringify(part)) end
      pandoc.walk_block(pandoc.Div({ block }), { CodeBlock = take, Plain = take, Para = take })
    end
  end
  flush()
end

local filter = {
  Link = function(link)
    link.target = rewrite(link.target)
    return link
  end,
  Image = function(image)
    image.src = rewrite(image.src)
    return image
  end,
  Code = function(code)
    local page = places[(code.text:gsub("%(%)$", ""))] or pageOf[code.text]
    if page and page:match("^[^#]*") ~= meta.page .. ".html" then return pandoc.Link({ code }, page), false end
  end,
  Header = function(header)
    local name = meta.page == "builtins" and header.level == 3 and pandoc.utils.stringify(header):match("^([%w_.]+)%(")
    if name then header.identifier = name end
    return header
  end,
  CodeBlock = function(block)
    local language = block.classes[1]
    if language == "tile" then block.classes = { "python" } end
    return block
  end,
}

function Pandoc(doc)
  for key, value in pairs(doc.meta) do meta[key] = pandoc.utils.stringify(value) end
  readPages()
  -- Links must not nest, so neither existing nor new links are traversed ("false").
  doc = doc:walk({ Link = function(link) return link, false end, Code = filter.Code, traverse = "topdown" })
  doc = doc:walk({ Link = function(link) return link.target:match("^[%w-]+%.html") and link or filter.Link(link) end, Image = filter.Image,
                   Header = filter.Header, CodeBlock = filter.CodeBlock })
  if meta.source:match("%.1$") then table.insert(doc.blocks, 1, pandoc.Header(1, pandoc.Str(meta.pagetitle))) end -- manual pages have no title heading
  writeIndex(doc, meta.pagetitle)
  return doc
end
