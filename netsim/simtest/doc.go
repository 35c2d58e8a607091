// Package simtest runs a test over many seeds of a simulated network, and takes
// from the environment which ones:
//
//	COEVAL_SEEDS=100000 go test ./conn      many more seeds, as make soak asks of all tests
//	NETSIM_SEEDS=100000 go test ./conn      the same for simulated networks only
//	NETSIM_SEED=41 go test ./conn           this one only
//	NETSIM_SCRIPT=bug.txt go test ./conn    this script, as a failure printed it
//
// With NETSIM_SEED or NETSIM_SCRIPT everything that happens to datagrams is
// logged, and shown by go test -v or when the test fails.
//
// It also plays scenarios: conversations in text files that say what happens; see [Scenarios].
package simtest
