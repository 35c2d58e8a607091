// Package sqldb opens the databases of coeval's services, SQLite in a file or PostgreSQL by URL,
// and brings them to the version that a program needs. What is in them is the services' own:
//
//	service/store      ┐
//	                   ├─▶  sqldb  ─▶  SQLite, PostgreSQL
//	service/directory  ┘
//
// A database belongs to one service, which it says in a table of its own; see [Kind]. One of
// another program is refused, and nothing in it is changed. What a transaction wrote is durable
// when [DB.Within] returns.
package sqldb
