// Package simulation contains only tests: they simulate whole systems in memory and in virtual time.
//
// A world consists of clients, perhaps a group, links, perhaps a proxy or a gateway, and one server or two processes
// that share a store. A seed determines the world and its events: calls, lists, subscriptions, changes, and faults.
// Each world is a bubble of testing/synctest: a minute takes some ten milliseconds, and the test detects a call that is
// late by a millisecond and a leaked goroutine. The rules for every world are in oracles_test.go.
//
// benchmarks/soak is different: it kills real processes behind one proxy for an hour, and measures memory.
//
//	go test ./testenv/simulation -simulation.time 10m -timeout 20m
//
// A failing world prints its seed and the command that runs it again. A seed repeats the world and its calls. The
// scheduler decides the order of simultaneous events: -count 20 tries 20 times.
package simulation
