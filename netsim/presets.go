package netsim

import (
	"fmt"
	"strings"
	"time"
)

const (
	kbit = 1000
	mbit = 1000 * kbit
	gbit = 1000 * mbit
	kib  = 1 << 10
	ms   = time.Millisecond
)

// The presets: connections that players have. Latencies are one way; double
// them for the ping. They are round figures in the range of what is commonly
// measured, not a recording of one network.
var (
	// Perfect delivers everything at once.
	Perfect = Conditions{Name: "perfect"}

	// LAN is a wired local network: 0.3 ms each way, 1 Gbit/s, no loss.
	LAN = preset("lan", line{gbit, 256 * kib}, line{gbit, 256 * kib},
		Profile{Latency: 300 * time.Microsecond,
			Jitter: Jitter{Uniform, 100 * time.Microsecond, nil}})

	// Cable is a wired home connection to a server in the same region: 15 ms each
	// way, 0.1 % loss, 10 Mbit/s up and 100 Mbit/s down.
	Cable = preset("cable", line{10 * mbit, 128 * kib}, line{100 * mbit, 512 * kib},
		Profile{Latency: 15 * ms, Jitter: Jitter{Normal, 1500 * time.Microsecond, nil},
			Loss: 0.001})

	// WiFi is the same home over a busy wireless network: 18 ms each way with long
	// stalls, about 1.3 % loss mostly in bursts, a few datagrams doubled or out of
	// order.
	WiFi = preset("wifi", line{10 * mbit, 128 * kib}, line{40 * mbit, 256 * kib},
		Profile{Latency: 18 * ms, Jitter: Jitter{LongTail, 3 * ms, nil}, Loss: 0.003,
			Burst:     Burst{0.005, 0.25, 0.5},
			Duplicate: 0.001, Reorder: 0.002, HoldBack: 10 * ms})

	// LTE is a phone: 35 ms each way with long stalls, 0.5 % loss, deep queues that
	// hold a second of traffic.
	LTE = preset("lte", line{8 * mbit, 1024 * kib}, line{30 * mbit, 4096 * kib},
		Profile{Latency: 35 * ms, Jitter: Jitter{LongTail, 6 * ms, nil}, Loss: 0.005,
			Reorder: 0.001, HoldBack: 20 * ms})

	// Transatlantic is a wired home whose server is on the other continent: 45 ms each
	// way, 0.3 % loss.
	Transatlantic = preset("transatlantic", line{10 * mbit, 128 * kib}, line{100 * mbit, 512 * kib},
		Profile{Latency: 45 * ms, Jitter: Jitter{Normal, 2 * ms, nil}, Loss: 0.003, Reorder: 0.001,
			HoldBack: 5 * ms})

	// Satellite is a geostationary one: 300 ms each way, 1 % loss, 3 Mbit/s up and
	// 25 Mbit/s down.
	Satellite = preset("satellite", line{3 * mbit, 256 * kib}, line{25 * mbit, 1024 * kib},
		Profile{Latency: 300 * ms, Jitter: Jitter{Normal, 10 * ms, nil}, Loss: 0.01})

	// Modem is a telephone line, for which the first of these games were written:
	// 60 ms each way, 33.6 kbit/s up and 50 kbit/s down, before a queue of two thirds
	// of a second.
	Modem = preset("modem", line{33600, 2800}, line{50 * kbit, 4 * kib},
		Profile{Latency: 60 * ms, Jitter: Jitter{Uniform, 20 * ms, nil}, Loss: 0.005})

	// Awful is what a protocol must survive and nobody should play on: 120 ms each way
	// with stalls of most of a second, about 14 % loss, doubled, disordered and
	// damaged datagrams, 1 Mbit/s before a queue of one second.
	Awful = preset("awful", line{mbit, 125000}, line{mbit, 125000},
		Profile{Latency: 120 * ms, Jitter: Jitter{LongTail, 40 * ms, nil}, Loss: 0.08,
			Burst:     Burst{0.02, 0.2, 0.8},
			Duplicate: 0.02, Reorder: 0.05, HoldBack: 60 * ms, Corrupt: 0.005})
)

// A line is what differs between the two directions of a preset.
type line struct {
	rate  int64
	queue int
}

func preset(name string, up, down line, p Profile) Conditions {
	c := Conditions{Name: name, Up: p, Down: p}
	c.Up.Rate, c.Up.Queue = up.rate, up.queue
	c.Down.Rate, c.Down.Queue = down.rate, down.queue
	return c
}

// Presets returns all presets, from the best to the worst.
func Presets() []Conditions {
	return []Conditions{Perfect, LAN, Cable, WiFi, LTE, Transatlantic, Satellite, Modem, Awful}
}

// Lookup finds a preset by name. The error for a wrong one lists them all.
func Lookup(name string) (Conditions, error) {
	var names []string
	for _, c := range Presets() {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return Conditions{},
		fmt.Errorf("unknown preset %q, use one of %s", name, strings.Join(names, ", "))
}
