package mcp

import (
	"slices"
	"testing"
)

func TestSupportedVersionsAreNewestFirst(t *testing.T) {
	got := SupportedVersions()
	want := []Version{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
	if !slices.Equal(got, want) {
		t.Errorf("SupportedVersions() = %v, want %v", got, want)
	}
	got[0] = "changed"
	if SupportedVersions()[0] != want[0] {
		t.Error("changing the slice changes later results, want a new slice for each caller")
	}
}

func TestVersionEra(t *testing.T) {
	for _, c := range []struct {
		version   Version
		era       Era
		supported bool
	}{
		{Version20241105, Legacy, true},
		{Version20250326, Legacy, true},
		{Version20250618, Legacy, true},
		{Version20251125, Legacy, true},
		{Version20260728, Modern, true},
		{"2026-07-27", Legacy, false},
		{"2031-01-01", Modern, false},
		{"", Legacy, false},
	} {
		if got := c.version.Era(); got != c.era {
			t.Errorf("%q is %v, want %v", c.version, got, c.era)
		}
		if got := c.version.Supported(); got != c.supported {
			t.Errorf("%q supported: %v, want %v", c.version, got, c.supported)
		}
	}
	for era, want := range map[Era]string{Legacy: "legacy", Modern: "modern", 0: "unknown"} {
		if got := era.String(); got != want {
			t.Errorf("Era(%d) is called %q, want %q", era, got, want)
		}
	}
}
