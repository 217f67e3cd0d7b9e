package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// A server that is spoken to over TLS at a port without it says nothing: it waits for the rest of what is no command.

// asksForTLS reports whether one of those URLs does.
func asksForTLS(urls []string) bool {
	return slices.ContainsFunc(urls, func(url string) bool {
		location, err := lockurl.Parse(url)
		return err == nil && location.TLS()
	})
}

// orPlaintext adds to the error of a backend that has not said a word over TLS what may be the reason.
func (s *system) orPlaintext(err error) error {
	exit, ok := errors.AsType[*exitError](err)
	if !ok || !s.overTLS || exit.code != exitUnavailable || !isSilence(exit.err) {
		return err
	}
	err = fmt.Errorf("%w; the URL asks for TLS: does the server speak it at that port?", exit.err)
	return &exitError{exit.code, err}
}

// isSilence reports whether there was no answer at all, not even from the network.
func isSilence(err error) bool {
	_, network := errors.AsType[*net.OpError](err)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	return !network && !certificate &&
		(errors.Is(err, context.DeadlineExceeded) || errors.Is(err, driver.ErrUnavailable))
}
