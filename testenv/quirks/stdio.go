package quirks

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// Stdio is a server over standard input and output.
type Stdio struct {
	Name    string
	Version mcp.Version // negotiated version for a client that prefers the newest revision

	discover reaction // reaction to server/discover; nil means answer
	answer   answer   // answers all other messages
	late     time.Duration

	// Deaf makes the server stop answering after subscriptions/listen, like servers based on mcp-go 1.0.0 (mcp-grafana
	// 1.4.0 to 1.6.0). A client that does not listen can use the server.
	Deaf bool
}

// OverStdio returns the servers over standard input and output. [ServeStdio] runs one.
func OverStdio() []Stdio {
	var all []Stdio
	for _, r := range refusals {
		all = append(all, Stdio{Name: r.name, Version: mcp.Version20251125, answer: legacy(mcp.Version20251125),
			discover: func(p *pipe, m *message) { p.say(string(r.answer(m))) }})
	}
	return slices.Concat(all, oddPipes(), modernPipes())
}

// ServeStdio runs the server of this name until standard input ends or the server's quirk ends it, and returns its exit
// status. The name must be one of [OverStdio].
func ServeStdio(name string) int {
	i := slices.IndexFunc(OverStdio(), func(s Stdio) bool { return s.Name == name })
	if i < 0 {
		panic(fmt.Sprintf("no server is named %q", name))
	}
	return OverStdio()[i].serve(os.Stdin, os.Stdout)
}

// reaction is the behaviour of a server on server/discover.
type reaction func(p *pipe, m *message)

// pipe is the output of a server.
type pipe struct {
	mu     sync.Mutex
	out    io.Writer // guarded by mu
	ended  bool      // owned by serve; stops reading
	status int       // owned by serve
}

func (p *pipe) say(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	io.WriteString(p.out, line+"\n")
}

func (p *pipe) exit(status int) { p.ended, p.status = true, status }

func (s Stdio) serve(in io.Reader, out io.Writer) int {
	time.Sleep(s.late)
	p := &pipe{out: out}
	for lines := bufio.NewScanner(in); !p.ended && lines.Scan(); {
		m := new(message)
		if json.Unmarshal(lines.Bytes(), m) != nil {
			continue
		}
		if m.Method == "subscriptions/listen" && s.Deaf {
			_, _ = io.Copy(io.Discard, in)
			return p.status
		}
		if m.Method == discover && s.discover != nil {
			s.discover(p, m)
		} else if reply := s.answer(m); reply != nil {
			p.say(string(reply))
		}
	}
	return p.status
}

// oddPipes returns legacy servers that react to the probe without answering it.
func oddPipes() []Stdio {
	notFound := func(m *message) string { return string(failure(m.ID, methodNotFound, "Method not found")) }
	var all []Stdio
	for name, r := range sorted(map[string]reaction{
		"silent":               func(*pipe, *message) {},
		"no id":                func(p *pipe, _ *message) { p.say(string(failure(nil, -32600, "Invalid Request"))) },
		"no id, parse error":   func(p *pipe, _ *message) { p.say(string(failure(nil, -32700, "Parse error"))) },
		"text":                 func(p *pipe, _ *message) { p.say("ERROR: unknown method server/discover") },
		"text, then a refusal": func(p *pipe, m *message) { p.say("WARN: unknown method"); p.say(notFound(m)) },
		"a refusal twice":      func(p *pipe, m *message) { p.say(notFound(m)); p.say(notFound(m)) },
		"a refusal in a list":  func(p *pipe, m *message) { p.say("[" + notFound(m) + "]") },
		"exit with status 1":   func(p *pipe, _ *message) { p.exit(1) },
		"exit with status 0":   func(p *pipe, _ *message) { p.exit(0) },
		"complaint, then exit": func(p *pipe, m *message) { p.say(notFound(m)); p.exit(2) },
		"text, then exit":      func(p *pipe, _ *message) { p.say("Traceback (most recent call last):"); p.exit(1) },
		"a refusal after four seconds": func(p *pipe, m *message) {
			reply := notFound(m)
			time.AfterFunc(4*oneSecond, func() { p.say(reply) })
		},
		"a log message, then a refusal": func(p *pipe, m *message) {
			p.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","data":"unknown method"}}`)
			p.say(notFound(m))
		},
		"a ping, then a refusal": func(p *pipe, m *message) {
			p.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
			p.say(notFound(m))
		},
	}) {
		all = append(all, Stdio{Name: name, Version: mcp.Version20251125, discover: r, answer: legacy(mcp.Version20251125)})
	}
	return append(all,
		Stdio{Name: "the oldest revision", Version: mcp.Version20241105, answer: legacy(mcp.Version20241105)},
		Stdio{Name: "three seconds to start", Version: mcp.Version20251125, answer: legacy(mcp.Version20251125),
			late: 3 * oneSecond})
}

// modernPipes returns servers that answer the probe, each after a certain time.
func modernPipes() []Stdio {
	return []Stdio{
		{Name: "modern", Version: mcp.Version20260728, answer: modern},
		{Name: "modern, text first", Version: mcp.Version20260728, answer: modern, discover: func(p *pipe, m *message) {
			p.say("listening …")
			p.say(string(modern(m)))
		}},
		{Name: "modern, deaf after subscriptions/listen", Version: mcp.Version20260728, Deaf: true,
			answer: func(m *message) []byte {
				return bytes.Replace(modern(m), []byte(`"tools":{}`), []byte(`"tools":{"listChanged":true}`), 1)
			}},
		{Name: "modern, three seconds to start", Version: mcp.Version20260728, answer: modern, late: 3 * oneSecond},
	}
}
