package postgres

import (
	"context"
	"fmt"

	lockdriver "github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

// translates refuses a connection on which one name would be another: what is sent is UTF-8, and the server takes it
// for what client_encoding says. Without a translation it is kept as it is sent.
func translates(ctx context.Context, q rows.Querier) error {
	found, err := q.QueryContext(ctx, "SELECT current_setting('client_encoding'), current_setting('server_encoding')")
	if err != nil {
		return err
	}
	defer found.Close()
	var client, server string
	for found.Next() {
		if err := found.Scan(&client, &server); err != nil {
			return err
		}
	}
	const utf8, none = "UTF8", "SQL_ASCII"
	asSent := client == utf8 || server == none || client == none && server == utf8
	if err := found.Err(); err != nil || asSent {
		return err
	}
	return fmt.Errorf("%w: client_encoding is %s, so names of locks would be others than those of the same letters "+
		"over other connections: leave it out, also where ALTER ROLE or ALTER DATABASE sets it, or have it be UTF8",
		lockdriver.ErrRefused, client)
}
