package settings

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/toolboundary/toolboundary/config"
)

// CertPool returns the authorities that the PEM file of a setting holds; nil means the system's,
// for a setting that names no file. Errors name the setting, not the file.
func CertPool(setting, file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read", setting)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate in PEM", setting)
	}
	return pool, nil
}

// clientTLS returns the encryption of connections to address; nil means none. An empty address
// means several servers: each is checked under the name by which it is dialled.
func clientTLS(mode config.TLSMode, address string, caFile config.File) (*tls.Config, error) {
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
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	if mode == config.TLSRequired {
		// the operator's choice: encrypted, not authenticated; the configuration warns of it
		c.InsecureSkipVerify = true
		return c, nil
	}
	var err error
	c.RootCAs, err = CertPool("ca_file", string(caFile))
	return c, err
}
