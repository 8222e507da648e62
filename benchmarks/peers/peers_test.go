package peers_test

import (
	"os"
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/peers"
	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// A test binary is also the canned server of its own clients.
func TestMain(m *testing.M) {
	workload.Play()
	os.Exit(m.Run())
}

var (
	clients = []workload.Peer{workload.Floor, workload.FloorJSON, workload.Ours, workload.Absent,
		peers.GoSDK, peers.MCPGo}
	servers = []workload.Server{workload.FloorServer, workload.FloorJSONServer, workload.OursServer,
		workload.AbsentServer, peers.GoSDKServer, peers.MCPGoServer}
)

// BenchmarkRoundtrip measures a call, from its arguments to the typed result, to a server that has its answers ready.
func BenchmarkRoundtrip(b *testing.B) { workload.Roundtrips(b, clients...) }

// BenchmarkAsUsed measures calls as programs make them: with arguments in maps, with the program's own HTTP client,
// with the telemetry of a service, with a large heap, by several clients, and with results of the sizes that tools
// return.
func BenchmarkAsUsed(b *testing.B) {
	workload.AsUsed(b, clients...)
	workload.AsUsedBy(b, peers.OTelHTTP, clients...)
}

// BenchmarkReconnect measures the first call after the server has stopped and restarted at once.
func BenchmarkReconnect(b *testing.B) { workload.Reconnects(b, clients...) }

// BenchmarkOutput measures a call whose structured content is decoded into the user's struct.
func BenchmarkOutput(b *testing.B) {
	workload.Outputs(b, workload.FloorJSON, workload.Ours, workload.Absent, peers.GoSDK, peers.MCPGo)
}

// BenchmarkServer measures a tool call by a client with prepared requests.
func BenchmarkServer(b *testing.B) { workload.Servers(b, servers...) }

// BenchmarkDelay measures how long a small answer waits behind a large one.
func BenchmarkDelay(b *testing.B) { workload.Delays(b, clients...) }

// BenchmarkTails measures the latencies of calls in a busy service.
func BenchmarkTails(b *testing.B) {
	workload.Tails(b, workload.FloorJSON, workload.Ours, peers.GoSDK, peers.MCPGo)
}

// BenchmarkConnect measures the whole life of a client that makes one call.
func BenchmarkConnect(b *testing.B) { workload.Connects(b, clients...) }

// BenchmarkFirstCall measures the first call of a connected client.
func BenchmarkFirstCall(b *testing.B) { workload.FirstCalls(b, clients...) }

// BenchmarkIdleClient measures the memory of many idle clients.
func BenchmarkIdleClient(b *testing.B) { workload.Idles(b, clients...) }

// BenchmarkIdleServer measures the memory of many idle sessions of one server.
func BenchmarkIdleServer(b *testing.B) { workload.IdleServers(b, servers...) }
