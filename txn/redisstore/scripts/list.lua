-- Finds records of one shard, newest first.
--
-- KEYS  the index
-- ARGV  the query, in JSON:
--         records   what the keys of records begin with
--         kinds     the parts of the index to look in
--         before    continue after this place: created, NUL, id; or empty
--         limit     how many to find; budget: how many to look at
--         statuses, modes, name, prefix, finished: what to find
--
-- Returns 1 if there are no more, the last place looked at, and the places of
-- what was found.

local q = cjson.decode(ARGV[1])

local function set(list)
  if not list then
    return nil
  end
  local s = {}
  for _, item in ipairs(list) do
    s[item] = true
  end
  return s
end

local statuses, modes = set(q.statuses), set(q.modes)
local reads = statuses or modes or q.name or q.finished

local function matches(id)
  if q.prefix and string.sub(id, 1, #q.prefix) ~= q.prefix then
    return false
  end
  if not reads then
    return true
  end
  local r = call('hmget', q.records .. id, 'status', 'mode', 'name', 'finished')
  return r[1] and (not statuses or statuses[r[1]]) and (not modes or modes[r[2]]) and (not q.name or r[3] == q.name) and
    (not q.finished or r[4] ~= '' and r[4] < q.finished)
end

-- newer compares places. The server's locale must not decide how IDs compare.
local function newer(a, b)
  local x, y = string.sub(a, 1, 18), string.sub(b, 1, 18)
  if x ~= y then
    return x > y
  end
  for i = 19, math.min(#a, #b) do
    local m, n = string.byte(a, i), string.byte(b, i)
    if m ~= n then
      return m > n
    end
  end
  return #a > #b
end

local page = math.min(100, math.max(8, q.limit))

-- head is the newest place left of one part of the index.
local function head(part)
  if part.at > #part.places and not part.ended then
    part.places = call('zrevrangebylex', KEYS[1], part.below, '[' .. part.from, 'limit', 0, page)
    part.at, part.ended = 1, #part.places < page
    part.below = '(' .. (part.places[#part.places] or part.from)
  end
  local member = part.places[part.at]
  return member and string.sub(member, #part.from + 1)
end

local parts = {}
for i, kind in ipairs(q.kinds) do
  local below = q.before ~= '' and kind .. '\0' .. q.before or kind .. '\1'
  parts[i] = {from = kind .. '\0', below = '(' .. below, places = {}, at = 1}
end

local looked, last, found = 0, q.before, {}
while #found < q.limit and looked < q.budget do
  local best, place
  for _, part in ipairs(parts) do
    local candidate = head(part)
    if candidate and (not place or newer(candidate, place)) then
      best, place = part, candidate
    end
  end
  if not best then
    return {1, last, found}
  end
  best.at, looked, last = best.at + 1, looked + 1, place
  if matches(string.sub(place, (string.find(place, '\0', 1, true)) + 1)) then
    found[#found + 1] = place
  end
end
return {0, last, found}
