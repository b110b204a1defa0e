-- What the scripts share. Go puts the layout of a stored record before this text: where its parts
-- are, how a PROJECTING one begins, and STATUS, the statuses by their first letters (layout.go).
--
-- A run's ledger is the hash KEYS[1]: i incarnation, s state, d deadline, c created (both in
-- milliseconds), x record TTL, j what never changes, n calls, b bytes, f refusals, g logged
-- refusals; mc, mb, mr, m:TOOL the budget; t:TOOL calls of a tool; l:N the refusal log;
-- k:ID what became of a call: P, R or E, its owner, its place, and after a colon the digest of
-- its settlement; z:OWNER a Begin that must never happen.
--
-- k:ID repeats status and owner of the record. It has to: it outlives the record, and a duplicate
-- is told the first call's status also after that; the digest is that of the settlement that was
-- asked for, which the record does not have when its run's end or budget changed it; and only
-- because the ledger knows the owner can a script tell a record that another execution settled
-- from a value that is not this call's record, which must never be overwritten.
--
-- Every script reads all that it needs before it writes: an error in a script does not undo what
-- the script wrote before it.

-- clock returns this server's time in milliseconds. A script calls it once.
local function clock()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- int formats a whole number: Lua's own formatting loses digits past 14.
local function int(n)
  return string.format('%.0f', n)
end

-- stamp formats a time as the stored form does, with its quotes. Scripts have no calendar; this is
-- the usual arithmetic of the Gregorian one, in years that begin in March and eras of 400 years.
local function stamp(ms)
  local floor = math.floor
  local s = floor(ms / 1000)
  local days = floor(s / 86400)
  local z = days + 719468
  local era = floor(z / 146097)
  local doe = z - era * 146097
  local yoe = floor((doe - floor(doe / 1460) + floor(doe / 36524) - floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + floor(yoe / 4) - floor(yoe / 100))
  local mp = floor((5 * doy + 2) / 153)
  local day = doy - floor((153 * mp + 2) / 5) + 1
  local month = mp < 10 and mp + 3 or mp - 9
  local year = yoe + era * 400 + (month <= 2 and 1 or 0)
  local r = s - days * 86400
  return string.format('"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ"', year, month, day,
    floor(r / 3600), floor(r / 60) % 60, r % 60, ms - s * 1000)
end

-- front returns the part of the stored record that the scripts look at, '' when there is none.
local function front()
  return redis.call('GETRANGE', KEYS[2], 0, FRONT_END - 1)
end

-- projecting reports whether a front is that of a record in PROJECTING with this owner.
local function projecting(head, owner)
  return string.sub(head, 1, OWNER_END) == PROJECTING .. owner .. '"'
end

-- times returns started_at and lease_until of a front.
local function times(head)
  return string.sub(head, STARTED_AT + 1, STARTED_AT + TIME_LENGTH),
    string.sub(head, LEASE_UNTIL + 1, LEASE_UNTIL + TIME_LENGTH)
end

-- entry splits what the ledger says of a call into status, owner, place and digest.
local function entry(e)
  local place, digest = string.match(e, '^(%d+):?(.*)$', 2 + OWNER_LENGTH)
  return string.sub(e, 1, 1), string.sub(e, 2, 1 + OWNER_LENGTH), place, digest
end

-- replace puts a new value, given or staged under a key, in place of the record KEYS[2]: with the
-- old times, completed now, and exactly the old expiry. It notes the settlement in the ledger.
local function replace(head, value, staged, now, id, e, digest)
  local _, owner, place = entry(e)
  local block = string.sub(head, STARTED_AT + 1, COMPLETED_AT) .. stamp(now) ..
    string.sub(head, COMPLETED_AT + TIME_LENGTH + 1, FRONT_END)
  if staged then
    local expiry = redis.call('PEXPIRETIME', KEYS[2])
    redis.call('SETRANGE', staged, STARTED_AT, block)
    if expiry > 0 then
      redis.call('PEXPIREAT', staged, expiry)
    else
      redis.call('PERSIST', staged)
    end
    redis.call('RENAME', staged, KEYS[2])
  else
    redis.call('SET', KEYS[2], value, 'XX', 'KEEPTTL')
    redis.call('SETRANGE', KEYS[2], STARTED_AT, block)
  end
  local status = redis.call('GETRANGE', KEYS[2], STATUS_AT, STATUS_AT)
  redis.call('HSET', KEYS[1], 'k:' .. id, status .. owner .. place .. ':' .. digest)
end

