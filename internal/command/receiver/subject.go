package receiver

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/prom"
	"github.com/mcpotel/mcpotel/internal/explain"
	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// A subject is the question about an alert: which service, client or server, and when.
type subject struct {
	labels       map[string]string
	since, until time.Time
}

// oldest bounds the time for which evidence is read, before the present.
const oldest = 24 * time.Hour

// subjectOf returns the subject of an alert at the time now. The time of the alert is untrusted, so it is kept within
// the last day.
func subjectOf(a *Alert, r *row, now time.Time) subject {
	starts := a.StartsAt
	if starts.After(now) {
		starts = now
	}
	since := starts.Add(-r.window)
	if limit := now.Add(-oldest); since.Before(limit) {
		since = limit
	}
	return subject{labels: a.Labels, since: since, until: now}
}

// The labels that identify the subject in the metrics.
var identifying = []string{"job", "deployment_environment_name", "instance", "mcp_client_name", "mcp_server_name"}

// selector returns the labels that select the subject's metrics.
func (s subject) selector() prom.Labels {
	all := prom.Labels{}
	for _, key := range identifying {
		if value := s.labels[key]; value != "" {
			all[key] = value
		}
	}
	return all
}

func (s subject) matchers() string { return s.selector().Matchers() }

// services returns the possible names of the service, as spans have them: Prometheus puts the namespace of a service
// before its name. The result is empty if the alert names no service.
func (s subject) services() (all []string) {
	job := s.labels["job"]
	if job == "" {
		return nil
	}
	if _, name, ok := strings.Cut(job, "/"); ok {
		all = append(all, name)
	}
	return append(all, job)
}

// server reports whether the alert is about a server.
func (s subject) server() bool {
	return s.labels["mcp_client_name"] == "" && s.labels["mcp_server_name"] != ""
}

// who returns the client, the server or the service of the alert, for a sentence.
func (s subject) who() string {
	switch {
	case s.labels["mcp_client_name"] != "":
		return "the client " + s.word("mcp_client_name")
	case s.labels["mcp_server_name"] != "":
		return "the server " + s.word("mcp_server_name")
	}
	return "the service " + s.word("job")
}

// word returns a label for a sentence.
func (s subject) word(label string) string {
	return visible.Word(cmp.Or(s.labels[label], "?"), maxName)
}

// spanLabels are the labels whose values are attributes of spans as well.
var spanLabels = map[string]string{
	"mcp_client_name": names.KeyMCPClientName, "mcp_server_name": names.KeyMCPServerName,
	"gen_ai_tool_name": names.KeyGenAIToolName, "mcp_method_name": names.KeyMCPMethodName,
	"mcp_client_loop_kind": names.KeyMCPClientLoopKind,
}

// attributes returns the attributes of the subject's spans. Few notifications have spans, so a notification is found by
// the request to which it belongs.
func (s subject) attributes() map[string]string {
	all := map[string]string{}
	for label, key := range spanLabels {
		if value := s.labels[label]; value != "" && value != names.Other && !strings.HasPrefix(value, "notifications/") {
			all[key] = value
		}
	}
	return all
}

// matches reports whether a span is one of the subject's spans, and has the pattern.
func (s subject) matches(p pattern, span *explain.Span) bool {
	if all := s.services(); all != nil && !slices.Contains(all, span.Service) || span.End.Before(s.since) {
		return false
	}
	for _, wanted := range []map[string]string{s.attributes(), p.attributes} {
		for key, want := range wanted {
			if value, ok := span.Attributes[key]; !ok || want != anything && want != value {
				return false
			}
		}
	}
	return (!p.failed || span.Failed) && span.End.Sub(span.Start) >= p.atLeast
}

// searched returns the attributes to search for: those with a known value.
func (s subject) searched(p pattern) map[string]string {
	all := s.attributes()
	for key, value := range p.attributes {
		if value != anything {
			all[key] = value
		}
	}
	return all
}

// end returns client or server.
func (s subject) end() string {
	if s.server() {
		return "server"
	}
	return "client"
}

// labelled returns all labels of the alert that its metric has as well.
func (s subject) labelled() prom.Labels {
	all := s.selector()
	for key, value := range s.labels {
		if value != "" && (strings.HasPrefix(key, "mcp_") || strings.HasPrefix(key, "gen_ai_")) {
			all[key] = value
		}
	}
	return all
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
