-- Opens a run, or returns it if this is its Open repeated.
-- KEYS: run. ARGV: incarnation, TTL, record TTL, how long after its deadline the run is kept, what
-- never changes, max calls, max bytes, max refusals, then tool and max calls for each tool that
-- has a budget.
local known = redis.call('HGET', KEYS[1], 'i')
if known then
  if known ~= ARGV[1] then
    return {'RUN_EXISTS'}
  end
  return {'OK', redis.call('HGETALL', KEYS[1])}
end
local now = clock()
local deadline = now + ARGV[2]
redis.call('HSET', KEYS[1], 'i', ARGV[1], 's', 'ACTIVE', 'd', int(deadline), 'c', int(now), 'x', ARGV[3],
  'j', ARGV[5], 'n', 0, 'b', 0, 'f', 0, 'g', 0, 'mc', ARGV[6], 'mb', ARGV[7], 'mr', ARGV[8])
for i = 9, #ARGV, 2 do
  redis.call('HSET', KEYS[1], 'm:' .. ARGV[i], ARGV[i + 1])
end
redis.call('PEXPIREAT', KEYS[1], int(deadline + ARGV[4]))
return {'OK', redis.call('HGETALL', KEYS[1])}
