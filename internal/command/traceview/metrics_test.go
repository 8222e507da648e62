package traceview

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
)

func process(service, instance string) otlpsink.Origin {
	o := from(service)
	o.Resource["service.instance.id"] = instance
	return o
}

// duration returns a point of a histogram with these counts and the bounds 1, 2 and 4 seconds.
func duration(o otlpsink.Origin, ms int, counts ...uint64) otlpsink.Point {
	p := otlpsink.Point{
		Origin: o, Metric: "op.duration", Unit: "s", Kind: otlpsink.Histogram, Time: after(ms), Bounds: []float64{1, 2, 4},
		Counts:     counts,
		Attributes: map[string]any{"tool": "x"},
	}
	for _, n := range counts {
		p.Count += n
	}
	return p
}

func seriesOf(t *testing.T, s otlpsink.Snapshot, query string) []seriesJSON {
	t.Helper()
	type answer struct{ Series []seriesJSON }
	return getJSON[answer](t, showing(s), "/metrics.json"+query).Series
}

func TestCumulativePointsReplaceTheValueAndDeltasAddUp(t *testing.T) {
	sum := func(delta bool, ms int, v float64) otlpsink.Point {
		return otlpsink.Point{Origin: from("x"), Metric: fmt.Sprint("sum delta=", delta), Kind: otlpsink.Sum, Delta: delta,
			Time: after(ms), Value: v}
	}
	got := seriesOf(t, otlpsink.Snapshot{Points: []otlpsink.Point{
		sum(false, 1, 3), sum(false, 3, 7), sum(false, 2, 5), // the last point is late
		sum(true, 1, 3), sum(true, 2, 4),
	}}, "")
	if len(got) != 2 || *got[0].Value != 7 || *got[1].Value != 7 {
		t.Errorf("want 7 for both, got %+v", got)
	}
}

func TestProcessesOfAServiceShareOneSeries(t *testing.T) {
	s := otlpsink.Snapshot{Points: []otlpsink.Point{
		duration(process("x", "1"), 1, 1, 0, 0, 0), duration(process("x", "1"), 2, 2, 0, 0, 0),
		duration(process("x", "2"), 1, 0, 2, 0, 0),
		{Origin: process("x", "1"), Metric: "gauge", Kind: otlpsink.Gauge, Time: after(5), Value: 5},
		{Origin: process("x", "2"), Metric: "gauge", Kind: otlpsink.Gauge, Time: after(4), Value: 4},
		{Origin: process("x", "1"), Metric: "up", Kind: otlpsink.Sum, Time: after(5), Value: 5},
		{Origin: process("x", "2"), Metric: "up", Kind: otlpsink.Sum, Time: after(4), Value: 4},
	}}
	got := seriesOf(t, s, "")
	if len(got) != 3 || *got[0].Value != 5 || *got[1].Count != 4 || *got[2].Value != 9 || got[1].Processes != 2 {
		t.Errorf("want the newest gauge 5, four measurements, and the sum 9, of two processes, got %+v", got)
	}
	if *got[1].P50 != 1 || *got[1].P99 <= 1.9 || *got[1].P99 > 2 {
		t.Errorf("want quantiles over both, got p50 %v and p99 %v", *got[1].P50, *got[1].P99)
	}
}

func TestPointsAreReadOnceDespiteDropsInTheSink(t *testing.T) {
	m := newMeters()
	value := func(now otlpsink.Snapshot) float64 {
		all, _ := look(m, now, func(s *series) (float64, bool) { return s.total().value, true })
		return all[0]
	}
	point := otlpsink.Point{Origin: from("x"), Metric: "n", Kind: otlpsink.Sum, Delta: true, Value: 1}
	now := otlpsink.Snapshot{Points: []otlpsink.Point{point, point}}
	for range 2 {
		if got := value(now); got != 2 {
			t.Errorf("after two points: want 2, got %v", got)
		}
	}
	now.Dropped.Points = 3 // and a third point, which was dropped as well
	if got := value(now); got != 4 {
		t.Errorf("after five points, one of them dropped unread: want 4, got %v", got)
	}
}

func TestMetricsAreShownByServiceWithExemplars(t *testing.T) {
	slow := duration(from("shop"), 1, 0, 0, 1, 0)
	slow.Attributes["error.type"] = "timeout"
	slow.Exemplars = []otlpsink.Exemplar{{TraceID: traceA, SpanID: "a1", Value: 3, Time: noon},
		{TraceID: traceB, SpanID: "b1", Value: 3.5, Time: noon}}
	page := getPage(t, showing(otlpsink.Snapshot{Points: []otlpsink.Point{
		slow, {Origin: from("shop"), Metric: "size", Unit: "By", Kind: otlpsink.Gauge, Value: 2048},
		{Origin: from("bank"), Metric: "n", Unit: "{request}", Kind: otlpsink.Sum, Value: 3},
	}}), "/metrics")
	if got := page.texts("h2"); !slices.Equal(got, []string{"bank", "shop"}) {
		t.Errorf("want a section for each service, got %q", got)
	}
	if got, want := page.texts("tr.group"), []string{"n", "op.duration", "size"}; !slices.Equal(got, want) {
		t.Errorf("want a group for each metric, %q, got %q", want, got)
	}
	if got, want := page.texts("td"),
		[]string{"no attributes", "3", "timeout tool x", "1", "3.00s", "3.90s", "3.98s", "3.50s3.00s", "no attributes",
			"2.00 KiB"}; !slices.Equal(got, want) {
		t.Errorf("want %q, got %q", want, got)
	}
	if a := page.one(t, "tr.failed").all("a"); a[0].attrs["href"] != "/trace/"+traceB+"#s-b1" {
		t.Errorf("want the largest first, and a link to its span, got %s", a[0].attrs["href"])
	}
	some := otlpsink.Snapshot{Points: []otlpsink.Point{slow, duration(from("bank"), 1, 1, 0, 0, 0)}}
	for query, want := range map[string]int{"?service=bank": 1, "?q=error.type=timeout": 1, "?q=OP.": 2,
		"?service=bank&q=timeout": 0} {
		if got := len(seriesOf(t, some, query)); got != want {
			t.Errorf("%s: want %d series, got %d", query, want, got)
		}
	}
}

func TestTooManySeriesAreCountedNotKept(t *testing.T) {
	var s otlpsink.Snapshot
	for i := range maxKept + 7 {
		s.Points = append(s.Points, otlpsink.Point{Origin: from("x"), Metric: "n", Kind: otlpsink.Sum,
			Attributes: map[string]any{"i": int64(i)}})
	}
	page := getPage(t, showing(s), "/metrics")
	if rows := len(page.all("td")) / 2; rows != maxSeries {
		t.Errorf("want %d shown, got %d", maxSeries, rows)
	}
	if notes := strings.Join(page.texts(".note"), " "); !strings.Contains(notes, "9500 more series not shown") ||
		!strings.Contains(notes, "at least 7 are not kept") {
		t.Errorf("want notes on the omitted series, got %q", notes)
	}
}

func TestBrokenHistogramsHaveNoQuantiles(t *testing.T) {
	p := duration(from("x"), 1, 1, 2)
	got := seriesOf(t, otlpsink.Snapshot{Points: []otlpsink.Point{p}}, "")
	if *got[0].Count != 3 || got[0].P50 != nil {
		t.Errorf("want the count and no quantile, got %+v", got[0])
	}
}

// TestQuantilesLieInTheBucketOfTheMeasurement compares quantiles with the measurements themselves.
func TestQuantilesLieInTheBucketOfTheMeasurement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0.001, 100), 1, 50).Draw(t, "values")
		slices.Sort(values)
		lo, hi := values[0], values[len(values)-1]
		explicit := otlpsink.Point{Kind: otlpsink.Histogram, Bounds: []float64{0.01, 0.1, 1, 10}, Counts: make([]uint64, 5)}
		const scale = 2
		exponential := otlpsink.Point{Kind: otlpsink.ExponentialHistogram, Scale: scale,
			Positive: otlpsink.Buckets{Offset: -60, Counts: make([]uint64, 120)}}
		for _, v := range values {
			i, _ := slices.BinarySearch(explicit.Bounds, v)
			explicit.Counts[i]++
			exponential.Positive.Counts[int(math.Ceil(math.Log2(v)*4))-1+60]++
		}
		q := rapid.SampledFrom([]float64{.5, .95, .99, 1}).Draw(t, "q")
		want := values[int(math.Ceil(q*float64(len(values))))-1]

		got := quantile(q, bucketsOf(explicit), lo, hi)
		i, _ := slices.BinarySearch(explicit.Bounds, want)
		below, above := 0.0, math.Inf(1)
		if i > 0 {
			below = explicit.Bounds[i-1]
		}
		if i < len(explicit.Bounds) {
			above = explicit.Bounds[i]
		}
		if got < below || got > above || got < lo || got > hi {
			t.Errorf("explicit: want %v within (%v, %v] of %v, got %v", q, below, above, values, got)
		}
		if got := quantile(q, bucketsOf(exponential), lo, hi); got < want/1.2 || got > want*1.2 {
			t.Errorf("exponential: want %v about %v of %v, got %v", q, want, values, got)
		}
	})
}

func TestQuantilesOfOpenBuckets(t *testing.T) {
	nan := math.NaN()
	for name, tc := range map[string]struct {
		buckets []bucket
		lo, hi  float64
		want    float64
	}{
		"none":            {nil, nan, nan, nan},
		"above all, open": {[]bucket{{4, math.Inf(1), 1}}, nan, nan, 4},
		"above all":       {[]bucket{{4, math.Inf(1), 1}}, nan, 8, 8},
		"below all, open": {[]bucket{{math.Inf(-1), -1, 1}}, nan, nan, -1},
		"zero":            {[]bucket{{0, 0, 1}}, nan, nan, 0},
		"one value":       {[]bucket{{0, 10, 5}}, 3, 3, 3},
	} {
		if got := quantile(1, tc.buckets, tc.lo, tc.hi); got != tc.want && !(math.IsNaN(got) && math.IsNaN(tc.want)) {
			t.Errorf("%s: want %v, got %v", name, tc.want, got)
		}
	}
}
