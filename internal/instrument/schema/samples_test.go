package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
	"github.com/mcpotel/mcpotel/internal/schemacheck"
)

// samplesFile has a record of each event, which the tests of package instrument have recorded.
const samplesFile = "testdata/samples.jsonl"

// TestEachEventHasValidSample checks the samples against the rows of their events.
func TestEachEventHasValidSample(t *testing.T) {
	samples := readSamples(t)
	for _, e := range schema.Current.Events {
		text, ok := samples[e.Name]
		if !ok {
			t.Errorf("%s has no sample; run %q", e.Name, regenerate)
			continue
		}
		record, err := recordOf(text)
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		for _, p := range schemacheck.Problems(&schemacheck.Signals{Records: []schemacheck.Record{record}}) {
			t.Error(p)
		}
	}
	if len(samples) != len(schema.Current.Events) {
		t.Errorf("got %d samples for %d events", len(samples), len(schema.Current.Events))
	}
}

// readSamples returns the samples by event name, in the format of the pages.
func readSamples(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile(samplesFile)
	if err != nil {
		t.Fatal(err)
	}
	samples := map[string]string{}
	for line := range bytes.Lines(data) {
		var record struct{ Msg string }
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatal(err)
		}
		if samples[record.Msg], err = wrapped(line); err != nil {
			t.Fatal(err)
		}
	}
	return samples
}

// wrapped breaks a JSON object into lines of 80 columns, between its members.
func wrapped(object []byte) (string, error) {
	var text strings.Builder
	column := 0
	err := members(object, func(key string, value json.RawMessage) {
		member := fmt.Sprintf("%q:%s", key, value)
		switch {
		case column == 0:
			text.WriteString("{")
		case column+len(member) > 78:
			text.WriteString(",\n ")
			column = 0
		default:
			text.WriteString(", ")
		}
		text.WriteString(member)
		column += len(member) + 2
	})
	text.WriteString("}")
	return text.String(), err
}

// members calls f for each member of an object, in order.
func members(object []byte, f func(key string, value json.RawMessage)) error {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		f(key.(string), value)
	}
	return nil
}

// recordOf returns a sample in the form for the check. JSON has only one type of number, so recordOf uses the type of
// the attribute if the number fits.
func recordOf(sample string) (r schemacheck.Record, err error) {
	r.Attrs = schemacheck.Attrs{}
	err = members([]byte(sample), func(key string, value json.RawMessage) {
		var text string
		isText := json.Unmarshal(value, &text) == nil
		v := schemacheck.Value{Type: schema.String, Text: text}
		if !isText {
			v = schemacheck.Value{Type: schema.Int, Text: string(value)}
			if v.Text == "true" || v.Text == "false" {
				v.Type = schema.Bool
			}
			if a := attributeRow(key); strings.Contains(v.Text, ".") || a != nil && a.Type == schema.Double {
				v.Type = schema.Double
			}
		}
		switch key {
		case "time", "trace_id", "span_id":
		case "level":
			var level slog.Level
			if level.UnmarshalText([]byte(text)) != nil {
				r.Problems = append(r.Problems, "its level is "+text)
			}
			r.Level = level
		case "msg":
			r.Message = text
		case "event.name":
			r.Event = text
		default:
			r.Attrs[key] = v
		}
	})
	return r, err
}
