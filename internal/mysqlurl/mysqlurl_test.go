package mysqlurl_test

import (
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/internal/mysqlurl"
)

func TestBadSource(t *testing.T) {
	for _, source := range []string{
		"mysql://u:hush@db/app?tls=nonsense", "mysql://u:hush@db/app?timeout=never", "u:hush@db", "hush",
		"mysql://u:p@db/app?tls=hush", "mysql://u:p@db/app?a=b&parseTime=hush", "u:p@tcp(db)/app?tls=hush",
	} {
		if _, err := mysqlurl.Parse(source); err == nil {
			t.Errorf("%s was taken", source)
		} else if strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: the error tells the password: %v", source, err)
		}
	}
}
