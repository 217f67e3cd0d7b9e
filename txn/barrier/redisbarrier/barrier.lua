-- What follows the user's function work: it asks the marks of a call, runs work if
-- it may run, and sets the marks. Redis runs all of it as one, but takes nothing
-- back when a part of it fails.
--
-- KEYS[1] is the hash with the marks of the transaction; the rest is the user's.
-- ARGV: the field of the call, the field of the call it takes back (or ''), the
-- operation, epoch, attempt, lifetime of the marks in milliseconds (or 0); the rest
-- is the user's. A mark is cause:epoch:attempt:result, the result with a sign in
-- front: + if there is one.
local marks, field, origin, op = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local epoch, attempt, lifetime = ARGV[4], ARGV[5], tonumber(ARGV[6])

local function read(name)
  local value = redis.call('HGET', marks, name)
  if not value then return nil end
  local cause, e, a, result = string.match(value, '^([^:]*):(%-?%d+):(%-?%d+):(.*)$')
  return {cause = cause, epoch = tonumber(e), attempt = tonumber(a), result = result}
end

local time

-- now is this server's clock in microseconds, read once.
local function now()
  time = time or redis.call('TIME')
  return string.format('%.0f', time[1] * 1000000 + time[2])
end

local function set(name, cause, result)
  redis.call('HSET', marks, name, cause .. ':' .. epoch .. ':' .. attempt .. ':' .. result, 'at', now())
  if lifetime > 0 then redis.call('PEXPIRE', marks, lifetime) end
end

-- younger tells whether this call is newer than the one that set a mark.
local function younger(mark)
  local e, a = tonumber(epoch), tonumber(attempt)
  return e > mark.epoch or e == mark.epoch and a > mark.attempt
end

local before = origin ~= '' and read(origin)
if origin ~= '' and not before then
  set(origin, op, '-')
  return {'empty'}
end

local own = read(field)
if own then
  if own.cause == op then return {'duplicate', own.result} end
  if own.cause == 'half' then return {'half', own.result} end
  if own.cause ~= 'refused' then return {'hanging'} end
  if not younger(own) then return {'refused', own.result} end
end

if before and before.cause == op then return {'empty'} end
if before and before.cause == 'refused' then
  set(origin, op, '-')
  return {'empty'}
end

-- may reports whether this user may run a command. Redis before 7 does not tell.
local function may(...) return not redis.acl_check_cmd or redis.acl_check_cmd(...) end

-- The mark comes after the work, and Redis takes nothing back: work whose mark cannot be
-- set would run again with every call. So what the mark takes is tried before.
time = redis.call('TIME')
if not (may('HSET', marks, field, '') and (lifetime <= 0 or may('PEXPIRE', marks, lifetime))) then
  return redis.error_reply('NOPERM this user may not set the marks of calls, so nothing is done')
end

-- used are the commands of the work that did not fail, but for those that are sure to
-- change nothing.
local used = {}
local reads = ' bitcount echo exists get getbit getrange hexists hget hgetall hkeys hlen hmget hstrlen hvals '
  .. 'lindex llen lpos lrange mget ping pttl scard sismember smembers smismember strlen time ttl type '
  .. 'xlen xrange xrevrange zcard zcount zmscore zrange zrangebyscore zrank zrevrange zrevrank zscore '

local function note(command)
  command = string.lower(command)
  if not string.find(reads, ' ' .. command .. ' ', 1, true) then used[command] = true end
end

-- readonly is the server's word that a command changes nothing.
local function readonly(command)
  local ok, info = pcall(redis.call, 'COMMAND', 'INFO', command)
  local flags = ok and type(info[1]) == 'table' and info[1][3] or {}
  for _, flag in ipairs(flags) do
    if (type(flag) == 'table' and flag.ok or flag) == 'readonly' then return true end
  end
  return false
end

-- wrote tells whether the work has changed something, as far as one can see from outside.
local function wrote()
  for command in pairs(used) do
    if not readonly(command) then return true end
  end
  return false
end

local api = setmetatable({
  call = function(...)
    local reply = redis.call(...)
    note((...))
    return reply
  end,
  pcall = function(...)
    local reply = redis.pcall(...)
    if not (type(reply) == 'table' and reply.err) then note((...)) end
    return reply
  end,
}, {__index = redis})

-- digits is a number that reads as the same again, for which cjson's 14 digits do not do.
local function digits(n)
  if n ~= n or math.abs(n) == math.huge then error('result has a number that JSON has not', 0) end
  if n == 0 then return '0' end
  if n == math.floor(n) and math.abs(n) <= 9007199254740992 then return string.format('%.0f', n) end
  for most = 14, 17 do
    local text = string.format('%.' .. most .. 'g', n)
    if tonumber(text) == n then return text end
  end
end

-- length is that of a list, nil if the table is none. As in cjson, an empty one is none.
local function length(t)
  local count, last = 0, 0
  for key in pairs(t) do
    if type(key) ~= 'number' or key < 1 or key ~= math.floor(key) then return nil end
    count, last = count + 1, math.max(last, key)
  end
  if last > 10 and last > 2 * count then error('result has a list that is mostly empty', 0) end
  return count > 0 and last or nil
end

-- json writes what cjson would, but for the numbers.
local function json(value)
  if type(value) == 'number' then return digits(value) end
  if type(value) ~= 'table' then return cjson.encode(value) end
  local parts, last = {}, length(value)
  for i = 1, last or 0 do parts[i] = json(value[i]) end
  if last then return '[' .. table.concat(parts, ',') .. ']' end
  for key, of in pairs(value) do
    local name = type(key) == 'number' and digits(key) or key
    parts[#parts + 1] = cjson.encode(name) .. ':' .. json(of)
  end
  return '{' .. table.concat(parts, ',') .. '}'
end

-- text is a reply as bytes, with its sign.
local function text(reply)
  if not reply then return '-' end
  if reply == true then return '+1' end
  if type(reply) == 'number' then
    return '+' .. string.format('%.0f', reply < 0 and math.ceil(reply) or math.floor(reply))
  end
  if type(reply) == 'table' then return '+' .. (reply.ok or json(reply)) end
  return '+' .. reply
end

local keys, args = {}, {}
for i = 2, #KEYS do keys[i - 1] = KEYS[i] end
for i = 7, #ARGV do args[i - 6] = ARGV[i] end

local refusal
local ok, result = pcall(function()
  local reply = work(keys, args, api)
  if type(reply) == 'table' and reply.err then
    refusal = string.match(reply.err, '^REFUSED%s*(.*)$')
    error(reply, 0)
  end
  return text(reply)
end)

if ok then
  set(field, op, result)
  -- What was taken back must not be told as done when it is delivered again.
  if origin ~= '' then set(origin, op, '-') end
  return {'ran', result}
end
if type(result) == 'table' then result = result.err end
result = '+' .. tostring(result)
if wrote() then
  set(field, 'half', result)
  return {'half', result}
end
if refusal then
  set(field, 'refused', '+' .. refusal)
  return {'refuses', '+' .. refusal}
end
return {'failed', result}
