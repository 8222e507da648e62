package mcpproxy

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

var randomMessages = flag.Int("random.messages", 1500, "messages of TestRandomMessagesObeyPolicy, at each place")

// TestRandomMessagesObeyPolicy sends random messages, most of them hostile, through a proxy and a gateway with a
// policy, over each transport, to a server that reads carelessly and sends secrets. It checks that no forbidden tool is
// called, that no redacted value reaches a host, telemetry or a recording, and that the memory stays bounded. To send
// 100,000 messages at each place:
//
//	go test ./mcpproxy -run TestRandomMessagesObeyPolicy -random.messages 100000 -timeout 2h
func TestRandomMessagesObeyPolicy(t *testing.T) {
	n := *randomMessages
	if testing.Short() {
		n /= 10
	}
	for place, on := range places {
		for _, gateway := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/gateway=%t", place, gateway), func(t *testing.T) {
				seed := rand.Uint64()
				t.Logf("seed %d", seed)
				r := rand.New(rand.NewPCG(seed, 0))
				versions := []mcp.Version{mcp.Version20250326, mcp.Version20251125, mcp.Version20260728}
				const each = 250 // messages of one host
				for sent := 0; sent < n; sent += each {
					v := versions[r.IntN(len(versions))]
					synctest.Test(t, func(t *testing.T) { randomHost(t, r, on, v, gateway, each) })
				}
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				if m.HeapAlloc > 64<<20 {
					t.Errorf("%d MiB are in use after %d messages, want 64 MiB at most", m.HeapAlloc>>20, n)
				}
			})
		}
	}
}

// randomHost sends n messages from one host.
func randomHost(t *testing.T, r *rand.Rand, on func(*testing.T, frontEnd, mcp.Version) *hostile, v mcp.Version,
	gateway bool, n int) {
	rec := telemetrytest.Recorder(t)
	s := newCareless(v, "safe", "delete", "größe")
	prefix := ""
	if gateway {
		prefix = "m_"
	}
	p := Policy{
		DenyTools: []string{prefix + "delete", prefix + "größe"}, Timeout: time.Minute, MaxConcurrent: 4,
		Redaction: hostileRedaction,
	}
	var recorded bytes.Buffer
	var tape *Recorder
	var f frontEnd
	stop := func() {}
	if gateway {
		f, stop = inFrontOf(t, s.transport(), v, true, &p, rec.Telemetry())
	} else {
		tape = NewRecorder(&recorded, &RecorderOptions{Content: true})
		var err error
		if f, err = New(s.transport(), &Options{
			Name: "proxy", Policy: &p, Recorder: tape, Telemetry: rec.Telemetry(),
		}); err != nil {
			t.Fatal(err)
		}
	}
	h := on(t, f, v)
	h.begin()
	var names []string
	for m := range mcp.Methods() {
		if m.Name != mcp.MethodInitialize && m.Name != mcp.NotificationCancelled && m.Name != mcp.MethodSubscriptionsListen {
			names = append(names, m.Name)
		}
	}
	for range n {
		method := mcp.MethodCallTool
		if r.IntN(3) == 0 {
			method = names[r.IntN(len(names))]
		}
		params, name := randomParams(r, method, prefix)
		frame := h.message(method, params, r.IntN(4) > 0)
		if r.IntN(6) == 0 {
			frame = "[" + frame + "," + h.message(method, params, r.IntN(2) == 0) + "]"
		}
		h.send(frame, method, name)
		if leak := shows(h.taken(), "sk-2"); leak != "" {
			t.Fatalf("%s: the host got %s", frame, leak)
		}
		s.never(t, frame, "delete", "größe")
	}
	h.leave()
	stop()
	if tape != nil {
		if err := tape.Close(); err != nil {
			t.Error(err)
		}
		if leak := shows(recorded.String()); leak != "" {
			t.Errorf("the recording has %s", leak)
		}
	}
	for _, params := range s.params {
		if leak := shows(params); leak != "" {
			t.Errorf("the server got %s", leak)
		}
	}
	wantNoSecrets(t, rec)
	if g, ok := f.(*Gateway); ok && g.listed.used.Load() != 0 {
		t.Errorf("%d bytes are still taken for lists", g.listed.used.Load())
	}
}

// randomParams returns the members of params for a method, and the name for the header. The arguments contain secrets.
func randomParams(r *rand.Rand, method, prefix string) (params, name string) {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	name = prefix + pick("safe", "delete", "größe", "p", "other")
	var members []string
	for range 1 + r.IntN(4) {
		key := pick("name", "name", "name", "Name", "NAME", `n\u0061me`, `name\u0000`, "title", "uri", "arguments",
			"Arguments", "argument\u017f", "argument", "ref")
		value := pick(fmt.Sprintf("%q", name), fmt.Sprintf("%q", prefix+pick("safe", "delete", "größe")),
			`["`+prefix+`delete"]`, "7", "null",
			`{"type":"ref/prompt","name":"`+prefix+`p"}`, `"delete\u0000x"`, `"x:y"`)
		switch {
		case method == mcp.MethodComplete && key == "argument":
			value = pick(`{"name":"token","value":"hush-1"}`, `{"Name":"token","value":"sk-1","x":["hush-1"]}`)
		case (method == mcp.MethodCallTool || method == mcp.MethodGetPrompt) &&
			strings.HasPrefix(strings.ToLower(key), "arguments"):
			value = `{"a":"sk-1","token":"hush-1"}`
		}
		members = append(members, `"`+key+`":`+value)
	}
	params = strings.Join(members, ",")
	return params, name
}
