// Package cluster keeps what the servers of a seamless world share: a map of who owns what, a
// journal for each zone, and snapshots. It implements the interfaces of topology/seamless on NATS
// JetStream, and in memory.
//
//	c := cluster.Memory()                                           // one process, tests
//	c, err := cluster.Embed(ctx, cluster.Options{Dir: "world"})     // a NATS server in here
//	c, err := cluster.Open(ctx, cluster.Options{URL: "nats://a,nats://b,nats://c"})
//
//	topology/seamless ── Map, Journal, Store ──> service/cluster ──> NATS
//
// # How it lies in NATS
//
// A cluster has three kinds of streams: one for the map, one for snapshots, and a few for all
// journals. Keys and zones are subjects in them. A write names the sequence of the last message of
// its subject, and is refused if there is another: that is both compare-and-set and the fence.
//
// # What a caller has to know of doubt
//
// An answer can fail to come, and the write be there all the same. Such a write is sent again until
// the context ends: as both copies expect the same last message, at most one is taken. When one is
// refused, this package reads back whether the other was. ErrDoubt remains if the context ended
// first. Then either call again with the same arguments on the same Cluster, which says what became
// of it, or have another writer raise the fence, after which Last says the same.
//
// The page docs/cluster.md says what survives what, and has the figures.
package cluster
