package housetest

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
)

// home is the one place of words that mean something to others: a second list of
// them would say something else one day.
type home struct {
	what    string
	literal token.Token
	words   *regexp.Regexp
	folder  string // or with /... all below it, too
}

// homes are the lists that once stood in several places.
func homes() []home {
	return []home{
		{"how targets begin", token.STRING, regexp.MustCompile(`^(async|topic):`), "txn"},
		{"what Redis answers", token.STRING, redisCode, "redisconn/..."},
		{"what SQL databases answer", token.STRING, sqlState, "internal/sqlkind"},
		{"what SQL databases answer", token.INT, mariaDBNumber, "internal/sqlkind"},
	}
}

var (
	redisCode = regexp.MustCompile("^-?(ASK|BUSY|CLUSTERDOWN|CROSSSLOT|EXECABORT|LOADING|MASTERDOWN|MISCONF|MOVED|" +
		"NOAUTH|NOPERM|NOREPLICAS|NOSCRIPT|OOM|READONLY|TRYAGAIN|UNBLOCKED|UNKILLABLE|WRONGPASS|WRONGTYPE)( |$)")
	// The classes of SQLSTATE that say something of a server or a write, also in parentheses.
	sqlState = regexp.MustCompile(`(^|\()(08|22|23|25|40|42|53|55|57|58|HY|XX)[0-9A-Z]{3}(\)|$)`)
	// What MariaDB and MySQL say of a key, a lock, a disk, a connection, a replica.
	mariaDBNumber = regexp.MustCompile(
		`^(1020|1021|1053|1062|1114|1153|1159|1205|1213|1290|1317|1406|1792|1836|1927|4031)$`)
)

// wordsStayHome refuses a word of such a list in the code of another package.
func wordsStayHome(tr tree) []string {
	var complaints []string
	tr.each(func(dir string, s *source) {
		if s.test || s.generated() {
			return
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if h, text := strayWord(dir, n); h != nil {
				complaints = append(complaints, s.at(n)+": "+text+" is written in "+h.folder+", which knows "+h.what)
			}
			return true
		})
	})
	return complaints
}

// strayWord finds the home of a word that is not at home.
func strayWord(dir string, n ast.Node) (*home, string) {
	literal, ok := n.(*ast.BasicLit)
	if !ok {
		return nil, ""
	}
	text := literal.Value
	if literal.Kind == token.STRING {
		text, _ = strconv.Unquote(text)
	}
	for _, h := range homes() {
		if h.literal == literal.Kind && h.words.MatchString(text) && !matches(h.folder, dir) {
			return &h, literal.Value
		}
	}
	return nil, ""
}
