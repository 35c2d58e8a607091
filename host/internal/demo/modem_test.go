package demo

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/coeval-dev/coeval/host/internal/hosttest"
)

// TestBrowserModem prints how a browser plays over WebTransport on a modem, for half a minute, and
// how soon all is as it should be when the network is good again:
//
//	COEVAL_SOAK=1 go test -run TestBrowserModem -v ./host/internal/demo
func TestBrowserModem(t *testing.T) {
	if !hosttest.Soak() {
		return // it measures: set COEVAL_SOAK
	}
	s := startDemo(t, func(d *flags) { d.bots, d.level, d.preset = 12, "foundry", "cable" })
	b := openTab(t, 640, 360)
	b.play(s, "name=Ann&autopilot")
	b.until("it plays by WebTransport", playing+" && coeval.stats().carrier === 'WebTransport'")
	look := func(what string, seconds ...float64) {
		b.run("window.begun = performance.now(), window.was = coeval.stats()")
		for _, at := range seconds {
			b.run(fmt.Sprintf("window.at = %f", at))
			b.until("time passes", "performance.now() - begun > 1000 * at")
			t.Logf("%s %4.1f s: %s", what, at, b.text(`(() => {
				const s = coeval.stats(), w = was, d = (performance.now() - begun) / 1000;
				return 'round trip ' + s.roundTrip.toFixed(0) + ' ms, ' + s.ahead.toFixed(1) +
					' ticks ahead, ' + s.early.toFixed(1) + ' early, waits ' +
					s.queueIn.toFixed(0) + ' ms in, ' + s.queueOut.toFixed(0) + ' ms out, lost ' +
					(100 * s.lossIn).toFixed(1) + ' % in, ' + (100 * s.lossOut).toFixed(1) +
					' % out, ' + ((s.received - w.received) / d).toFixed(0) + ' B/s in, ' +
					((s.sent - w.sent) / d).toFixed(0) + ' out, ' + s.rate.toFixed(0) +
					' frames a second';
			})()`))
		}
	}
	choose := func(preset string) {
		if r := post(t, s, map[string]any{"preset": preset}); r.StatusCode != http.StatusOK {
			t.Fatal(r.Status)
		}
	}
	look("cable", 2)
	choose("modem")
	look("modem", 0.5, 1, 2, 5, 10, 30)
	choose("cable")
	look("cable again", 0.5, 1, 2, 3, 5)
}
