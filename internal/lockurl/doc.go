// Package lockurl turns the URL of a backend into a lock client.
//
//	mem:
//	sqlite:FILE
//	mysql://[user:password@]host[:port]/database[?parameters]      also mariadb://
//	postgres://[user:password@]host[:port]/database[?parameters]   also postgresql://
//	redis://…    and the others of package serverurl, etcd:// and zk:// among them, with the options of locks
//
// Several URLs make one lock, by the votes of a quorum or as a combination.
//
// Errors name the part that is wrong and never quote anything that could be, or
// could hold, a password.
package lockurl
