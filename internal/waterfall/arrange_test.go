package waterfall

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestArrangeReturnsTheTreeAndTheClockSkew(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(1000, 0).Add(time.Duration(ms) * time.Millisecond) }
	spans := []Span{
		{ID: "server", ParentID: "client", Service: "b", Start: at(500), End: at(520)},
		{ID: "late", ParentID: "root", Service: "a", Start: at(60), End: at(90)},
		{ID: "client", ParentID: "root", Service: "a", Start: at(10), End: at(50)},
		{ID: "orphan", ParentID: "gone", Service: "a", Start: at(70), End: at(80)},
		{ID: "root", Service: "a", Start: at(0), End: at(100)},
	}
	a := Arrange(spans)
	type place struct {
		Index, Parent, Depth int
		ID                   string
	}
	var got []place
	for _, r := range a.Rows {
		got = append(got, place{r.Index, r.Parent, r.Depth, r.ID})
	}
	want := []place{{4, -1, 0, "root"}, {2, 0, 1, "client"}, {0, 1, 2, "server"}, {1, 0, 1, "late"}, {-1, -1, 0, "gone"},
		{3, 4, 1, "orphan"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if !a.From.Equal(at(0)) || !a.To.Equal(at(100)) {
		t.Errorf("want an axis of 100 ms, got %v", a.To.Sub(a.From))
	}
	server := a.Rows[2]
	if server.From.Before(at(10)) || server.To.After(at(50)) ||
		!strings.Contains(strings.Join(server.Notes, ";"), "clock skew") {
		t.Errorf("want the server's span within the client's span, and a note on the clock, got %+v", server)
	}
}
