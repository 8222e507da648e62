package schema_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// TestAttributeNamesAreNotNamespaces checks the rule of the semantic conventions that a name is not the namespace of
// another name. Backends that store attributes as nested objects reject records that break the rule.
func TestAttributeNamesAreNotNamespaces(t *testing.T) {
	for _, a := range schema.Current.Attributes {
		for _, b := range schema.Current.Attributes {
			if strings.HasPrefix(b.Key, a.Key+".") {
				t.Errorf("attribute %s is the namespace of %s", a.Key, b.Key)
			}
		}
	}
}

// TestExceptionEventsHaveException checks that events named "*.exception" have the attributes that the conventions
// for exceptions in logs require.
func TestExceptionEventsHaveException(t *testing.T) {
	found := 0
	for _, e := range schema.Current.Events {
		if !strings.HasSuffix(e.Name, ".exception") && !strings.HasSuffix(e.Name, ".panic") {
			continue
		}
		found++
		for _, key := range []string{names.KeyExceptionType, names.KeyExceptionMessage} {
			if !slices.ContainsFunc(e.Fields, func(u schema.Use) bool { return u.Key == key }) {
				t.Errorf("event %s lacks %s", e.Name, key)
			}
		}
	}
	if found == 0 {
		t.Error("want events of exceptions, got none")
	}
}

// TestMetricNamesFollowConventions checks that no metric is the namespace of another metric, and that namespaces and
// up-down counters are singular. The active_* names follow http.server.active_requests.
func TestMetricNamesFollowConventions(t *testing.T) {
	plural := func(word string) bool { return strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") }
	for _, m := range schema.Current.Metrics {
		for _, other := range schema.Current.Metrics {
			if strings.HasPrefix(other.Name, m.Name+".") {
				t.Errorf("metric %s is the namespace of %s", m.Name, other.Name)
			}
		}
		parts := strings.Split(m.Name, ".")
		last := parts[len(parts)-1]
		if slices.ContainsFunc(parts[:len(parts)-1], plural) {
			t.Errorf("metric %s has a plural namespace", m.Name)
		}
		counts := m.Instrument == schema.Counter || m.Instrument == schema.ObservableCounter
		if !counts && m.Instrument != schema.Histogram && plural(last) && !strings.HasPrefix(last, "active_") {
			t.Errorf("metric %s is plural but not a counter", m.Name)
		}
	}
}
