package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"go.opentelemetry.io/otel"
)

// tracesPath is where a collector takes spans, below its address.
const tracesPath = "/v1/traces"

// collector finds out where spans go: to the URL of --otlp, or else where
// OpenTelemetry's own variables say. Empty means nowhere.
func collector(flag string, getenv func(string) string) (string, error) {
	if flag != "" {
		return collectorBase("--otlp", flag)
	}
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || getenv("OTEL_TRACES_EXPORTER") == "none" {
		return "", nil
	}
	const own, shared = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"
	exact, base := strings.TrimSpace(getenv(own)), strings.TrimSpace(getenv(shared))
	if exact == "" && base == "" {
		return "", nil
	}
	if err := checkProtocol(getenv); err != nil {
		return "", err
	}
	if exact == "" {
		return collectorBase(shared, base)
	}
	if _, err := collectorURL(own, exact); err != nil {
		return "", err
	}
	return exact, nil
}

// checkProtocol refuses a collector that is meant to be spoken to in gRPC: it would
// answer every batch with an error nobody understands.
func checkProtocol(getenv func(string) string) error {
	const own, shared = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"
	switch p := cmp.Or(getenv(own), getenv(shared)); p {
	case "", "http/protobuf", "http/json":
		return nil
	default:
		return fmt.Errorf("%s or %s is %.40q: spans are sent as http/protobuf or http/json; "+
			"give --otlp http://host:4318, or OTEL_TRACES_EXPORTER=none for no spans", own, shared, p)
	}
}

// collectorBase turns the address of a collector into that of its traces.
func collectorBase(name, text string) (string, error) {
	u, err := collectorURL(name, text)
	if err != nil {
		return "", err
	}
	if !strings.HasSuffix(u.Path, tracesPath) {
		u = u.JoinPath(tracesPath)
	}
	return u.String(), nil
}

// collectorURL understands what is called by name. What is wrong with it is said
// without repeating it, since it may hold a password.
func collectorURL(name, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return nil, fmt.Errorf("%s: want the URL of an OTLP collector, such as http://localhost:4318", name)
	case u.User != nil:
		return nil, fmt.Errorf("%s: a collector gets no password in its URL: set OTEL_EXPORTER_OTLP_HEADERS", name)
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%s: a collector's URL has no ? and no #", name)
	default:
		return u, nil
	}
}

// reportTelemetry sends to the log what OpenTelemetry finds wrong with its
// variables. It has one place for that in a process, and would print it otherwise.
func reportTelemetry(log *slog.Logger) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		log.WarnContext(context.Background(), "traces: OpenTelemetry", "err", err)
	}))
}
