package doctor

import (
	"slices"
	"strings"
)

// rule is a row of the table of checks.
type rule struct {
	name  string
	of    kind
	needs []string // checks that must succeed before this one
	judge func(*facts) answer
}

// kind selects the servers that a check applies to.
type kind uint8

const (
	both kind = iota
	commands
	urls
)

// answer is the result of a check.
type answer struct {
	verdict   Verdict
	found, do string
}

// maxText bounds each text of a check, in bytes: a server may have a long name.
const maxText = 2 << 10

func named(name string, a answer) Check {
	return Check{Name: name, Verdict: a.verdict, Found: cut(a.found), Do: cut(a.do)}
}

func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}

// after returns its arguments, the names of the checks that must succeed before a check runs. It only makes the rows of
// the table of rules readable.
func after(names ...string) []string { return names }

// rules are all checks of a server, in order. A check comes after the checks that it needs.
var rules = []rule{
	{"executable", commands, after(), executable},
	{"start", commands, after("executable"), start},
	{"stdout", commands, after("executable"), stdout},
	{"dns", urls, after(), dns},
	{"tcp", urls, after("dns"), tcp},
	{"tls", urls, after("tcp"), tlsAgreed},
	{"http", urls, after("tls"), answers},
	{"authorization", urls, after("http"), authorization},
	{"handshake", both, after("start", "http", "authorization"), handshake},
	{"transport", urls, after("handshake"), transportUsed},
	{"messages", both, after("handshake"), messages},
	{"ping", both, after("handshake"), pinged},
	{"tools", both, after("handshake"), toolsListed},
	{"schemas", both, after("handshake"), schemas},
	{"resources", both, after("handshake"), resourcesListed},
	{"prompts", both, after("handshake"), promptsListed},
	{"listen", both, after("ping"), listens},
	{"propagation", both, after("handshake"), joined},
	{"end", commands, after("handshake"), ended},
	{"clock", urls, after("http"), clocks},
	{"cardinality", both, after("handshake"), cardinality},
}

// Names returns the names of all checks of servers and of the pipeline, in order.
func Names() (all []string) {
	for _, r := range rules {
		all = append(all, r.name)
	}
	return append(all, "collector", "exemplars")
}

// judge runs the checks that apply to this server.
func judge(f *facts) (checks []Check) {
	of := commands
	if f.url != nil {
		of = urls
	}
	missing := map[string]bool{} // checks that failed or were skipped
	for _, r := range rules {
		if r.of != both && r.of != of {
			continue
		}
		if i := slices.IndexFunc(r.needs, func(name string) bool { return missing[name] }); i >= 0 {
			missing[r.name] = true
			checks = append(checks, Check{Name: r.name, Verdict: Skipped, Found: "needs " + r.needs[i], Needs: r.needs[i]})
			continue
		}
		c := named(r.name, r.judge(f))
		missing[r.name] = c.Verdict == Fail || c.Verdict == Skipped
		checks = append(checks, c)
	}
	return checks
}
