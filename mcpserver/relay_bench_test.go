package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/relay/downstream"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// answering answers all requests immediately, with the same result.
type answering struct{ result json.RawMessage }

func (a answering) ReceiveRequest(_ context.Context, _ relay.Message, _ relay.Peer, answer relay.Answer) {
	answer(a.result, nil)
}
func (answering) ReceiveNotification(context.Context, relay.Message, relay.Peer) {}
func (answering) Gone(relay.Peer)                                                {}

// BenchmarkRelayedRequest measures the cost of a relay for a request over pipes, from the request to the client's
// answer.
func BenchmarkRelayedRequest(b *testing.B) {
	for name, size := range map[string]int{"small": 64, "64KiB": 64 << 10, "16MiB": 16 << 20} {
		b.Run(name, func(b *testing.B) {
			s, err := newRelay(answering{json.RawMessage(`{"text":"` + strings.Repeat("x", size) + `"}`)},
				&downstream.Options{Name: "relay", Telemetry: telemetry.Off()})
			must(b, err)
			fromClient, toServer, err := os.Pipe()
			must(b, err)
			fromServer, toClient, err := os.Pipe()
			must(b, err)
			served := make(chan error, 1)
			go func() { served <- s.Serve(b.Context(), mcpserver.NewStreamConn(fromClient, toClient, 0)) }()
			in := bufio.NewReaderSize(fromServer, 64<<10)
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for i := range b.N {
				_, err := fmt.Fprintf(toServer, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a"}}`+"\n", i)
				must(b, err)
				for {
					_, err := in.ReadSlice('\n')
					if err == nil {
						break
					}
					if err != bufio.ErrBufferFull {
						b.Fatal(err)
					}
				}
			}
			must(b, toServer.Close())
			go io.Copy(io.Discard, fromServer)
			must(b, <-served)
		})
	}
}
