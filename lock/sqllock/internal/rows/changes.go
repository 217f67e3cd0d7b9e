package rows

import (
	"strings"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Right is what an account must be allowed to do with a table.
type Right struct {
	Table string
	Name  string // as GRANT calls it
	Try   string // a statement that needs it, and is about no row

	// Level is that of its lack, and Lack what does not work then.
	Level driver.Level
	Lack  string
}

// What is lacking together with a right.
const (
	lackAll    = "it takes no locks"
	lackCrowds = "mutexes work; readers, writers, permits, latches and waits in a fair line are refused, " +
		"and what they have may not be given back"
	lackSweep = "names that nobody uses any more are never removed: the table grows"
)

// Rights are those without which something does not work.
func (l *Layout) Rights() []Right {
	entries, about := l.Table+"_holders", l.Table+"_about"
	all := RightsOf(l.Table, "name, token")
	all = append(all, rightToDelete(l.Table, driver.Warning, lackSweep))
	for _, r := range RightsOf(entries, entryColumns+", name, role, owner") {
		r.Lack = lackCrowds
		all = append(all, r)
	}
	return append(all, rightToDelete(entries, driver.Danger, lackCrowds), Right{
		Table: about, Name: "UPDATE", Try: "UPDATE " + about + " SET floor = floor WHERE 1 = 0",
		Level: driver.Warning, Lack: lackSweep,
	})
}

// RightsOf are those to read and write a table that has such columns, all of which a new row needs.
func RightsOf(table, columns string) []Right {
	last := columns[strings.LastIndex(columns, " ")+1:]
	replace := strings.NewReplacer("{t}", table, "{all}", columns, "{last}", last)
	right := func(name, try string) Right {
		return Right{Table: table, Name: name, Try: replace.Replace(try), Level: driver.Danger, Lack: lackAll}
	}
	return []Right{
		right("SELECT", "SELECT {all} FROM {t} WHERE 1 = 0"),
		right("INSERT", "INSERT INTO {t} ({all}) SELECT {all} FROM {t} WHERE 1 = 0"),
		right("UPDATE", "UPDATE {t} SET {last} = {last} WHERE 1 = 0"),
	}
}

func rightToDelete(table string, level driver.Level, lack string) Right {
	return Right{
		Table: table, Name: "DELETE", Try: "DELETE FROM " + table + " WHERE 1 = 0", Level: level, Lack: lack,
	}
}
