-- The usual way of release.lua, by itself and before it: one lock, for which nobody stands in line.
-- A function costs time where it is made, so there is none up to here.

if #KEYS == 3 and ARGV[1] ~= '' then
  local has = redis.pcall('hmget', KEYS[1], ARGV[2], 'bedrock:heirs')
  if has[1] == '1' and not has[2] then
    -- Publishing goes first: if this user may not, nothing has happened.
    -- Listeners hear of it only after the script.
    local listening = redis.call(ARGV[1], KEYS[2], '0')
    if ARGV[3] ~= '' or redis.pcall('rename', KEYS[1], KEYS[3]).err then
      redis.call('del', KEYS[1])
      redis.pcall('psetex', KEYS[3], ARGV[3] == '' and '10000' or ARGV[3], ARGV[2])
    end
    return listening
  end
end
