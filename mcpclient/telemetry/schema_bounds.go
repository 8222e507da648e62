package telemetry

import "slices"

// What a peer can choose is limited on metrics, for each client and server. The limits are here, and the number of series
// that follows from them stands in each metric's row.
const (
	// maxMethods is how many methods are told apart beyond those of the protocol.
	maxMethods = 64

	// maxFacts is how many facts are told apart, for whoever is told a new version by every client. The versions of the
	// protocol are far fewer.
	maxFacts = 16

	// maxStrangers is how many outcomes are told apart beyond those of the protocol: a peer chooses its error codes.
	maxStrangers = 16

	// maxSeries is how many series any metric has. Where names, outcomes and facts would multiply to more, what comes
	// last is recorded under _OTHER, for which some are reserved. OpenTelemetry's SDK allows 2,000 for all clients and
	// servers together, unless it is told otherwise.
	maxSeries     = 1500
	maxOtherwise  = 16
	maxPrecisely  = maxSeries - maxOtherwise
	ofOtherValues = 1 // _OTHER itself
)

// limits are those of the attributes that are Limited, for metrics.
var limits = map[string]int{
	keyMethod:          len(methods) + maxMethods + ofOtherValues,
	keyTool:            DefaultToolNameLimit + ofOtherValues,
	keyPrompt:          DefaultToolNameLimit + ofOtherValues,
	keyErrorType:       len(errorWords) + len(httpStatuses) + len(codeTexts) + maxStrangers + ofOtherValues,
	keyStatusCode:      len(codeTexts) + maxStrangers + ofOtherValues,
	keyMCPVersion:      maxFacts + ofOtherValues,
	keyProtocolVersion: maxFacts + ofOtherValues,
}

// attributeRow is an [Attribute] without its limit, and metricRow a [Metric] without the number of its series.
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

// counted returns the metrics with the numbers of their series.
func counted(rows []metricRow) []Metric {
	all := make([]Metric, len(rows))
	for i, r := range rows {
		all[i] = Metric{r.Name, r.Instrument, r.Unit, r.Buckets, r.Attrs, r.Stability, r.Brief, seriesOf(r.Attrs)}
	}
	return all
}

// together are attributes that do not vary freely: of all their combinations there are this many.
var together = []struct {
	keys  []string
	limit int
}{
	{[]string{keyMCPVersion, keyProtocol, keyProtocolVersion, keyAddress, keyPort}, maxFacts + 2}, // and without what the peer said
	{[]string{keyTransport}, 1}, // one for each client, and a server is several
}

// seriesOf returns how many series a metric with these attributes has at most.
func seriesOf(attrs []Use) int {
	n := 1
	for _, group := range together {
		if slices.ContainsFunc(attrs, func(u Use) bool { return slices.Contains(group.keys, u.Key) }) {
			n *= group.limit
		}
	}
	for _, u := range attrs {
		if n = min(n*valuesOf(u), maxSeries); n == maxSeries {
			break
		}
	}
	return n
}

// valuesOf returns how many values an attribute has on a metric, or none, which counts as well.
func valuesOf(u Use) int {
	for _, group := range together {
		if slices.Contains(group.keys, u.Key) {
			return 1
		}
	}
	n := 1 // configured
	if i := slices.IndexFunc(attributes, func(a Attribute) bool { return a.Key == u.Key }); i >= 0 && attributes[i].Limit > 0 {
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
