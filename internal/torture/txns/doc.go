// Package txns tortures transactions: clients move money between accounts behind a
// service, by sagas, TCC and messages, while coordinators, the service, the store and the
// ways between them are broken, and oracles judge the history and the books.
package txns
