package soak

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Sample holds the resources of the proxies' process at one moment.
type Sample struct {
	At         time.Duration // since the start
	Calls      int           // finished calls
	Heap       uint64        // bytes in use after a collection, including stacks
	Goroutines int
	Files      int // open files; 0 if unknown
}

// watch takes samples.
type watch struct {
	every time.Duration
	out   io.Writer
	made  func() int
	begun time.Time
	end   chan struct{}
	all   sync.WaitGroup
	taken []Sample
}

func newWatch(every time.Duration, out io.Writer, made func() int) *watch {
	w := &watch{every: every, out: out, made: made, begun: time.Now(), end: make(chan struct{})}
	if w.out == nil {
		w.out = io.Discard
	}
	fmt.Fprintf(w.out, "%8s %10s %12s %10s %6s\n", "after", "calls", "heap", "goroutines", "files")
	w.take()
	w.all.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				w.take()
			case <-w.end:
				return
			}
		}
	})
	return w
}

// stop takes the last sample, and returns all samples.
func (w *watch) stop() []Sample {
	close(w.end)
	w.all.Wait()
	w.take()
	return w.taken
}

func (w *watch) take() {
	runtime.GC()
	runtime.GC() // the second one empties the pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s := Sample{
		At: time.Since(w.begun).Round(time.Second), Calls: w.made(), Heap: m.HeapAlloc + m.StackInuse,
		Goroutines: runtime.NumGoroutine(), Files: files(),
	}
	w.taken = append(w.taken, s)
	fmt.Fprintf(w.out, "%8v %10d %8.2f MiB %10d %6d\n", s.At, s.Calls, float64(s.Heap)/(1<<20), s.Goroutines, s.Files)
}

// files returns the number of open files of the process.
func files() int {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(all)
}

// Growth is the growth of the resources from the second third of a run to the last third: medians, in the units of
// [Sample]. Growth in the first third, such as of caches, does not count.
type Growth struct {
	Heap              float64 // as a factor
	Goroutines, Files int
}

// GrowthOf returns the growth. It needs at least nine samples.
func GrowthOf(samples []Sample) Growth {
	third := len(samples) / 3
	second, last := samples[third:2*third], samples[len(samples)-third:]
	of := func(f func(Sample) int) (before, after int) { return median(second, f), median(last, f) }
	heapBefore, heapAfter := of(func(s Sample) int { return int(s.Heap) })
	goBefore, goAfter := of(func(s Sample) int { return s.Goroutines })
	filesBefore, filesAfter := of(func(s Sample) int { return s.Files })
	return Growth{float64(heapAfter) / float64(heapBefore), goAfter - goBefore, filesAfter - filesBefore}
}

func median(samples []Sample, f func(Sample) int) int {
	var all []int
	for _, s := range samples {
		all = append(all, f(s))
	}
	slices.Sort(all)
	return all[len(all)/2]
}
