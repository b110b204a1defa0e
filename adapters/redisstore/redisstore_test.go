package redisstore_test

import (
	"testing"
	"time"

	"github.com/toolboundary/toolboundary/adapters/redisstore"
	"github.com/toolboundary/toolboundary/test/contract/storetest"
	"github.com/toolboundary/toolboundary/test/servers"
)

func TestStoreContractOnSingle(t *testing.T) {
	r := servers.Redis(t, "--appendonly", "yes")
	storetest.Test(t, subject(redisstore.Options{Addrs: []string{r.Addr}}, 500*time.Millisecond))
}

func TestStoreContractOnCluster(t *testing.T) {
	c := servers.RedisCluster(t)
	storetest.Test(t, subject(redisstore.Options{Addrs: c.Addrs}, 500*time.Millisecond))
}

func TestStoreContractOnSentinel(t *testing.T) {
	s := servers.Sentinel(t)
	storetest.Test(t, subject(redisstore.Options{Addrs: s.Addrs, MasterName: s.MasterName}, 500*time.Millisecond))
}

func TestStoreMachineOnSingle(t *testing.T) {
	r := servers.Redis(t)
	storetest.Machine(t, subject(redisstore.Options{Addrs: []string{r.Addr}}, 30*time.Millisecond))
}
