package doctor

import (
	"slices"
	"strings"
)

// rule is a check as the table has it.
type rule struct {
	name  string
	of    kind
	needs []string // checks without which this one has no meaning
	judge func(*facts) answer
}

// kind is which servers a check is for.
type kind uint8

const (
	both kind = iota
	commands
	urls
)

// answer is what a judge says.
type answer struct {
	verdict   Verdict
	found, do string
}

// maxText bounds the texts of a check, in bytes: a server may have a long name.
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

// after are the checks that a check needs.
func after(names ...string) []string { return names }

// rules are all checks of a server, in order: what a check needs comes before it.
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

// Names returns the names of all checks of a server and of the pipeline, in order.
func Names() (all []string) {
	for _, r := range rules {
		all = append(all, r.name)
	}
	return append(all, "collector", "exemplars")
}

// judge makes each check that is for this server.
func judge(f *facts) (checks []Check) {
	of := commands
	if f.url != nil {
		of = urls
	}
	missing := map[string]bool{} // checks on which those that need them cannot build
	for _, r := range rules {
		if r.of != both && r.of != of {
			continue
		}
		if i := slices.IndexFunc(r.needs, func(name string) bool { return missing[name] }); i >= 0 {
			missing[r.name] = true
			checks = append(checks, Check{Name: r.name, Verdict: Skipped, Found: r.needs[i] + " comes first", Needs: r.needs[i]})
			continue
		}
		c := named(r.name, r.judge(f))
		missing[r.name] = c.Verdict == Fail || c.Verdict == Skipped
		checks = append(checks, c)
	}
	return checks
}
