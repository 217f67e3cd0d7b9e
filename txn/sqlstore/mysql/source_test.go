package mysql

import (
	"strings"
	"testing"
)

func TestSource(t *testing.T) {
	for source, want := range map[string]string{
		"mysql://u:p@db/app":                         "u:p@tcp(db:3306)/app",
		"mariadb://u:p%40%2F%3A@db:33/app?tls=true":  "u:p@/:@tcp(db:33)/app",
		"mysql://u@[::1]:3307/app?readTimeout=5s":    "u@tcp([::1]:3307)/app",
		"u:p@unix(/run/mysql.sock)/app?collation=x":  "u:p@unix(/run/mysql.sock)/app",
		"u:p@tcp(127.0.0.1:3306)/app?parseTime=true": "u:p@tcp(127.0.0.1:3306)/app",
	} {
		config, err := parse(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
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

func TestBadSource(t *testing.T) {
	for _, source := range []string{
		"mysql://u:hush@db/app?tls=nonsense", "mysql://u:hush@db/app?timeout=never", "u:hush@db", "hush",
		"mysql://u:p@db/app?tls=hush", "mysql://u:p@db/app?a=b&parseTime=hush", "u:p@tcp(db)/app?tls=hush",
	} {
		if _, err := parse(source); err == nil {
			t.Errorf("%s was taken", source)
		} else if strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: the error tells the password: %v", source, err)
		}
	}
}
