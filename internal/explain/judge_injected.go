package explain

import (
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// injections describes each fault that a plan can inject. A message is a request, its answer, or another message of
// the server.
var injections = map[string]string{
	names.FaultLatency:   "a message was delayed",
	names.FaultDrip:      "a message was slowed down",
	names.FaultDrop:      "a message was dropped",
	names.FaultDuplicate: "a message of the server was delivered twice",
	names.FaultReorder:   "a message of the server was delivered after the next one",
	names.FaultTruncate:  "the end of a message of the server was cut off",
	names.FaultGarbage:   "random bytes were inserted before a message of the server",
	names.FaultOversize:  "a message of the server was treated as larger than the frame limit",
	names.FaultError:     "the answer of the server was replaced by an error",
	names.FaultBusy:      "the request was rejected, as by a busy server",
	names.FaultExpire:    "the request was answered as by a server that no longer knows the session",
	names.FaultFreeze:    "the connection was frozen: no bytes passed",
	names.FaultCut:       "the connection was cut",
	names.FaultDeath:     "the server's process was killed, or its connection cut if there is no process",
	names.FaultRefuse:    "an attempt to connect was refused",
}

// injection returns the meaning of an injected fault.
func injection(kind string) meaning {
	return meaning{"injected_" + kind, "A fault plan disturbed the connection on purpose (" + kind + "): " +
		injections[kind] + ".",
		"check how the caller handled the fault; to stop injecting faults, remove the plan (--chaos, or package chaos)"}
}

// injected finds a fault that was injected into the subject, or into a client's request below it. A server can export
// such a span as well, to hide a fault of its own.
func injected(v *view) *Cause {
	for _, o := range v.all {
		kind := o.attribute(names.KeyMCPClientFaultKind)
		if o.side == clientSide && injections[kind] != "" && (o == v.subject || v.below(o)) {
			m := injection(kind)
			m.text += " Any cause after this one is a consequence."
			return m.cause(v.atMost(Certain, o), "the span of "+o.name()+" has "+names.KeyMCPClientFaultKind+"="+kind,
				v.subject.ended())
		}
	}
	return nil
}

// below reports whether the span of an operation is a descendant of the subject's span.
func (v *view) below(o *operation) bool {
	if o.span == nil || v.subject.span == nil {
		return false
	}
	parents := map[string]string{}
	for _, s := range v.Spans {
		parents[s.ID] = s.Parent
	}
	at := o.span.ID
	for range v.Spans { // bounded, because parents may form a cycle
		if at = parents[at]; at == v.subject.span.ID {
			return true
		}
	}
	return false
}
