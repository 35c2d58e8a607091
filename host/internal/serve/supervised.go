//go:build !js

package serve

import (
	"net"
	"os"
	"time"
)

// tellTime is how long whoever supervises the program may take to hear something.
const tellTime = time.Second

// tellSupervisor says a word to the service manager that started the program, if that asked for it
// as systemd does of units of Type=notify: by a datagram to the socket that NOTIFY_SOCKET names.
// What it does not hear is nothing that the game waits for.
func tellSupervisor(word string) {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return
	}
	c, err := net.DialTimeout("unixgram", name, tellTime)
	if err != nil {
		return
	}
	defer c.Close()
	_ = c.SetWriteDeadline(time.Now().Add(tellTime))
	_, _ = c.Write([]byte(word))
}
