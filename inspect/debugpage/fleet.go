package debugpage

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// Limits of the overview in a process with many clients.
const (
	onePage   = 100 // clients on one page
	few       = 20  // with up to this many clients, the overview has no search
	maxGroups = 50
	maxQuery  = 100 // maximum length of a search text, in bytes
)

// choice selects the clients to show.
type choice struct {
	Query string // text in the name, group, server, address, state or instance
	Group string // empty means clients without a group, if InIt is set
	InIt  bool   // select by Group
	page  int    // from 0
}

func choiceOf(query url.Values) choice {
	c := choice{Query: query.Get("q"), Group: query.Get("group"), InIt: query.Has("group")}
	c.Query = strings.TrimSpace(c.Query[:min(len(c.Query), maxQuery)])
	if n, err := strconv.Atoi(query.Get("page")); err == nil && n > 1 {
		c.page = n - 1
	}
	return c
}

// wants reports whether the choice includes the client.
func (c *choice) wants(i *inspect.Client) bool {
	if c.InIt && i.Group != c.Group {
		return false
	}
	if c.Query == "" {
		return true
	}
	wanted := strings.ToLower(c.Query)
	for _, text := range []string{i.Name, i.Group, i.Server, i.Address, badgeOf(i).Word, i.InstanceID} {
		if strings.Contains(strings.ToLower(text), wanted) {
			return true
		}
	}
	return false
}

// href returns the link to a page of the same choice; page counts from 1.
func (c choice) href(page int) string {
	q := url.Values{}
	if c.Query != "" {
		q.Set("q", c.Query)
	}
	if c.InIt {
		q.Set("group", c.Group)
	}
	if page > 1 {
		q.Set("page", strconv.Itoa(page))
	}
	return "?" + q.Encode() + "#clients"
}

// fleetModel is the data for the search, groups and page links of a process with many clients.
type fleetModel struct {
	choice
	Search bool   // show the search form
	All    string // link to all clients, if the choice excludes some
	Found  int
	From   int // numbers of the first and the last client on this page
	To     int
	Before string // links to other pages; empty for none
	After  string

	Groups     []groupRow
	MoreGroups int
}

// groupRow describes the clients of a group.
type groupRow struct {
	Name, Href string
	Clients    int
	Bad        int // number of clients that are not ready
	States     []stateCount
}

type stateCount struct {
	stateBadge
	Count int
}

// part returns the clients among found that are on the chosen page.
func (m *fleetModel) part(found []*inspect.Client, all int) []*inspect.Client {
	m.Search, m.Found = all > few || m.Query != "" || m.InIt, len(found)
	if m.Query != "" || m.InIt {
		m.All = "?#clients"
	}
	m.page = min(m.page, max(0, (len(found)-1)/onePage))
	from := m.page * onePage
	to := min(from+onePage, len(found))
	m.From, m.To = from+1, to
	if m.page > 0 {
		m.Before = m.href(m.page)
	}
	if to < len(found) {
		m.After = m.href(m.page + 2)
	}
	return found[from:to]
}

// group counts the clients by group and state, if any client has a group. Groups with the most clients that are not
// ready come first.
func (m *fleetModel) group(clients []inspect.Client) {
	if !slices.ContainsFunc(clients, func(c inspect.Client) bool { return c.Group != "" }) {
		return
	}
	all := map[string]map[stateBadge]int{}
	rows := map[string]*groupRow{}
	for i := range clients {
		c := &clients[i]
		row := rows[c.Group]
		if row == nil {
			row = &groupRow{Name: c.Group, Href: choice{Group: c.Group, InIt: true}.href(1)}
			rows[c.Group], all[c.Group] = row, map[stateBadge]int{}
		}
		row.Clients++
		if c.State != connstate.Ready {
			row.Bad++
		}
		all[c.Group][badgeOf(c)]++
	}
	for name, row := range rows {
		for badge, n := range all[name] {
			row.States = append(row.States, stateCount{badge, n})
		}
		slices.SortFunc(row.States, func(a, b stateCount) int {
			return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(a.Word, b.Word))
		})
	}
	groups := slices.SortedFunc(maps.Values(rows), func(a, b *groupRow) int {
		return cmp.Or(cmp.Compare(b.Bad, a.Bad), cmp.Compare(a.Name, b.Name))
	})
	groups, m.MoreGroups = bound(groups, maxGroups)
	for _, row := range groups {
		m.Groups = append(m.Groups, *row)
	}
}
