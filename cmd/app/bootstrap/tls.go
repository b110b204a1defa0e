package bootstrap

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"

	"github.com/toolboundary/toolboundary/config"
)

// clientTLS returns the encryption of connections to address; nil means none. An empty address
// stands for several servers: each is checked under the name by which it is dialled.
func clientTLS(mode config.TLSMode, address, caFile string) (*tls.Config, error) {
	if mode == config.TLSDisabled {
		return nil, nil
	}
	host := ""
	if address != "" {
		var err error
		if host, _, err = net.SplitHostPort(address); err != nil {
			return nil, errors.New("the address must be host:port")
		}
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host} // no host: each address has its own name
	if mode == config.TLSRequired {
		c.InsecureSkipVerify = true // the operator's choice, warned of by the configuration: encrypted, not authenticated
		return c, nil
	}
	if caFile == "" {
		return c, nil
	}
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, errors.New("ca_file cannot be read")
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(pem) {
		return nil, errors.New("ca_file holds no certificate in PEM")
	}
	return c, nil
}
