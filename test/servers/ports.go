package servers

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are taken below the range that Linux (32768 up) and the BSDs (49152 up) give to outgoing
// connections: a server that is stopped and started again on its port must not find a client's
// connection sitting there.
const (
	lowestPort  = 15000
	highestPort = 31999
)

// freePort returns a loopback port that nothing listens on now. Another process may take it before
// it is used; starts retry with a new one.
func freePort() (int, error) {
	for range 200 {
		port := lowestPort + rand.IntN(highestPort-lowestPort+1)
		l, err := net.Listen("tcp", loopback(port))
		if err != nil {
			continue
		}
		l.Close()
		return port, nil
	}
	return 0, errors.New("no free loopback port found between 15000 and 31999")
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
