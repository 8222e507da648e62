// Package benchmarks measures whole paths, from a user's call to its result, and the parts of these paths, next to
// floors. Run it with
//
//	go test -run '^$' -bench . ./benchmarks
//
// or with a part of a name: sub-benchmarks are key=value pairs, and the last pair is the peer:
//
//	peer=floor       moves the same bytes without reading them
//	peer=floorjson   the least useful work, with one pass of encoding/json
//	peer=v1, v2      encoding/json and json v2, in benchmarks of a part of the work
//	peer=ours        this project, without an OpenTelemetry SDK
//	peer=absent      this project without telemetry; telemetry_test.go lists the other peers in benchmarks of telemetry
//
// Package workload describes what each peer omits; the nested module peers adds other libraries. Compare peers within
// one run only: ns/op and cpu-ns/op are not comparable between machines, or between loads of one machine.
//
// The figures:
//
//   - cpu-ns/op is the CPU time of this process, user and system. It excludes the canned server of transport=stdio,
//     which is another process, and includes the canned servers of pipes and HTTP, and canned clients.
//   - peak-x is the growth of the process's resident memory while it receives or decodes ten messages, divided by the
//     size of a message. Linux only. It includes garbage that the collector has not freed yet, so it is larger for a
//     message of 1 MB than for one of 16 MB.
//   - B/client and goroutines/client are the memory (heap and stacks) and the goroutines of an idle client or session,
//     2.5 seconds after its last call; with -at-once, right after the last client has made its call.
//   - p50-ns is the median delay of a small answer behind a large one.
//
// BenchmarkIdleClient and BenchmarkIdleServer take seconds for each case, independent of -benchtime.
package benchmarks
