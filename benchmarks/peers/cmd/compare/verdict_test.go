package main

import (
	"regexp"
	"strings"
	"testing"
)

// tiny has ours, the floors and some passes of one case: CPU 1.8, 3 and 2.2 times the floor's, wall at best 1.5 times.
func tiny() *synthetic {
	s := output()
	for i, ns := range []float64{1800, 30_000, 2200} {
		floorNs := []float64{1000, 10_000, 1000}[i]
		s.pass(i+1, 0.1).
			line("R/size=1KiB/peer=floor", floorNs, wall, floorNs, cpu, 0, bytesPerOp, 0, allocs).
			line("R/size=1KiB/peer=ours", ns-300, wall, ns, cpu, 900, bytesPerOp, 11, allocs).
			line("R/size=200B/peer=floor", 1000, wall, 1000, cpu, 0, bytesPerOp, 0, allocs).
			line("R/size=200B/peer=ours", 1000, wall, 1100, cpu, 400, bytesPerOp, 9, allocs)
	}
	return s
}

func TestTargetsAreJudgedByTheWorstCase(t *testing.T) {
	m := tiny().parsed(t)
	for _, c := range []struct {
		target target
		want   float64
		where  string
	}{
		{target{cases: "R", unit: cpu, over: floor}, 2.2, "R/size=1KiB"},
		{target{cases: "R/size=200B", unit: cpu, over: floor}, 1.1, "R/size=200B"},
		{target{cases: "R/size=.*KiB", unit: wall, over: floor, how: best}, 1.5, "R/size=1KiB"},
		{target{cases: "R", unit: allocs}, 11, "R/size=1KiB"},
		{target{cases: "R/size=1KiB", unit: allocs, over: floor, how: added}, 11, "R/size=1KiB"},
		{target{cases: "R/size=200B", unit: wall, peer: floor}, 1000, "R/size=200B"},
		{target{cases: "R/size=1KiB", unit: allocs, over: ours, overCases: "R/size=200B"}, 11.0 / 9, "R/size=1KiB"},
	} {
		v := c.target.judge(m)
		if v.worst == nil || v.worst.name != c.where || v.figure != c.want {
			t.Errorf("%+v: want %v in %s, got %v in %v", c.target, c.want, c.where, v.figure, v.worst)
		}
	}
	for _, missing := range []target{{cases: "R/size=2KiB", unit: cpu}, {cases: "R", unit: "furlongs"},
		{cases: "R", peer: "gosdk", unit: wall}, {cases: "R", unit: wall, over: "gosdk"}} {
		if v := missing.judge(m); v.worst != nil || v.met() || v.holds(100) {
			t.Errorf("%+v was not measured: want no figure, and that it is not met, got %v", missing, v.figure)
		}
	}
}

func TestCheckAllowsAMarginOnlyForRatios(t *testing.T) {
	m := tiny().parsed(t)
	ratio, count := &target{row: "ratio", cases: "R", unit: cpu, over: floor, limit: 2},
		&target{row: "count", cases: "R", unit: allocs, limit: 10}
	missed := &target{row: "missed", cases: "R", unit: cpu, over: floor, limit: 1, reached: 2}
	absent := &target{row: "absent", cases: "Q", unit: cpu, limit: 1}
	for _, c := range []struct {
		what    string
		targets []*target
		factor  float64
		some    bool
		want    string // in the error; empty means none
	}{
		{"a ratio beyond its target", []*target{ratio}, 1, false, "1 of 1"},
		{"a ratio within the margin", []*target{ratio}, 1.2, false, ""},
		{"a ratio that is as far beyond its target as is known", []*target{missed}, 1.2, false, ""},
		{"a ratio that is farther", []*target{missed}, 1, false, "1 of 1"},
		{"allocations beyond their target", []*target{ratio, count}, 5, false, "1 of 2"},
		{"a target without a benchmark", []*target{ratio, absent}, 2, false, "1 of 2"},
		{"the same when only some benchmarks are wanted", []*target{ratio, absent}, 2, true, ""},
		{"nothing to check", []*target{absent}, 2, true, "no benchmark"},
	} {
		var all []*verdict
		for _, target := range c.targets {
			all = append(all, target.judge(m))
		}
		var out strings.Builder
		err := check(&out, all, c.factor, c.some)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want error %q, got %v\n%s", c.what, c.want, err, &out)
		}
	}
}

func TestTimesAreNotChecked(t *testing.T) {
	for want, targets := range map[bool][]target{
		true:  {{unit: wall}, {unit: cpu}, {unit: p50}},
		false: {{unit: allocs}, {unit: perClient}, {unit: wall, over: floor}, {unit: cpu, over: ours, overCases: "R"}},
	} {
		for _, target := range targets {
			if got := target.timed(); got != want {
				t.Errorf("%+v: a time: %v, want %v", target, got, want)
			}
		}
	}
	if n := len(checkable()); n == 0 || n >= len(targets) {
		t.Errorf("%d of %d targets are checked, want some and not all", n, len(targets))
	}
}

// TestTargetsAreComplete checks the fields of every target.
func TestTargetsAreComplete(t *testing.T) {
	rows := map[string]bool{}
	for _, target := range targets {
		if target.row == "" || target.cases == "" || target.unit == "" || rows[target.row] {
			t.Errorf("want a row of its own, cases and a unit, got %+v", target)
		}
		rows[target.row] = true
		if target.reached != 0 && target.reached <= target.limit {
			t.Errorf("%s: %v is reached, so the limit of %v is not missed", target.row, target.reached, target.limit)
		}
		if target.how != median && target.over == "" {
			t.Errorf("%s: is measured against nothing", target.row)
		}
	}
}

func TestPatternForCheckSelectsOnlyTargets(t *testing.T) {
	got := neededBy([]*target{{cases: "R/size=16MiB-1"}, {cases: "Q", overCases: "P/a=(b|c)"}, {cases: "R/size=16MiB-1"}})
	want := "^(?:BenchmarkR)$/^(?:size=16MiB-1)$|^(?:BenchmarkQ)$|^(?:BenchmarkP)$/^(?:a=(b|c))$"
	if got != want {
		t.Errorf("want %s, got %s", want, got)
	}
	for element := range strings.SplitSeq(neededBy(targets), "/") {
		if _, err := regexp.Compile(element); err != nil {
			t.Error(err)
		}
	}
}

func TestCheckSkipsPeersWithoutTargets(t *testing.T) {
	pattern := needless(checkable())
	for name, want := range map[string]bool{
		"BenchmarkDecode/shape=text/size=1MiB/peer=gosdk":                                             true,
		"BenchmarkDecode/shape=text/size=1MiB/peer=v2":                                                true,
		"BenchmarkRoundtrip/transport=stdio/era=2026-07-28/shape=text/size=200B/callers=1/peer=mcpgo": true,
		"BenchmarkGrowth/made=1/peer=ours":                                                            false,
		"BenchmarkDecode/shape=text/peer=floor":                                                       false,
		"BenchmarkDecode/shape=text/peer=floorjson":                                                   false,
		"BenchmarkDecode/peer=gosdk2":                                                                 false,
		"BenchmarkDecode":                                                                             false,
		"BenchmarkObserve/peer=bare":                                                                  false,
		"BenchmarkObserve/shape=peer=gosdk/peer=sampled":                                              false,
	} {
		got := false
		for alternative := range strings.SplitSeq(pattern, "|.*") { // as go test splits it
			got = got || matches(strings.Split(name, "/"), strings.Split(".*"+strings.TrimPrefix(alternative, ".*"), "/"))
		}
		if got != want {
			t.Errorf("%s is skipped: want %v, got %v", name, want, got)
		}
	}
	if got := needless([]*target{{over: "gosdk"}, {peer: "v1"}, {over: "v2"}, {over: "mcpgo"}}); got != "" {
		t.Errorf("want nothing to be skipped of what is needed, got %s", got)
	}
}

func TestPatternsAreJoined(t *testing.T) {
	for _, c := range [][3]string{{"", "", ""}, {"a", "", "a"}, {"", "b", "b"}, {"a", "b", "a|b"}} {
		if got := eitherOf(c[0], c[1]); got != c[2] {
			t.Errorf("%q, %q: want %q, got %q", c[0], c[1], c[2], got)
		}
	}
}

func TestMissedTargetsAreMeasuredAgain(t *testing.T) {
	good := output().pass(1, 0.1).line("R/peer=floor", 1000, cpu).line("R/peer=ours", 1500, cpu).parsed(t)
	bad := output().pass(1, 0.1).line("R/peer=floor", 1000, cpu).line("R/peer=ours", 9000, cpu).parsed(t)
	targets := []*target{{row: "ratio", cases: "R", unit: cpu, over: floor, limit: 2},
		{row: "easy", cases: "R", unit: cpu, over: floor, limit: 10}}
	for _, c := range []struct {
		what     string
		measured []*measurements
		again    bool
		holds    bool
	}{
		{"at once", []*measurements{good}, true, true},
		{"at the third time", []*measurements{bad, bad, good}, true, true},
		{"never", []*measurements{bad, bad, bad}, true, false},
		{"of one measurement", []*measurements{bad}, false, false},
	} {
		n := 0
		all, err := judgeFairly(targets, 1, func(of []*target) (*measurements, error) {
			if n > 0 && (len(of) != 1 || of[0] != targets[0]) {
				t.Errorf("%s: measured again %v, want what was missed", c.what, of)
			}
			n++
			return c.measured[n-1], nil
		}, c.again)
		if err != nil || n != len(c.measured) || len(all) != len(targets) {
			t.Errorf("%s: got %d verdicts of %d measurements and %v", c.what, len(all), n, err)
			continue
		}
		for _, v := range all {
			if want := c.holds || v.row == "easy"; v.holds(1) != want {
				t.Errorf("%s: %s holds is %v, want %v", c.what, v.row, v.holds(1), want)
			}
		}
	}
}
