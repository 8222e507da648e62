package stack_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/dashboard"
	"github.com/mcpotel/mcpotel/testenv/stack"
	"github.com/mcpotel/mcpotel/testenv/stack/jaeger"
)

// An operator has one of the questions at the beginning of the runbook, and looks in the places that the runbook names.
type operator struct {
	stack   *stack.Stack
	mcpotel string // path of mcpotel
	look    place
}

// A place is where the runbook says to look for an answer.
type place struct {
	panels  []dashboard.Panel
	tag     string // "key=value", to search for in Jaeger
	command string // command of mcpotel that takes the id of a trace
}

// questions are the questions of the runbook. The verdict of each is right if the answer names the part of the scene
// with the trouble, and no healthy part.
var questions = map[string]func(context.Context, *operator) verdict{
	"Which server is slow?": func(ctx context.Context, o *operator) verdict {
		return o.ask(ctx, 0, 0, "mcp_server_name").judge(
			between(.9*lag.Seconds(), 3*lag.Seconds(), "slow", "far"), between(0, lag.Seconds()/3, "near"))
	},
	"Is it the tool or the network?": func(ctx context.Context, o *operator) verdict {
		return o.ask(ctx, 0, 0, "mcp_server_name").judge(
			between(.9*lag.Seconds(), 3*lag.Seconds(), "far"), between(-.1*lag.Seconds(), lag.Seconds()/3, "slow", "near"))
	},
	"Were calls lost?": func(ctx context.Context, o *operator) verdict {
		return o.ask(ctx, 0, 0, "mcp_client_name", "gen_ai_tool_name", "error_type").judge(
			between(lost, lost+.5, "ledger post connection_lost"), nothing("journal post connection_lost"))
	},
	"Which conversation was hit?": func(ctx context.Context, o *operator) verdict {
		return o.search(ctx, "clerk", "gen_ai.conversation.id").judge(
			between(lost, lost, conversationHit), nothing(conversationOK))
	},
	"What changed yesterday?": func(ctx context.Context, o *operator) verdict {
		return o.ask(ctx, 0, 0, "job", "service_version").judge(greater("shelf 2", "shelf 1")).
			and(o.ask(ctx, 1, 0, "mcp_client_server_name", "mcp_client_server_version").judge(
				greater("stock 9", "stock 8"))).
			and(o.ask(ctx, 2, 0, "mcp_client_name", "mcp_client_tool_change_kind").judge(
				between(1, math.Inf(1), "menu changed"), nothing("near changed")))
	},
	"May I retry?": func(ctx context.Context, o *operator) verdict {
		return o.search(ctx, "clerk", "mcp_client.name").judge(
			between(1, math.Inf(1), "gone"), nothing("ledger", "journal"))
	},
	"Who calls most?": func(ctx context.Context, o *operator) verdict {
		return o.ask(ctx, 0, 0, "mcp_server_client_name").judge(greater("chatty", "quiet", "shelf", "search"))
	},
	"Is memory or a limit near?": func(ctx context.Context, o *operator) verdict {
		return o.ask(ctx, 0, 0, "mcp_server_name", "mcp_server_capacity_kind").judge(
			between(.8, 1, "full request"), between(0, .5, "near request", "full queue")).
			and(o.ask(ctx, 0, 1, "mcp_server_name", "mcp_server_memory_kind").judge(
				between(.8, 1, "full frame"), between(0, .5, "near frame", "full task_result")))
	},
	"Which version regressed?": func(ctx context.Context, o *operator) verdict {
		return o.ask(ctx, 0, 0, "job", "service_version").judge(between(.5, 1, "agent 2"), between(0, 0, "agent 1")).
			and(o.ask(ctx, 1, 0, "mcp_server_name", "mcp_client_server_version").judge(
				between(.5, 1, "stock 9"), between(0, 0, "stock 8")))
	},
	"Which instance?": func(ctx context.Context, o *operator) verdict {
		return o.ask(ctx, 0, 0, "instance").judge(between(.5, 1, "worker-b"), between(0, 0, "worker-a"))
	},
	"Why does it fail, and whom do I page?": func(ctx context.Context, o *operator) verdict {
		return o.explain(ctx, "front", "tools/call charge of bank failed.\n\n1. The server reports an internal error (-32603). "+
			"(server_failed, likely)")
	},
	"Do I see everything?": func(ctx context.Context, o *operator) verdict {
		return o.ask(ctx, 0, 0, "job", "instance").judge(
			between(1, math.Inf(1), "shelf shelf-2"), nothing("shelf shelf-1")).
			and(o.ask(ctx, 1, 0, "decision").judge(between(.1, math.Inf(1), "not_sampled"), nothing("dropped")))
	},
}

// TestTelemetryAnswersRunbookQuestions creates all kinds of trouble at once, beside healthy services, and asks each
// question of the runbook until all answers are right.
func TestTelemetryAnswersRunbookQuestions(t *testing.T) {
	ctx := limit(t, 90*time.Second)
	places := runbookPlaces(t)
	if got := slices.Sorted(maps.Keys(places)); len(got) != 12 || !slices.Equal(got, slices.Sorted(maps.Keys(questions))) {
		t.Fatalf("the runbook has the questions %q, want the twelve of this test", got)
	}
	s := own(t, ctx, stack.Options{Sampling: 10, CollectorEnv: []string{"MCPOTEL_SAMPLING_DECISION_WAIT=1s"}})
	o := operator{stack: s, mcpotel: mcpotelCommand(t, ctx)}
	c := newScene(t, ctx, s)
	answers := map[string]verdict{}
	within(ctx, func() bool {
		c.play(ctx)
		wrong := 0
		for name, ask := range questions {
			asking := o
			asking.look = places[name]
			v := ask(ctx, &asking)
			if ctx.Err() != nil {
				return false // keeps the last answers
			}
			if answers[name] = v; v.err != nil {
				wrong++
			}
		}
		return wrong == 0
	})
	for name := range questions {
		t.Run(name, func(t *testing.T) {
			if v, asked := answers[name]; !asked || v.err != nil {
				t.Errorf("%v, in the answer %s", v.err, v.text)
			} else {
				t.Log(v.text)
			}
		})
	}
}

var (
	italic  = regexp.MustCompile(`\*([^*]+)\*`)
	tagged  = regexp.MustCompile("^Jaeger: `([^`]+)`")
	started = regexp.MustCompile("^`mcpotel ([^`]+)`")
)

// runbookPlaces reads the table at the head of the runbook: where to look, by question.
func runbookPlaces(t *testing.T) map[string]place {
	t.Helper()
	root, err := stack.Repository()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "runbook.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| question | where to look | the answer |\n| --- | --- | --- |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	all := map[string]place{}
	for row := range strings.Lines(table) {
		cells := strings.Split(row, " | ")
		if len(cells) != 3 {
			t.Fatalf("%d cells, want three, in %s", len(cells), row)
		}
		p := place{panels: panelsOf(t, cells[1])}
		if m := tagged.FindStringSubmatch(cells[1]); m != nil {
			p.tag = m[1]
		}
		if m := started.FindStringSubmatch(cells[1]); m != nil {
			p.command = m[1]
		}
		all[strings.TrimPrefix(cells[0], "| ")] = p
	}
	return all
}

// panelsOf returns the panels that a text names as "*Panel* and *Panel* on *Dashboard*".
func panelsOf(t *testing.T, text string) (found []dashboard.Panel) {
	t.Helper()
	var titles []string
	for _, m := range italic.FindAllStringSubmatch(text, -1) {
		i := slices.IndexFunc(dashboard.All(), func(d dashboard.Dashboard) bool { return d.Title == m[1] })
		if i < 0 {
			titles = append(titles, m[1])
			continue
		}
		for _, title := range titles {
			n := len(found)
			for _, r := range dashboard.All()[i].Rows {
				for _, p := range r.Panels {
					if p.Title == title {
						found = append(found, p)
					}
				}
			}
			if len(found) != n+1 {
				t.Fatalf("%s has %d panels %q, want one", m[1], len(found)-n, title)
			}
		}
		titles = nil
	}
	if len(titles) > 0 {
		t.Fatalf("no dashboard has the panels %q, in %s", titles, text)
	}
	return found
}

// ask queries Prometheus for the newest values of a panel's query, by some of their labels. Of several values with the
// same labels, it returns the greatest.
func (o *operator) ask(ctx context.Context, panel, query int, labels ...string) answer {
	if panel >= len(o.look.panels) {
		return answer{err: fmt.Errorf("the runbook names %d panels, want one more", len(o.look.panels))}
	}
	expr := o.look.panels[panel].Queries[query].Expr
	expr = macro.ReplaceAllStringFunc(expr, func(name string) string { return macros[name] })
	all, err := o.stack.Metrics.Query(ctx, expr)
	values := map[string]float64{}
	for _, s := range all {
		var of []string
		for _, l := range labels {
			of = append(of, s.Labels[l])
		}
		name := strings.Join(of, " ")
		if v, ok := values[name]; !ok || s.Value() > v {
			values[name] = s.Value()
		}
	}
	return answer{values, err}
}

// search searches the spans of a service with the tag, like Jaeger's page, and counts them by an attribute.
func (o *operator) search(ctx context.Context, service, attribute string) answer {
	key, value, _ := strings.Cut(o.look.tag, "=")
	spans, err := o.tagged(ctx, service, key, value)
	values := map[string]float64{}
	for _, s := range spans {
		values[fmt.Sprint(s.Attributes[attribute])]++
	}
	return answer{values, err}
}

func (o *operator) tagged(ctx context.Context, service, key, value string) (spans []*jaeger.Span, err error) {
	ids, err := o.stack.Traces.Tagged(ctx, service, key, value)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		tr, err := o.stack.Traces.Trace(ctx, id)
		if err != nil {
			return nil, err
		}
		spans = append(spans, slices.DeleteFunc(tr.Spans, func(s *jaeger.Span) bool {
			return s.Service != service || fmt.Sprint(s.Attributes[key]) != value
		})...)
	}
	return spans, nil
}

// explain runs the command for the first failed call of a service, and requires an answer that begins with want.
func (o *operator) explain(ctx context.Context, service, want string) verdict {
	failed, err := o.tagged(ctx, service, "error.type", "-32603")
	if err != nil {
		return verdict{err: err}
	}
	if len(failed) == 0 {
		return verdict{err: fmt.Errorf("no call of %s has failed, want some", service)}
	}
	args := strings.Fields(strings.NewReplacer("=ID", "="+failed[0].TraceID, " mcpotel ", " "+o.mcpotel+" ",
		"http://localhost:16686", fmt.Sprintf("http://127.0.0.1:%d", o.stack.Ports.JaegerUI)).Replace(o.look.command))
	out, err := exec.CommandContext(ctx, o.mcpotel, args...).CombinedOutput()
	text := string(out)
	if err == nil && !strings.HasPrefix(text, want) {
		err = fmt.Errorf("want it to begin with %q", want)
	}
	return verdict{text, err}
}
