package machine

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

var update = flag.Bool("update", false, "write docs/state-machine.md")

var document = filepath.Join("..", "..", "..", "docs", "state-machine.md")

func TestGeneratedDocumentIsUpToDate(t *testing.T) {
	want := generate(t)
	if *update {
		if err := os.WriteFile(document, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is stale; run go generate in this folder (-want +got):\n%s", document, diff)
	}
}

func generate(t *testing.T) string {
	var b strings.Builder
	p, consts := Defaults(), constants(t)
	fmt.Fprintf(&b, `# The connection state machine

<!-- Generated from internal/client/machine by "go generate ./internal/client/machine". Do not edit. -->

A client is in exactly one of five states. The table is the literal that the program runs: every pair of a state and an
event is in exactly one row.

%s
## Table

| State | Event | Effects | Next |
|---|---|---|---|
%s
## Entering a state

| State | Deadline, after which Elapsed is due | What else changes |
|---|---|---|
| starting | %v (init timeout) | next epoch; next attempt, unless a lost probe is repeated |
| initializing | %v (init timeout), starts again | after SessionGone: next epoch, first attempt |
| ready | none | next session |
| backoff | the delay ± %v %% | the next delay is twice as long: %s |
| closing | %v (close timeout) | |

The delay returns to its minimum when a session answers a call (ResponseInFlight), or when a session ends that was ready
for %v.

## Before the table

- After the end, all events except UserCall and Stop are ignored.
- If an event of a connection (TransportUp to Request) carries another epoch than the machine, it is stale and ignored.
- Elapsed before the deadline is ignored.
- ProbeLost counts once for each attempt, SessionGone once for each connection; the second time they count as TransportDown.
- Before the first session, the number of attempts may be limited. Then, after the last attempt, a row that leads to
  backoff leads to closing instead, with the reason refused. ReportCause follows the effects of the row.

## Events

%s
## Effects

%s
## Reasons

Each transition is reported with one of these reasons: %s.
`,
		diagram(), rows(), p.InitTimeout, p.InitTimeout, 100*p.BackoffJitter, delays(p), p.CloseTimeout, p.BackoffMax,
		glossary(consts["Event"]), glossary(consts["Effect"]), list(connstate.Reasons(), connstate.Reason.String))
	return b.String()
}

func diagram() string {
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n    [*] --> starting\n")
	for from := range closing + 1 {
		for _, to := range []connstate.State{starting, initializing, ready, backoff, closing, done} {
			var labels []string
			for _, r := range table {
				if r.to == to && r.in.has(from) {
					labels = append(labels, list(eventsIn(r.on), Event.String))
				}
			}
			if to == closing && (from == starting || from == initializing) {
				labels = append(labels, "no attempt left")
			}
			if len(labels) > 0 {
				fmt.Fprintf(&b, "    %v --> %s: %s\n", from, place(to), strings.Join(labels, ", "))
			}
		}
	}
	b.WriteString("```\n")
	return b.String()
}

func place(s connstate.State) string {
	if s == done {
		return "[*]"
	}
	return s.String()
}

func rows() string {
	var b strings.Builder
	for _, r := range table {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", inWords(r.in), onWords(r.on), doWords(r.do), toWords(r.to))
	}
	return b.String()
}

func inWords(set stateSet) string {
	if set == in(starting, initializing, ready, backoff) {
		return "any but closing"
	}
	return list(statesIn(set), connstate.State.String)
}

func onWords(set eventSet) string {
	if len(eventsIn(set)) > int(eventCount)/2 {
		return "anything else"
	}
	return list(eventsIn(set), Event.String)
}

func doWords(effects []Effect) string {
	if len(effects) == 0 {
		return "–"
	}
	return list(effects, Effect.String)
}

func toWords(s connstate.State) string {
	switch s {
	case same:
		return "same"
	case done:
		return "(done)"
	}
	return s.String()
}

func delays(p Policy) string {
	all := []time.Duration{p.BackoffMin}
	for d := p.BackoffMin; d != p.BackoffMax; all = append(all, d) {
		d = p.longer(d)
	}
	return list(all, time.Duration.String)
}

func list[E any](all []E, word func(E) string) string {
	var words []string
	for _, e := range all {
		words = append(words, word(e))
	}
	return strings.Join(words, ", ")
}

func glossary(consts []constant) string {
	var b strings.Builder
	for _, c := range consts {
		fmt.Fprintf(&b, "- **%s**%s\n", c.name, strings.TrimPrefix(c.doc, c.name))
	}
	return b.String()
}

// constant is an event or an effect, with the comment of its declaration.
type constant struct{ name, doc string }

// constants returns the exported constants of this package by type, in the order of their declarations.
func constants(t *testing.T) map[string][]constant {
	t.Helper()
	all := map[string][]constant{}
	for _, file := range []string{"event.go", "effect.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST || !group.Lparen.IsValid() {
				continue
			}
			var kind string
			for _, s := range group.Specs {
				v := s.(*ast.ValueSpec)
				if v.Type != nil {
					kind = v.Type.(*ast.Ident).Name
				}
				doc := strings.Join(strings.Fields(v.Doc.Text()), " ")
				if doc == "" {
					t.Errorf("%s: no comment", v.Names[0].Name)
				}
				all[kind] = append(all[kind], constant{v.Names[0].Name, doc})
			}
		}
	}
	return all
}
