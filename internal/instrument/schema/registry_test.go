package schema_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// The registry is the schema in the form of weaver, OpenTelemetry's tool for conventions: definition files of version
// 2. The schema file is the file at the schema URL of the instrumentation scope.

const (
	definition = "definition/2"
	applies    = "whenever it applies"
)

type (
	// definitionFile is a file of the registry.
	definitionFile struct {
		Format     string         `yaml:"file_format"`
		Attributes []attributeDef `yaml:"attributes,omitempty"`
		Metrics    []metricDef    `yaml:"metrics,omitempty"`
		Events     []eventDef     `yaml:"events,omitempty"`
		Spans      []spanDef      `yaml:"spans,omitempty"`
	}
	attributeDef struct {
		Key         string         `yaml:"key"`
		Type        any            `yaml:"type"`
		Brief       string         `yaml:"brief"`
		Stability   string         `yaml:"stability"`
		Annotations map[string]any `yaml:"annotations,omitempty"`
	}
	enumMembers struct {
		Members []member `yaml:"members"`
	}
	member struct {
		ID        string `yaml:"id"`
		Value     string `yaml:"value"`
		Stability string `yaml:"stability"`
	}
	attributeRef struct {
		Ref      string `yaml:"ref"`
		Level    any    `yaml:"requirement_level"`
		Sampling bool   `yaml:"sampling_relevant,omitempty"`
	}
	metricDef struct {
		Name        string         `yaml:"name"`
		Instrument  string         `yaml:"instrument"`
		Unit        string         `yaml:"unit"`
		Brief       string         `yaml:"brief"`
		Stability   string         `yaml:"stability"`
		Attributes  []attributeRef `yaml:"attributes,omitempty"`
		Annotations map[string]any `yaml:"annotations,omitempty"`
	}
	eventDef struct {
		Name        string         `yaml:"name"`
		Brief       string         `yaml:"brief"`
		Stability   string         `yaml:"stability"`
		Attributes  []attributeRef `yaml:"attributes,omitempty"`
		Annotations map[string]any `yaml:"annotations,omitempty"`
	}
	spanDef struct {
		Type        string         `yaml:"type"`
		Kind        string         `yaml:"kind"`
		Name        spanName       `yaml:"name"`
		Brief       string         `yaml:"brief"`
		Stability   string         `yaml:"stability"`
		Attributes  []attributeRef `yaml:"attributes,omitempty"`
		Annotations map[string]any `yaml:"annotations,omitempty"`
	}
	spanName struct {
		Note string `yaml:"note"`
	}
	// manifest is the manifest of the registry.
	manifest struct {
		SchemaURL   string `yaml:"schema_url"`
		Description string `yaml:"description"`
		Stability   string `yaml:"stability"`
	}
	// schemaFile is a file according to the specification of OpenTelemetry's telemetry schemas.
	schemaFile struct {
		Format    string                    `yaml:"file_format"`
		SchemaURL string                    `yaml:"schema_url"`
		Versions  map[string]map[string]any `yaml:"versions"`
	}
)

// stabilityOf returns OpenTelemetry's word for a stability. An annotation contains the row's own word.
func stabilityOf(s schema.Stability) string {
	if s == schema.Stable {
		return "stable"
	}
	return "development"
}

// ours returns the annotations of this module.
func ours(s schema.Stability, more ...any) map[string]any {
	all := map[string]any{"stability": string(s)}
	for i := 0; i < len(more); i += 2 {
		all[more[i].(string)] = more[i+1]
	}
	return map[string]any{"mcpotel": all}
}

func attributeDefs(rows []schema.Attribute) (all []attributeDef) {
	for _, a := range rows {
		d := attributeDef{Key: a.Key, Type: string(a.Type), Brief: a.Brief, Stability: stabilityOf(a.Stability)}
		notes := []any{"bound", string(a.Bound)}
		if a.Limit > 0 {
			notes = append(notes, "limit", a.Limit)
		}
		if a.Unit != "" {
			notes = append(notes, "unit", a.Unit)
		}
		d.Annotations = ours(a.Stability, notes...)
		if prefix, ok := strings.CutSuffix(a.Key, ".{name}"); ok {
			d.Key, d.Type = prefix, "template[string]"
		}
		if len(a.Enum) > 0 {
			var values enumMembers
			for _, v := range a.Enum {
				id := strings.Trim(strings.Map(func(r rune) rune {
					if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
						return r
					}
					return '_'
				}, strings.ToLower(v)), "_")
				values.Members = append(values.Members, member{id, v, d.Stability})
			}
			d.Type = values
		}
		all = append(all, d)
	}
	return all
}

func attributeRefs(uses []schema.Use, atStart bool) (all []attributeRef) {
	for _, u := range uses {
		r := attributeRef{Ref: strings.TrimSuffix(u.Key, ".{name}"), Level: "required", Sampling: atStart}
		if u.Need == schema.Conditional {
			r.Level = map[string]string{"conditionally_required": applies}
		}
		all = append(all, r)
	}
	return all
}

func metricDefs(rows []schema.Metric) (all []metricDef) {
	for _, m := range rows {
		notes := []any{"max_series", m.MaxSeries}
		if len(m.Buckets) > 0 {
			notes = append(notes, "buckets", m.Buckets)
		}
		all = append(all, metricDef{m.Name, strings.TrimPrefix(string(m.Instrument), "observable"), m.Unit, m.Brief,
			stabilityOf(m.Stability), attributeRefs(m.Attrs, false), ours(m.Stability, notes...)})
	}
	return all
}

func eventDefs(rows []schema.Event) (all []eventDef) {
	for _, e := range rows {
		var severities []string
		for _, l := range e.Levels {
			severities = append(severities, l.String())
		}
		all = append(all, eventDef{e.Name, e.Brief, stabilityOf(e.Stability), attributeRefs(e.Fields, false),
			ours(e.Stability, "severity", severities)})
	}
	return all
}

func spanDefs(rows []schema.Span) (all []spanDef) {
	for _, s := range rows {
		all = append(all, spanDef{s.ID, strings.ToLower(string(s.Kind)), spanName{s.NameForm}, s.Brief,
			stabilityOf(s.Stability), slices.Concat(attributeRefs(s.AtStart, true), attributeRefs(s.AtEnd, false)),
			ours(s.Stability)})
	}
	return all
}

// registry returns the files of the registry by name.
func registry(d schema.Definition) map[string]any {
	return map[string]any{
		"manifest.yaml": manifest{names.SchemaURL,
			"Telemetry of the clients and servers of mcpotel. Names that begin with mcp. or gen_ai., " +
				"and other names without one of our prefixes, come from the OpenTelemetry semantic conventions.", "stable"},
		"attributes.yaml": definitionFile{Format: definition, Attributes: attributeDefs(d.Attributes)},
		"metrics.yaml":    definitionFile{Format: definition, Metrics: metricDefs(d.Metrics)},
		"events.yaml":     definitionFile{Format: definition, Events: eventDefs(d.Events)},
		"spans.yaml":      definitionFile{Format: definition, Spans: spanDefs(d.Spans)},
	}
}

// encodeYAML returns the text of a file, with its header.
func encodeYAML(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Generated from internal/instrument/schema by %q. Do not edit.\n", regenerate)
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// docs is the directory of the pages.
var docs = filepath.Join("..", "..", "..", "docs", "telemetry")

func TestRegistryMatchesSchema(t *testing.T) {
	for name, file := range registry(schema.Current) {
		checkFile(t, filepath.Join(docs, "registry", name), encodeYAML(t, file))
	}
}

// TestSchemaURLMatchesSchema checks the file that the schema URL names. Only the first version exists, without
// changes.
func TestSchemaURLMatchesSchema(t *testing.T) {
	version := schema.Current.Version + ".0"
	if got, want := names.SchemaURL,
		"https://raw.githubusercontent.com/mcpotel/mcpotel/main/docs/telemetry/schemas/"+version; got !=
		want {
		t.Errorf("schema URL: got %s, want %s", got, want)
	}
	file := schemaFile{"1.1.0", names.SchemaURL, map[string]map[string]any{version: {}}}
	checkFile(t, filepath.Join(docs, "schemas", version), encodeYAML(t, file))
}

func TestRegistryDefinesReferencedAttributes(t *testing.T) {
	defined := map[string]bool{}
	for _, a := range attributeDefs(schema.Current.Attributes) {
		if defined[a.Key] {
			t.Errorf("attribute %s is defined twice", a.Key)
		}
		defined[a.Key] = true
		if m, ok := a.Type.(enumMembers); ok {
			ids := map[string]bool{}
			for _, one := range m.Members {
				if one.ID == "" || ids[one.ID] {
					t.Errorf("attribute %s: the id %q of %q is empty or there twice", a.Key, one.ID, one.Value)
				}
				ids[one.ID] = true
			}
		}
	}
	check := func(of string, refs []attributeRef) {
		for _, r := range refs {
			if !defined[r.Ref] {
				t.Errorf("%s refers to %s, which is not defined", of, r.Ref)
			}
		}
	}
	for _, m := range metricDefs(schema.Current.Metrics) {
		check(m.Name, m.Attributes)
	}
	for _, e := range eventDefs(schema.Current.Events) {
		check(e.Name, e.Attributes)
	}
	for _, s := range spanDefs(schema.Current.Spans) {
		check(s.Type, s.Attributes)
	}
}
