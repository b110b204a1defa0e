-- Begins a call: creates its PROJECTING record and spends the run's budget, or says why not.
-- KEYS: run, record, the staged value if it is a large one. ARGV: incarnation, owner, tool
-- call id, tool, bytes of the request, lease, the value unless staged.
local owner, id, tool = ARGV[2], ARGV[3], ARGV[4]
local staged = KEYS[3]

local function answer(...)
  if staged then
    redis.call('UNLINK', staged)
  end
  return {...}
end

local f = redis.call('HMGET', KEYS[1], 'i', 's', 'd', 'x', 'n', 'b', 'mc', 'mb',
  'k:' .. id, 't:' .. tool, 'm:' .. tool, 'z:' .. owner)
local head = front()
if f[1] ~= ARGV[1] then
  return answer('RUN_NOT_FOUND')
end
local deadline, ttl, calls, bytes = tonumber(f[3]), tonumber(f[4]), tonumber(f[5]), tonumber(f[6])
local now = clock()
local status, first
if f[9] then
  status, first = entry(f[9])
end
if first == owner and status == 'P' and projecting(head, owner) then -- this Begin, repeated
  local started, lease = times(head)
  return answer('OK', owner, started, lease, math.max(0, deadline - now))
end
if f[12] then
  return answer('FENCED')
end
if f[2] ~= 'ACTIVE' then
  return answer('RUN_INACTIVE')
end
if now >= deadline then
  return answer('RUN_DEADLINE_EXCEEDED')
end
if status then
  return answer('DUPLICATE_TOOL_CALL', STATUS[status])
end
if f[11] and tonumber(f[10] or 0) >= tonumber(f[11]) then
  return answer('TOOL_BUDGET_EXHAUSTED')
end
if calls >= tonumber(f[7]) then
  return answer('RUN_BUDGET_EXHAUSTED')
end
if bytes + ARGV[5] > tonumber(f[8]) then
  return answer('RUN_BYTES_EXHAUSTED')
end
if redis.call('EXISTS', KEYS[2]) == 1 then
  return answer('CORRUPT')
end
if staged and redis.call('EXISTS', staged) == 0 then
  return {'UNSTAGED'}
end

local started, lease = stamp(now), stamp(now + ARGV[6])
if staged then
  redis.call('PEXPIREAT', staged, int(now + ttl))
  redis.call('RENAME', staged, KEYS[2])
else
  redis.call('SET', KEYS[2], ARGV[7], 'PXAT', int(now + ttl))
end
redis.call('SETRANGE', KEYS[2], STARTED_AT, started)
redis.call('SETRANGE', KEYS[2], LEASE_UNTIL, lease)
redis.call('HSET', KEYS[1], 'n', int(calls + 1), 'b', int(bytes + ARGV[5]),
  't:' .. tool, int((f[10] or 0) + 1), 'k:' .. id, 'P' .. owner .. int(calls + 1))
return {'OK', owner, started, lease, deadline - now}
