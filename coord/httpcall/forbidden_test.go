package httpcall_test

import (
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/bedrock-go/bedrock/coord/allow"
	"github.com/bedrock-go/bedrock/coord/httpcall"
	"github.com/bedrock-go/bedrock/txn"
)

// trap listens where no call may arrive and reports every connection.
func trap(t *testing.T) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(l.Addr().String())
	listeners := []net.Listener{l}
	if six, err := net.Listen("tcp", "[::1]:"+port); err == nil {
		listeners = append(listeners, six)
	}
	var running sync.WaitGroup
	for _, l := range listeners {
		running.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				t.Errorf("a connection from %s arrived", c.RemoteAddr())
				c.Close()
			}
		})
	}
	t.Cleanup(func() {
		for _, l := range listeners {
			l.Close()
		}
		running.Wait()
	})
	return port
}

// forbidden are ways to reach this machine, or what is near it, in spite of rules
// for others. PORT is the trap's.
const forbidden = `
http://127.0.0.1:PORT/
https://127.0.0.1:PORT/
http://127.0.0.2:PORT/
http://127.255.255.254:PORT/
http://localhost:PORT/
http://LOCALHOST:PORT/
http://LocalHost.:PORT/
https://localhost:PORT/
http://[::1]:PORT/
http://[0:0:0:0:0:0:0:1]:PORT/
http://[0000::0001]:PORT/
http://[::ffff:127.0.0.1]:PORT/
http://[::ffff:7f00:1]:PORT/
http://[0:0:0:0:0:ffff:127.0.0.1]:PORT/
http://[::127.0.0.1]:PORT/
http://[::7f00:1]:PORT/
http://[64:ff9b::127.0.0.1]:PORT/
http://[64:ff9b:1::127.0.0.1]:PORT/
http://[2002:7f00:1::]:PORT/
http://[2001:0:7f00:1::]:PORT/
http://0.0.0.0:PORT/
http://0:PORT/
http://0.0.0.1:PORT/
http://[::]:PORT/
http://[::ffff:0.0.0.0]:PORT/
http://127.1:PORT/
http://127.0.1:PORT/
http://2130706433:PORT/
http://017700000001:PORT/
http://0177.0.0.1:PORT/
http://0177.0.0.01:PORT/
http://0x7f000001:PORT/
http://0x7F.0.0.1:PORT/
http://0x7f.0x0.0x0.0x1:PORT/
http://127.0.0.0x1:PORT/
http://00127.0.0.1:PORT/
http://127.0.0.1.:PORT/
http://①②⑦.⓪.⓪.①:PORT/
http://127。0。0。1:PORT/
http://127%2e0%2e0%2e1:PORT/
http://loc%61lhost:PORT/
http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:PORT/
http://good.example.com@127.0.0.1:PORT/
http://good.example.com:80@127.0.0.1:PORT/
http://good.example.com%40127.0.0.1:PORT/
http://127.0.0.1:PORT#@good.example.com/
http://127.0.0.1:PORT\@good.example.com/
http://127.0.0.1:PORT?.good.example.com/
http://127.0.0.1:PORT/.good.example.com
http://127.0.0.1%00.example.com:PORT/
http://127.0.0.1%09:PORT/
http://127.0.0.1%20:PORT/
http:127.0.0.1:PORT/
http:/127.0.0.1:PORT/
http:///127.0.0.1:PORT/
//127.0.0.1:PORT/
HTTP://127.0.0.1:PORT/
http://[::1%25lo]:PORT/
http://[fe80::1%25lo]:PORT/
http://169.254.169.254/latest/meta-data/
http://[::ffff:169.254.169.254]/
http://[fd00:ec2::254]/
http://[fe80::a9fe:a9fe]/
http://100.100.100.200/
http://168.63.129.16/
http://224.0.0.1:PORT/
http://[ff02::1]:PORT/
http://255.255.255.255:PORT/
ftp://127.0.0.1:PORT/
file:///etc/passwd
gopher://127.0.0.1:PORT/_GET
unix:///127.0.0.1:PORT
ws://127.0.0.1:PORT/
grpc://127.0.0.1:PORT/pkg.Service/Method
dns://127.0.0.1:PORT/good.example.com
`

// Most of these are refused when they are submitted; localhost only at dialling,
// because the rule for a network says that names may have addresses of it.
func TestForbiddenTargetsAreNeverReached(t *testing.T) {
	rules, err := allow.Parse("*.example.com", "10.0.0.0/8", "0.0.0.0/5", "2000::/3")
	if err != nil {
		t.Fatal(err)
	}
	c := caller(t, &httpcall.Options{Allow: rules})
	targets := strings.Fields(strings.ReplaceAll(forbidden, "PORT", trap(t)))
	if len(targets) < 60 {
		t.Fatal("only", len(targets))
	}
	for _, target := range targets {
		got := c.Call(t.Context(), txn.Target(target), call())
		if got.Kind != txn.AnswerUnreached || got.Down ||
			!strings.Contains(got.Note, "not allowed") && !strings.Contains(got.Note, "scheme") {
			t.Errorf("%s: %+v", target, got)
		}
	}
}

// A rule for the address itself is what makes a target reachable.
func TestTheTrapCanBeReached(t *testing.T) {
	target := serve(t, http.NotFound)
	for _, text := range []string{"127.0.0.1", "127.0.0.0/8", "http://127.0.0.1:*", "*"} {
		rules, err := allow.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		got := caller(t, &httpcall.Options{Allow: rules}).Call(t.Context(), target, call())
		if got.Kind == txn.AnswerUnreached {
			t.Errorf("%s: %+v", text, got)
		}
	}
}
