// Package mysqlurl understands the URL of a database of MySQL or MariaDB, for locks and for transactions.
//
//	mysql://[user:password@]host[:port]/database[?parameters]      also mariadb://
package mysqlurl

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// Parse reads a source, which is a URL whose parameters are those of the driver, or a DSN of the driver. Errors do not
// repeat it, for it has a password.
func Parse(source string) (*mysql.Config, error) {
	u, err := url.Parse(source)
	if err != nil || u.Scheme != "mysql" && u.Scheme != "mariadb" {
		config, err := mysql.ParseDSN(source)
		if err != nil {
			return nil, notUnderstood("source is no mysql:// URL, and as a DSN", source)
		}
		return config, nil
	}
	config, err := mysql.ParseDSN("/?" + u.RawQuery)
	if err != nil {
		return nil, notUnderstood("source", "?"+u.RawQuery)
	}
	config.User, config.DBName = u.User.Username(), strip(u.Path)
	config.Passwd, _ = u.User.Password()
	config.Net, config.Addr = "tcp", address(u)
	return config, nil
}

// notUnderstood names the parameter that is wrong, if it is one. The driver's own errors
// quote values.
func notUnderstood(what, source string) error {
	_, parameters, _ := strings.Cut(source, "?")
	for parameter := range strings.SplitSeq(parameters, "&") {
		if _, err := mysql.ParseDSN("/?" + parameter); err != nil {
			name, _, _ := strings.Cut(parameter, "=")
			return fmt.Errorf("%s: parameter %.40q is not understood, or its value is not", what, name)
		}
	}
	return fmt.Errorf("%s: want mysql://user:password@host:port/database", what)
}

func strip(path string) string {
	if path == "" {
		return ""
	}
	return path[1:]
}

func address(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "3306"
	}
	return net.JoinHostPort(u.Hostname(), port)
}
