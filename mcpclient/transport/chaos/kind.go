package chaos

import (
	"slices"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Kind says what a fault does.
type Kind string

// The kinds. The text of the package says what each does.
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

// On says which messages a fault is for.
type On string

// What a fault may hit.
const (
	OnRequest      On = "request"      // a request of the client, on its way to the server
	OnAnswer       On = "answer"       // the server's answer to it
	OnNotification On = "notification" // what else the server sends: a notification, or a request of its own
	onDial         On = "dial"         // an attempt to connect
)

// Kinds returns all kinds, in the order of the package's text.
func Kinds() []Kind {
	all := make([]Kind, len(table))
	for i, row := range table {
		all[i] = row.kind
	}
	return all
}

// trait is what is known of a kind.
type trait struct {
	kind  Kind
	on    []On     // the first is the default
	needs string   // the member that it cannot do without, empty for none
	takes []string // the others that say how much; empty for none
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

// traits returns what is known of a kind.
func (k Kind) traits() (trait, bool) {
	i := slices.IndexFunc(table, func(t trait) bool { return t.kind == k })
	if i < 0 {
		return trait{}, false
	}
	return table[i], true
}
