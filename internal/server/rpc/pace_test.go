package rpc

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestHandlerIsTrustedAfterEnoughQuickRuns(t *testing.T) {
	const us = time.Microsecond
	type runs struct {
		n    int
		took time.Duration // negative for a run that stalls
	}
	for _, tt := range []struct {
		name  string
		runs  []runs
		quick bool
	}{
		{"new", nil, false},
		{"one run too few", []runs{{FirstTrust - 1, us}}, false},
		{"enough", []runs{{FirstTrust, us}}, true},
		{"the longest quick run", []runs{{FirstTrust, quickRun}}, true},
		{"not quick", []runs{{10 * FirstTrust, quickRun + us}}, false},
		{"very slow", []runs{{10 * FirstTrust, time.Hour}}, false},
		{"a slow start", []runs{{1, time.Hour}, {FirstTrust - 1, us}}, false},
		{"a slow start long ago", []runs{{1, time.Hour}, {200, us}}, true},
		{"one run of a tenth of a millisecond", []runs{{FirstTrust, us}, {1, 100 * us}}, true},
		{"one run of any length", []runs{{FirstTrust, us}, {1, time.Hour}}, false},
		{"one long run, forgotten after 40 quick ones", []runs{{FirstTrust, us}, {1, time.Hour}, {40, us}}, true},
		{"one run in ten is slow", []runs{{FirstTrust, us}, {1, time.Hour}, {9, us}, {1, time.Hour}, {9, us}}, false},
		{"stalled", []runs{{FirstTrust, us}, {1, -1}, {2*FirstTrust - 1, us}}, false},
		{"stalled and forgiven", []runs{{FirstTrust, us}, {1, -1}, {2 * FirstTrust, us}}, true},
		{"stalled twice", []runs{{FirstTrust, us}, {2, -1}, {4*FirstTrust - 1, us}}, false},
		{"stalled again and again", []runs{{100, -1}, {FirstTrust<<maxDouble - 1, us}}, false},
		{"trusted after the maximum of doublings", []runs{{100, -1}, {FirstTrust << maxDouble, us}}, true},
		{"one doubling undone",
			[]runs{{FirstTrust, us}, {1, -1}, {2*FirstTrust + lapse, us}, {1, -1}, {2 * FirstTrust, us}}, true},
	} {
		p := new(Pace)
		for _, r := range tt.runs {
			for range r.n {
				if r.took < 0 {
					p.stalled()
				} else {
					p.add(r.took)
				}
			}
		}
		if quick := p.quick(); quick != tt.quick {
			t.Errorf("%s: quick is %v, want %v (%+v)", tt.name, quick, tt.quick, p.load())
		}
	}
}

func TestHandlerGainsTrustByQuickRunsAndLosesItByStalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := new(Pace)
		since, stalls := 0, 0 // runs since the last stall
		t.Repeat(map[string]func(*rapid.T){
			"run": func(t *rapid.T) {
				n := rapid.IntRange(1, 3000).Draw(t, "n")
				took := time.Duration(rapid.Int64Range(0, int64(2*Patience)).Draw(t, "took"))
				for range n {
					p.add(took)
				}
				since += n
				switch {
				case n >= 100 && took > quickRun+time.Microsecond && p.quick():
					t.Fatalf("quick after %d runs of %v: %+v", n, took, p.load())
				case n >= 100 && took < quickRun-time.Microsecond && since >= FirstTrust<<maxDouble && !p.quick():
					t.Fatalf("not quick after %d runs of %v: %+v", n, took, p.load())
				}
			},
			"stall": func(*rapid.T) {
				p.stalled()
				since = 0
				stalls++
			},
			"": func(t *rapid.T) {
				r := p.load()
				p.store(r)
				switch {
				case p.load() != r:
					t.Fatalf("%+v is read as %+v", r, p.load())
				case p.quick() && (since < FirstTrust || stalls > 0 && since < 2*FirstTrust):
					t.Fatalf("quick %d runs after a stall: %+v", since, r)
				case time.Duration(r.mean) > Patience || r.doublings > maxDouble || r.runs > r.trust()+lapse:
					t.Fatalf("out of bounds: %+v", r)
				}
			},
		})
	})
}

func TestSlowRunsKeepTheDoublings(t *testing.T) {
	var r record
	for range 3 {
		r = r.stalled()
	}
	for range 20_000 {
		r = r.add(Patience)
	}
	if r.doublings != 3 {
		t.Errorf("after three stalls and many slow runs, %d doublings are left, want 3", r.doublings)
	}
}
