package config

import (
	"strings"
	"time"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

// The kinds of store.
const (
	StoreMemory = "memory"
	StoreRedis  = "redis"
)

// Store says where runs and records are kept.
type Store struct {
	// Kind is StoreMemory or StoreRedis.
	Kind string `yaml:"kind" enum:"memory|redis"`
	// Redis is used when Kind is StoreRedis.
	Redis Redis `yaml:"redis" doc:"The Redis or Valkey server; for kind redis."`
}

// Tags implements strictyaml.Tagger.
func (Store) Tags() strictyaml.Tags {
	return strictyaml.Tags{
		"kind": `doc:"memory: in this process, lost with it. redis: shared by all replicas."`,
	}
}

// Redis is a single server (one address), a Cluster (several) or a Sentinel group (master_name).
type Redis struct {
	// Addrs are host:port.
	Addrs    []string `yaml:"addrs"`
	Username Secret   `yaml:"username" doc:"The ACL user"`
	Password Secret   `yaml:"password" doc:"Its password"`
	// SentinelUsername and SentinelPassword are for the Sentinels themselves.
	SentinelUsername Secret  `yaml:"sentinel_username" doc:"The Sentinels' own ACL user"`
	SentinelPassword Secret  `yaml:"sentinel_password" doc:"The Sentinels' own password"`
	DB               int     `yaml:"db" min:"0" max:"65535" doc:"Database number; a Cluster has only 0."`
	TLS              TLSMode `yaml:"tls" doc:"Encryption of the connection."`
	CAFile           File    `yaml:"ca_file"`
	// KeyPrefix separates services that share a server.
	KeyPrefix  string `yaml:"key_prefix"`
	MasterName string `yaml:"master_name" doc:"Name of the Sentinel group."`
	// AllowEviction accepts a server whose eviction policy may drop records.
	AllowEviction bool          `yaml:"allow_eviction" doc:"Start although the server may evict records."`
	Timeout       time.Duration `yaml:"timeout" min:"10ms" max:"1m"`
	// PoolSize 0 means: by the service's max_concurrent.
	PoolSize int `yaml:"pool_size" min:"0" max:"100000" doc:"Most connections; 0 chooses by max_concurrent."`
}

// Tags implements strictyaml.Tagger.
func (Redis) Tags() strictyaml.Tags {
	return strictyaml.Tags{
		"addrs": `doc:"host:port of the server, of the Cluster's nodes, ` +
			`or of the Sentinels when master_name is given."`,
		"ca_file": caFileDoc,
		"key_prefix": `pattern:"^[A-Za-z0-9._:-]{1,64}$" ` +
			`form:"1 to 64 letters, digits, dots, underscores, colons or dashes" ` +
			`doc:"First part of every key; services that share a server differ in it."`,
		"timeout": `doc:"Longest wait for one answer; a call is tried again, within four times as long."`,
	}
}

func defaultRedis() Redis {
	return Redis{TLS: TLSDisabled, KeyPrefix: "toolboundary:", Timeout: 500 * time.Millisecond}
}

// Cluster reports whether the addresses are those of a Redis Cluster.
func (r Redis) Cluster() bool { return r.MasterName == "" && len(r.Addrs) > 1 }

func (s Store) validate(at Place) {
	redis := at.Key("redis")
	if s.Kind != StoreRedis {
		if redis.Given() {
			at.Key("kind").Problem("There is a redis section, but the store's kind is memory.",
				"Write kind: redis, or remove the redis section.")
		}
		return
	}
	s.Redis.validate(redis)
}

func (r Redis) validate(at Place) {
	if len(r.Addrs) == 0 {
		at.Key("addrs").Problem("A Redis store needs the address of its server.", `Write addrs: ["127.0.0.1:6379"].`)
	}
	remote := false
	for i, a := range r.Addrs {
		checkAddress(at.Key("addrs").Index(i), a, "6379")
		remote = remote || !loopback(a)
	}
	if r.Cluster() && r.DB != 0 {
		at.Key("db").Problem("A Redis Cluster has only database 0.",
			"Remove db, or name one address, or give master_name for Sentinels.")
	}
	master := at.Key("master_name")
	if strings.TrimSpace(r.MasterName) != r.MasterName {
		master.Problem("The name of the Sentinel group begins or ends with a blank.", "Remove the blank.")
	}
	if r.MasterName == "" && (r.SentinelUsername.given() || r.SentinelPassword.given()) {
		master.Problem("There are credentials for Sentinels, but no master_name.",
			"Give master_name, or remove the sentinel_ keys.")
	}
	if r.AllowEviction {
		at.Key("allow_eviction").Warn("A server that evicts may drop records before their time, and calls then fail.",
			"Set the server's maxmemory-policy to noeviction and remove allow_eviction.")
	}
	checkTLS(at, r.TLS, r.CAFile, remote)
}
