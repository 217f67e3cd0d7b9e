package main

import (
	"strings"
	"testing"
)

func TestWhereSpansGo(t *testing.T) {
	const base, own = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	for name, tc := range map[string]struct {
		flag string
		env  map[string]string
		want string
	}{
		"nothing set":       {},
		"flag":              {flag: "http://host:4318", want: "http://host:4318/v1/traces"},
		"flag with slash":   {flag: "https://host/", want: "https://host/v1/traces"},
		"flag below a path": {flag: "https://host/otlp", want: "https://host/otlp/v1/traces"},
		"flag in full":      {flag: "http://[::1]:4318/v1/traces", want: "http://[::1]:4318/v1/traces"},
		"flag wins": {
			flag: "http://flag", env: map[string]string{own: "http://own", base: "http://base"},
			want: "http://flag/v1/traces",
		},
		"flag wins over silence": {
			flag: "http://flag", env: map[string]string{"OTEL_SDK_DISABLED": "true"}, want: "http://flag/v1/traces",
		},
		"flag wins over gRPC": {
			flag: "http://flag", env: map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
			want: "http://flag/v1/traces",
		},
		"of all signals": {
			env: map[string]string{base: " http://base:4318\n"}, want: "http://base:4318/v1/traces",
		},
		"of traces, as it is": {
			env: map[string]string{own: "http://own/spans", base: "http://base"}, want: "http://own/spans",
		},
		"disabled":              {env: map[string]string{base: "http://base", "OTEL_SDK_DISABLED": "TRUE"}},
		"no traces":             {env: map[string]string{base: "http://base", "OTEL_TRACES_EXPORTER": "none"}},
		"gRPC without endpoint": {env: map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}},
		"JSON for traces": {
			env: map[string]string{
				base: "http://base", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json",
				"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
			},
			want: "http://base/v1/traces",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := collector(tc.flag, func(name string) string { return tc.env[name] })
			if err != nil || got != tc.want {
				t.Errorf("%q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

func TestWrongCollectorsAreNamedButNotShown(t *testing.T) {
	const base, own = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	for flag, env := range map[string]map[string]string{
		"localhost:4318":               nil,
		"//host":                       nil,
		"http://":                      nil,
		"http://:4318":                 nil,
		"grpc://host:4317":             nil,
		"http://host:port":             nil,
		"http://eve:hunter2@host":      nil,
		"http://eve:hunter2%@host":     nil,
		"http://host/?api-key=hunter2": nil,
		"http://host/#hunter2":         nil,
		base:                           {base: "hunter2:4318"},
		own:                            {own: "http://eve:hunter2@host", base: "http://host"},
		"OTEL_EXPORTER_OTLP_PROTOCOL":  {base: "http://host:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
	} {
		named := "--otlp: "
		if env != nil {
			named, flag = flag, ""
		}
		got, err := collector(flag, func(name string) string { return env[name] })
		if err == nil || got != "" || !strings.Contains(err.Error(), named) ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q %v: %q, %v", flag, env, got, err)
		}
	}
}
