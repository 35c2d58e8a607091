// Package directory is where servers, mirrors and relays register and are found.
//
//	coevald directory      sockets, TLS, metrics             (host/internal/directories)
//	service/directory      entries, API, proofs, events      <- here
//	  records              what must survive, in SQL
//	  packet               datagrams: proofs and queries
//	  announce             what a server does to be listed
//	  jwt                  accounts by signed JWTs
//	  lobby                rooms and queues, as a machine
//	  starter              servers that a command starts
//
// A server says what it is by an [Announcement], signed with a key of its own. The directory sends
// a challenge to the address that is claimed, and lists only what answers there; whoever changes an
// entry later signs with the same key. Servers are heard every [Every]; those that are not for
// three times that are gone.
//
// All that is listed is in memory, so a list costs no database. What was acknowledged is in the
// database first: registering and saying goodbye are durable before they are answered.
// [Book] is that, [API] is HTTP and JSON on top, and [Responder] the datagrams.
//
// docs/directory.md explains it to users, docs/protocol.md has the bytes.
package directory
