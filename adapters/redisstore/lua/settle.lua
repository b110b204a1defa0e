-- Settles a record. What must be stored depends on the run: an end or a spent budget turns an
-- answer into an error. When the value is not what must be stored, nothing is written and the
-- answer is the code of the value that is needed, '' for the settlement as it was asked for.
-- KEYS: run, record, the staged value if it is a large one. ARGV: owner, tool call id, digest
-- of the settlement that was asked for, its status, its raw and agent bytes, the code of the
-- value that is given, the value unless staged.
local owner, id, digest, asked, need = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ''
local staged = KEYS[3]

local function answer(...)
  if staged then
    redis.call('UNLINK', staged)
  end
  return {...}
end

local f = redis.call('HMGET', KEYS[1], 's', 'd', 'b', 'mb', 'k:' .. id)
local head = front()
if not f[1] or redis.call('EXISTS', KEYS[2]) == 0 then
  return answer('INVOCATION_NOT_FOUND')
end
if not f[5] then
  return answer('CORRUPT')
end
local status, current, _, settled = entry(f[5])
if status ~= 'P' and current == owner and settled == digest then
  return answer('REPEATED', owner)
end
if status == 'P' and not projecting(head, current) then
  return answer('CORRUPT')
end
if status ~= 'P' or current ~= owner then
  return answer('EXECUTION_LOST')
end
local now = clock()
local bytes = ARGV[5] + ARGV[6]
if asked == 'READY' then
  if f[1] ~= 'ACTIVE' then
    need, bytes = 'EXECUTION_CANCELLED', tonumber(ARGV[5])
  elseif now >= tonumber(f[2]) then
    need, bytes = 'RUN_DEADLINE_EXCEEDED', tonumber(ARGV[5])
  end
end
if f[3] + bytes > tonumber(f[4]) then
  need, bytes = 'RUN_BYTES_EXHAUSTED', 0
end
if need ~= ARGV[7] then
  return answer('NEEDED', need)
end
if staged then
  if redis.call('EXISTS', staged) == 0 then
    return {'UNSTAGED'}
  end
  local expiry = redis.call('PEXPIRETIME', KEYS[2])
  if expiry > 0 and expiry <= now then -- an expiry in the past would delete the staged value
    return answer('INVOCATION_NOT_FOUND')
  end
end

replace(head, ARGV[8], staged, now, id, f[5], digest)
redis.call('HSET', KEYS[1], 'b', int(f[3] + bytes))
local started, lease = times(head)
return {'OK', owner, started, lease, stamp(now)}
