package config

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// checkAddress checks host:port of a server; the text is not shown, since a DSN with a password
// is a likely mistake.
func checkAddress(at Place, address, port string) {
	host, p, err := net.SplitHostPort(address)
	n, errPort := strconv.ParseUint(p, 10, 16)
	if err != nil || errPort != nil || n == 0 || !hostName(host) {
		at.Problem("The address is not host:port.",
			"Write host and port only, such as db.example.com:"+port+" or [::1]:"+port+".")
	}
}

// checkListen checks host:port of a listener: the host may be empty, the port 0.
func checkListen(at Place, address string) {
	host, p, err := net.SplitHostPort(address)
	_, errPort := strconv.ParseUint(p, 10, 16)
	if err != nil || errPort != nil || (host != "" && !hostName(host)) {
		at.Unreadable("The address is not host:port.", "Write it as 127.0.0.1:8080, or :8080 for every interface.")
	}
}

// hostName reports whether the host is an IP address or has only the characters of a name.
func hostName(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host != "" && len(host) <= 253 && !strings.ContainsFunc(host, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-._", c)
	})
}

// loopback reports whether the address can only be this machine's.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
