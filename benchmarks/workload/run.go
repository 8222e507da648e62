package workload

import "testing"

// Roundtrips runs every benchmark of whole calls, for each of the peers in turn within each case.
func Roundtrips(b *testing.B, peers ...Peer) { b.Skip("not written yet") }

// Servers runs those of servers: a canned client that writes requests and reads answers, against a server of each.
func Servers(b *testing.B, servers ...Server) { b.Skip("not written yet") }

// Play plays the canned server, and exits, if the environment says so. TestMain calls it first.
func Play() {}
