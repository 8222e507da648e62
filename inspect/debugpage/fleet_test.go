package debugpage_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/inspect/debugpage"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// bigFleet returns 10,000 clients in groups; two of the clients are not ready.
func bigFleet() []debugpage.Client {
	var all []debugpage.Client
	for n := range 10_000 {
		c := client{Time: noon, Number: uint64(n + 1), Name: fmt.Sprintf("server-%05d", n), State: connstate.Ready,
			Group: fmt.Sprint("tenant-", n%10), Server: "weather", Address: "mcp.example.com"}
		switch n {
		case 4711:
			c.State, c.Err = connstate.Backoff, "connection refused"
		case 4712:
			c.State, c.Group = connstate.Starting, ""
		}
		all = append(all, c)
	}
	return all
}

func TestClientListSearchesGroupsAndPages(t *testing.T) {
	h := debugpage.Handler(debugpage.WithClients(bigFleet()...), debugpage.WithServers())
	first := func(p *node) string {
		if rows := p.rows("clients"); len(rows) > 0 {
			return rows[0].text()
		}
		return ""
	}
	for _, tt := range []struct {
		query, first, pages string
		rows                int
	}{
		{"", "server-04711 tenant-1 backoff", "1 to 100 of 10000 · next →", 100},
		{"?page=2", "server-00098 tenant-8 ready", "← before · 101 to 200 of 10000 · next →", 100},
		{"?page=100", "server-09900 tenant-0 ready", "← before · 9901 to 10000 of 10000", 100},
		{"?page=9999999", "server-09900 tenant-0 ready", "← before · 9901 to 10000 of 10000", 100},
		{"?page=-3", "server-04711 tenant-1 backoff", "1 to 100 of 10000 · next →", 100},
		{"?q=SERVER-0471", "server-04711 tenant-1 backoff", "1 to 10 of 10 · all clients", 10},
		{"?q=starting", "server-04712 starting", "1 to 1 of 1 · all clients", 1},
		{"?q=no+such+client", "", "none found · all clients", 0},
		{"?group=tenant-1", "server-04711 tenant-1 backoff", "1 to 100 of 1000 · next → · all clients", 100},
		{"?group=tenant-1&q=0001", "server-00001 tenant-1 ready", "1 to 2 of 2 · all clients", 2},
		{"?group=", "server-04712 starting", "1 to 1 of 1 · all clients", 1},
	} {
		t.Run(tt.query, func(t *testing.T) {
			p := page(t, h, tt.query)
			if rows := p.rows("clients"); len(rows) != tt.rows || !strings.HasPrefix(first(p), tt.first) {
				t.Errorf("clients: got %d, the first %q, want %d, the first %q", len(rows), first(p), tt.rows, tt.first)
			}
			if got := p.one("pages").text(); got != tt.pages {
				t.Errorf("pages: got %q, want %q", got, tt.pages)
			}
			if p.tile("clients") != "10000" || p.tile("not ready") != "2" {
				t.Errorf("tiles: got %q and %q, want the numbers of all clients", p.tile("clients"), p.tile("not ready"))
			}
		})
	}
	groups := page(t, h, "?q=server-00001").rows("groups")
	if len(groups) != 11 || groups[0].text() != "no group 1 1 starting × 1" ||
		groups[1].text() != "tenant-1 1000 1 backoff × 1 ready × 999" ||
		groups[2].text() != "tenant-0 1000 0 ready × 1000" {
		t.Errorf("groups: got %d, the first %q", len(groups), groups[0].text())
	}
}

func TestPageLinksCoverAllSearchResults(t *testing.T) {
	h := debugpage.Handler(debugpage.WithClients(bigFleet()...), debugpage.WithServers())
	seen, query := map[string]bool{}, "?q=server-00&group=tenant-3"
	for query != "" {
		p := page(t, h, query)
		for _, row := range p.rows("clients") {
			seen[row.attrs["id"]] = true
		}
		next := p.all(func(n *node) bool { return n.attrs["rel"] == "next" })
		if query = ""; len(next) > 0 {
			query = strings.TrimSuffix(next[0].attrs["href"], "#clients")
		}
	}
	if len(seen) != 100 {
		t.Errorf("clients on all pages: got %d, want 100", len(seen))
	}
}

func TestJSONContainsOnlyMatchingClients(t *testing.T) {
	h := debugpage.Handler(debugpage.WithClients(bigFleet()...), debugpage.WithServers())
	var got struct{ Clients []inspect.Client }
	if err := json.Unmarshal([]byte(text(t, get(t, h, "?format=json&q=backoff"))), &got); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(got.Clients, func(c inspect.Client) bool { return c.Name == "server-04711" }) ||
		len(got.Clients) != 1 {
		t.Errorf("clients: got %d, want the one in backoff", len(got.Clients))
	}
}

func TestAProcessWithFewClientsHasNoSearch(t *testing.T) {
	h := debugpage.Handler(debugpage.WithClients(client{Time: noon, Number: 1, Name: "files"}), debugpage.WithServers())
	if p := page(t, h, ""); p.one("search") != nil || p.one("pages") != nil || p.one("groups") != nil {
		t.Errorf("want neither search, nor pages, nor groups, got %q", p.text())
	}
}

func BenchmarkOverviewOfAFleet(b *testing.B) {
	h := debugpage.Handler(debugpage.WithClients(bigFleet()...), debugpage.WithServers())
	for b.Loop() {
		if got := get(b, h, "?q=tenant").StatusCode; got != 200 {
			b.Fatalf("got %d", got)
		}
	}
}
