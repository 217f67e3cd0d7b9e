package testenv

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const (
	certFile = "server.crt"
	keyFile  = "server.key"
)

// secure makes the certificate of a server with TLS. A replica copies its
// master's, so that one client configuration trusts both.
func (s *RedisServer) secure() {
	s.t.Helper()
	if !s.opts.TLS {
		return
	}
	if s.tls != nil {
		s.copyCertificate(s.opts.ReplicaOf.Dir)
		return
	}
	if err := s.makeCertificate(); err != nil {
		s.t.Fatalf("redis %s: make certificate: %v", s.Addr(), err)
	}
}

func (s *RedisServer) copyCertificate(from string) {
	s.t.Helper()
	for _, name := range []string{certFile, keyFile} {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			s.t.Fatalf("redis %s: copy certificate: %v", s.Addr(), err)
		}
		if err := os.WriteFile(filepath.Join(s.Dir, name), b, 0o600); err != nil {
			s.t.Fatalf("redis %s: copy certificate: %v", s.Addr(), err)
		}
	}
}

// makeCertificate writes a self-signed certificate for loopback, which is its
// own authority, and prepares the clients' configuration.
func (s *RedisServer) makeCertificate() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := loopbackCertificate()
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(filepath.Join(s.Dir, certFile), cert, 0o600); err != nil {
		return err
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	if err := os.WriteFile(filepath.Join(s.Dir, keyFile), private, 0o600); err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cert)
	s.tls = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12, ServerName: "localhost"}
	s.CAFile = filepath.Join(s.Dir, certFile)
	return nil
}

func loopbackCertificate() *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber:          big.NewInt(now.UnixNano()),
		Subject:               pkix.Name{CommonName: "bedrock test server"},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(24 * time.Hour),
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
}

func (s *RedisServer) tlsLines() []string {
	file := func(name string) string { return strconv.Quote(filepath.Join(s.Dir, name)) }
	return []string{
		"port 0",
		fmt.Sprintf("tls-port %d", s.Port),
		"tls-cert-file " + file(certFile),
		"tls-key-file " + file(keyFile),
		"tls-ca-cert-file " + strconv.Quote(s.CAFile),
		"tls-auth-clients no",
		"tls-replication yes",
	}
}
