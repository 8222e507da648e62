package peers_test

import (
	"os"
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/peers"
	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// A test binary is the canned server of its own clients, too.
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

// BenchmarkRoundtrip is a call, from its arguments to the typed result, of a server that has its answers ready.
func BenchmarkRoundtrip(b *testing.B) { workload.Roundtrips(b, clients...) }

// BenchmarkAsUsed is the same as people use it: arguments in maps, HTTP clients of their own, in production, in a large
// heap, by several clients, with results of the sizes that tools return.
func BenchmarkAsUsed(b *testing.B) {
	workload.AsUsed(b, clients...)
	workload.AsUsedBy(b, peers.OTelHTTP, clients...)
}

// BenchmarkReconnect is the first call after the server has ended and restarted at once.
func BenchmarkReconnect(b *testing.B) { workload.Reconnects(b, clients...) }

// BenchmarkOutput is a call whose structured content is decoded into the user's struct.
func BenchmarkOutput(b *testing.B) {
	workload.Outputs(b, workload.FloorJSON, workload.Ours, workload.Absent, peers.GoSDK, peers.MCPGo)
}

// BenchmarkServer is a call of a tool, by a client that has its requests ready.
func BenchmarkServer(b *testing.B) { workload.Servers(b, servers...) }

// BenchmarkDelay is a small answer behind a large one: how long the small one is kept waiting.
func BenchmarkDelay(b *testing.B) { workload.Delays(b, clients...) }

// BenchmarkConnect is the whole life of a client that makes one call.
func BenchmarkConnect(b *testing.B) { workload.Connects(b, clients...) }

// BenchmarkFirstCall is the first call of a client that is connected.
func BenchmarkFirstCall(b *testing.B) { workload.FirstCalls(b, clients...) }

// BenchmarkIdleClient is what many clients hold that wait.
func BenchmarkIdleClient(b *testing.B) { workload.Idles(b, clients...) }

// BenchmarkIdleServer is what many sessions of one server hold that wait.
func BenchmarkIdleServer(b *testing.B) { workload.IdleServers(b, servers...) }
