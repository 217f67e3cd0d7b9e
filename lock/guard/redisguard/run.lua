-- KEYS[1] is where the token is kept; the rest is the user's. ARGV: the token, the lifetime; the rest is the user's.
local newest = raise(KEYS[1], ARGV[1], ARGV[2])
if newest then return {'stale', newest} end
local keys, args = {}, {}
for i = 2, #KEYS do keys[i - 1] = KEYS[i] end
for i = 3, #ARGV do args[i - 2] = ARGV[i] end
local reply = work(keys, args)
if type(reply) == 'table' and reply.err then return reply end
return {'done', reply}
