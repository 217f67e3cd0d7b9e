package auth

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// TLS makes the TLS settings of a server from files in PEM. They are read again when
// they change, so that certificates can be renewed without a restart. With clientCA,
// clients must have a certificate of that authority; empty: they need none.
func (f *Files) TLS(certificate, key, clientCA string) (*tls.Config, error) {
	paths := []string{certificate, key}
	if clientCA != "" {
		paths = append(paths, clientCA)
	}
	files, err := reloading(f, func() (*tls.Config, error) { return readTLS(certificate, key, clientCA) }, paths...)
	if err != nil {
		return nil, err
	}
	c := files.current().Clone()
	c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return files.current(), nil }
	return c, nil
}

func readTLS(certificate, key, clientCA string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("auth: TLS: %w", err)
	}
	c := &tls.Config{
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"h2", "http/1.1"},
		Certificates: []tls.Certificate{pair},
	}
	return c, requireClients(c, clientCA)
}

func requireClients(c *tls.Config, authority string) error {
	if authority == "" {
		return nil
	}
	text, err := os.ReadFile(authority)
	if err != nil {
		return fmt.Errorf("auth: TLS: %w", err)
	}
	c.ClientCAs = x509.NewCertPool()
	if !c.ClientCAs.AppendCertsFromPEM(text) {
		return errors.New("auth: TLS: " + authority + ": there is no certificate in it")
	}
	c.ClientAuth = tls.RequireAndVerifyClientCert
	return nil
}
