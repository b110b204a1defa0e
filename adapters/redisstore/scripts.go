package redisstore

import (
	"crypto/sha1"
	_ "embed" // the scripts
	"encoding/hex"
)

//go:embed lua/lib.lua
var library string

//go:embed lua/open.lua
var openText string

//go:embed lua/end.lua
var endText string

//go:embed lua/begin.lua
var beginText string

//go:embed lua/settle.lua
var settleText string

//go:embed lua/lost.lua
var lostText string

//go:embed lua/fence.lua
var fenceText string

//go:embed lua/refuse.lua
var refuseText string

//go:embed lua/ended.lua
var endedText string

// nowText returns the time of the server that keeps a key. It is short enough to be sent each time.
const nowText = "#!lua flags=no-writes\nreturn redis.call('TIME')"

// The scripts. One that ends something may write although the server is out of memory, and says so.
var (
	openScript   = newScript("", openText)
	endScript    = newScript("allow-oom", endText)
	beginScript  = newScript("", beginText)
	settleScript = newScript("", settleText)
	lostScript   = newScript("allow-oom", lostText)
	fenceScript  = newScript("allow-oom", fenceText)
	refuseScript = newScript("", refuseText)
	endedScript  = newScript("no-writes", endedText)
)

// script is a script and the name under which servers cache it.
type script struct{ text, sha string }

// newScript puts flags, the layout of a stored record and the library before the text.
func newScript(flags, text string) script {
	shebang := "#!lua"
	if flags != "" {
		shebang += " flags=" + flags
	}
	whole := shebang + "\n" + stored.lua() + library + text
	sum := sha1.Sum([]byte(whole)) // the name that Redis gives it, not a signature
	return script{whole, hex.EncodeToString(sum[:])}
}
