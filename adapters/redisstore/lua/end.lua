-- Ends a run and tells every watcher.
-- KEYS: run. ARGV: the state to move to, the channel, the run's id.
local state = redis.call('HGET', KEYS[1], 's')
if not state then
  return {'RUN_NOT_FOUND'}
end
if state ~= ARGV[1] then
  if state ~= 'ACTIVE' then
    return {'RUN_INACTIVE'}
  end
  redis.call('HSET', KEYS[1], 's', ARGV[1])
end
redis.call('PUBLISH', ARGV[2], ARGV[3])
return {'OK', redis.call('HGETALL', KEYS[1])}
