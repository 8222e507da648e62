// Package benchmarks measures whole paths, from a call of the user's to its result, and what they are made of, side by
// side with floors. Run it with
//
//	go test -run '^$' -bench . ./benchmarks
//
// or with a part of a name: sub-benchmarks are key=value pairs, and the last one is who takes part:
//
//	peer=floor       moves the same bytes and looks at none of them
//	peer=floorjson   the least that is of use, with one pass of encoding/json
//	peer=v1, v2      encoding/json and json v2, where only a part of the work is measured
//	peer=ours        this project, without an OpenTelemetry SDK
//	peer=absent      this project without telemetry, where telemetry is measured; telemetry_test.go has the others
//
// Package workload says what each of them leaves out; the nested module peers adds other libraries. Compare peers
// within one run only: ns/op and cpu-ns/op of one peer mean nothing on another machine, or on this one when it is
// busier.
//
// What the figures are:
//
//   - cpu-ns/op is the CPU time of this process, user and system. The canned server of transport=stdio is another
//     process and not in it; those of pipes and HTTP, and canned clients, are.
//   - peak-x is by how many times the size of a message the resident memory of the process grows at most while ten of
//     them are received or decoded. Linux only. How long the collector waits is in it, so a message of a megabyte has
//     more than one of 16.
//   - B/client and goroutines/client are what an idle client or session holds, heap and stacks of goroutines, 2.5
//     seconds after its last call; with -at-once, as soon as the last of them has made its call.
//   - p50-ns is the median delay of a small answer behind a large one.
//
// BenchmarkIdleClient and BenchmarkIdleServer take seconds for each case, whatever -benchtime says.
package benchmarks
