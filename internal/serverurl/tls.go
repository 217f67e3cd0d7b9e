package serverurl

import (
	"crypto/tls"
	"crypto/x509"
	"os"
)

// TLS says how to encrypt and whom to trust.
type TLS struct {
	// On switches it on where the scheme does not.
	On bool
	// CA, Cert and Key are PEM files: whom to trust instead of the system's
	// authorities, and the client's own certificate.
	CA, Cert, Key string
	// ServerName is expected in the server's certificate instead of the host.
	ServerName string
	// InsecureSkipVerify trusts any server.
	InsecureSkipVerify bool
}

func (t *TLS) validate() error {
	switch {
	case !t.On && *t != (TLS{}):
		return wrong("option ca, cert, key, server-name or insecure-skip-verify", "needs tls=true")
	case (t.Cert == "") != (t.Key == ""):
		return wrong("options cert and key", "belong together: one is missing")
	}
	return nil
}

// Config reads the certificates. It is nil where nothing is encrypted.
func (t *TLS) Config() (*tls.Config, error) {
	if !t.On {
		return nil, nil //nolint:nilnil // it is what clients take for that
	}
	c := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         t.ServerName,
		InsecureSkipVerify: t.InsecureSkipVerify, //nolint:gosec // only when the URL says so
	}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, wrong("option ca", "cannot be read: %v", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, wrong("option ca", "names a file without a PEM certificate")
		}
	}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, wrong("options cert and key", "cannot be read: %v", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
