// Package simulation has tests alone: they simulate whole systems in memory and in virtual time.
//
// A world is clients, perhaps a group, links, perhaps a proxy or a gateway, and one server or two processes that share
// a store. A seed draws the world and its events: calls, lists, subscriptions, changes, and faults. Each world is a
// bubble of testing/synctest: a minute takes some ten milliseconds, and the test sees a call that is late by a
// millisecond and a goroutine that is left. The rules that each world keeps are in oracles_test.go.
//
// It is not benchmarks/soak, where real processes are killed behind one proxy for an hour, and memory is measured.
//
//	go test ./testenv/simulation -simulation.time 10m -timeout 20m
//
// A world that fails prints its seed and the command that runs it again. A seed repeats the world and its calls. The
// scheduler decides the order of events at one moment: -count 20 tries 20 times.
package simulation
