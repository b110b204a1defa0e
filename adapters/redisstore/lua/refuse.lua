-- Counts a refusal and logs it, or says which fault overrides it.
-- KEYS: run. ARGV: incarnation, 1 when the refusal counts, its entry, the length of the log,
-- a token of this refusal, 1 when it may have been counted already.
local f = redis.call('HMGET', KEYS[1], 'i', 's', 'd', 'f', 'mr', 'g')
if f[1] ~= ARGV[1] then
  return {'RUN_NOT_FOUND'}
end
if ARGV[6] == '1' then
  for i = 0, ARGV[4] - 1 do
    local logged = redis.call('HGET', KEYS[1], 'l:' .. i)
    if logged and string.find(logged, ARGV[5], 1, true) then
      return {'OK'}
    end
  end
end
if f[2] ~= 'ACTIVE' then
  return {'RUN_INACTIVE'}
end
local now = clock()
if now >= tonumber(f[3]) then
  return {'RUN_DEADLINE_EXCEEDED'}
end
local refusals = tonumber(f[4])
if ARGV[2] == '1' then
  if refusals >= tonumber(f[5]) then
    return {'REFUSAL_LIMIT_REACHED'}
  end
  refusals = refusals + 1
end
local logged = tonumber(f[6])
redis.call('HSET', KEYS[1], 'f', int(refusals), 'g', int(logged + 1),
  'l:' .. int(logged % ARGV[4]), int(logged) .. ':' .. int(now) .. ':' .. ARGV[5] .. ':' .. ARGV[3])
return {'OK'}
