package server_test

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
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/server/auth"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{key: key, cert: &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true,
		BasicConstraintsValid: true,
		NotBefore:             time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageCertSign,
	}}
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pool = x509.NewCertPool()
	a.pool.AddCert(a.cert)
	return a
}

// sign writes a certificate and its key into a folder.
func (a *authority) sign(t *testing.T, dir, name string, until time.Time) (cert, key string) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: until, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.cert, own.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write(t, cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	write(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw})))
	return cert, key
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// browser makes calls with these TLS settings, each over a new connection.
func browser(c *tls.Config) *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: c, DisableKeepAlives: true}}
}

// reach tries the server and returns the name in its certificate.
func (s *site) reach(t *testing.T, c *tls.Config) (name string, err error) {
	t.Helper()
	res, err := browser(c).Get(s.url + "/healthz")
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	return res.TLS.PeerCertificates[0].Subject.CommonName, nil
}

func TestTLSRefusesWhatItShould(t *testing.T) {
	ca, stranger := newAuthority(t), newAuthority(t)
	cert, key := ca.sign(t, t.TempDir(), "server", time.Now().Add(time.Hour))
	settings, err := new(auth.Files).TLS(cert, key, "")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, config(t), settings)
	for what, c := range map[string]*tls.Config{
		"another authority": {RootCAs: stranger.pool},
		"another name":      {RootCAs: ca.pool, ServerName: "elsewhere"},
		"TLS 1.1":           {RootCAs: ca.pool, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11},
	} {
		if _, err := s.reach(t, c); err == nil {
			t.Errorf("%s is accepted", what)
		}
	}
	if _, err := s.reach(t, &tls.Config{RootCAs: ca.pool}); err != nil {
		t.Error(err)
	}
	plain := &site{url: "http://" + s.url[len("https://"):]}
	if a := plain.send(t, http.DefaultClient, http.MethodGet, "/healthz", ""); a.status == 200 {
		t.Error("answered without TLS")
	}
}

func TestTLSNeedsClientCertificates(t *testing.T) {
	ca, stranger := newAuthority(t), newAuthority(t)
	dir := t.TempDir()
	cert, key := ca.sign(t, dir, "server", time.Now().Add(time.Hour))
	authorityFile := filepath.Join(dir, "ca.pem")
	write(t, authorityFile, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.cert.Raw})))
	settings, err := new(auth.Files).TLS(cert, key, authorityFile)
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, config(t), settings)
	with := func(a *authority, until time.Time) *tls.Config {
		c, k := a.sign(t, t.TempDir(), "client", until)
		pair, err := tls.LoadX509KeyPair(c, k)
		if err != nil {
			t.Fatal(err)
		}
		return &tls.Config{RootCAs: ca.pool, Certificates: []tls.Certificate{pair}}
	}
	for what, c := range map[string]*tls.Config{
		"no certificate":      {RootCAs: ca.pool},
		"a stranger's":        with(stranger, time.Now().Add(time.Hour)),
		"one that has lapsed": with(ca, time.Now().Add(-time.Minute)),
	} {
		if _, err := s.reach(t, c); err == nil {
			t.Errorf("%s is accepted", what)
		}
	}
	if _, err := s.reach(t, with(ca, time.Now().Add(time.Hour))); err != nil {
		t.Error(err)
	}
}

func TestTLSFilesAreReadAgain(t *testing.T) {
	ca, dir := newAuthority(t), t.TempDir()
	cert, key := ca.sign(t, dir, "old", time.Now().Add(time.Hour))
	settings, err := new(auth.Files).TLS(cert, key, "")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, config(t), settings)
	if name, err := s.reach(t, &tls.Config{RootCAs: ca.pool}); err != nil || name != "old" {
		t.Fatalf("certificate of %q, error %v", name, err)
	}
	ca.sign(t, dir, "new, and longer", time.Now().Add(time.Hour))
	eventually(t, func() bool {
		name, err := s.reach(t, &tls.Config{RootCAs: ca.pool})
		return err == nil && name == "new, and longer"
	})
	write(t, cert, "broken")
	if name, err := s.reach(t, &tls.Config{RootCAs: ca.pool}); err != nil || name != "new, and longer" {
		t.Errorf("a broken file: certificate of %q, error %v", name, err)
	}
}

func TestLoadTLSRefuses(t *testing.T) {
	ca, dir := newAuthority(t), t.TempDir()
	cert, key := ca.sign(t, dir, "server", time.Now().Add(time.Hour))
	empty := filepath.Join(dir, "empty.pem")
	write(t, empty, "")
	for what, files := range map[string][3]string{
		"no file":         {filepath.Join(dir, "none"), key, ""},
		"swapped":         {key, cert, ""},
		"no authority":    {cert, key, filepath.Join(dir, "none")},
		"empty authority": {cert, key, empty},
	} {
		if _, err := new(auth.Files).TLS(files[0], files[1], files[2]); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}
