// Package scratch starts a server of PostgreSQL in a temporary folder, for tests and benchmarks, if
// one is installed.
package scratch
