package replay_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/recordingdiff"
	"github.com/mcpotel/mcpotel/internal/command/replay"
	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/testsupport/conversation"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func parsed(t *testing.T, text []byte) *recording.File {
	t.Helper()
	f, err := recording.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// recorded returns a recording of a client of this revision.
func recorded(t *testing.T, v mcp.Version) *recording.File {
	return parsed(t, conversation.Record(t, conversation.Reach(conversation.Full(t)), true, func(tr transport.Transport) {
		conversation.Use(t, tr, v)
	}))
}

// TestRunRepeatsARecording sends all requests of a recording to an equal server, and compares the two recordings.
func TestRunRepeatsARecording(t *testing.T) {
	for _, v := range []mcp.Version{mcp.Version20260728, mcp.Version20251125, mcp.Version20250618} {
		t.Run(string(v), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := recorded(t, v)
				plan, err := replay.Plan(first, &replay.Options{All: true})
				if err != nil {
					t.Fatal(err)
				}
				report := 0
				again := conversation.Record(t, conversation.Reach(conversation.Full(t)), true, func(tr transport.Transport) {
					err = replay.Run(t.Context(), plan, tr, time.Minute, func(s replay.Step, outcome string) {
						report++
						if outcome == "no answer within the timeout" {
							t.Errorf("%s %s: %s", s.Method, s.Name, outcome)
						}
					})
				})
				if err != nil {
					t.Error(err)
				}
				r := recordingdiff.Compare(first, parsed(t, again), nil)
				for _, c := range r.Changes {
					t.Errorf("%+v", c)
				}
				if r.Compared < 15 || report < r.Compared-5 {
					t.Errorf("%d requests were sent, and %d compared", report, r.Compared)
				}
			})
		})
	}
}

func TestPlanSkipsToolsThatAreNotReadOnly(t *testing.T) {
	const head = `{"mcpotel_recording":1,"content":true}` + "\n"
	const text = head +
		`{"session":1,"seq":1,"from":"host","kind":"request","method":"tools/list","request":1}
{"session":1,"seq":2,"from":"server","kind":"result","method":"tools/list","request":1,"result":{"tools":[` +
		`{"name":"read","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},` +
		`{"name":"write","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false}},` +
		`{"name":"silent","inputSchema":{"type":"object"}}]}}
{"session":1,"seq":3,"from":"host","kind":"request","method":"tools/call","name":"read","request":2,"params":{"name":"read"}}
{"session":1,"seq":4,"from":"host","kind":"request","method":"tools/call","name":"write","request":3,"params":{"name":"write"}}
{"session":1,"seq":5,"from":"server","kind":"result","method":"tools/call","name":"write","request":3,` +
		`"result":{"task":{"taskId":"7"}}}
{"session":1,"seq":6,"from":"host","kind":"request","method":"tasks/get","request":4,"params":{"taskId":"7"}}
{"session":1,"seq":7,"from":"host","kind":"request","method":"tasks/cancel","request":5,"params":{"taskId":"8"}}
{"session":1,"seq":8,"from":"host","kind":"request","method":"tools/call","name":"silent","request":6,"params":{"name":"silent"}}
{"session":1,"seq":9,"from":"host","kind":"request","method":"tools/call","name":"unlisted","request":7,"params":{"name":"unlisted"}}
`
	for _, c := range []struct {
		o    replay.Options
		want []int // sequence numbers of the skipped messages
	}{
		{replay.Options{}, []int{4, 6, 7, 8, 9}},
		{replay.Options{Allow: func(tool string) bool { return strings.HasPrefix(tool, "w") }}, []int{7, 8, 9}},
		{replay.Options{All: true}, nil},
	} {
		plan, err := replay.Plan(parsed(t, []byte(text)), &c.o)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, s := range plan[0] {
			if s.Skip != "" {
				got = append(got, s.Seq)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: skipped %v, want %v", c.o, got, c.want)
		}
	}
	if _, err := replay.Plan(parsed(t, []byte(strings.Replace(head, "true", "false", 1))), nil); err == nil {
		t.Error("got no error for a recording without content")
	}
}

// TestPlanShowsTheNameThatRunSends uses recordings with different tool names in the entries and in the params.
func TestPlanShowsTheNameThatRunSends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recordingOf := func(entry, params string) []byte {
			return []byte(`{"mcpotel_recording":1,"content":true}
{"session":1,"seq":1,"from":"host","kind":"request","method":"tools/list","request":1}
{"session":1,"seq":2,"from":"server","kind":"result","method":"tools/list","request":1,"result":{"tools":[` +
				`{"name":"read","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},` +
				`{"name":"twice","inputSchema":{"type":"object"}},` +
				`{"name":"twice","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}}
{"session":1,"seq":3,"from":"host","kind":"request","method":"tools/call","name":"read",` + entry +
				`"request":2,"params":` + params + `}
`)
		}
		for _, c := range []struct{ entry, params, shown, skip, err string }{
			{params: `{"name":"read"}`, shown: "read"},
			{params: `{"name":"wipe"}`, shown: "wipe", skip: "does not mark"},
			{params: `{"n\u0061me":"wipe"}`, shown: "wipe", skip: "does not mark"},
			{params: `{"name":"twice"}`, shown: "twice", skip: "is not read-only"},
			{params: `{"name":7}`, skip: "no tool name"},
			{params: `{}`, skip: "no tool name"},
			{params: `{"name":"read","name":"wipe"}`, err: `"name" occurs twice`},
			{params: `{"name":"read","Name":"wipe"}`, err: `"name" has the wrong letter case "Name"`},
			{params: `{"name":"read","ta\u017fk":{}}`, err: `"task" has the wrong letter case`},
			{entry: `"name":"read",`, params: `{"name":"read"}`, err: `"name" occurs twice`},
			{entry: `"METHOD":"tools/list",`, params: `{"name":"read"}`, err: `"method" has the wrong letter case "METHOD"`},
		} {
			f, err := recording.Parse(recordingOf(c.entry, c.params))
			var plan [][]replay.Step
			if err == nil {
				plan, err = replay.Plan(f, &replay.Options{})
			}
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%s %s: got the error %v, want %s", c.entry, c.params, err, c.err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", c.params, err)
			}
			s := plan[0][1]
			if s.Name != c.shown || (s.Skip == "") != (c.skip == "") || !strings.Contains(s.Skip, c.skip) {
				t.Errorf("%s: shows %q and skips it because %q; want %q and %q", c.params, s.Name, s.Skip, c.shown, c.skip)
			}
			called := "nothing"
			server := transport.InMemory(func(ctx context.Context, p *transport.Peer) {
				for {
					frame, err := p.Receive(ctx)
					if err != nil {
						return
					}
					if method, _ := mcp.Object(frame).Lookup("method"); string(method) == `"tools/call"` {
						params, _ := mcp.Object(frame).Lookup("params")
						_, _ = mcp.Object(params).Decode("name", &called)
					}
				}
			})
			if err := replay.Run(t.Context(), plan, server, time.Second, func(replay.Step, string) {}); err != nil {
				t.Error(err)
			}
			if want := map[bool]string{true: c.shown, false: "nothing"}[s.Skip == ""]; called != want {
				t.Errorf("%s: called %q, want %q", c.params, called, want)
			}
		}
	})
}

// TestRunReportsAnEndedSession uses a server that exits, and a server that never answers.
func TestRunReportsAnEndedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan, err := replay.Plan(recorded(t, mcp.Version20251125), &replay.Options{All: true})
		if err != nil {
			t.Fatal(err)
		}
		dead := transport.InMemory(func(ctx context.Context, p *transport.Peer) { _, _ = p.Receive(ctx) })
		err = replay.Run(t.Context(), plan, dead, time.Minute, func(replay.Step, string) {})
		if err == nil || !strings.Contains(err.Error(), "the session ended before the answer to initialize") {
			t.Errorf("got %v", err)
		}
		var outcomes bytes.Buffer
		silent := transport.InMemory(func(ctx context.Context, p *transport.Peer) {
			for {
				if _, err := p.Receive(ctx); err != nil {
					return
				}
			}
		})
		if err := replay.Run(t.Context(), plan[:1], silent, time.Second, func(_ replay.Step, outcome string) {
			outcomes.WriteString(outcome)
		}); err != nil {
			t.Error(err)
		}
		if !strings.Contains(outcomes.String(), "no answer within the timeout") {
			t.Errorf("got %q", &outcomes)
		}
	})
}
