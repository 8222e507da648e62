package traffic

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// impolite returns a transport to a server that violates the protocol. Each tool commits the violation in its name: the
// tool late answers after its caller has given up, twice answers two times, and stray answers a request that was never
// made. A tool with the name of an entry of violations sends that frame before its answer.
func (f *Fleet) impolite() (transport.Transport, error) {
	return transport.InMemory(func(ctx context.Context, p *transport.Peer) {
		for {
			frame, err := p.Receive(ctx)
			if err != nil {
				return
			}
			var m request
			if json.Unmarshal(frame, &m) != nil || m.ID == nil {
				continue
			}
			for _, answer := range m.answers() {
				if answer == pause {
					select {
					case <-time.After(lateness):
					case <-ctx.Done():
						return
					}
					continue
				}
				if p.Send(ctx, []byte(answer)) != nil {
					return
				}
			}
		}
	}), nil
}

// lateness is the delay of the tool late: longer than its caller's timeout.
const lateness = 150 * time.Millisecond

// pause is a pseudo frame: it means a delay of lateness.
const pause = "pause"

type request struct {
	ID     json.RawMessage
	Method string
	Params struct{ Name string }
}

// violations are frames that break the protocol without ending the connection.
var violations = map[string]string{
	"invalid_json":     `{"jsonrpc":"2.0",`,
	"invalid_version":  `{"jsonrpc":"1.0","method":"notifications/message"}`,
	"batch":            `[]`,
	"invalid_envelope": `17`,
	"too_deep": `{"jsonrpc":"2.0","method":"x","params":{"x":` + strings.Repeat("[", 20_000) +
		strings.Repeat("]", 20_000) + `}}`,
}

// answers returns the frames that answer a request.
func (m *request) answers() []string {
	ok := func(result string) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result) }
	done := ok(`{"resultType":"complete","content":[{"type":"text","text":"there you are"}]}`)
	if frame, bad := violations[m.Params.Name]; bad {
		return []string{frame, done}
	}
	switch {
	case m.Method == "server/discover":
		return []string{ok(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},` +
			`"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"impolite",` +
			`"version":"1"}}}`)}
	case m.Params.Name == "late":
		return []string{pause, done}
	case m.Params.Name == "twice":
		return []string{done, done}
	case m.Params.Name == "stray":
		return []string{`{"jsonrpc":"2.0","id":987654321,"result":{}}`, done}
	case m.Params.Name == "nonsense":
		return []string{ok(`{"resultType":"complete","content":17}`)}
	}
	return []string{done}
}
