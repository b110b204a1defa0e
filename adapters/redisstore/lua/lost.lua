-- KEYS: run, record. ARGV: owner, tool call id, digest, value. Replaces a PROJECTING record
-- of this owner by the value once its lease has passed.
local owner, id = ARGV[1], ARGV[2]
local e = redis.call('HGET', KEYS[1], 'k:' .. id)
local head = redis.call('GETRANGE', KEYS[2], 0, HEAD_END - 1)
if not e or string.sub(e, 1, 1 + OWNER_LENGTH) ~= 'P' .. owner or string.sub(head, 1, OWNER_END) ~= projecting(owner) then
  return {'CHANGED'}
end
local now = clock()
local started, lease = times(head)
if stamp(now) < lease then
  return {'LEASED'}
end
replace(head, ARGV[4], nil, now, id, e, ARGV[3])
return {'OK', owner, started, lease, stamp(now)}
