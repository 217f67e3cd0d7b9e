package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/server/auth"
)

func newToken(sys *system) *cobra.Command {
	return &cobra.Command{
		Use:   "token ROLE NAME",
		Short: "Make a token for a client of a server",
		Long: `Make a token that nobody can guess, and the line for the server's file of tokens. The
token goes to the client; the file only has its hash. Roles include one another:

  viewer    looks at transactions and locks
  client    submits transactions, and locks
  operator  intervenes, and takes locks away
  admin     does everything`,
		Example: "  bedrock token client shop\n  bedrock token operator alice -o json",
		Args:    wants("ROLE", "NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			role, err := auth.ParseRole(args[0])
			if err != nil {
				return &exitError{exitUsage, err}
			}
			if err := auth.CheckName(args[1]); err != nil {
				return &exitError{exitUsage, err}
			}
			return sys.printToken(role, args[1])
		},
	}
}

func (s *system) printToken(role auth.Role, name string) error {
	token := auth.NewToken()
	line := fmt.Sprintf("%s %s %s", role, name, auth.HashToken(token))
	if s.output == formatJSON {
		return writeJSON(s.stdout, map[string]string{"token": token, "line": line})
	}
	_, err := fmt.Fprintf(s.stdout, "token  %s\nline   %s\n", token, line)
	return err
}
