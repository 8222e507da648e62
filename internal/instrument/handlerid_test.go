package instrument_test

import (
	"math"
	"testing"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// TestIntegerIDsAreRecordedLikeTextIDs compares ids on spans and in the flight recorder.
func TestIntegerIDsAreRecordedLikeTextIDs(t *testing.T) {
	for text, id := range map[string]int64{
		"0": 0, "7": 7, "10000000": 10_000_000, "-1": -1,
		"9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64,
	} {
		shown := func(in instrument.Incoming) [2]string {
			in.Method, in.Known = "tools/list", true
			rec := telemetrytest.Recorder(t)
			s := instrument.NewServer(rec.Telemetry(), "demo", pipe)
			defer s.Close()
			_, op := s.StartHandler(t.Context(), in)
			op.End(instrument.Result{})
			entries := s.FlightRecord()
			return [2]string{texts(rec.Span("tools/list").Attributes())["jsonrpc.request.id"], entries[len(entries)-1].ID}
		}
		asText, asInteger := shown(instrument.Incoming{ID: text}), shown(instrument.Incoming{IntID: id, HasIntID: true})
		if asText != asInteger || asInteger[0] != text || asInteger[1] == "" {
			t.Errorf("the integer %d is recorded as %q, and its text as %q", id, asInteger, asText)
		}
	}
}
