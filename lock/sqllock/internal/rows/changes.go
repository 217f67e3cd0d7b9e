package rows

import "strings"

// Changes are the statements by which it shows whether rows may be written: they are about none.
func (l *Layout) Changes() []string {
	entries := l.Table + "_holders"
	return append(
		append(ChangesOf(l.Table, "name, token"), ChangesOf(entries, entryColumns+", name, role, owner")...),
		"DELETE FROM "+entries+" WHERE 1 = 0",
	)
}

// ChangesOf are those of a table that has such columns, all of which a new row needs.
func ChangesOf(table, columns string) []string {
	last := columns[strings.LastIndex(columns, " ")+1:]
	replace := strings.NewReplacer("{t}", table, "{all}", columns, "{last}", last)
	return []string{
		replace.Replace("INSERT INTO {t} ({all}) SELECT {all} FROM {t} WHERE 1 = 0"),
		replace.Replace("UPDATE {t} SET {last} = {last} WHERE 1 = 0"),
	}
}
