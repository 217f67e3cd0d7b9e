-- Takes one lock that is to be one of several, once. The server that grants it is one of those that make up a lock: it
-- must not count if it may have forgotten who has it, and the fencing tokens are those that the others give, too.
--
-- KEYS  1 the lock   2 its fencing counter
-- ARGV  1 life of the counter in ms, 0 for ever   2 lease in ms   3 owner   4 how many tokens   5 metadata or empty
--       6 the token to be above, 0 for none   7 for how long the server must have kept everything, in ms
--
-- Returns an answer of acquire.lua; or {4} of a server that would grant the lock but has not kept everything for so
-- long. Of a lock that the owner has already the tokens are new unless they are above.

local lock, counter, lease, owner, meta = KEYS[1], KEYS[2], ARGV[2], ARGV[3], ARGV[5]
local above, age = tonumber(ARGV[6]), tonumber(ARGV[7])

-- answerWith tells of tokens.
local function answerWith(first, given)
  if given < tonumber(ARGV[4]) then
    return {1, first, given}
  end
  return first
end

-- grant makes the lock the owner's.
local function grant()
  local first, given = advanceAbove(counter, above, tonumber(ARGV[4]))
  if not first then
    return given
  end
  return give(lock, lease, owner, meta) or answerWith(first, given)
end

-- grantFree makes a free lock the owner's, unless the server is too young.
local function grantFree()
  if age > 0 then
    local kept, wrong = hasKept(age)
    if not kept then
      return wrong or {4}
    end
  end
  return grant()
end

-- The functions for a lock that is held cost time where they are made: they come after this.
if free then
  return grantFree()
end
