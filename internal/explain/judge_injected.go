package explain

import (
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// injections are what a plan of faults does on purpose, by its word. A message is a request, its answer, or what else
// the server sends.
var injections = map[string]string{
	names.FaultLatency:   "a message was held back for a time",
	names.FaultDrip:      "a message was let through slowly",
	names.FaultDrop:      "a message was thrown away",
	names.FaultDuplicate: "a message of the server was delivered twice",
	names.FaultReorder:   "a message of the server was put behind the next one",
	names.FaultTruncate:  "the end of a message of the server was cut off",
	names.FaultGarbage:   "random bytes were put before a message of the server",
	names.FaultOversize:  "a message of the server was taken for one over the frame limit",
	names.FaultError:     "the answer of the server was replaced by an error",
	names.FaultBusy:      "the request was turned away, as by a server that is busy",
	names.FaultExpire:    "the request was answered as by a server that has forgotten the session",
	names.FaultFreeze:    "the connection was frozen, so that nothing passed",
	names.FaultCut:       "the connection was cut",
	names.FaultDeath:     "the server's process was killed, or its connection cut if it has none",
	names.FaultRefuse:    "an attempt to connect was refused",
}

// injection is the cause of what a plan of faults did.
func injection(kind string) meaning {
	return meaning{"injected_" + kind, "A plan of faults broke the connection on purpose (" + kind + "): " +
		injections[kind] + ".",
		"nothing has to be mended: take the plan away (--chaos, or package chaos) to be without its faults, and look at " +
			"how its caller took it"}
}

// injected finds a fault that was injected into the subject, or into a request of a client below it. A
// server can export such a span too, to hide a fault of its own.
func injected(v *view) *Cause {
	for _, o := range v.all {
		kind := o.attribute(names.KeyMCPClientFaultKind)
		if o.side == clientSide && injections[kind] != "" && (o == v.subject || v.below(o)) {
			m := injection(kind)
			m.text += " Any cause behind this one is what came of that."
			return m.cause(v.atMost(Certain, o), "the span of "+o.name()+" has "+names.KeyMCPClientFaultKind+"="+kind,
				v.subject.ended())
		}
	}
	return nil
}

// below reports whether the span of an operation is below that of the subject.
func (v *view) below(o *operation) bool {
	if o.span == nil || v.subject.span == nil {
		return false
	}
	parents := map[string]string{}
	for _, s := range v.Spans {
		parents[s.ID] = s.Parent
	}
	at := o.span.ID
	for range v.Spans { // a circle of parents would have no end
		if at = parents[at]; at == v.subject.span.ID {
			return true
		}
	}
	return false
}
