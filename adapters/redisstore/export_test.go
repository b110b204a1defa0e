package redisstore

import (
	"github.com/redis/go-redis/v9"

	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
)

// Client returns the store's own client.
func (s *Store) Client() redis.UniversalClient { return s.client }

// RecordKey and RunKey name what the store keeps.
func (s *Store) RecordKey(k invocation.Key) string { return s.keys.record(k.RunID, k.ToolCallID) }
func (s *Store) RunKey(id run.ID) string           { return s.keys.run(id) }

// Library is the part that scripts share, after the layout of the head.
func Library() string { return newScript("", "").text }
