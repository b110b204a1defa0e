-- Says whether a run is over, and with which code its calls in flight end.
-- KEYS: run.
local f = redis.call('HMGET', KEYS[1], 's', 'd')
if f[1] ~= 'ACTIVE' then
  return {'OK', 'EXECUTION_CANCELLED'}
end
if clock() >= tonumber(f[2]) then
  return {'OK', 'RUN_DEADLINE_EXCEEDED'}
end
return {'OK', ''}
