package redisstore

import (
	"fmt"
	"strings"

	"github.com/toolboundary/toolboundary/domain/run"
)

// keys names what the store keeps. All keys of a run have its id as their hash tag, so that a Cluster
// keeps them together. Braces and percent signs of a run id are encoded, so the tag ends at the first
// closing brace, and no two pairs of run and tool call share a key, whatever bytes their ids hold.
type keys struct{ prefix string }

// run is the run's ledger, a hash.
func (k keys) run(id run.ID) string { return k.tagged(id) + "r" }

// record is a record's stored form, a string.
func (k keys) record(id run.ID, toolCallID string) string { return k.tagged(id) + "i:" + toolCallID }

// staged is a large value on its way to its record. It is named after what it holds, so that one that
// arrives late is never taken for another.
func (k keys) staged(id run.ID, owner, digest string) string {
	return k.tagged(id) + "s:" + owner + ":" + digest
}

// channel is where the ids of ended runs are published.
func (k keys) channel() string { return k.prefix + "ended" }

// tagged returns the prefix and the run's tag.
func (k keys) tagged(id run.ID) string {
	var b strings.Builder
	b.WriteString(k.prefix + "{")
	for i := range len(id) {
		switch c := id[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("._:-", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if id == "" {
		b.WriteByte('%') // Redis ignores an empty tag
	}
	b.WriteString("}")
	return b.String()
}
