package instrument

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Each tools/call that a client sends, or that a server or proxy handles, has one record in the audit log. The record is
// made in [Op.End]. A proxy handles a call and sends it on: its two operations have one record, see [Server.Relays].

// ToolRun is what is known about whether a tool ran. A greater value is more certain that it ran.
type ToolRun uint8

const (
	DidNotRun  ToolRun = iota // certain
	MayHaveRun                // in part or completely
	Ran                       // there was a result
)

// String returns the value of r in telemetry.
func (r ToolRun) String() string {
	return [...]string{names.AuditDidNotRun, names.AuditMayHaveRun, names.AuditRan}[r]
}

// toolRunOf returns what the end of a tools/call proves about the tool. sent means that the request was passed to the
// transport at least once, or has arrived.
//
//	the request was never sent, or the server certainly did not act on it   DidNotRun
//	a complete result, also one in which the tool reports an error          Ran
//	everything else: errors of the server, timeouts, lost connections,      MayHaveRun
//	cancellations, invalid results, tasks, requests for input
func toolRunOf(r *Result, sent bool) ToolRun {
	switch {
	case !sent || r.Unsent:
		return DidNotRun
	case r.ToolError:
		return Ran
	case r.HasCode || r.Err != nil || r.ErrorType != "" || r.CallerLeft:
		return MayHaveRun
	case r.ResultType != "" && r.ResultType != "complete":
		return MayHaveRun
	}
	return Ran
}

// auditEntry collects the audit record of one tools/call.
type auditEntry struct {
	tool, principal, arguments string
	reports                    bool // the outcome follows from the runs, and not from the Result

	mu     sync.Mutex
	relays bool   // guarded by mu; requests below the operation belong to it
	closed bool   // guarded by mu; the record was made
	own    runs   // guarded by mu; runs of the server's own tool
	below  runs   // guarded by mu; requests below the operation
	policy string // guarded by mu; the decision of a proxy's policy; empty for none
}

// runs summarizes the runs of a tool in one call. There may be several: middleware may call a handler twice.
type runs struct {
	running int     // begun runs that have not ended
	known   ToolRun // the most certain end of a run
}

func (r *runs) end(run ToolRun) {
	r.running--
	r.known = max(r.known, run)
}

// outcome returns what is known about the tool. A run that has not ended may have had its effect.
func (r *runs) outcome() ToolRun {
	if r.running > 0 {
		return max(r.known, MayHaveRun)
	}
	return r.known
}

// begin records that the server runs its tool. It returns false if the record was already made.
func (e *auditEntry) begin() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.own.running++
	return !e.closed || e.relays
}

// beginBelow records that a request below the operation starts. It returns false if the request needs a record of its
// own, because the operation does not relay, or its record was already made.
func (e *auditEntry) beginBelow() bool {
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.relays || e.closed {
		return false
	}
	e.below.running++
	return true
}

// endBelow records the end of a request below the operation.
func (e *auditEntry) endBelow(run ToolRun) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.below.end(run)
}

// relay makes the entry the record of the requests below its operation.
func (e *auditEntry) relay() {
	if e != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.relays = true
	}
}

// decide records a decision of a proxy's policy. A decision that ends the call counts more than a redaction.
func (e *auditEntry) decide(kind string) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.policy == "" || e.policy == names.PolicyRedacted {
		e.policy = kind
	}
}

// close ends the collection, and returns the outcome according to the runs.
func (e *auditEntry) close() ToolRun {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	if e.relays {
		return e.below.outcome()
	}
	return e.own.outcome()
}

// auditKey is the context key of the *auditEntry of the handled call.
type auditKey struct{}

// auditOf returns the entry of the handled call in ctx, or nil.
func auditOf(ctx context.Context) *auditEntry {
	e, _ := ctx.Value(auditKey{}).(*auditEntry)
	return e
}

// Audits reports whether calls are audited. A caller that has to encode params for [Request.Params] checks it first.
func (c *Client) Audits() bool { return c != nil && c.tel.Audit != nil }

// Audits is like [Client.Audits].
func (s *Server) Audits() bool { return s != nil && s.tel.Audit != nil }

// Relays records that the server passes the call that it handles with ctx on to another server, and runs no tool itself.
// The requests below the call then have no audit records of their own. They decide the outcome of the call: without a
// request, the tool did not run.
func (s *Server) Relays(ctx context.Context) {
	if s.Audits() {
		auditOf(ctx).relay()
	}
}

// auditSent starts the audit of a request that is sent.
func (op *Op) auditSent(ctx context.Context, r *Request) {
	if e := auditOf(ctx); e.beginBelow() {
		op.audit, op.relayed = e, true
		return
	}
	op.audit, op.continues = op.newAudit(r.Target, r.Params), r.Continues || r.Corr != (Corr{})
}

// auditHandled starts the audit of a request that is handled.
func (op *Op) auditHandled(in *Incoming) {
	op.audit = op.newAudit(in.Target, in.Params)
	op.audit.principal, op.audit.reports = truncate(in.Principal, words.MaxMember), in.ReportsTool
	op.ctx = context.WithValue(op.ctx, auditKey{}, op.audit)
}

// newAudit returns the entry for the call of a tool. If tool is empty, the params contain its name.
func (op *Op) newAudit(tool string, params []byte) *auditEntry {
	e := new(auditEntry)
	if len(params) > 0 {
		var arguments []byte
		o := jsonscan.ObjectAt(params, 0)
		for o.Next() {
			switch string(o.Key()) {
			case "arguments":
				arguments = o.Raw()
			case "name":
				if raw := o.Raw(); tool == "" {
					_ = json.Unmarshal(raw, &tool) // best effort: the name may have another type
				}
			}
		}
		e.arguments = op.side.tel.Audit.HashArguments(arguments)
	}
	e.tool = truncate(tool, words.MaxName)
	return e
}

// ToolBegins records that the server runs the tool of the call from now on. It must be called before the code of the
// tool runs, at the latest. If the call has ended already, because middleware has answered it, ToolBegins makes a second
// record, which corrects the first one.
func (op *Op) ToolBegins() {
	if e := op.audit; e != nil && !e.begin() {
		op.writeAudit(MayHaveRun, outcome{}, &Result{})
	}
}

// ToolEnds records the end of the run that ToolBegins has begun. DidNotRun means that the server has rejected the call
// after all, before the code of the tool ran. Without ToolEnds, the tool may have run.
func (op *Op) ToolEnds(r ToolRun) {
	if e := op.audit; e != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.own.end(r)
	}
}

// endAudit makes the record of the call. A request that another operation relays has no record. Neither has a request
// that was to continue a call and was never sent: the records of the earlier requests have the outcome.
func (op *Op) endAudit(o outcome, r *Result) {
	sent := op.progress.sending || op.direction == telemetry.DirectionReceived
	run := toolRunOf(r, sent)
	switch {
	case op.relayed:
		op.audit.endBelow(run)
		return
	case op.continues && !sent:
		return
	}
	op.writeIDs() // before close, because ToolBegins may read the ids afterwards
	if known := op.audit.close(); op.audit.reports {
		run = known
	}
	op.writeAudit(run, o, r)
}

// writeAudit writes the record to the audit log, and then as a log record with the head of the chain.
//
//go:noinline
func (op *Op) writeAudit(run ToolRun, o outcome, r *Result) {
	s := op.side
	var buf [maxFields + 4]slog.Attr
	own := append(buf[:0], slog.String(s.keys.name, truncate(s.name, words.MaxName)),
		slog.String(s.keys.instance, truncate(s.instance, words.MaxName)))
	if s.group != "" {
		own = append(own, slog.String(s.keys.group, truncate(s.group, words.MaxName)))
	}
	all := op.auditFields(own, run, o, r)
	fields := all[len(own):len(all):len(all)]
	if sc := trace.SpanContextFromContext(op.ctx); sc.IsValid() {
		all = append(all, slog.String("trace_id", sc.TraceID().String()), slog.String("span_id", sc.SpanID().String()))
	}
	level := slog.LevelInfo
	head, err := s.tel.Audit.Append(time.Now(), s.events.audit, all)
	if err == nil {
		fields = append(fields, slog.Int64(s.keys.auditSequence, int64(head.Sequence)),
			slog.String(s.keys.auditHash, head.Hash.String()))
	} else {
		level = slog.LevelError
		fields = append(fields, slog.String(names.KeyExceptionMessage, truncate(err.Error(), words.MaxMessage)))
		if s.ins.auditLosses.Enabled(op.ctx) {
			s.ins.auditLosses.Add(op.ctx, 1, s.metrics.options().plainAdding...)
		}
	}
	if s.logs.enabled(op.ctx, level) {
		op.emit(level, s.events.audit, fields...)
	}
}

// auditFields appends the fields that the line of the audit log and the log record have in common.
func (op *Op) auditFields(fields []slog.Attr, run ToolRun, o outcome, r *Result) []slog.Attr {
	s, e := op.side, op.audit
	fields = append(fields, slog.String(names.KeyMCPMethodName, words.MethodCallTool),
		slog.String(s.keys.auditOutcome, run.String()))
	fields = appendText(fields, names.KeyGenAIToolName, e.tool)
	fields = appendText(fields, names.KeyJSONRPCRequestID, op.requestID())
	fields = appendText(fields, s.keys.corrID, op.corrID())
	fields = appendText(fields, s.keys.auditArguments, e.arguments)
	fields = append(fields, slog.String(s.keys.auditKeyID, s.tel.Audit.KeyID()))
	fields = appendText(fields, names.KeyMCPServerAuditPrincipal, e.principal)
	all := baggage.FromContext(op.ctx)
	for _, key := range [...]string{names.KeyGenAIConversationID, names.KeyGenAIAgentName, names.KeyUserHash} {
		fields = appendText(fields, key, truncate(all.Member(key).Value(), words.MaxMember))
	}
	fields = appendText(fields, names.KeyMCPServerPolicyDecision, e.policy)
	fields = appendText(fields, names.KeyErrorType, o.errorType())
	if r.ResultType != "complete" {
		fields = appendText(fields, s.keys.resultType, truncate(r.ResultType, words.MaxName))
	}
	return fields
}
