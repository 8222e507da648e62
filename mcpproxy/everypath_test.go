package mcpproxy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/groupname"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// callsOf returns params that a careless reader may treat as a tool call. The keys are tool names for the header.
func callsOf(denied, safe string) map[string]string {
	all := map[string]string{}
	for _, params := range []string{
		`"name":%[1]q`, `"n\u0061me":%[1]q`, `"Name":%[1]q`, `"name":%[2]q,"NAME":%[1]q`, `"NAME":%[1]q,"name":%[2]q`,
		`"name":%[2]q,"name":%[1]q`, `"name":%[1]q,"name":%[2]q`, `"name":%[2]q,"name\u0000":%[1]q`,
		`"name":"%[1]s\u0000x"`, `"name":[%[1]q]`, `"name":%[2]q,"name":[%[1]q]`,
	} {
		name := denied
		if strings.Contains(params, "%[2]q") {
			name = safe
		}
		all[fmt.Sprintf(params+`%.0[3]s`, denied, safe, "")] = name
	}
	return all
}

// forms returns all forms of a message: with an id, without an id, and both in a batch.
func (h *hostile) forms(method, params string) map[string]string {
	forms := map[string]string{
		"a request": h.message(method, params, true), "a notification": h.message(method, params, false),
	}
	forms["a batch of requests"] = "[" + h.message(method, params, true) + "," + h.message("ping", "", true) + "]"
	forms["a batch of notifications"] = "[" + h.message(method, params, false) + "," + h.message("ping", "", true) + "]"
	return forms
}

// TestForbiddenToolCannotBeCalledByAnyMethod sends each method of the protocol in each form, in each era and over each
// transport, to a proxy and a gateway. The params contain a value that a reader may treat as the name of a forbidden
// tool.
func TestForbiddenToolCannotBeCalledByAnyMethod(t *testing.T) {
	listed := groupNameOf(t, "m_", "größe")
	for rule, p := range map[string]func(prefix string) Policy{
		"denied": func(prefix string) Policy {
			if prefix != "" {
				return Policy{DenyTools: []string{"m_delete", listed}}
			}
			return Policy{DenyTools: []string{"delete", "gr*"}}
		},
		"denied by its own name, among other rules": func(prefix string) Policy {
			return Policy{
				DenyTools: []string{prefix + "delete", prefix + "größe"}, MaxConcurrent: 1, Timeout: time.Second,
				Redaction: hostileRedaction,
			}
		},
		"nothing allowed": func(string) Policy { return Policy{AllowTools: []string{}} },
	} {
		t.Run(rule, func(t *testing.T) {
			atEveryPlace(t, p, func(t *testing.T, h *hostile, s *careless, prefix string, rec *telemetrytest.Recording) {
				methods := map[string]bool{"acme/do": true}
				for m := range mcp.Methods() {
					methods[m.Name] = m.Name != mcp.MethodInitialize && m.Name != mcp.NotificationCancelled
				}
				denied := []string{prefix + "delete", prefix + "größe"}
				if prefix != "" {
					denied = append(denied, listed)
				}
				for _, tool := range denied {
					for params, name := range callsOf(tool, prefix+"safe") {
						for form, frame := range h.forms(mcp.MethodCallTool, params) {
							h.send(frame, mcp.MethodCallTool, name)
							s.never(t, form+" "+params, "delete", "größe")
						}
					}
				}
				for method, is := range methods {
					for form, frame := range h.forms(method, fmt.Sprintf(`"name":%q`, denied[0])) {
						if is {
							h.send(frame, method, denied[0])
							s.never(t, form+" of "+method, "delete", "größe")
						}
					}
				}
				if rule != "nothing allowed" {
					h.send(h.message(mcp.MethodCallTool, fmt.Sprintf(`"name":%q`, prefix+"safe"), true), mcp.MethodCallTool,
						prefix+"safe")
					if s.called["safe"] == 0 {
						t.Errorf("the permitted tool was not called: the host got %s", h.taken())
					}
				}
				if rec.Value("mcp_server.policy.decisions", "mcp_server.policy.decision", "denied") == 0 {
					t.Error("no decision was counted")
				}
			})
		})
	}
}

// groupNameOf returns a member tool's name in the gateway.
func groupNameOf(t *testing.T, prefix, own string) string {
	t.Helper()
	g, err := groupname.New("_", 128)
	if err != nil {
		t.Fatal(err)
	}
	return g.Name(prefix, own)
}

// never fails the test if a tool with one of these names was called.
func (s *careless) never(t *testing.T, what string, tools ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, tool := range tools {
		if s.called[tool] > 0 {
			t.Errorf("%s: the tool %s was called", what, tool)
			delete(s.called, tool)
		}
	}
}

// TestRedactedValueNeverReachesHost sends each method of the protocol to a server that has secrets in all its messages.
// It searches the host's messages and the telemetry for the secrets.
func TestRedactedValueNeverReachesHost(t *testing.T) {
	p := func(string) Policy { return Policy{Redaction: hostileRedaction} }
	atEveryPlace(t, p, func(t *testing.T, h *hostile, s *careless, prefix string, rec *telemetrytest.Recording) {
		for m := range mcp.Methods() {
			if m.Name == mcp.NotificationCancelled {
				continue
			}
			params := map[mcp.Target]string{
				mcp.TargetTool: `"name":"` + prefix + `safe"`, mcp.TargetPrompt: `"name":"` + prefix + `p"`,
				mcp.TargetResource: `"uri":"x:y"`, mcp.TargetTask: `"taskId":"t"`,
			}[m.Target]
			name := map[mcp.Target]string{
				mcp.TargetTool: prefix + "safe", mcp.TargetPrompt: prefix + "p", mcp.TargetResource: "x:y", mcp.TargetTask: "t",
			}[m.Target]
			switch m.Name {
			case mcp.MethodComplete:
				params = `"ref":{"type":"ref/prompt","name":"` + prefix + `p"},"argument":{"name":"token","value":"hush-1"},` +
					`"context":{"arguments":{"a":"sk-1","token":"hush-1"}}`
			case mcp.MethodCallTool, mcp.MethodGetPrompt:
				params += `,"arguments":{"a":"sk-1","token":"hush-1"}`
			}
			for range 2 { // every second answer is an error
				for form, frame := range h.forms(m.Name, params) {
					h.send(frame, m.Name, name)
					if leak := shows(h.taken(), "sk-2"); leak != "" {
						t.Errorf("%s of %s: the host got %s", form, m.Name, leak)
					}
				}
			}
		}
		if s.got[mcp.MethodCallTool] == 0 || s.got[mcp.MethodGetPrompt] == 0 || s.got[mcp.MethodComplete] == 0 {
			t.Errorf("the server got %v, want calls, prompts and completions", s.got)
		}
		for _, params := range s.params {
			if leak := shows(params); leak != "" {
				t.Errorf("the server got %s", leak)
			}
		}
		wantNoSecrets(t, rec)
	})
}

// wantNoSecrets fails the test if telemetry contains a secret.
func wantNoSecrets(t *testing.T, rec *telemetrytest.Recording) {
	t.Helper()
	for _, span := range rec.Spans() {
		var text strings.Builder
		text.WriteString(fmt.Sprint(span.Name(), span.Attributes(), span.Status()))
		for _, e := range span.Events() {
			text.WriteString(fmt.Sprint(e))
		}
		if leak := shows(text.String()); leak != "" {
			t.Errorf("the span %s has %s", span.Name(), leak)
		}
	}
	for _, record := range rec.Logs("") {
		if leak := shows(fmt.Sprint(record)); leak != "" {
			t.Errorf("a log record has %s", leak)
		}
	}
}
