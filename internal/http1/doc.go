// Package http1 talks HTTP/1.1 to servers over plain TCP for less of the processor's
// time than http.Transport, which has two more goroutines for each connection so that
// it can do what short calls never need, such as reading while it writes.
//
// A Pool writes a request in one piece and reads the reply, both in the caller's
// goroutine. Its contract:
//
//   - A request is sent once or not at all. A kept connection that turns out to be
//     dead is replaced only while not a byte has left. An [UnsentError] says that
//     nothing has; after any other error the server may have got the request.
//   - The end of the context ends whatever waits: dialling, writing, reading.
//   - A connection is used again only if its reply was read to the end and nothing
//     came after it, and only while it is quiet.
//   - Redirects are not followed, proxies not asked, cookies not kept, nothing is
//     unpacked.
//   - Replies are judged as http.ReadResponse judges them: it reads all but the
//     plainest itself.
package http1
