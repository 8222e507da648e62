package schemacheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// check checks a log record against its row.
func (r *Record) check(users bool) (problems []string) {
	i := slices.IndexFunc(schema.Current.Events, func(e schema.Event) bool { return e.Name == r.Event })
	if i < 0 {
		return []string{fmt.Sprintf("record %q: event.name %q is not in the schema", r.Message, r.Event)}
	}
	row := &schema.Current.Events[i]
	if r.Message != row.Name {
		problems = append(problems, fmt.Sprintf("its message is %q", r.Message))
	}
	if !slices.Contains(row.Levels, r.Level) {
		problems = append(problems, fmt.Sprintf("level %v, want one of %v", r.Level, row.Levels))
	}
	problems = append(problems, r.Attrs.check(users, slices.Concat(row.Fields, schema.Current.Baggage)...)...)
	problems = append(problems, r.Problems...)
	for i := range problems {
		problems[i] = fmt.Sprintf("record %q: %s", row.Name, problems[i])
	}
	return problems
}

// Unpaired returns the requests that started without exactly one stop or exception. It requires records of every level.
// It ignores clients that have lost records.
func Unpaired(records []Record) (problems []string) {
	open := map[string]int{}
	lossy := map[string]bool{}
	for _, r := range records {
		if r.Event == names.EventMCPClientLogLost {
			lossy[emitterOf(r)] = true
		}
	}
	for _, r := range records {
		life, phase := cutLast(r.Event)
		if emitter := emitterOf(r); !lossy[emitter] && (strings.HasSuffix(life, ".request") ||
			strings.HasSuffix(life, ".handler") || strings.HasSuffix(life, ".ask")) {
			switch phase {
			case "start":
				open[life+" of "+emitter]++
			case "stop", "exception":
				open[life+" of "+emitter]--
			}
		}
	}
	for life, n := range open {
		if n != 0 {
			problems = append(problems, fmt.Sprintf("%s: the starts exceed the stops and exceptions by %+d", life, n))
		}
	}
	return problems
}

// emitterOf returns the name and the instance id of the client or the server that wrote r.
func emitterOf(r Record) string {
	text := func(key string) string { return r.Attrs[key].Text }
	name := text(names.KeyMCPClientName) + text(names.KeyMCPServerName)
	return strings.TrimSpace(name + " " + text(names.KeyMCPClientInstanceID) + text(names.KeyMCPServerInstanceID))
}

func cutLast(name string) (before, after string) {
	i := strings.LastIndexByte(name, '.')
	return name[:max(i, 0)], name[i+1:]
}
