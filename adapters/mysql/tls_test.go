package mysql_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/mysql"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/test/servers"
)

// certificate writes a self-signed certificate for 127.0.0.1 and returns it with its files.
func certificate(t *testing.T) (trusted *x509.CertPool, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	dir := t.TempDir()
	write := func(name, kind string, bytes []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600))
		return path
	}
	parsed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	trusted = x509.NewCertPool()
	trusted.AddCert(parsed)
	return trusted, write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", keyDER)
}

func TestEncryptedSessions(t *testing.T) {
	trusted, cert, key := certificate(t)
	m := servers.MariaDB(t, "--ssl-cert="+cert, "--ssl-key="+key)
	load(t, m)
	over := func(pool *x509.CertPool) tweak {
		return func(s *mysql.Source, o *mysql.Options) {
			s.TLS = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
			o.ConnectTimeout, o.KillTimeout = patience, patience // a busy machine proves no less
		}
	}
	r := newRig(t, m, over(trusted))
	var cipher string
	keep := func(row []string) error { cipher = row[1]; return nil }
	require.NoError(t, r.operator().Query(t.Context(), "SHOW SESSION STATUS LIKE 'Ssl_cipher'", keep))
	require.NotEmpty(t, cipher)
	report, err := r.operator().Inspect(t.Context())
	require.NoError(t, err)
	require.True(t, report.Encrypted)

	whole, err := r.Execute(t.Context(), r.plan(t, "SELECT id, body FROM v_large LIMIT 300"), 4<<20)
	require.NoError(t, err, "just within the limit: %d bytes", len(whole))
	_, err = r.Execute(t.Context(), r.plan(t, "SELECT id, body FROM v_large"), 4<<20)
	require.Equal(t, fault.ResultTooLarge, fault.CodeOf(err))
	r.await(t, m, "v_large", 0)
	require.NoError(t, r.operator().ProveKill(t.Context()))

	stranger := newRig(t, m, over(x509.NewCertPool()))
	stranger.fails(t, simple, fault.DataSourceUnavailable, "TLS")
}
