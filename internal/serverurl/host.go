package serverurl

import (
	"net"
	"strconv"
	"strings"
	"unicode"
)

// parseHost returns host:port. An IPv6 address stands in brackets.
func parseHost(text, defaultPort string) (string, error) {
	host, port := text, defaultPort
	if i := strings.LastIndexByte(text, ':'); i > strings.LastIndexByte(text, ']') {
		host, port = text[:i], text[i+1:]
	}
	bare, err := bareHost(host)
	if err != nil {
		return "", err
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", wrong("port", "is not a number from 1 to 65535")
	}
	return net.JoinHostPort(bare, port), nil
}

// bareHost takes the brackets off an IPv6 address.
func bareHost(host string) (string, error) {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if !ok || net.ParseIP(inner) == nil {
			return "", wrong("host", "is not an IPv6 address in brackets")
		}
		return inner, nil
	}
	if host == "" {
		return "", wrong("host", "is missing")
	}
	if i := strings.IndexFunc(host, notInHost); i >= 0 {
		return "", wrong("host", "has a character that no host name has; an IPv6 address stands in brackets")
	}
	return host, nil
}

func notInHost(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-._", r)
}
