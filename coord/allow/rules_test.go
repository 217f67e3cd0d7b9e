package allow_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/coord/allow"
)

func rules(t *testing.T, texts ...string) *allow.Rules {
	t.Helper()
	r, err := allow.Parse(texts...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		rules   string // separated by spaces
		allowed string
		denied  string
	}{
		{"", "", "http://example.com/ http://127.0.0.1/ grpc://a:1/s/m"},
		{
			"*",
			"http://example.com/ https://example.com:8443/a?b=c http://127.0.0.1:1/ http://[::1]:1/ " +
				"http://10.1.2.3/ grpc://a:1/s/m",
			"http://169.254.169.254/ http://[fe80::1]/ http://224.0.0.1/ http://0.0.0.0/ http://[::]/ " +
				"http://255.255.255.255/ " +
				"http://[::ffff:10.0.0.1]/ http://100.100.100.200/ http://168.63.129.16/ http://[fd00:ec2::254]/ " +
				"http://[ff02::1]/",
		},
		{
			"pay.example.com",
			"http://pay.example.com/ https://PAY.Example.COM:99/ http://pay.example.com./ grpc://pay.example.com:1/s/m",
			"http://example.com/ http://x.pay.example.com/ http://pay.example.com.evil.net/ http://10.0.0.1/",
		},
		{
			"*.example.com",
			"http://a.example.com/ https://a.b.example.com:8/",
			"http://example.com/ http://aexample.com/ http://a.example.com.evil.net/ http://evil.net/a.example.com",
		},
		{
			"https://*.example.com",
			"https://a.example.com/ https://a.example.com:443/",
			"http://a.example.com/ https://a.example.com:8443/ http://a.example.com:443/ grpcs://a.example.com:443/s/m",
		},
		{"https://*.example.com:*", "https://a.example.com:8443/", "http://a.example.com:8443/"},
		{
			"example.com:8080", "http://example.com:8080/ grpc://example.com:8080/s/m",
			"http://example.com/ http://example.com:808/",
		},
		{
			"grpc://example.com", "grpc://example.com:5/s/m",
			"grpcs://example.com:5/s/m http://example.com:5/ grpc://example.com/s/m",
		},
		{
			"http://127.0.0.1:*", "http://127.0.0.1:5/ http://127.0.0.1/",
			"https://127.0.0.1:5/ http://127.0.0.2:5/ http://[::1]:5/ http://evil.net/",
		},
		{"[::1]:80", "http://[::1]/ http://[0:0::1]:80/", "http://[::1]:81/ http://127.0.0.1/ http://[::2]/"},
		{"::1", "http://[::1]/ http://[::1]:81/ http://localhost/", "http://127.0.0.1/"},
		// A name may have an address of the network; its dialler will know.
		{"10.0.0.0/8", "http://10.255.0.1:5/ http://some.internal/", "http://11.0.0.1/ http://127.0.0.1/"},
		// Nobody means the metadata service by everything.
		{
			"0.0.0.0/0 ::/0", "http://8.8.8.8/",
			"http://169.254.169.254/ http://0.0.0.0/ http://224.0.0.1/ http://[fe80::1]/",
		},
		{"169.254.0.0/16", "http://169.254.7.7/", "http://169.254.169.254/"},
		{"169.254.169.254", "http://169.254.169.254/", "http://169.254.7.7/"},
		{
			"127.0.0.0/8", "http://127.0.0.1/ http://[::ffff:127.0.0.1]/",
			"http://[::ffff:169.254.169.254]/ http://[::127.0.0.1]/",
		},
		// What NAT64 translates is judged as what it becomes.
		{
			"10.0.0.0/8", "http://[64:ff9b::10.0.0.1]/",
			"http://[64:ff9b::169.254.169.254]/ http://[64:ff9b::127.0.0.1]/",
		},
		{
			"*", "http://[64:ff9b::8.8.8.8]/",
			"http://[64:ff9b::169.254.169.254]/ http://[2002:a9fe:a9fe::]/ http://[2001:0:1::1]/",
		},
	} {
		r := rules(t, strings.Fields(c.rules)...)
		for target := range strings.FieldsSeq(c.allowed) {
			if err := r.Check(target); err != nil {
				t.Errorf("rules %q: %s: %v", c.rules, target, err)
			}
		}
		for target := range strings.FieldsSeq(c.denied) {
			if err := r.Check(target); !errors.Is(err, allow.ErrDenied) {
				t.Errorf("rules %q: %s: %v, want %v", c.rules, target, err, allow.ErrDenied)
			}
		}
	}
}

func TestLoopback(t *testing.T) {
	for _, target := range []string{
		"http://localhost:1/", "http://LOCALHOST./", "http://127.9.9.9/", "grpc://[::1]:1/s/m",
	} {
		if err := allow.Loopback().Check(target); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
	for _, target := range []string{
		"http://example.com/", "http://10.0.0.1/", "http://localhost.evil.net/", "http://[::2]/",
	} {
		if err := allow.Loopback().Check(target); err == nil {
			t.Errorf("%s: allowed", target)
		}
	}
}

// TestOwnPort: a server is not made to call itself, whatever it is called.
func TestOwnPort(t *testing.T) {
	own := ownAddress(t)
	rules := allow.Everyone().Except(7700)
	for _, target := range []string{
		"http://localhost:7700/", "http://LOCALHOST.:7700/", "http://127.0.0.1:7700/", "http://127.9.9.9:7700/",
		"grpc://[::1]:7700/s/m",
		"http://" + net.JoinHostPort(own.String(), "7700") + "/",
	} {
		if err := rules.Check(target); !errors.Is(err, allow.ErrDenied) {
			t.Errorf("%s: %v", target, err)
		}
	}
	for _, target := range []string{
		"http://localhost:7701/", "http://127.0.0.1/", "http://example.com:7700/", "http://192.0.2.1:7700/",
	} {
		if err := rules.Check(target); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// TestOwnPortByName: a name is judged by what it resolves to.
func TestOwnPortByName(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).AddrPort().Port()
	d := allow.Loopback().Except(port).Dialer("http", time.Second)
	if conn, err := d.Dial(t.Context(), "tcp", fmt.Sprintf("localhost:%d", port)); !errors.Is(err, allow.ErrDenied) {
		t.Errorf("connected to itself: %v, %v", conn, err)
	}
}

// ownAddress finds an address of this machine that is not a loopback one, if it has any.
func ownAddress(t *testing.T) netip.Addr {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		network, _ := a.(*net.IPNet)
		if addr, ok := netip.AddrFromSlice(network.IP); ok && addr.Unmap().IsGlobalUnicast() {
			return addr.Unmap()
		}
	}
	return netip.MustParseAddr("127.0.0.1")
}

func TestOddTargetsAreRefusedUnderEveryRule(t *testing.T) {
	for _, target := range []string{
		"", "/", "example.com", "//example.com/", "http:", "http:///x", "http://:80/", "http:example.com",
		"file:///etc/passwd", "unix:///run/docker.sock", "gopher://a/", "ftp://a/", "javascript:alert(1)",
		"dns://8.8.8.8/a",
		"http://user@example.com/", "http://user:password@example.com/", "http://:@example.com/",
		"http://2130706433/", "http://017700000001/", "http://0x7f000001/", "http://0x7f.1/", "http://127.1/",
		"http://127.0.1/",
		"http://0127.0.0.1/", "http://127.0.0.1.1/", "http://1/", "http://0/", "http://evil.0x10/",
		"http://①②⑦.⓪.⓪.①/", "http://127。0。0。1/", "http://ⓛocalhost/", "http://bücher.example/",
		"http://exa%6dple.com/",
		"http://127.0.0.1%2f@example.com/",
		"http://[::1%25lo]/", "http://[fe80::1%25eth0]/", "http://[::1]x/", "http://[::1/",
		"http://example..com/", "http://.example.com/", "http://a b/", "http://a_b!/", "http://example.com:0/",
		"http://example.com:65536/",
		"http://example.com:-1/", "http://example.com:http/", "grpc://example.com/s/m", "http://exam\nple.com/",
		"http://example.com\\@evil/",
		"http://" + strings.Repeat("a.", 200) + "com/", "http://" + strings.Repeat("a", 64) + ".com/",
	} {
		if err := allow.Everyone().Check(target); !errors.Is(err, allow.ErrDenied) {
			t.Errorf("%q: %v", target, err)
		}
	}
}

func TestErrorsKeepPathsToThemselves(t *testing.T) {
	for _, target := range []string{
		"http://a/secret?k=secret", "http://x:secret@a/", "http://169.254.1.1/secret", "http://a:x/secret",
	} {
		if err := allow.Loopback().Check(target); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", target, err)
		}
	}
}

func TestRulesThatMakeNoSense(t *testing.T) {
	for _, text := range []string{
		"", " ", "http://", "ftp://a", "https://a/path", "a/b", "10.0.0.0/33", "10.1.2.3/8", "::ffff:10.0.0.0/104",
		"::ffff:10.0.0.1",
		"fe80::1%eth0", "a:0", "a:65536", "a:b", "a:1:2", "*a.com", "a.*.com", "*.*", "**", "*.", "127.1", "0x7f000001",
		"user@host",
		"[::1", "[::1]x", "bücher.example", "http://10.0.0.0/8", "a b",
	} {
		if r, err := allow.Parse(text); err == nil {
			t.Errorf("%q: accepted as %s", text, r)
		}
	}
}

func FuzzRules(f *testing.F) {
	for _, text := range []string{
		"*", "*:80", "https://*", "https://*.example.com", "http://127.0.0.1:*", "10.0.0.0/8", "::1", "[::1]:80",
		"https://[::1]",
		"fe80::/10", "grpc://a", "localhost", "a.:1", "169.254.169.254",
	} {
		f.Add(text, "http://"+text+"/")
	}
	f.Fuzz(func(t *testing.T, text, target string) {
		r, err := allow.Parse(text)
		if err != nil {
			return
		}
		again, err := allow.Parse(r.String())
		if err != nil || again.String() != r.String() {
			t.Fatalf("%q is written %q, which reads %v, %v", text, r, again, err)
		}
		one, two := r.Check(target), again.Check(target)
		if (one == nil) != (two == nil) {
			t.Fatalf("%q and %q differ about %q: %v, %v", text, r, target, one, two)
		}
		if one == nil && allow.Everyone().Check(target) != nil && !strings.ContainsAny(text, "0123456789:") {
			t.Fatalf("%q allows %q", text, target)
		}
	})
}
