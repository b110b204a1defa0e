package redisstore_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// cable is what lies between one store and its servers. While it is cut, requests arrive and are
// carried out, and replies are lost.
type cable struct {
	mu    sync.Mutex
	isCut bool
	only  string // the address of the one server that is cut off; "" for all
}

var errLost = errors.New("the reply was lost")

// attach puts the cable between the client and its servers. The client must not be used yet.
func (c *cable) attach(client redis.UniversalClient) {
	switch client := client.(type) {
	case *redis.ClusterClient:
		client.OnNewNode(func(node *redis.Client) { node.AddHook(strand{c, node.Options().Addr}) })
	case *redis.Client:
		client.AddHook(strand{c, client.Options().Addr})
	}
}

// cut cuts off the server of that address, or all for "", until heal is called.
func (c *cable) cut(addr string) (heal func()) {
	c.set(true, addr)
	return func() { c.set(false, "") }
}

func (c *cable) set(isCut bool, only string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isCut, c.only = isCut, only
}

// strand is the part of the cable that leads to one server. It is a hook of that server's client.
type strand struct {
	cable *cable
	addr  string
}

func (s strand) isCut() bool {
	s.cable.mu.Lock()
	defer s.cable.mu.Unlock()
	return s.cable.isCut && (s.cable.only == "" || s.cable.only == s.addr)
}

// DialHook loses what a subscription is told. A client's pool may open its first connection before
// the client has its hooks; the others make up for that.
func (s strand) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := next(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &plug{Conn: conn, strand: s}, nil
	}
}

// ProcessHook loses the reply of a command.
func (s strand) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		before := s.isCut()
		err := next(ctx, cmd)
		if before || s.isCut() {
			return lose(cmd)
		}
		return err
	}
}

// ProcessPipelineHook loses the replies of a pipeline.
func (s strand) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		before := s.isCut()
		err := next(ctx, cmds)
		if before || s.isCut() {
			return lose(cmds...)
		}
		return err
	}
}

func lose(cmds ...redis.Cmder) error {
	for _, cmd := range cmds {
		if c, ok := cmd.(interface{ SetVal(any) }); ok {
			c.SetVal(nil)
		}
		cmd.SetErr(errLost)
	}
	return errLost
}

// plug is a connection over the cable. Once a reply was lost it is of no use and says so.
type plug struct {
	net.Conn
	strand strand
	lost   atomic.Bool
}

// Read implements net.Conn.
func (p *plug) Read(b []byte) (int, error) {
	for {
		n, err := p.Conn.Read(b)
		switch {
		case err != nil:
			return n, err
		case p.strand.isCut():
			p.lost.Store(true)
		case p.lost.Load():
			return 0, errLost
		default:
			return n, nil
		}
	}
}

// Write implements net.Conn.
func (p *plug) Write(b []byte) (int, error) {
	if p.lost.Load() && !p.strand.isCut() {
		return 0, errLost
	}
	return p.Conn.Write(b)
}
