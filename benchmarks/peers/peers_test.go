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
	clients = []workload.Peer{workload.Floor, workload.FloorJSON, workload.Ours, peers.GoSDK, peers.MCPGo}
	servers = []workload.Server{workload.FloorServer, workload.FloorJSONServer, workload.OursServer, peers.GoSDKServer, peers.MCPGoServer}
)

// BenchmarkRoundtrip is a call, from its arguments to the typed result, of a server that has its answers ready.
func BenchmarkRoundtrip(b *testing.B) { workload.Roundtrips(b, clients...) }

// BenchmarkServer is a call of a tool, by a client that has its requests ready.
func BenchmarkServer(b *testing.B) { workload.Servers(b, servers...) }
