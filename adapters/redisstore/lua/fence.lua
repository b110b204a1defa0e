-- KEYS: run, record. ARGV: incarnation, owner, tool call id, digest, value. Sees to it that a
-- Begin of unknown outcome never becomes an execution: if it has not happened it never will,
-- and if it has its record becomes the value, an error.
local owner, id = ARGV[2], ARGV[3]
local f = redis.call('HMGET', KEYS[1], 'i', 'k:' .. id)
local head = redis.call('GETRANGE', KEYS[2], 0, HEAD_END - 1)
if f[1] ~= ARGV[1] then
  return {'OK'}
end
if not f[2] then
  redis.call('HSET', KEYS[1], 'z:' .. owner, '')
  return {'OK'}
end
if string.sub(f[2], 1, 1 + OWNER_LENGTH) == 'P' .. owner and string.sub(head, 1, OWNER_END) == projecting(owner) then
  replace(head, ARGV[5], nil, clock(), id, f[2], ARGV[4])
end
return {'OK'}
