package receiver

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/explain"
)

var update = flag.Bool("update", false, "write the files of testdata")

// explained is a message with every field.
func explained() *Message {
	m := newMessage(&Alert{Status: Firing, Fingerprint: "b5d4045c3f466fa9", StartsAt: start,
		Labels: map[string]string{"alertname": "MCPClientErrorBudgetFast", "severity": "critical", "job": "shop",
			"mcp_client_name": "orders"},
		Annotations: map[string]string{"summary": "orders of shop: 21% of the requests fail"}})
	m.Operation = "tools/call pay of orders failed"
	m.Causes = []explain.Cause{
		{ID: "server_failed", Sure: explain.Certain, Text: "The server reports an internal error (-32603).",
			Evidence: []string{"the client: tools/call pay ended with -32603 after 12.1ms"},
			Do:       "read the server's log for this time"},
		{ID: "failures", Sure: explain.Certain, Text: "Most of the failures of the client orders are those of tools/call " +
			"pay with the error type -32603.", Evidence: []string{"metrics: 27 with error_type=-32603, gen_ai_tool_name=pay"}},
	}
	m.Quotes = []explain.Quote{{By: "the server, in its error", Text: "no connection to the database"}}
	m.Missing = []string{"http://localhost:6060/debug/mcp/: it cannot be reached"}
	l := Links{Trace: "https://jaeger.example.com/trace/{trace_id}", Runbook: DefaultRunbook}
	m.Trace, m.Runbook = l.trace("4bf92f3577b34da6a3ce929d0e0e4736", true), l.runbook(&Alert{Labels: map[string]string{
		"alertname": "MCPClientErrorBudgetFast"}})
	return m.bounded()
}

// unexplained is a message about an alert of which nothing is known.
func unexplained() *Message {
	m := newMessage(&Alert{Status: Firing, Fingerprint: "00000000000000aa",
		Labels:      map[string]string{"alertname": "DiskFull", "instance": "db-1:9100"},
		Annotations: map[string]string{"description": "The disk of db-1 is full"}})
	m.Missing = []string{"a trace of the service \"?\" in the time of the alert"}
	return m.bounded()
}

// resolved is a message about the end of the alert of explained.
func resolved() *Message {
	return newMessage(&Alert{Status: Resolved, Fingerprint: "b5d4045c3f466fa9", StartsAt: start,
		EndsAt: start.Add(7*time.Minute + 15*time.Second), Labels: map[string]string{"alertname": "MCPClientErrorBudgetFast",
			"severity": "critical", "job": "shop"},
		Annotations: map[string]string{"summary": "orders of shop: 21% of the requests fail"}}).bounded()
}

// hostile is a message whose labels, annotations and texts of peers contain the markup of Slack, HTML and a terminal.
func hostile() *Message {
	evil := "<!channel> <https://evil.example|Runbook>\nFiring: *all* `is` _well_ </script>\x1b[2J\u202e &lt; :skull: " +
		"https://evil.example/ @here"
	a := &Alert{Status: Firing, Fingerprint: "00000000000000bb", StartsAt: start,
		Labels: map[string]string{"alertname": "MCPToolLoop" + evil, "severity": "critical\n" + evil, "job": evil, evil: evil},
		Annotations: map[string]string{"summary": evil, "runbook_url": "javascript:alert(1)",
			"description": strings.Repeat("x", 1<<20)}}
	e := &Evidence{Links: Links{Runbook: DefaultRunbook}}
	m := e.Explain(context.Background(), a)
	m.Quotes = []explain.Quote{{By: "the server, in its error", Text: evil}}
	m.Causes = append(m.Causes, *byWord(loops, "loop_kind")(
		subject{labels: map[string]string{"mcp_client_loop_kind": evil}}, nil))
	return m.bounded()
}

func TestMessagesAreFormatted(t *testing.T) {
	messages := map[string]func() *Message{"explained": explained, "unexplained": unexplained, "resolved": resolved,
		"hostile": hostile}
	for name, message := range messages {
		line, err := record(message())
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name+".record.json", line)
		golden(t, name+".slack.json", indented(t, slackMessage(message())))
		golden(t, name+".pagerduty.json", indented(t, pagerDutyEvent(message(), "R0UT1NGK3Y")))
		golden(t, name+".txt", []byte(message().String()))
	}
}

func indented(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s\nIf this is intended: go test ./internal/command/receiver -update", name, got, want)
	}
}

// slackControl matches the control sequences of Slack in a text.
var slackControl = regexp.MustCompile(`[<>]|&([^alg]|a[^m]|l[^t]|g[^t])`)

// begins matches the beginning of each line of a message. So no text of others begins a line.
var begins = regexp.MustCompile(`^($|(Firing|Resolved|Summary|Cause \((certain|likely)\)|Next|Missing|` +
	`Operation|Trace|Runbook): |- |Texts of peers, |No evidence )`)

// TestUntrustedTextsForgeNothing puts random texts into every untrusted place.
func TestUntrustedTextsForgeNothing(t *testing.T) {
	texts := rapid.OneOf(rapid.String(), rapid.StringMatching(`[<>&|!@*_~\n\r\x1b\x{202e}a-z :/.]{0,900}`))
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string { return texts.Draw(t, name) }
		m := newMessage(&Alert{Status: rapid.SampledFrom([]string{Firing, Resolved}).Draw(t, "status"),
			Fingerprint: "00000000000000bb", StartsAt: start, EndsAt: start.Add(time.Minute),
			Labels: map[string]string{"alertname": text("name"), "severity": text("severity"), text("label"): text("value"),
				"job": text("job")}, Annotations: map[string]string{"summary": text("summary")}})
		m.Causes = []explain.Cause{{ID: "x", Sure: explain.Likely, Text: text("cause"), Evidence: []string{text("evidence")}}}
		m.Quotes = []explain.Quote{{By: "the server", Text: text("quote")}}
		m.Missing = []string{text("missing")}
		m.bounded()
		line, err := record(m)
		if err != nil || bytes.Count(line, []byte("\n")) != 1 || bytes.ContainsAny(line, "\r\x1b\u202e") {
			t.Fatalf("want a record of one line without control characters, got %q, %v", line, err)
		}
		post := slackMessage(m)
		if slackControl.MatchString(post.Text) || utf8.RuneCountInString(post.Text) > maxSection {
			t.Fatalf("the text for Slack has control sequences or is too long: %q", post.Text)
		}
		for _, b := range post.Blocks {
			most := maxSection
			if b.Type == "header" {
				most = maxHeader
			}
			if b.Text.Type != "plain_text" || slackControl.MatchString(b.Text.Text) || b.Text.Text == "" ||
				utf8.RuneCountInString(b.Text.Text) > most {
				t.Fatalf("want short plain text without control sequences, got %+v", b)
			}
		}
		if len(post.Blocks) > 50 {
			t.Fatalf("want at most 50 blocks, got %d", len(post.Blocks))
		}
		event := pagerDutyEvent(m, "k")
		raw, err := json.Marshal(event)
		if err != nil || len(raw) > 512<<10 {
			t.Fatalf("want an event of at most 512 KiB, got %d bytes, %v", len(raw), err)
		}
		if m.Status == Firing && (utf8.RuneCountInString(event.Payload.Summary) > 1024 || event.Payload.Source == "" ||
			event.Payload.Summary == "") {
			t.Fatalf("want a source and a summary of at most 1,024 characters, got %+v", event.Payload)
		}
		for i, l := range strings.Split(strings.TrimSuffix(m.String(), "\n"), "\n") {
			if strings.ContainsAny(l, "\r\x1b\u202e") || !begins.MatchString(l) || i > 0 && strings.HasPrefix(l, "Firing") {
				t.Fatalf("line %d has control characters or another beginning: %q", i, l)
			}
		}
	})
}

func TestSlackTextIsCutBetweenCharacters(t *testing.T) {
	for _, tc := range []struct {
		text string
		n    int
		want string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"a<b", 6, "a&lt;b"}, {"a<bc", 6, "a&lt;…"}, {"a<bc", 5, "a…"},
		{"äöüß", 4, "äöüß"}, {"äöüßx", 4, "äöü…"}, {"", 1, ""},
	} {
		if got := slackEscape(tc.text, tc.n); got != tc.want {
			t.Errorf("%q in %d characters: got %q, want %q", tc.text, tc.n, got, tc.want)
		}
	}
}

func TestSeveritiesBecomeThoseOfPagerDuty(t *testing.T) {
	for severity, want := range map[string]string{"critical": "critical", "Warning": "warning", "info": "info",
		"error": "error", "page": "critical", "none": "info", "": "error", "sev5": "error"} {
		if got := pagerSeverity(severity); got != want {
			t.Errorf("%q: got %s, want %s", severity, got, want)
		}
	}
}

func TestLinksLeadOnlyToAddressesOfTheConfiguration(t *testing.T) {
	mine := Links{Runbook: "https://wiki.example.com/runbook"}
	for _, tc := range []struct {
		alert, url, want string
		noted            bool
	}{
		{"MCPToolLoop", "", "https://wiki.example.com/runbook#mcptoolloop", false},
		{"MCPToolLoop", "https://evil.example/#mcptoolloop", "https://wiki.example.com/runbook#mcptoolloop", false},
		{"Mine", "https://wiki.example.com/runbook#mine", "https://wiki.example.com/runbook#mine", false},
		{"Mine", "https://wiki.example.com/runbook#a|b> <!channel>",
			"https://wiki.example.com/runbook#a%7Cb%3E%20%3C%21channel%3E",
			false},
		{"Mine", "https://wiki.example.com/runbook.evil.example/#mine", "", true},
		{"Mine", "javascript:alert(1)", "", true},
		{"Mine", "", "", false},
	} {
		a := &Alert{Labels: map[string]string{"alertname": tc.alert}, Annotations: map[string]string{"runbook_url": tc.url}}
		got := ""
		if l := mine.runbook(a); l != nil {
			got = l.URL
		}
		if noted := mine.unlinked(a) != ""; got != tc.want || noted != tc.noted {
			t.Errorf("%s with %q: got %q, noted %v, want %q, %v", tc.alert, tc.url, got, noted, tc.want, tc.noted)
		}
	}
	for _, l := range []Links{{Trace: "https://jaeger.example.com/trace/"}, {Trace: "javascript:{trace_id}"},
		{Runbook: "file:///etc/passwd"}, {Search: "https://user:password@jaeger.example.com"}, {Runbook: "wiki"}} {
		if l.Check() == nil {
			t.Errorf("%+v: want an error", l)
		}
	}
	if err := (Links{Trace: "https://j.example.com/trace/{trace_id}", Search: "http://localhost:16686",
		Runbook: DefaultRunbook}).Check(); err != nil {
		t.Error(err)
	}
}

// TestWebhooksPostJSONAndHideTheirSecrets delivers to a server that answers with a status, and echoes the request.
func TestWebhooksPostJSONAndHideTheirSecrets(t *testing.T) {
	var status int
	var got []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "invalid "+string(got)+" for http://"+r.Host+r.URL.Path)
	}))
	defer s.Close()
	secret := s.URL + "/services/T000/B000/s3cret"
	slackSink, err := NewSlack(secret)
	if err != nil {
		t.Fatal(err)
	}
	pager, err := NewPagerDuty(secret, "r0utingk3y")
	if err != nil {
		t.Fatal(err)
	}
	for name, sink := range map[string]Sink{"slack": slackSink, "pagerduty": pager} {
		for _, status = range []int{200, 202, 302, 400, 403, 429, 500} {
			err := sink.Deliver(t.Context(), explained())
			if (err == nil) != (status < 300) || !json.Valid(got) || sink.Name() != name {
				t.Errorf("%s, HTTP %d: got %v after the body %s", name, status, err, got)
			}
			if err != nil && (strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "r0utingk3y") ||
				!strings.Contains(err.Error(), "HTTP ")) {
				t.Errorf("%s: want the status without secrets, got %v", name, err)
			}
		}
	}
	s.Close()
	for _, sink := range []Sink{slackSink, pager} {
		if err := sink.Deliver(t.Context(), explained()); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("unreachable: want an error without the secret, got %v", err)
		}
	}
	for _, address := range []string{"http://hooks.slack.com/services/s3cret", "hooks.slack.com", "https://",
		"file:///s3cret", "https://user:s3cret@hooks.slack.com/", "https://a b/"} {
		if _, err := NewSlack(address); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: want an error without the address, got %v", address, err)
		}
	}
}

func TestFilesAndLogsHaveOneRecordPerMessage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "alerts.jsonl")
	file, err := NewFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	for _, s := range []Sink{file, NewRecords(&log)} {
		for _, m := range []*Message{explained(), hostile(), resolved()} {
			if err := s.Deliver(t.Context(), m); err != nil {
				t.Error(err)
			}
		}
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != log.String() || strings.Count(log.String(), "\n") != 3 {
		t.Errorf("want the same three records in both, got %q, %v and %q", text, err, log.String())
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("want a file for the owner only, got %v, %v", info, err)
	}
	for line := range strings.Lines(log.String()) {
		var m Message
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Fingerprint == "" {
			t.Errorf("want a message, got %s: %v", line, err)
		}
	}
	if _, err := NewFile(filepath.Join(t.TempDir(), "no", "such", "directory")); err == nil {
		t.Error("want an error for a file in a missing directory")
	}
}
