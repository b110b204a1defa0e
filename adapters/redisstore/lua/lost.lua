-- Replaces a PROJECTING record of this owner by the value once its lease has passed.
-- KEYS: run, record. ARGV: owner, tool call id, digest, value.
local owner, id = ARGV[1], ARGV[2]
local e = redis.call('HGET', KEYS[1], 'k:' .. id)
local head = front()
if not e or string.sub(e, 1, 1 + OWNER_LENGTH) ~= 'P' .. owner or not projecting(head, owner) then
  return {'CHANGED'}
end
local now = clock()
local started, lease = times(head)
if stamp(now) < lease then
  return {'LEASED'}
end
replace(head, ARGV[4], nil, now, id, e, ARGV[3])
return {'OK', owner, started, lease, stamp(now)}
