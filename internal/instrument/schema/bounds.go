package schema

import (
	"slices"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// ofOtherValues is the number of replacement values of an attribute. The only one is _OTHER.
const ofOtherValues = 1

// limits maps the Limited attributes to their limits on metrics.
var limits = map[string]int{
	names.KeyMCPMethodName:   len(words.Methods) + words.MaxMethods + ofOtherValues,
	names.KeyGenAIToolName:   words.DefaultToolNameLimit + ofOtherValues,
	names.KeyGenAIPromptName: words.DefaultToolNameLimit + ofOtherValues,
	names.KeyErrorType: len(words.ErrorWords) + len(words.HTTPStatuses) + len(words.CodeTexts) +
		words.MaxStrangers + ofOtherValues,
	names.KeyRPCResponseStatusCode: len(words.CodeTexts) +
		words.MaxStrangers + ofOtherValues,
	names.KeyMCPProtocolVersion:     words.MaxFacts + ofOtherValues,
	names.KeyNetworkProtocolVersion: words.MaxFacts + ofOtherValues,
	names.KeyMCPClientServerName:    words.MaxPeers + ofOtherValues,
	names.KeyMCPClientServerVersion: words.MaxPeers + ofOtherValues,
	names.KeyGenAIAgentName:         words.MaxLabels + ofOtherValues,
	names.KeyMCPServerClientName:    words.MaxPeers + ofOtherValues,
	names.KeyMCPServerClientVersion: words.MaxPeers + ofOtherValues,
	names.KeyHttpResponseStatusCode: len(words.HTTPStatuses),
}

// attributeRow is an [Attribute] without its limit. metricRow is a [Metric] without its number of series.
type attributeRow struct {
	Key       string
	Type      Type
	Unit      string
	Enum      []string
	Bound     Bound
	Stability Stability
	Brief     string
}

type metricRow struct {
	Name       string
	Instrument Instrument
	Unit       string
	Buckets    []float64
	Attrs      []Use
	Stability  Stability
	Brief      string
}

// limited returns the attributes with their limits.
func limited(rows []attributeRow) []Attribute {
	all := make([]Attribute, len(rows))
	for i, r := range rows {
		limit := limits[r.Key]
		if r.Bound == Closed {
			limit = len(r.Enum) + ofOtherValues
		}
		all[i] = Attribute{r.Key, r.Type, r.Unit, r.Enum, r.Bound, r.Stability, r.Brief, limit}
	}
	return all
}

// counted returns the metrics with their numbers of series.
func counted(rows []metricRow) []Metric {
	all := make([]Metric, len(rows))
	for i, r := range rows {
		attrs := append([]Use{}, grouped(r.Attrs)...) // an empty list, not null, in JSON
		all[i] = Metric{r.Name, r.Instrument, r.Unit, r.Buckets, attrs, r.Stability, r.Brief, seriesOf(attrs)}
	}
	return all
}

// together lists groups of attributes that depend on each other, with the number of combinations of their values.
var together = []struct {
	keys  []string
	limit int
}{
	{[]string{names.KeyMCPProtocolVersion, names.KeyNetworkProtocolName, names.KeyNetworkProtocolVersion,
		names.KeyServerAddress, names.KeyServerPort}, words.MaxFacts + 2}, // two more: _OTHER, and no peer
	{[]string{names.KeyMCPClientServerName, names.KeyMCPClientServerVersion}, words.MaxPeers + ofOtherValues},
	{[]string{names.KeyMCPServerClientName, names.KeyMCPServerClientVersion}, words.MaxPeers + ofOtherValues},
	{[]string{names.KeyNetworkTransport}, 1}, // one for a client; a server counts once for each transport
}

// seriesOf returns the largest number of series of a metric with these attributes.
func seriesOf(attrs []Use) int {
	n := 1
	for _, group := range together {
		if slices.ContainsFunc(attrs, func(u Use) bool { return slices.Contains(group.keys, u.Key) }) {
			n *= group.limit
		}
	}
	for _, u := range attrs {
		if n = min(n*valuesOf(u), words.MaxSeries); n == words.MaxSeries {
			break
		}
	}
	return n
}

// valuesOf returns the number of values of an attribute on a metric. If the attribute may be missing, that is one more
// value.
func valuesOf(u Use) int {
	for _, group := range together {
		if slices.Contains(group.keys, u.Key) {
			return 1
		}
	}
	n := 1 // configured values
	if i := slices.IndexFunc(attributes, func(a Attribute) bool { return a.Key == u.Key }); i >= 0 &&
		attributes[i].Limit > 0 {
		n = attributes[i].Limit
	}
	if u.Only != nil {
		n = len(u.Only) + ofOtherValues
	}
	if u.Need == Conditional && n > 1 {
		n++
	}
	return n
}
