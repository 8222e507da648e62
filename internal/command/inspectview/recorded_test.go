package inspectview

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcptest"
)

// TestRecordingOfACallIsServed saves the recording of one of three calls, and gives it to a mock.
func TestRecordingOfACallIsServed(t *testing.T) {
	for _, v := range []mcp.Version{mcp.Version20251125, mcp.Version20260728} {
		synctest.Test(t, func(t *testing.T) {
			b := open(t, shop(t), v)
			order := func(qty string) {
				b.post("/tool?name=order", "do", "run", "/to/city", "Oslo", "/speed", "fast", "/lines#", "1", "/lines/0/item",
					"pen", "/lines/0/qty", qty)
			}
			order("3")
			order("4")
			b.post("/tool?name=slow", "do", "run")
			if status, text := b.send("GET", "/calls/3/recording", nil); status != 404 {
				t.Errorf("a call that runs: want 404, got %d: %s", status, textOf(text))
			}
			file := filepath.Join(t.TempDir(), "call.ndjson")
			if err := os.WriteFile(file, []byte(b.get("/calls/2/recording")), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := mcpclient.Connect(context.Background(), mcptest.Replay(t, file),
				&mcpclient.Options{Versions: []mcp.Version{v}})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			got, err := c.CallTool(t.Context(), "order", penOrder(4))
			if err != nil || !strings.Contains(string(got.StructuredContent), "4") {
				t.Errorf("want the recorded result, got %v, %v", got, err)
			}
			f, err := recording.Parse([]byte(b.get("/recording")))
			if err != nil {
				t.Fatal(err)
			}
			calls := 0
			for _, e := range f.Entries {
				if e.Method == mcp.MethodCallTool && e.Kind == recording.Request {
					calls++
				}
			}
			if calls != 3 {
				t.Errorf("want the three calls of the session, got %d", calls)
			}
		})
	}
}

// penOrder returns the arguments of an order.
func penOrder(qty int) any {
	return map[string]any{"to": map[string]any{"city": "Oslo"}, "speed": "fast",
		"lines": []any{map[string]any{"item": "pen", "qty": qty}}}
}

func TestRecordingKeepsTheNewestMessages(t *testing.T) {
	var r recorded
	line := func(text string) {
		if _, err := r.Write([]byte(text + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	line(`{"mcpotel_recording":1,"recorded":"2026-11-30T00:00:00Z","server":"s","content":true}`)
	large := strings.Repeat("x", 1<<20)
	for i := 1; i <= 20; i++ {
		line(fmt.Sprintf(`{"session":1,"seq":%d,"from":"host","kind":"request","method":"m","request":%d,"bytes":1,"params":{"a":%q}}`,
			2*i-1, i, large))
		line(fmt.Sprintf(`{"session":1,"seq":%d,"from":"server","kind":"result","method":"m","request":%d,"bytes":2,"result":{}}`,
			2*i, i))
	}
	f, err := r.file()
	if err != nil {
		t.Fatal(err)
	}
	if last := f.Entries[len(f.Entries)-1]; len(f.Entries) != 30 || last.Request != 20 || r.room > maxRecorded {
		t.Errorf("want the newest 15 requests with their answers, got %d entries of %d bytes", len(f.Entries), r.room)
	}
}
