package sse_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/sse"
)

func ExampleAppendEvent() {
	fmt.Printf("%s", sse.AppendEvent(nil, sse.Event{ID: "7", Data: []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)}))
	fmt.Printf("%s", sse.AppendEvent(nil, sse.Event{ID: "8", Retry: 500 * time.Millisecond, HasData: true}))
	// Output:
	// id: 7
	// data: {"jsonrpc":"2.0","id":1,"result":{}}
	//
	// id: 8
	// retry: 500
	// data:
}

func TestAppendedEventsAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := sse.Event{
			ID:      rapid.StringMatching(`[!-~ é]{0,8}`).Draw(t, "id"),
			Name:    rapid.StringMatching(`[a-z ]{0,8}`).Draw(t, "name"),
			Data:    []byte(rapid.StringMatching(`[a-z: \n]{0,40}`).Draw(t, "data")),
			HasID:   true,
			HasData: true,
			Retry:   max(-1, time.Duration(rapid.IntRange(-5, 5).Draw(t, "retry"))*time.Millisecond),
		}
		if want.Retry == 0 {
			want.Retry = -1
		}
		stream := sse.AppendEvent(sse.AppendComment(nil, "ping\r\npong"), want)
		got, err := sse.NewReader(bytes.NewReader(stream), 100, false).Next()
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Fatalf("%q: want the event back, got error %v and (-want +got):\n%s", stream, err, diff)
		}
	})
}

func TestAppendOmitsInvalidIDsAndNames(t *testing.T) {
	for _, bad := range []string{"a\nb", "a\rb", "a\x00b", "\n\ndata: x\n\n"} {
		got := string(sse.AppendEvent(nil, sse.Event{ID: bad, Name: bad, HasData: true}))
		if got != "data: \n\n" {
			t.Errorf("id and name %q: want them left out, got %q", bad, got)
		}
	}
}

func TestAppendSplitsLines(t *testing.T) {
	for data, want := range map[string]string{
		"":           "",
		"a":          "a",
		"a\nb":       "a|b",
		"a\r\nb\rc":  "a|b|c",
		"\n":         "|",
		"\r\n\r\n\r": "|||",
		"a\n":        "a|",
	} {
		want = "data: " + strings.ReplaceAll(want, "|", "\ndata: ") + "\n\n"
		if got := string(sse.AppendEvent(nil, sse.Event{Data: []byte(data), HasData: true})); got != want {
			t.Errorf("data %q: want %q, got %q", data, want, got)
		}
	}
	if got, want := string(sse.AppendComment(nil, "a\nb")), ": a\n: b\n"; got != want {
		t.Errorf("comment of two lines: want %q, got %q", want, got)
	}
	if got := string(sse.AppendEvent(nil, sse.Event{Retry: time.Microsecond})); got != "retry: 1\n\n" {
		t.Errorf("retry of a microsecond: want it rounded up, got %q", got)
	}
}
