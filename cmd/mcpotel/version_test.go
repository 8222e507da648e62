package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
)

func TestVersionNamesTheBuild(t *testing.T) {
	built := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "2762e9e"}
	day := debug.BuildSetting{Key: "vcs.time", Value: "2026-11-25T05:06:19Z"}
	linked := build{version: "v0.1.0", commit: "baf3724", date: "2026-11-24T00:00:00Z"}
	rest := fmt.Sprintf("go         %s %s/%s\nprotocol   2026-07-28 2025-11-25 2025-06-18 2025-03-26 2024-11-05\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for name, tc := range map[string]struct {
		info   *debug.BuildInfo
		linked build
		want   string
	}{
		"a release": {built("v0.1.0", revision, day), linked,
			"mcpotel v0.1.0\ncommit     baf3724\ndate       2026-11-24T00:00:00Z\n"},
		"installed as a module": {built("v0.1.0"), build{}, "mcpotel v0.1.0\n"},
		"in a checkout": {built("v0.0.0-20261125050619-2762e9e", revision, day), build{},
			"mcpotel v0.0.0-20261125050619-2762e9e\ncommit     2762e9e\ndate       2026-11-25T05:06:19Z\n"},
		"in a checkout with changes": {
			built("(devel)", revision, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), build{},
			"mcpotel (devel)\ncommit     2762e9e with changes\n"},
		"without a version control system": {built(""), build{}, "mcpotel (devel)\n"},
		"without information":              {nil, build{}, "mcpotel (devel)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := buildOf(tc.info, tc.linked).String(); got != tc.want+rest {
				t.Errorf("want\n%s\ngot\n%s", tc.want+rest, got)
			}
		})
	}
}

func TestVersionIsPrintedAsJSON(t *testing.T) {
	code, out, stderr := runs(t, "version", "--json")
	var got struct {
		Version, Go, OS string
		Protocol        []string
	}
	if err := json.Unmarshal([]byte(out), &got); code != exitOK || err != nil || got.Version == "" ||
		got.Go != runtime.Version() || got.OS != runtime.GOOS || len(got.Protocol) != 5 {
		t.Errorf("want version, go, os and protocol, got %d, %v, %s%s", code, err, out, stderr)
	}
}
