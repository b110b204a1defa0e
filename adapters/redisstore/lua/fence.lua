-- Keeps a Begin of unknown outcome from becoming an execution: if it has not happened, it never
-- will; if it has, its record is replaced by the value, an error.
-- KEYS: run, record. ARGV: incarnation, owner, tool call id, digest, value.
local owner, id = ARGV[2], ARGV[3]
local f = redis.call('HMGET', KEYS[1], 'i', 'k:' .. id)
local head = front()
if f[1] ~= ARGV[1] then
  return {'OK'}
end
if not f[2] then
  redis.call('HSET', KEYS[1], 'z:' .. owner, '')
  return {'OK'}
end
if string.sub(f[2], 1, 1 + OWNER_LENGTH) == 'P' .. owner and projecting(head, owner) then
  replace(head, ARGV[5], nil, clock(), id, f[2], ARGV[4])
end
return {'OK'}
