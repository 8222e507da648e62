package instrument

import (
	"context"
	"log/slog"
	"net/netip"
	"strconv"

	"go.opentelemetry.io/otel/attribute"

	"github.com/mcpotel/mcpotel/internal/instrument/records"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Refusal is a request that a server refused before it reached a handler.
type Refusal struct {
	Reason     string // one of the Refusal constants of package names
	Status     int    // status of the HTTP response; zero if the request did not come over HTTP
	Err        error  // error for the log; nil for none
	RemoteAddr string // address of an HTTP client, as in net/http; empty if unknown
	Told       bool   // another record reports the refusal
}

type refusalKey struct {
	reason string
	status int
}

// Refused counts a refusal. It also logs the refusal unless another record reports it. ctx is the context of the HTTP
// request.
func (s *Server) Refused(ctx context.Context, r Refusal) {
	if s == nil {
		return
	}
	r.Reason = words.OneOf(words.Refusals, r.Reason)
	if counter := s.tel.ins.refused; counter.Enabled(ctx) {
		counter.Add(ctx, 1, s.metrics.options().refusal.At(refusalKey{r.Reason, r.Status})...)
	}
	level := r.level()
	if r.Told {
		return
	}
	suppressed, ok := s.logs.allows(ctx, records.Key{
		Event: names.EventMCPServerRequestRefused, Reason: r.Reason, Direction: telemetry.DirectionReceived, Level: level,
	})
	if !ok {
		return
	}
	var buf [maxFields]slog.Attr
	fields := append(buf[:0], slog.String(names.KeyMCPServerRefusalReason, r.Reason))
	fields = appendCount(fields, names.KeyHttpResponseStatusCode, r.Status)
	if r.Err != nil {
		fields = appendText(fields, names.KeyExceptionMessage, s.textOf(ctx, r.Err))
	}
	if from, err := netip.ParseAddrPort(r.RemoteAddr); err == nil && !s.tel.NoClientAddress {
		fields = append(fields, slog.String(names.KeyClientAddress, from.Addr().Unmap().String()))
		fields = appendCount(fields, names.KeyClientPort, int(from.Port()))
	}
	s.logs.emit(ctx, level, names.EventMCPServerRequestRefused, appendCount(fields, s.keys.suppressed, suppressed)...)
}

// level returns Info for refusals that inform clients about the server's version and requirements, and Warn otherwise.
func (r *Refusal) level() slog.Level {
	switch r.Reason {
	case names.RefusalMethod, names.RefusalHeader, names.RefusalVersion, names.RefusalSession, names.RefusalUnauthorized,
		names.RefusalShutdown:
		return slog.LevelInfo
	}
	return slog.LevelWarn
}

// attributes returns the attributes of the metric.
func (k refusalKey) attributes() []attribute.KeyValue {
	attrs := []attribute.KeyValue{attribute.String(names.KeyMCPServerRefusalReason, k.reason)}
	if words.HTTPStatuses[strconv.Itoa(k.status)] {
		attrs = append(attrs, attribute.Int(names.KeyHttpResponseStatusCode, k.status))
	}
	return attrs
}
