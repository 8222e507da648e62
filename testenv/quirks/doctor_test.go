package quirks_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/doctor"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/testenv/quirks"
)

// TestDoctorReportsEveryHTTPServerAsUsable examines each server: all of them can be used despite their quirks.
func TestDoctorReportsEveryHTTPServerAsUsable(t *testing.T) {
	t.Parallel()
	for _, s := range quirks.OverHTTP() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			r := examined(t, &transport.HTTP{URL: serve(t, s.New()) + "/mcp"}, string(s.Version), false)
			wants(t, r, "http", s.Name, map[string]doctor.Verdict{
				"silent on the probe after the header": doctor.Warn, "307 of everything, same origin": doctor.Note,
				"308 of everything, same origin": doctor.Note, "302 of the probe to a page": doctor.Note,
				"303 of the probe to a page": doctor.Note, "307 of the probe to nowhere": doctor.Note,
				"307 of the probe to another origin": doctor.Note, "307 of the probe to itself": doctor.Note,
			})
			old := map[string]doctor.Verdict{}
			if strings.HasPrefix(s.Name, "SSE, ") {
				old[s.Name] = doctor.Note
			}
			wants(t, r, "transport", s.Name, old)
		})
	}
}

// TestDoctorReportsEveryStdioServerAsUsable does the same with processes.
func TestDoctorReportsEveryStdioServerAsUsable(t *testing.T) {
	t.Parallel()
	for _, s := range quirks.OverStdio() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			r := examined(t, transport.Stdio{Command: os.Args[0], Env: []string{environmentQuirk + "=" + s.Name}},
				string(s.Version), s.Deaf)
			wants(t, r, "stdout", s.Name, map[string]doctor.Verdict{
				"text": doctor.Warn, "text, then a refusal": doctor.Warn, "text, then exit": doctor.Warn,
				"modern, text first": doctor.Warn,
			})
			wants(t, r, "messages", s.Name, map[string]doctor.Verdict{
				"success, empty": doctor.Warn, "success, null": doctor.Warn, "success, a list": doctor.Warn,
				"success, no versions": doctor.Warn, "an error without a message": doctor.Warn,
				"an error whose code is a string": doctor.Warn, "a refusal in a list": doctor.Warn,
			})
		})
	}
}

// TestDoctorDetectsServersThatHangAfterListening examines each server that hangs after a client listens, without the
// option that makes the server usable.
func TestDoctorDetectsServersThatHangAfterListening(t *testing.T) {
	t.Parallel()
	for _, s := range quirks.OverStdio() {
		if !s.Deaf {
			continue
		}
		tr := transport.Stdio{Command: os.Args[0], Env: []string{environmentQuirk + "=" + s.Name}}
		r := doctor.Examine(t.Context(), doctor.Server{Name: "quirk", Transport: tr}, nil)
		c := checkOf(t, r, "listen")
		if c.Verdict != doctor.Fail || !strings.Contains(c.Found, "the server stops answering after subscriptions/listen") ||
			!strings.Contains(c.Do, `"listen": false`) || !strings.Contains(c.Do, "Options.NoListening") {
			t.Errorf("want the check to fail and to name the option, got %s: %s\n%s", c.Verdict, c.Found, c.Do)
		}
		if c := checkOf(t, r, "tools"); c.Verdict != doctor.OK || r.Took > doctor.DefaultTimeout {
			t.Errorf("want the rest examined in time, got after %v:\n%s", r.Took, shown(r))
		}
	}
}

// examined examines a usable server.
func examined(t *testing.T, tr transport.Transport, version string, deaf bool) *doctor.Report {
	t.Helper()
	r := doctor.Examine(t.Context(), doctor.Server{Name: "quirk", Transport: tr}, &doctor.Options{NoListening: deaf})
	if r.Took > doctor.DefaultTimeout {
		t.Errorf("want it examined within %v, got %v", doctor.DefaultTimeout, r.Took)
	}
	if !r.Connected || r.Verdict == doctor.Fail {
		t.Errorf("want no check to fail, got:\n%s", shown(r))
	}
	if c := checkOf(t, r, "handshake"); !strings.Contains(c.Found, "quirk 1 speaks "+version) {
		t.Errorf("want version %s, got %q", version, c.Found)
	}
	if c := checkOf(t, r, "tools"); c.Verdict != doctor.OK || !strings.HasPrefix(c.Found, "1 tool, ") {
		t.Errorf("want one tool, got %s: %s", c.Verdict, c.Found)
	}
	t.Logf("%s after %v", r.Verdict, r.Took.Round(time.Millisecond))
	return r
}

// wants compares one check of the doctor with the expected verdict in table. The default is OK.
func wants(t *testing.T, r *doctor.Report, check, name string, table map[string]doctor.Verdict) {
	t.Helper()
	want, listed := table[name]
	if !listed {
		want = doctor.OK
	}
	if c := checkOf(t, r, check); c.Verdict != want || want != doctor.OK && c.Do == "" {
		t.Errorf("%s: want %s, and what to do unless that is ok, got:\n%s", check, want, shown(r))
	}
}

func checkOf(t *testing.T, r *doctor.Report, name string) doctor.Check {
	t.Helper()
	i := slices.IndexFunc(r.Checks, func(c doctor.Check) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("want a check %q, got none", name)
	}
	return r.Checks[i]
}

func shown(r *doctor.Report) string {
	var b strings.Builder
	for _, c := range r.Checks {
		b.WriteString("  " + string(c.Verdict) + " " + c.Name + ": " + c.Found + "\n")
	}
	return b.String()
}
