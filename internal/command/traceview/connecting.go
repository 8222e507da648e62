package traceview

import (
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// methodsOfConnecting are the methods that a client sends on its own to connect.
var methodsOfConnecting = []string{
	mcp.MethodDiscover, mcp.MethodInitialize, mcp.NotificationInitialized, mcp.MethodPing,
}

// isConnecting reports whether a trace only connects or probes: its root and all spans with a method belong to
// connecting or probing.
func isConnecting(spans []*otlpsink.Span) bool {
	return connects(rootOf(spans)) && !slices.ContainsFunc(spans, func(s *otlpsink.Span) bool {
		return methodOf(s) != "" && !connects(s)
	})
}

// connects reports whether a span belongs to connecting or probing.
func connects(s *otlpsink.Span) bool {
	return s.Name == names.SpanMCPClientConnect || slices.Contains(methodsOfConnecting, methodOf(s))
}

func methodOf(s *otlpsink.Span) string {
	method, _ := s.Attributes[names.KeyMCPMethodName].(string)
	return method
}

// A fold groups traces that only connect or probe, and have the same name, service and outcome. A server that stays
// unreachable leaves many such traces.
type fold struct {
	listRow           // the newest trace
	Count   int       // number of traces
	First   time.Time // start of the oldest trace
}

// Many reports whether there is more than one trace; templates call it.
func (f fold) Many() bool { return f.Count > 1 }

// folded returns traces in groups. traces begins with the newest.
func (v *view) folded(traces []summary) (folds []*fold) {
	alike := make(map[string]*fold)
	for _, s := range traces {
		key := strings.Join(append([]string{s.Name, s.Service}, s.ErrorTypes...), "\x00")
		f := alike[key]
		if f == nil && len(folds) == maxFolds {
			continue
		}
		if f == nil {
			f = &fold{listRow: v.listRow(s)}
			alike[key] = f
			folds = append(folds, f)
		}
		f.Count++
		f.First = s.Start
	}
	return folds
}
