-- Prints the diagnostics of the file, and the hover of its third line.
vim.wait(20000, function() return #vim.diagnostic.get(0) > 0 end)
for _, one in ipairs(vim.diagnostic.get(0)) do
  io.stdout:write("line ", one.lnum + 1, ": ", one.message, "\n")
end
local place = { textDocument = vim.lsp.util.make_text_document_params(), position = { line = 2, character = 8 } }
for _, answer in pairs(vim.lsp.buf_request_sync(0, "textDocument/hover", place, 20000) or {}) do
  io.stdout:write(answer.result.contents.value, "\n")
end
vim.cmd("qall!")
