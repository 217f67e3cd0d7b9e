package main

import "github.com/bedrock-go/bedrock/internal/mutants"

const (
	guards    = "lock/guard"
	guardsSQL = "lock/guard/sqlguard"
	fences    = "lock/guard/internal/fencesql"
)

// guardMutants are faults in the rule, and in a guard of what is in memory.
func guardMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "guard: the same token is refused", File: guards + "/errors.go", Pkg: guards,
			Old: "t.Token < newest", New: "t.Token <= newest", Test: "TestTokensAreMixedUp",
		},
		{
			Name: "guard: the token before is accepted", File: guards + "/errors.go", Pkg: guards,
			Old: "t.Token < newest", New: "t.Token+1 < newest", Test: "TestTokensAreMixedUp",
		},
		{
			Name: "guard: memory remembers nothing", File: guards + "/memory.go", Pkg: guards,
			Old: "	f.newest = t.Token\n", New: "", Test: "TestTokensAreMixedUp",
		},
		{
			Name: "guard: memory lets others in between check and work", File: guards + "/memory.go", Pkg: guards,
			Old: "	defer func() { <-f.turn }()\n", New: "	<-f.turn\n", Test: "TestNobodyComesBetweenCheckAndWork",
		},
		{
			Name: "guard: a refusal is told to nobody", File: guards + "/store.go", Pkg: guards,
			Old: "	o.Observe(ctx, lock.Event", New: "	_ = (lock.Event", Also: []mutants.Edit{{
				File: guards + "/store.go", Old: "Err: err})\n", New: "Err: err})\n	_ = o.Observe\n",
			}}, Test: "TestRefusalsAreTold",
		},
		{
			Name: "guard: a lease in the context is no ticket", File: guards + "/ticket.go", Pkg: guards,
			Old: "return Of(lease), leased", New: "return Of(nil), leased && lease == nil", Test: "TestTicketOfALease",
		},
	}
}

// guardTableMutants are faults in a guard's table in SQL.
func guardTableMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "guard: MariaDB lowers the token", File: fences + "/table.go", Pkg: guardsSQL,
			Old: "token = GREATEST(token, VALUES(token))", New: "token = VALUES(token)", Test: "TestMariaDB/plain/rule",
		},
		{
			Name: "guard: MariaDB reads what was before", File: fences + "/table.go", Pkg: guardsSQL,
			Old: " + \" FOR UPDATE\"", New: "", Test: "TestMariaDB/plain/snapshot_is_older",
		},
		{
			Name: "guard: MariaDB takes one name for another", File: fences + "/table.go", Pkg: guardsSQL,
			Old: "VARBINARY(", New: "VARCHAR(", Test: "TestMariaDB/plain/names",
		},
		{
			Name: "guard: PostgreSQL and SQLite lower the token", File: fences + "/table.go", Pkg: guardsSQL,
			Old: "token = CASE WHEN g.token < excluded.token THEN excluded.token ELSE g.token END",
			New: "token = excluded.token", Test: "TestSQLite/rule",
		},
		{
			Name: "guard: SQL checks outside of the transaction", File: guardsSQL + "/guard.go", Pkg: guardsSQL,
			Old:  "	newest, err := g.raiseToken(ctx, tx, t)\n",
			New:  "	newest, err := g.raiseToken(ctx, g.db, t)\n",
			Test: "TestPostgres/roll_back",
		},
		{
			Name: "guard: SQL does not commit what is announced", File: guardsSQL + "/guard.go", Pkg: guardsSQL,
			Old: "return newest, tx.Commit()", New: "return newest, nil", Test: "TestSQLite/nobody_comes_between",
		},
		{
			Name: "guard: SQL takes a pool for a transaction", File: guardsSQL + "/guard.go", Pkg: guardsSQL,
			Old: "; pool {", New: "; pool && t.Token == 0 {", Test: "TestWrongInput",
		},
		{
			Name: "guard: SQL tells a deadlock to the caller", File: fences + "/repeat.go", Pkg: fences,
			Old: "try == deadlockTries", New: "try > 0", Test: "TestADeadlockIsTheEnd",
		},
		{
			Name: "guard: a name is a text of the connection", File: fences + "/table.go", Pkg: "lock/guard/pgxguard",
			Old:  "'UTF8')\"",
			New:  "pg_client_encoding())\"",
			Test: "TestPostgres/encodings",
		},
		{
			Name: "guard: a name is in the characters of the connection", File: fences + "/table.go", Pkg: guardsSQL,
			Old:  "\"UNHEX(?)\"",
			New:  "\"CONVERT(CONVERT(UNHEX(?) USING utf8mb4) USING latin1)\"",
			Test: "TestConnectionsHaveFencesOfTheirOwn",
		},
		{
			Name: "guard: pgx checks outside of the transaction", File: "lock/guard/pgxguard/guard.go",
			Pkg: "lock/guard/pgxguard",
			Old: "	newest, err := g.raiseToken(ctx, tx, t)\n",
			New: "	var newest uint64\n" +
				"	err = pgx.BeginTxFunc(ctx, g.db, pgx.TxOptions{}, func(tx pgx.Tx) (err error) {\n" +
				"		newest, err = g.raiseToken(ctx, tx, t)\n		return err\n	})\n",
			Test: "TestPostgres/roll_back",
		},
	}
}

// guardColumnMutants are faults in a guard that is a column of the user's own table.
func guardColumnMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "guard: a column refuses the same token", File: fences + "/column.go", Pkg: guardsSQL,
			Old: "+ fence + \" <= ?\")", New: "+ fence + \" < ?\")", Test: "TestSQLite/column",
		},
		{
			Name: "guard: a column takes any token", File: fences + "/column.go", Pkg: guardsSQL,
			Old: "\" = ? AND \" + fence + \" <= ?\"", New: "\" = ? AND 0 <= ?\"", Test: "TestSQLite/column",
		},
		{
			Name: "guard: a write that has touched no row has succeeded", File: fences + "/column.go", Pkg: guardsSQL,
			Old: "c.countsChanges && uint64(*newest) == t.Token", New: "uint64(*newest) <= t.Token",
			Test: "TestSQLite/column",
		},
		{
			Name: "guard: MariaDB counts rows that stay as they are", File: fences + "/column.go", Pkg: guardsSQL,
			Old: "countsChanges: kind == sqlkind.MySQL", New: "countsChanges: !kind.Known()",
			Test: "TestMariaDB/plain/column",
		},
	}
}

// guardRedisMutants are faults in a guard of what is in Redis.
func guardRedisMutants() []mutants.Mutant {
	const pkg = "lock/guard/redisguard"
	return []mutants.Mutant{
		{
			Name: "guard: Redis refuses the same token", File: pkg + "/fence.lua", Pkg: pkg,
			Old: "and a < b", New: "and a <= b", Test: "TestTokensAreMixedUp",
		},
		{
			Name: "guard: Redis compares tokens as text", File: pkg + "/fence.lua", Pkg: pkg,
			Old: "return #a < #b or #a == #b and a < b", New: "return a < b", Test: "TestTokensAreMixedUp",
		},
		{
			Name: "guard: Redis remembers the first token only", File: pkg + "/fence.lua", Pkg: pkg,
			Old: "token ~= known", New: "not known", Test: "TestTokensAreMixedUp",
		},
		{
			Name: "guard: Redis writes in spite of a refusal", File: pkg + "/run.lua", Pkg: pkg,
			Old: "if newest then return {'stale', newest} end\n", New: "", Test: "TestTokensAreMixedUp",
		},
		{
			Name: "guard: Redis takes one name for another", File: pkg + "/key.go", Pkg: pkg,
			Old: "g.opts.Prefix + \":\" + name", New: "g.opts.Prefix + name", Test: "TestNamesMeet",
		},
		{
			Name: "guard: in a cluster tokens are in another slot than the name", File: pkg + "/key.go", Pkg: pkg,
			Old: "\"{\" + name + \"}\"", New: "name", Test: "TestKeysOfOtherSlots",
		},
	}
}

// guardServiceMutants are faults in tickets on their way to a service.
func guardServiceMutants() []mutants.Mutant {
	const (
		overHTTP, overGRPC, headers = guards + "/httpguard", guards + "/grpcguard", guards + "/header"
		connected                   = guards + "/connectguard"
	)
	return []mutants.Mutant{
		{
			Name: "guard: HTTP lets in whom the store does not answer for", File: overHTTP + "/handler.go",
			Pkg: overHTTP, Test: "TestAStoreThatDoesNotAnswerLetsNobodyIn",
			Old: "ticket); err != nil {", New: "ticket); errors.Is(err, guard.ErrStale) {",
		},
		{
			Name: "guard: HTTP takes half a ticket for none", File: overHTTP + "/handler.go", Pkg: overHTTP,
			Old: "	case err != nil:\n", New: "	case err != nil && !h.opts.Optional:\n", Test: "TestAnswers",
		},
		{
			Name: "guard: HTTP changes the caller's request", File: overHTTP + "/transport.go", Pkg: overHTTP,
			Old: "	r = r.Clone(r.Context())", New: "	", Test: "TestTransport",
		},
		{
			Name: "guard: headers do not escape the percent sign", File: headers + "/header.go", Pkg: headers,
			Old: " && c != '%'", New: "", Test: "TestATicketSurvivesItsHeaders",
		},
		{
			Name: "guard: headers may be there twice", File: headers + "/header.go", Pkg: headers,
			Old: "case len(values) > 1:", New: "case len(values) > 9:", Test: "TestWhatIsNoTicketIsRefused",
		},
		{
			Name: "guard: gRPC gives a stream's handler no ticket", File: overGRPC + "/server.go", Pkg: overGRPC,
			Old: "serverStream{stream, inner})", New: "serverStream{stream, stream.Context()})", Test: "TestAnswers",
			Also: []mutants.Edit{{
				File: overGRPC + "/server.go", Old: "		inner, err := c.admitCall(stream.Context())\n",
				New: "		_, err := c.admitCall(stream.Context())\n",
			}},
		},
		{
			Name: "guard: gRPC does not say which token is newer", File: overGRPC + "/server.go", Pkg: overGRPC,
			Old: "	setTrailer(details)\n", New: "", Test: "TestAnswers",
		},
		{
			Name: "guard: gRPC hides the refusal of a stream", File: overGRPC + "/client.go", Pkg: overGRPC,
			Old: "	return refusalOf(err, s.Trailer())\n", New: "	return err\n", Test: "TestAnswers",
		},
		{
			Name: "guard: connect lets streams in that are refused", File: connected + "/server.go", Pkg: connected,
			Old:  "		if err == nil {\n			err = next(inner, stream)",
			New:  "		if err == nil || errors.Is(err, guard.ErrStale) {\n			err = next(inner, stream)",
			Test: "TestAnswers",
		},
	}
}
