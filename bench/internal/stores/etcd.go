package stores

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/child"
)

// startEtcd runs one member, with its own settings.
func (s *Server) startEtcd(ctx context.Context) error {
	program, err := findProgram("etcd")
	if err != nil {
		return err
	}
	port, err := child.FreePort(ctx)
	if err != nil {
		return err
	}
	peerPort, err := child.FreePort(ctx)
	if err != nil {
		return err
	}
	s.Addr = "127.0.0.1:" + port
	client, peer := "http://"+s.Addr, "http://127.0.0.1:"+peerPort
	answers := func(ctx context.Context) bool { return isHealthy(ctx, client+"/health") }
	if err := s.run(ctx, answers, program, "--name=bench", "--data-dir="+s.dir+"/data", "--log-level=warn",
		"--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=bench="+peer,
	); err != nil {
		return err
	}
	s.Version, err = askJSON(ctx, client+"/version", "etcdserver")
	return err
}

// answerTime is how long an answer is waited for.
const answerTime = time.Second

// isHealthy asks for the health, which a member finds out with the consent of the others.
func isHealthy(ctx context.Context, url string) bool {
	health, err := askJSON(ctx, url, "health")
	return err == nil && health == "true"
}

// askJSON gets a field of what is at a URL.
func askJSON(ctx context.Context, url, field string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	fields := make(map[string]string)
	err = json.NewDecoder(response.Body).Decode(&fields)
	return fields[field], err
}
