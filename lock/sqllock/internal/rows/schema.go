package rows

import (
	"strings"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
)

// typeNames are what types are called, and what follows a table.
type typeNames struct{ name, owner, word, text, after string }

func (l *Layout) typeNames() typeNames {
	switch l.Kind {
	case sqlkind.MySQL:
		return typeNames{
			name: "VARBINARY(512)", owner: "VARBINARY(128)", word: "VARBINARY(64)", text: "VARBINARY(4096)",
			after: " ENGINE=InnoDB",
		}
	case sqlkind.Postgres:
		const text = `TEXT COLLATE "C"`
		return typeNames{name: text, owner: text, word: text, text: text, after: " WITH (fillfactor = 50)"}
	default:
		return typeNames{name: "TEXT", owner: "TEXT", word: "TEXT", text: "TEXT", after: " WITHOUT ROWID"}
	}
}

// Schema is the SQL that makes the tables, one statement each. All of them can be run again.
func (l *Layout) Schema() []string {
	w := l.typeNames()
	replace := strings.NewReplacer("{t}", l.Table, "{name}", w.name, "{owner}", w.owner, "{word}", w.word,
		"{text}", w.text, "{after}", w.after)
	return []string{
		replace.Replace(nameTable), replace.Replace(entryTable), replace.Replace(aboutTable),
	}
}

const nameTable = `CREATE TABLE IF NOT EXISTS {t} (
	name    {name} NOT NULL PRIMARY KEY,
	token   BIGINT NOT NULL,
	owner   {owner} NOT NULL DEFAULT '',
	first   BIGINT NOT NULL DEFAULT 0,
	tokens  INT NOT NULL DEFAULT 0,
	since   BIGINT NOT NULL DEFAULT 0,
	ends    BIGINT NOT NULL DEFAULT 0,
	meta    {text} NOT NULL DEFAULT '',
	client  {word} NOT NULL DEFAULT '',
	kind    {word} NOT NULL DEFAULT '',
	latch   INT NOT NULL DEFAULT 0,
	permits INT NOT NULL DEFAULT 0,
	others  INT NOT NULL DEFAULT 0,
	freed   {text} NOT NULL DEFAULT '',
	touched BIGINT NOT NULL DEFAULT 0,
	waited  BIGINT NOT NULL DEFAULT 0
){after}`

const entryTable = `CREATE TABLE IF NOT EXISTS {t}_holders (
	name        {name} NOT NULL,
	role        {word} NOT NULL,
	owner       {owner} NOT NULL,
	mode        {word} NOT NULL,
	permits     INT NOT NULL,
	upgradeable INT NOT NULL,
	token       BIGINT NOT NULL,
	tokens      INT NOT NULL,
	since       BIGINT NOT NULL,
	ends        BIGINT NOT NULL,
	place       BIGINT NOT NULL,
	meta        {text} NOT NULL,
	client      {word} NOT NULL,
	PRIMARY KEY (name, role, owner)
){after}`

const aboutTable = `CREATE TABLE IF NOT EXISTS {t}_about (
	id      INT NOT NULL PRIMARY KEY,
	version INT NOT NULL,
	store   {word} NOT NULL,
	boot    {word} NOT NULL,
	began   BIGINT NOT NULL,
	floor   BIGINT NOT NULL
)`
