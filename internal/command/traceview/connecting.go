package traceview

import (
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// methodsOfConnecting are those without which there is no connection. No one has asked for them.
var methodsOfConnecting = []string{
	mcp.MethodDiscover, mcp.MethodInitialize, mcp.NotificationInitialized, mcp.MethodPing,
}

// isConnecting reports whether a trace is of connecting and probing only: it begins with that, and no span is of
// another method.
func isConnecting(spans []*otlpsink.Span) bool {
	return connects(rootOf(spans)) && !slices.ContainsFunc(spans, func(s *otlpsink.Span) bool {
		return methodOf(s) != "" && !connects(s)
	})
}

// connects reports whether a span is of connecting or probing.
func connects(s *otlpsink.Span) bool {
	return s.Name == names.SpanMCPClientConnect || slices.Contains(methodsOfConnecting, methodOf(s))
}

func methodOf(s *otlpsink.Span) string {
	method, _ := s.Attributes[names.KeyMCPMethodName].(string)
	return method
}

// A fold is traces of connecting that are alike: of one name, service and outcome. A server that stays away leaves one
// after the other.
type fold struct {
	listRow           // of the newest
	Count   int       // of the traces
	First   time.Time // when the oldest began
}

// Many reports whether there is more than one; templates ask.
func (f fold) Many() bool { return f.Count > 1 }

// folded are the folds of traces, which are sorted from the newest on.
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
