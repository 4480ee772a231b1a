-- Builds and walks binary trees, and gathers strings in a table: small blocks, garbage collected.
-- Arguments: how deep the trees are, and how many strings there are.
local deepest, strings = tonumber(arg[1]), tonumber(arg[2])
local function tree(depth)
  if depth == 0 then return {} end
  return { tree(depth - 1), tree(depth - 1) }
end
local function count(node)
  return node[1] and 1 + count(node[1]) + count(node[2]) or 1
end
local sum = 0
for depth = 4, deepest do
  for _ = 1, 2 ^ (deepest + 1 - depth) do sum = sum + count(tree(depth)) end
end
local words = {}
for i = 1, strings do
  words[i] = "word " .. i * 7919 % strings
end
table.sort(words)
print(sum, #table.concat(words, ","), words[strings // 60])
