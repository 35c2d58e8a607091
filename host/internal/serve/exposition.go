//go:build !js

package serve

import (
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// This file writes numbers in the format that Prometheus reads: text, version 0.0.4. It is a page
// of code where the usual library is forty packages, which every author's program would compile.

// textFormat is what the format is called over HTTP.
const textFormat = "text/plain; version=0.0.4; charset=utf-8"

// A family is all numbers of one name. Its values are by label.
type family struct {
	name, help, kind, label string
	values                  map[string]float64
}

var escapeLabel = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// write writes a family, in the order of its labels.
func (f *family) write(w io.Writer) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.kind)
	for _, of := range slices.Sorted(maps.Keys(f.values)) {
		labels := ""
		if f.label != "" {
			labels = fmt.Sprintf("{%s=\"%s\"}", f.label, escapeLabel.Replace(of))
		}
		fmt.Fprintf(w, "%s%s %s\n", f.name, labels, number64(f.values[of]))
	}
}

// number64 is a number as the format has it.
func number64(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// A histogram counts how often something took how long.
type histogram struct {
	name, help string
	bounds     []float64 // ascending

	mu     sync.Mutex
	counts []uint64 // by bound, and those above all
	sum    float64
}

func newHistogram(name, help string, bounds ...float64) *histogram {
	return &histogram{name: name, help: help, bounds: bounds,
		counts: make([]uint64, len(bounds)+1)}
}

// observe counts one.
func (h *histogram) observe(v float64) {
	i, _ := slices.BinarySearch(h.bounds, v)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counts[i]++
	h.sum += v
}

func (h *histogram) write(w io.Writer) {
	h.mu.Lock()
	counts, sum := slices.Clone(h.counts), h.sum
	h.mu.Unlock()
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s histogram\n", h.name, h.help, h.name)
	all := uint64(0)
	for i, bound := range append(slices.Clone(h.bounds), math.Inf(1)) {
		all += counts[i]
		fmt.Fprintf(w, "%s_bucket{le=\"%s\"} %d\n", h.name, number64(bound), all)
	}
	fmt.Fprintf(w, "%s_sum %s\n%s_count %d\n", h.name, number64(sum), h.name, all)
}

// began is when the process did, nearly.
var began = time.Now()

// process adds what is known of the program and its process, by the names that dashboards know.
func (m *Metrics) process() {
	add := func(kind, name, help string, v float64) {
		m.list = append(m.list, family{name, help, kind, "", map[string]float64{"": v}})
	}
	m.list = append(m.list, family{"go_info", "The version of Go.", "gauge", "version",
		map[string]float64{runtime.Version(): 1}})
	samples := []metrics.Sample{
		{Name: "/sched/goroutines:goroutines"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/total:bytes"}, {Name: "/gc/heap/allocs:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"},
	}
	metrics.Read(samples)
	for i, x := range []struct{ kind, name, help string }{
		{"gauge", "go_goroutines", "Goroutines that there are."},
		{"gauge", "go_memstats_heap_alloc_bytes", "Bytes of the heap in use."},
		{"gauge", "go_memstats_sys_bytes", "Bytes that Go has from the system."},
		{"counter", "go_memstats_alloc_bytes_total", "Bytes that were allocated, freed or not."},
		{"counter", "go_gc_cycles_total_gc_cycles_total", "Collections of garbage."},
	} {
		if samples[i].Value.Kind() == metrics.KindUint64 {
			add(x.kind, x.name, x.help, float64(samples[i].Value.Uint64()))
		}
	}
	add("gauge", "process_start_time_seconds", "When the process began, in Unix time.",
		float64(began.UnixMilli())/1000)
	if list, err := os.ReadDir("/proc/self/fd"); err == nil { // where the system has it
		add("gauge", "process_open_fds", "Open files and sockets.", float64(len(list)))
	}
	if f := procFields("/proc/self/statm"); len(f) > 1 {
		add("gauge", "process_resident_memory_bytes", "Memory that the process takes.",
			f[1]*float64(os.Getpagesize()))
	}
	if f := procFields("/proc/self/stat"); len(f) > 12 {
		const ticks = 100 // a second, on every Linux that Go runs on
		add("counter", "process_cpu_seconds_total", "Time that the processor worked for it.",
			(f[11]+f[12])/ticks)
	}
}

// procFields are the numbers of a file of the system, after a name in parentheses.
func procFields(name string) (out []float64) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	rest := string(text)
	if i := strings.LastIndexByte(rest, ')'); i >= 0 {
		rest = rest[i+1:]
	}
	for field := range strings.FieldsSeq(rest) {
		v, _ := strconv.ParseFloat(field, 64) // a letter is 0
		out = append(out, v)
	}
	return out
}
