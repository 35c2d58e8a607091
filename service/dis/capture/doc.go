// Package capture keeps what came from a network in a file, and plays it again: in the form of
// pcap, which Wireshark and tcpdump read and write.
//
//	w, err := capture.NewWriter(file)
//	w.Write(capture.Datagram{At: now, From: from, To: to, Data: data})
//	...
//	r, err := capture.NewReader(file)
//	for d, err := range r.All() { ... }
//
// What is written has headers of IP and UDP made up for it, so that other tools know which ports it
// went between. What is read may be a capture of Ethernet, Linux's "any" device, or IP alone; other
// protocols in it, and fragments, are passed over.
package capture
