package main

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestNamesAreSplitIntoCaseAndPeer(t *testing.T) {
	for name, want := range map[string][2]string{
		"A/size=16MiB-1/peer=floor-2": {"A/size=16MiB-1", "floor"},
		"A/size=16MiB-1/peer=ours":    {"A/size=16MiB-1", "ours"}, // GOMAXPROCS=1
		"A/peer=v2/size=1KiB-8":       {"A/size=1KiB", "v2"},
		"A/no-sdk-2":                  {"A", "no-sdk"},
		"A/size=1KiB-2":               {"A/size=1KiB", ours},
		"A-2":                         {"A", ours},
	} {
		rest, peer := split([]byte(name))
		if rest != want[0] || peer != want[1] {
			t.Errorf("%s: want case %q and peer %q, got %q and %q", name, want[0], want[1], rest, peer)
		}
	}
}

func TestFiguresKeepTheirUnitsAndPasses(t *testing.T) {
	m := output().
		pass(1, 0.5).line("A/peer=ours", 1500, wall, 2, allocs, 12.5, peak).line("A/peer=floor", 500, wall).
		pass(2, 1.5).line("A/peer=ours", 1600, wall, 2, allocs, 13.5, peak).parsed(t)
	c := theCase(t, m, "A")
	for unit, want := range map[string]series{wall: {1500, 1600}, allocs: {2, 2}, peak: {12.5, 13.5}} {
		if got, ok := c.series(ours, unit); !ok || !slices.Equal(got, want) {
			t.Errorf("%s of ours: want %v, got %v", unit, want, got)
		}
	}
	if got, _ := c.series(floor, wall); len(got) != 2 || got[0] != 500 || !math.IsNaN(got[1]) {
		t.Errorf("floor, which was not measured in the second pass: want [500 NaN], got %v", got)
	}
	if m.passes != 2 || !slices.Equal(m.loads, []float64{0.5, 1.5}) {
		t.Errorf("want two passes with loads 0.5 and 1.5, got %d with %v", m.passes, m.loads)
	}
	if m.about["commit"] != "0123456789ab" || m.about["cpu"] != "Abacus & Sons" {
		t.Errorf("want the configuration of the lines, got %v", m.about)
	}
}

func TestInvalidLinesAreErrors(t *testing.T) {
	for want, s := range map[string]*synthetic{
		"parsing measurement":  output().pass(1, 0).line("A/peer=ours", "many", wall),
		"measured twice":       output().pass(1, 0).line("A/peer=ours", 1, wall).line("A/peer=ours", 1, wall),
		"contain the pass":     output().line("A/peer=ours", 1, wall),
		"no benchmark has run": output().pass(1, 0),
	} {
		_, err := parse([]byte(s.String()))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error that says %q, got %v", want, err)
		}
	}
}
