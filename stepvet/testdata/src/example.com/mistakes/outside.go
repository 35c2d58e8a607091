package mistakes

import (
	"context"
	crand "crypto/rand"
	"fmt"
	"hash/maphash"
	"log"
	"math/rand"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"example.com/world"
)

func (b *Ball) clocks() {
	t := time.Now()                // want `time.Now is bound to the wall clock, which no two machines share and no replay repeats; count ticks instead.*\[clock\]`
	if time.Since(t) > time.Hour { // want `time.Since`
		time.Sleep(time.Second) // want `time.Sleep`
	}
	time.AfterFunc(time.Second, func() {})          // want `time.AfterFunc`
	f := time.Until                                 // want `time.Until`
	context.WithTimeout(context.Background(), f(t)) // want `context.WithTimeout`
	_ = t.Local()                                   // want `depends on the machine's time zone.*\[io\]`
	_ = time.Duration(3) * time.Second
}

func (b *Ball) threads() {
	go b.hit()  // want `a goroutine runs at no particular tick.*\[concurrent\]`
	b.Wake <- 1 // want `a channel hands over`
	<-b.Wake    // want `a channel hands over`
	select {    // want `select takes whichever channel is ready`
	case n := <-b.Wake:
		b.Hits = n
	default:
	}
	for n := range b.Wake { // want `a channel hands over`
		b.Hits = n
	}
	close(b.Wake)           // want `closing a channel`
	b.Wake = make(chan int) // want `a channel has no place`
	var mu sync.Mutex
	mu.Lock() // want `sync.Mutex.Lock is for goroutines.*\[concurrent\]`
	var n atomic.Int32
	n.Add(1)               // want `sync/atomic.Int32.Add`
	sync.OnceFunc(b.hit)() // want `sync.OnceFunc`
}

func (b *Ball) chance(w *world.World) {
	b.Hits = rand.Intn(6)                          // want `math/rand.Intn draws from a stream that every process seeds differently.*det.At.*\[random\]`
	r := rand.New(rand.NewSource(int64(w.Seed()))) // want `math/rand.New keeps its state outside the world`
	b.Hits = r.Intn(6)                             // want `math/rand.Rand.Intn keeps its state outside the world`
	var buf [8]byte
	crand.Read(buf[:])     // want `crypto/rand.Read differs in every call`
	_ = maphash.MakeSeed() // want `hash/maphash.MakeSeed has a seed that differs`
}

func (b *Ball) outside() {
	fmt.Println(b.X)              // want `fmt.Println reaches the console.*\[io\]`
	print(b.X)                    // want `print writes to the console`
	log.Print("hit")              // want `log.Print reaches outside the world`
	if os.Getenv("CHEAT") != "" { // want `os.Getenv reaches outside the world`
		b.Hits = 0
	}
	fmt.Fprint(os.Stderr, b.X)     // want `os.Stderr reaches outside`
	net.Dial("udp", "localhost:1") // want `net.Dial is about the network`
	if runtime.GOARCH == "wasm" {  // want `runtime.GOARCH differs between machines`
		b.Hits = runtime.NumCPU() // want `runtime.NumCPU depends on the machine`
	}
}
