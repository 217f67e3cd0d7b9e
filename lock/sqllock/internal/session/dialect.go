package session

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
)

// DefaultTable is where the tokens are.
const DefaultTable = "bedrock_session_locks"

// texts are the statements, in the words of the database.
type texts struct {
	id, take, free string
	silence        string // for how long the session may say nothing
	begin          string // what a session begins with
	read, write    string
	look           string // %s is which
	beginsWith     string // has the prefix twice
	schema         string
}

func newTexts(kind sqlkind.Kind, table string) *texts {
	t := postgresTexts()
	if kind == sqlkind.MySQL {
		t = mysqlTexts()
	}
	replace := strings.NewReplacer("{t}", table, "{now}", kind.Clock())
	t.look = replace.Replace(t.look)
	for _, text := range []*string{&t.read, &t.write, &t.schema} {
		*text = kind.Place(replace.Replace(*text))
	}
	return t
}

const written = "name, lock_key, token, tokens, owner, meta, since, session"

// postgresTexts are those of PostgreSQL: its advisory locks have a number each.
func postgresTexts() *texts {
	return &texts{
		id:   "SELECT pg_backend_pid()",
		take: "SELECT CASE WHEN pg_try_advisory_lock($1::bigint) THEN 1 ELSE 0 END",
		free: "SELECT CASE WHEN pg_advisory_unlock($1::bigint) THEN 1 ELSE 0 END",
		silence: "SELECT set_config('idle_session_timeout', '{seconds}s', false), " +
			"set_config('tcp_user_timeout', '{seconds}s', false), " +
			"set_config('tcp_keepalives_idle', '{seconds}', false), " +
			"set_config('tcp_keepalives_interval', '1', false), set_config('tcp_keepalives_count', '2', false)",
		begin: "SELECT set_config('statement_timeout', '4s', false), " +
			"set_config('default_transaction_read_only', 'off', false)",
		read: "SELECT COALESCE((SELECT token FROM {t} WHERE name = ?), -1), {now}",
		write: "INSERT INTO {t} (" + written + ") VALUES (" + sqlkind.Marks(8) + ") ON CONFLICT (name) DO UPDATE SET " +
			"token = EXCLUDED.token, tokens = EXCLUDED.tokens, owner = EXCLUDED.owner, meta = EXCLUDED.meta, " +
			"since = EXCLUDED.since, session = EXCLUDED.session, lock_key = EXCLUDED.lock_key",
		look: `SELECT name, token, owner, meta, since, held FROM (SELECT r.*, EXISTS (
	SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND l.pid = r.session
	AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
	AND l.classid::bigint = (r.lock_key >> 32) & 4294967295 AND l.objid::bigint = r.lock_key & 4294967295) AS held
FROM {t} r) h WHERE %s ORDER BY name LIMIT ?`,
		beginsWith: "held AND substr(name, 1, length(CAST(? AS TEXT))) = CAST(? AS TEXT)",
		schema: `CREATE TABLE IF NOT EXISTS {t} (
	name     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
	lock_key BIGINT NOT NULL,
	token    BIGINT NOT NULL,
	tokens   INT NOT NULL,
	owner    TEXT NOT NULL,
	meta     TEXT NOT NULL,
	since    BIGINT NOT NULL,
	session  BIGINT NOT NULL
)`,
	}
}

// mysqlTexts are those of MySQL and MariaDB: their named locks have a name each.
func mysqlTexts() *texts {
	return &texts{
		id:      "SELECT CONNECTION_ID()",
		take:    "SELECT COALESCE(GET_LOCK(?, 0), 0)",
		free:    "SELECT COALESCE(RELEASE_LOCK(?), 0)",
		silence: "SET SESSION wait_timeout = {seconds}",
		begin:   "SET SESSION autocommit = 1",
		read:    "SELECT COALESCE((SELECT token FROM {t} WHERE name = ?), -1), {now}",
		write: "INSERT INTO {t} (" + written + ") VALUES (" + sqlkind.Marks(8) + ") ON DUPLICATE KEY UPDATE " +
			"token = VALUES(token), tokens = VALUES(tokens), owner = VALUES(owner), meta = VALUES(meta), " +
			"since = VALUES(since), session = VALUES(session), lock_key = VALUES(lock_key)",
		look: "SELECT name, token, owner, meta, since, held FROM (SELECT r.*, " +
			"COALESCE(IS_USED_LOCK(lock_key) = session, 0) AS held FROM {t} r) h WHERE %s ORDER BY name LIMIT ?",
		beginsWith: "LEFT(name, LENGTH(?)) = ? AND held",
		schema: `CREATE TABLE IF NOT EXISTS {t} (
	name     VARBINARY(512) NOT NULL PRIMARY KEY,
	lock_key VARCHAR(64) CHARACTER SET ascii NOT NULL,
	token    BIGINT NOT NULL,
	tokens   INT NOT NULL,
	owner    VARBINARY(128) NOT NULL,
	meta     VARBINARY(4096) NOT NULL,
	since    BIGINT NOT NULL,
	session  BIGINT NOT NULL
) ENGINE=InnoDB`,
	}
}

// keyOf is what the database calls the lock of a name. Names are hashed, since databases have short ones, and some do
// not tell large letters from small ones; those of another table are others.
func keyOf(kind sqlkind.Kind, table, name string) any {
	sum := sha256.Sum256([]byte(table + "\x00" + name))
	if kind == sqlkind.MySQL {
		return "bedrock:" + hex.EncodeToString(sum[:24])
	}
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// silenceText has the database end the session when it has said nothing for so long.
func (t *texts) silenceText(d time.Duration) string {
	seconds := strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
	return strings.ReplaceAll(t.silence, "{seconds}", seconds)
}
