// Command fleet prints the cost of thousands of clients in one process while they connect, wait, lose their server,
// find it again and stop, and the number of attempts to connect:
//
//	go run ./benchmarks/fleet/cmd/fleet -clients 10000 -outage 30s -svg fleet.svg
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/mcpotel/mcpotel/benchmarks/fleet"
	"github.com/mcpotel/mcpotel/benchmarks/workload"
	"github.com/mcpotel/mcpotel/inspect/debugpage"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

func main() {
	clients := flag.Int("clients", 10_000, "number of `clients`")
	outage := flag.Duration("outage", 30*time.Second, "duration of the server's outage")
	svg := flag.String("svg", "", "SVG `file` for a picture of the attempts")
	flag.Parse()
	if err := run(os.Stdout, *clients, *outage, *svg); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

// step is the time that one point of the curve represents.
const step = 250 * time.Millisecond

func run(out io.Writer, clients int, outage time.Duration, svg string) error {
	ctx := context.Background()
	reader := sdkmetric.NewManualReader()
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	table := newPhases(out)
	f, err := fleet.Connect(ctx, clients, telemetry.New(telemetry.WithMeterProvider(meters)))
	if err != nil {
		return err
	}
	table.row("connected")
	time.Sleep(time.Second)
	table.row("1 s later")
	size := look()
	table.row(fmt.Sprintf("debug page, %d KiB", size>>10))
	var all metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &all); err != nil {
		return err
	}
	table.row("metrics collected")
	f.Leave()
	lost := time.Now()
	time.Sleep(outage)
	table.row("server away for " + outage.String())
	f.Return()
	if err := f.Await(ctx); err != nil {
		return err
	}
	table.row("all ready again")
	if err := f.Stop(ctx); err != nil {
		return err
	}
	table.row("stopped")
	counts := f.Attempts(lost, step)
	curve(out, counts)
	if svg == "" {
		return nil
	}
	return os.WriteFile(svg, []byte(draw(counts, outage)), 0o644)
}

// look opens the overview of the debug page, and returns its size.
func look() int {
	w := httptest.NewRecorder()
	debugpage.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	return w.Body.Len()
}

// phases writes the resources of each phase.
type phases struct {
	out io.Writer
	at  time.Time
	cpu workload.CPU
}

func newPhases(out io.Writer) *phases {
	p := &phases{out: out}
	fmt.Fprintf(out, "%-22s %10s %10s %10s %16s %6s\n", "phase", "took", "CPU", "goroutines", "heap and stacks", "files")
	p.at, p.cpu = time.Now(), workload.StartCPU()
	return p
}

func (p *phases) row(name string) {
	took, used := time.Since(p.at), p.cpu.Spent()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Fprintf(p.out, "%-22s %10v %10v %10d %12.1f MiB %6d\n", name, took.Round(time.Millisecond),
		used.Round(time.Millisecond), runtime.NumGoroutine(), float64(m.HeapAlloc+m.StackInuse)/(1<<20), files())
	p.at, p.cpu = time.Now(), workload.StartCPU()
}

// files returns the number of open files of the process, or 0 if it is unknown.
func files() int {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(all)
}

// curve writes the attempts to connect as bars.
func curve(out io.Writer, counts []int) {
	most := 1
	for _, n := range counts {
		most = max(most, n)
	}
	fmt.Fprintf(out, "\nattempts to connect, a line for each %v since the server left\n", step)
	for i, n := range counts {
		fmt.Fprintf(out, "%7.2f s %6d %s\n", (time.Duration(i) * step).Seconds(), n, strings.Repeat("#", 60*n/most))
	}
}
