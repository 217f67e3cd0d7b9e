package sqlkind

import (
	"strconv"
	"strings"
)

// Numbers of the errors of MySQL and MariaDB.
const (
	myDuplicate   = 1062
	myNoTable     = 1146
	myDeniedIn    = 1044
	myDeniedTable = 1142
	myDeniedField = 1143
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
	myTooMany     = 1040 // connections
	myTooManyOwn  = 1203 // of this account
	myLimit       = 1226 // of this account, for an hour
	myNotReady    = 1047 // Galera: the node is not part of the cluster
	myHandshake   = 1043
	myNoThread    = 1135
	myTooSlow     = 1969 // MariaDB: max_statement_time
	myTooSlowRead = 3024 // MySQL: max_execution_time
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
	case myTooMany, myTooManyOwn, myLimit, myNotReady, myHandshake, myNoThread, myTooSlow, myTooSlowRead:
		return Broken
	case myDiskFull, myTableFull, myReadOnly, myReadOnlyTx, myReadOnlyNow: // it will pass
		return Broken
	default:
		return Refused
	}
}

// NoTableInMySQL reports whether an error of MySQL or MariaDB says that a table is not there.
func NoTableInMySQL(number uint16) bool { return number == myNoTable }

// DeniedByMySQL reports whether an error of MySQL or MariaDB says that an account may not do something with a database,
// a table or a column.
func DeniedByMySQL(number uint16) bool {
	return number == myDeniedIn || number == myDeniedTable || number == myDeniedField
}

// ReadOnlyInMySQL reports whether an error of MySQL or MariaDB says that nothing is written: by the server, in a
// transaction, or by InnoDB.
func ReadOnlyInMySQL(number uint16) bool {
	return number == myReadOnly || number == myReadOnlyTx || number == myReadOnlyNow
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
