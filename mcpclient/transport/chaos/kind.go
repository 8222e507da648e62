package chaos

import (
	"slices"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Kind is a kind of fault.
type Kind string

// The kinds of faults. The package comment describes them.
const (
	Latency   Kind = names.FaultLatency
	Drip      Kind = names.FaultDrip
	Drop      Kind = names.FaultDrop
	Duplicate Kind = names.FaultDuplicate
	Reorder   Kind = names.FaultReorder
	Truncate  Kind = names.FaultTruncate
	Garbage   Kind = names.FaultGarbage
	Oversize  Kind = names.FaultOversize
	Error     Kind = names.FaultError
	Busy      Kind = names.FaultBusy
	Expire    Kind = names.FaultExpire
	Freeze    Kind = names.FaultFreeze
	Cut       Kind = names.FaultCut
	Death     Kind = names.FaultDeath
	Refuse    Kind = names.FaultRefuse
)

// On selects the messages that a fault can hit.
type On string

// The values of On.
const (
	OnRequest      On = "request"      // a request of the client to the server
	OnAnswer       On = "answer"       // the server's answer to a request of the client
	OnNotification On = "notification" // any other message of the server: a notification or a request
	onDial         On = "dial"         // an attempt to connect
)

// Kinds returns all kinds, in the order of the package comment.
func Kinds() []Kind {
	all := make([]Kind, len(table))
	for i, row := range table {
		all[i] = row.kind
	}
	return all
}

// trait describes a kind.
type trait struct {
	kind  Kind
	on    []On     // messages that the kind can hit; the first is the default
	needs string   // required member, empty for none
	takes []string // optional members; empty for none
}

var (
	anyMessage = []On{OnAnswer, OnRequest, OnNotification}
	fromServer = []On{OnAnswer, OnNotification}
)

// table has a row for each kind.
var table = []trait{
	{Latency, anyMessage, "delay", []string{"jitter"}},
	{Drip, anyMessage, "rate", nil},
	{Drop, anyMessage, "", nil},
	{Duplicate, fromServer, "", nil},
	{Reorder, fromServer, "", []string{"delay"}},
	{Truncate, fromServer, "", nil},
	{Garbage, fromServer, "", nil},
	{Oversize, fromServer, "", nil},
	{Error, []On{OnAnswer}, "", []string{"code"}},
	{Busy, []On{OnRequest}, "", []string{"code", "retry_after"}},
	{Expire, []On{OnRequest}, "", nil},
	{Freeze, []On{OnRequest, OnAnswer, OnNotification}, "", []string{"delay"}},
	{Cut, []On{OnRequest, OnAnswer, OnNotification}, "", nil},
	{Death, []On{OnRequest, OnAnswer, OnNotification}, "", nil},
	{Refuse, []On{onDial}, "", nil},
}

// traits returns the description of a kind.
func (k Kind) traits() (trait, bool) {
	i := slices.IndexFunc(table, func(t trait) bool { return t.kind == k })
	if i < 0 {
		return trait{}, false
	}
	return table[i], true
}
