package sqlkind

import (
	"strconv"
	"strings"
)

// Numbers of the errors of MySQL and MariaDB.
const (
	myDuplicate   = 1062
	myPacket      = 1153 // larger than max_allowed_packet
	myTooLong     = 1406
	myLockWait    = 1205
	myDeadlock    = 1213
	mySnapshot    = 1020 // MariaDB with innodb_snapshot_isolation: what is to be locked was changed since
	myShutdown    = 1053
	myKilled      = 1927 // MariaDB: the connection was killed
	myInterrupted = 1317
	myReadTimeout = 1159 // MariaDB: the client was silent for too long
	mySilent      = 4031 // MySQL: the same
	myDiskFull    = 1021
	myTableFull   = 1114 // the disk, or the file it is in, is full
	myReadOnly    = 1290 // the server, most often because it is a replica
	myReadOnlyTx  = 1792
	myReadOnlyNow = 1836
)

// OfMySQL returns the class of an error of MySQL or MariaDB.
func OfMySQL(number uint16) Class {
	switch number {
	case myDuplicate:
		return Duplicate
	case myPacket, myTooLong:
		return TooLarge
	case myDeadlock, mySnapshot:
		return Deadlocked
	case myLockWait:
		return Busy
	case myShutdown, myKilled, myInterrupted, myReadTimeout, mySilent:
		return Broken
	case myDiskFull, myTableFull, myReadOnly, myReadOnlyTx, myReadOnlyNow: // it will pass
		return Broken
	default:
		return Refused
	}
}

// ofMySQLText reads the number out of what the driver says: "Error 1213 (40001): …". Its
// error has no method for it.
func ofMySQLText(text string) Class {
	for found := true; found; {
		if _, text, found = strings.Cut(text, "Error "); !found {
			break
		}
		digits, _, _ := strings.Cut(text, " ")
		if number, err := strconv.ParseUint(strings.TrimSuffix(digits, ":"), 10, 16); err == nil {
			return OfMySQL(uint16(number))
		}
	}
	return Refused
}
