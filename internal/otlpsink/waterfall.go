package otlpsink

import "github.com/mcpotel/mcpotel/internal/waterfall"

// Waterfall converts spans for package waterfall.
func Waterfall(spans []Span) []waterfall.Span {
	drawn := make([]waterfall.Span, len(spans))
	for i, s := range spans {
		drawn[i] = waterfall.Span{
			TraceID: s.TraceID, ID: s.SpanID, ParentID: s.ParentID,
			Service: s.Service(), Name: s.Name, Kind: s.Kind,
			Start: s.Start, End: s.End,
			Error:      s.Status == "ERROR",
			Attributes: s.Attributes,
		}
		for _, l := range s.Links {
			drawn[i].Links = append(drawn[i].Links, waterfall.Link{TraceID: l.TraceID, SpanID: l.SpanID})
		}
	}
	return drawn
}
