package mysql

import (
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/internal/mysqlurl"
)

func TestSource(t *testing.T) {
	for source, want := range map[string]string{
		"mysql://u:p@db/app":                         "u:p@tcp(db:3306)/app",
		"mariadb://u:p%40%2F%3A@db:33/app?tls=true":  "u:p@/:@tcp(db:33)/app",
		"mysql://u@[::1]:3307/app?readTimeout=5s":    "u@tcp([::1]:3307)/app",
		"u:p@unix(/run/mysql.sock)/app?collation=x":  "u:p@unix(/run/mysql.sock)/app",
		"u:p@tcp(127.0.0.1:3306)/app?parseTime=true": "u:p@tcp(127.0.0.1:3306)/app",
	} {
		config, err := mysqlurl.Parse(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		config = tuned(config)
		dsn := config.FormatDSN()
		if got, _, _ := strings.Cut(dsn, "?"); got != want {
			t.Errorf("%s: got %s, want %s", source, got, want)
		}
		if !config.InterpolateParams || !config.MultiStatements || config.MaxAllowedPacket != 0 {
			t.Errorf("%s: not tuned: %s", source, dsn)
		}
		for _, param := range []string{
			"sql_mode=", "idle_transaction_timeout+%3D+5", "wait_timeout=30", "net_write_timeout=5",
		} {
			if !strings.Contains(dsn, param) {
				t.Errorf("%s: no %s: %s", source, param, dsn)
			}
		}
	}
}
