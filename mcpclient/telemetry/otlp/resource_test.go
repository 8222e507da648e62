package otlp

import (
	"regexp"
	"runtime/debug"
	"testing"
)

func TestServiceVersionIsBuildVersion(t *testing.T) {
	revision := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "abc123"}}
	for _, tc := range []struct {
		name string
		info *debug.BuildInfo
		want string
	}{
		{"none", nil, ""},
		{"tagged", &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: revision}, "v1.2.3"},
		{"devel", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: revision}, "abc123"},
		{"unversioned", &debug.BuildInfo{Settings: revision}, "abc123"},
		{"outside of version control", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, ""},
	} {
		if got := buildVersion(tc.info); got != tc.want {
			t.Errorf("%s: version = %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestInstanceIDsAreRandomUUIDs(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	a, b := newUUID(), newUUID()
	if !form.MatchString(a) {
		t.Errorf("%q is not a version 4 UUID", a)
	}
	if a == b {
		t.Errorf("two instances have the same id %q", a)
	}
}
