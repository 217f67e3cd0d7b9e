package participant_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/txn/participant"
)

// FuzzHandler sends what nobody should: it is answered like a call or refused, and
// never as an error of the participant.
func FuzzHandler(f *testing.F) {
	f.Add("t", "b", "try", "1", "2", "2030-01-02T03:04:05Z", "AP8K", "{}", int64(2))
	f.Add("", "", "", "-1", "x", "y", "*", "", int64(-1))
	f.Add("t", "", "check", "1", "", "", "", "xyz", int64(100))
	f.Fuzz(func(t *testing.T, tx, branch, op, attempt, epoch, deadline, result, body string, length int64) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.ContentLength = length
		for name, value := range map[string]string{
			"Transaction": tx, "Branch": branch, "Operation": op, "Attempt": attempt, "Epoch": epoch,
			"Deadline": deadline, "Result": result,
		} {
			r.Header.Set("Bedrock-"+name, value)
		}
		w := httptest.NewRecorder()
		participant.Handler(answering([]byte("1"), nil), nil).ServeHTTP(w, r)
		switch {
		case w.Code == 200 && tx != "" && op != "" && w.Body.String() == "1":
		case w.Code == 400 || w.Code == 413:
		default:
			t.Errorf("%d %q", w.Code, w.Body)
		}
	})
}
