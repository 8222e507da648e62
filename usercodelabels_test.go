package mcpotel_test

import (
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/testsupport/labels"
	"github.com/mcpotel/mcpotel/internal/usercode"
)

// TestTheUsersCodeHasProfileLabels runs the code of each case, which reads the labels of its goroutine. The labels must
// contain a method, unless unlabelled has a reason why not.
func TestTheUsersCodeHasProfileLabels(t *testing.T) {
	left := maps.Clone(unlabelled)
	for _, c := range allCases() {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var found atomic.Value
				w := &world{t: t, profiled: true, fail: func() { found.Store(labels.Here(t)) }}
				w.runOnce(&c)
				have, called := found.Load().(string)
				has, excused := strings.Contains(have, `"mcp.method.name":`), unlabelled[c.name] != ""
				if !called || has == excused {
					t.Errorf("the code has the labels %q, want a method among them: %v", have, !excused)
				}
			})
		})
		delete(left, c.name)
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		t.Errorf("unlabelled lists %q, want a case with this name", name)
	}
}

// runOnce runs the first operation of a case. The code of the case does not fail.
func (w *world) runOnce(c *failing) {
	w.prepare(c)
	do := c.operation()
	if failure := usercode.Apart(func() { _ = do(w) }); failure != nil {
		w.t.Errorf("the operation: %v\n%s", failure, failure.Stack)
	}
	time.Sleep(time.Minute) // for background work
	w.end()
}

// unlabelled maps the cases whose code has no labels to the reason.
var unlabelled = map[string]string{}

func init() {
	for reason, names := range map[string][]string{
		"the user's own code calls it, or the caller's goroutine runs it before the request or after the answer": {
			"middleware", "the call of a loop over progress", "a loop over tools", "a loop over prompts",
			"a loop over resources", "a loop over templates", "the status of a task",
			"the encoder of params", "the encoder of params of a call",
		},
		"it serves the connection, not a message": {
			"transitions", "Dial of a handshake", "Send of a handshake", "Receive of a handshake", "Close of a handshake",
			"Receive of a session", "Send of a session", "Cancel of a session", "Info of a session", "server in memory",
			"server's Receive", "server's Close", "host: Terminate",
		},
		"it is a part of an HTTP exchange, outside the message": {
			"HTTP client", "HTTP client in a session", "authorizer", "review of an authorizer", "principal", "account",
			"principal of a session", "verifier of tokens", "scopes of a request",
		},
		"the telemetry calls it before the labels are known": {
			"logger", "logger in a session", "redactor in a session", "notification spans in a session",
			"public endpoint in a session", "span filter in a session", "span attributes in a session",
		},
	} {
		for _, name := range names {
			unlabelled[name] = reason
		}
	}
}
