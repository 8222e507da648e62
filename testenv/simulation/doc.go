// Package simulation has tests alone: they simulate whole systems in memory and in virtual time.
//
// A world is clients, perhaps a group, links, perhaps a proxy or a gateway, and one server or two processes that share
// a store. All of it is drawn from a seed, and so is what happens: calls, lists, subscriptions, changes, and faults.
// Each world is a bubble of testing/synctest, so a minute takes some ten milliseconds, a call that is late by a
// millisecond is seen, and so is a goroutine that is left. What has to hold in each world is in oracles_test.go.
//
// It is not benchmarks/soak, where real processes are killed behind one proxy for an hour, and memory is measured.
//
//	go test ./testenv/simulation -simulation.time 10m -timeout 20m
//
// A world that fails prints its seed and the command that runs it again. A seed repeats the world and what its callers
// do. The order of what happens at one moment is up to the scheduler: -count 20 tries 20 times.
package simulation
