// Package storeurl turns a URL into a store of transactions.
//
//	mem:
//	sqlite:PATH
//	mysql://[user:password@]host[:port]/database[?parameters]      also mariadb://
//	postgres://[user:password@]host[:port]/database[?parameters]   also postgresql://
//	redis://…                                                      and the others of package serverurl
//
// Errors name the part that is wrong and never quote anything that could be, or
// could hold, a password.
package storeurl
