package predict

import (
	"testing"

	"github.com/coeval-dev/coeval/conn"
)

// TestCadence: as many packets as the connection allows, and not more or fewer for a little more or
// less of it.
func TestCadence(t *testing.T) {
	var c Cadence
	for _, x := range []struct {
		name string
		q    conn.Quality
		want float64
	}{
		{"nothing known", conn.Quality{Rate: 8192, Packet: 90}, 0},
		{"a low rate that is no limit", conn.Quality{Rate: 1000, Packet: 90}, 0},
		{"a modem", conn.Quality{Rate: 3600, Limit: 4200, Packet: 90}, 30},
		{"a little less", conn.Quality{Rate: 2900, Limit: 4200, Packet: 90}, 30},
		{"a little more", conn.Quality{Rate: 6200, Limit: 6200, Packet: 90}, 30},
		{"while a queue drains", conn.Quality{Rate: 1300, Limit: 4200, Packet: 90}, 10},
		{"next to nothing", conn.Quality{Rate: 100, Limit: 4200, Packet: 90}, 10},
		{"again", conn.Quality{Rate: 3600, Limit: 4200, Packet: 90}, 30},
		{"a wider line", conn.Quality{Rate: 8192, Limit: 9000, Packet: 90}, 0},
		{"a modem once more", conn.Quality{Rate: 3600, Limit: 4200, Packet: 90}, 30},
		{"no limit any more", conn.Quality{Rate: 3600, Packet: 90}, 0},
	} {
		if c.Observe(0, x.q); c.PerSecond() != x.want {
			t.Errorf("%s: %v packets a second, want %v", x.name, c.PerSecond(), x.want)
		}
	}
	slow := Cadence{Rate: 20}
	if slow.Observe(0, conn.Quality{Rate: 1200, Limit: 1200, Packet: 90}); slow.PerSecond() != 10 {
		t.Errorf("%v packets a second for a game of 20 ticks", slow.PerSecond())
	}
}
