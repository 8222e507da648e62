package debugpage_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/inspect/debugpage"
	"github.com/mcpotel/mcpotel/internal/running"
)

type member inspect.Member

func (m *member) Inspect() inspect.Member { return inspect.Member(*m) }

// The overview shows servers on demand whether they run or not.
func TestOverviewShowsServersOnDemand(t *testing.T) {
	all := []*member{
		{Name: "git", OnDemand: true, Client: 7, Starts: 2, Since: time.Now().Add(-time.Hour), Users: 3, Idle: 5 * time.Minute},
		{Name: "files", OnDemand: true},
	}
	for _, m := range all {
		n := running.Members.Number()
		running.Enlist(&running.Members, n, m)
		defer running.Members.Remove(n)
	}
	var got []string
	for _, row := range page(t, debugpage.Handler(debugpage.WithServers()), "").rows("members") {
		got = append(got, row.text())
	}
	want := "git running 1h00m 2 3 5m00s\nfiles stopped 0 0 never"
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if rows := page(t, debugpage.Handler(debugpage.WithClients(), debugpage.WithServers()), "").rows("members"); len(rows) != 0 {
		t.Errorf("with chosen clients: got %d members, want none", len(rows))
	}
	runtime.KeepAlive(all)
}
