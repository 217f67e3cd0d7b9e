package stage

import (
	"context"
	"net/http"
)

// HealthOf is the status with which a server says how it is, or 0 if it does not answer. It
// leaves no connection behind.
func HealthOf(ctx context.Context, url string) int {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/healthz", nil)
	if err != nil {
		return 0
	}
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	res.Body.Close()
	return res.StatusCode
}
