package workload

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
)

// serving is a case: a number of concurrent requests to a server.
type serving struct {
	transport Transport
	era       Era
	tool      string
	callers   int
}

func (s serving) String() string {
	return fmt.Sprintf("transport=%s/era=%s/tool=%s/callers=%d", s.transport, s.era, s.tool, s.callers)
}

func servings() (all []serving) {
	for _, t := range []Transport{Pipe, HTTPJSON} {
		for _, e := range Eras {
			for _, callers := range []int{1, 64} {
				for _, tool := range []string{TinyTool, EchoTool} {
					all = append(all, serving{t, e, tool, callers})
				}
			}
		}
	}
	return all
}

// Servers benchmarks servers with a canned client that writes prepared requests and only searches for the ends of
// answers. Client and server run in one process, so the figures include both. Before each measurement, Servers checks
// one answer.
func Servers(b *testing.B, servers ...Server) { serveAll(b, servings(), servers) }

// TinyServings runs the calls of [TinyTool] by one caller from [Servers].
func TinyServings(b *testing.B, servers ...Server) {
	serveAll(b, slices.DeleteFunc(servings(), func(s serving) bool {
		return s.tool != TinyTool || s.callers != 1
	}), servers)
}

func serveAll(b *testing.B, cases []serving, servers []Server) {
	for _, c := range cases {
		for _, s := range servers {
			if c.transport == Pipe && s.Pipe != nil || c.transport == HTTPJSON && s.HTTP != nil {
				b.Run(c.String()+"/peer="+s.Name, func(b *testing.B) {
					if err := c.run(b, s); err != nil {
						b.Fatal(err)
					}
				})
			}
		}
	}
}

func (c serving) run(b *testing.B, s Server) error {
	if c.transport == HTTPJSON {
		return c.runHTTP(b, s)
	}
	d, err := c.drivePipe(s)
	if err != nil {
		return err
	}
	b.ReportAllocs()
	cpu := StartCPU()
	if c.callers == 1 {
		for b.Loop() {
			if err := errors.Join(d.write(d.frame), d.read()); err != nil {
				return err
			}
		}
	} else {
		err = d.keep(b, c.callers)
	}
	cpu.Report(b)
	b.StopTimer()
	return errors.Join(err, d.close())
}

// pipeDriver is a canned client of a server on a pair of pipes.
type pipeDriver struct {
	w, r  *os.File
	in    *bufio.Reader
	frame []byte // the next request
	done  chan error
}

func (c serving) drivePipe(s Server) (*pipeDriver, error) {
	toServer, w, r, fromServer, err := Pipes()
	if err != nil {
		return nil, err
	}
	d := &pipeDriver{w: w, r: r, in: bufio.NewReaderSize(r, 64<<10), done: make(chan error, 1)}
	go func() { d.done <- s.Pipe(WithEra(context.Background(), c.era), toServer, fromServer) }() // ends when w is closed
	d.frame = c.request()
	return d, errors.Join(d.greet(c.era, s.Name), d.checked(s.Name))
}

// request returns a line with the id 1000.
func (c serving) request() []byte {
	return request(c.era, "tools/call", `"name":"`+c.tool+`","arguments":{"text":"`+HelloText+`"}`)
}

func (d *pipeDriver) greet(e Era, name string) error {
	if e == Modern {
		return nil // there is no handshake
	}
	lines, answered := hello(e)
	for i, line := range lines {
		if _, err := d.w.Write(line); err != nil {
			return err
		}
		if answered[i] || name == FloorServer.Name { // the floor answers everything
			if err := d.read(); err != nil {
				return err
			}
		}
	}
	return nil
}

// checked makes one call and checks its answer.
func (d *pipeDriver) checked(name string) error {
	if err := d.write(d.frame); err != nil {
		return err
	}
	answer, err := d.in.ReadSlice('\n')
	if err == nil && !rightReply(answer) {
		err = fmt.Errorf("%s answered %s", name, answer)
	}
	return err
}

func rightReply(answer []byte) bool {
	return bytes.Contains(answer, []byte(`"id":1000`)) && bytes.Contains(answer, []byte(`"text":"`+HelloText+`"`)) &&
		!bytes.Contains(answer, []byte(`"isError":true`))
}

func (d *pipeDriver) write(frame []byte) error {
	_, err := d.w.Write(frame)
	return err
}

func (d *pipeDriver) read() error {
	_, err := d.in.ReadSlice('\n')
	return err
}

// keep keeps a number of requests in flight, and at the end reads all remaining answers. Each request has a new id,
// because a server may drop a request whose id is in use: answers arrive in any order, and the driver does not read
// their ids.
func (d *pipeDriver) keep(b *testing.B, callers int) error {
	n, frame := 0, d.frame
	at := bytes.Index(frame, []byte(`"id":1000`)) + len(`"id":`)
	frame = slices.Concat(frame[:at], []byte("10000000"), frame[at+len("1000"):])
	id := frame[at : at+8]
	for b.Loop() {
		if n >= callers {
			if err := d.read(); err != nil {
				return err
			}
		}
		increment(id)
		if err := d.write(frame); err != nil {
			return err
		}
		n++
	}
	for range min(n, callers) {
		if err := d.read(); err != nil {
			return err
		}
	}
	return nil
}

// increment adds one to a number in decimal digits.
func increment(digits []byte) {
	for i := len(digits) - 1; i >= 0; i-- {
		if digits[i]++; digits[i] <= '9' {
			return
		}
		digits[i] = '0'
	}
}

func (d *pipeDriver) close() error {
	_ = d.w.Close()
	err := <-d.done
	_ = d.r.Close()
	return err
}

func (c serving) runHTTP(b *testing.B, s Server) error {
	url, stop, err := Listen(s.HTTP())
	if err != nil {
		return err
	}
	defer stop()
	line, err := c.post(url)
	if err != nil {
		return err
	}
	host := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
	if err := checkedHTTP(host, line, s.Name); err != nil {
		return err
	}
	drivers := make(chan *httpDriver, c.callers)
	for range c.callers {
		conn, err := net.Dial("tcp", host)
		if err != nil {
			return err
		}
		defer conn.Close()
		drivers <- &httpDriver{conn, bufio.NewReader(conn)}
	}
	repeat(b, c.callers, func(context.Context) error {
		d := <-drivers
		defer func() { drivers <- d }()
		return d.roundtrip(line)
	})
	return nil
}

// post returns a whole HTTP request.
func (c serving) post(url string) ([]byte, error) {
	body := bytes.TrimSuffix(c.request(), []byte("\n"))
	r, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {string(c.era)},
	}
	if c.era == Modern {
		r.Header["Mcp-Method"], r.Header["Mcp-Name"] = []string{"tools/call"}, []string{c.tool}
	}
	var line bytes.Buffer
	err = r.Write(&line)
	return line.Bytes(), err
}

// checkedHTTP makes one call and checks its answer.
func checkedHTTP(host string, line []byte, name string) error {
	conn, err := net.Dial("tcp", host)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Write(line); err != nil {
		return err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err
	}
	answer, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode != http.StatusOK || !rightReply(answer) || resp.ContentLength < 0) {
		err = fmt.Errorf("%s answered %s, %s", name, resp.Status, answer)
	}
	return err
}

// httpDriver is one connection of a canned client.
type httpDriver struct {
	conn net.Conn
	in   *bufio.Reader
}

func (d *httpDriver) roundtrip(request []byte) error {
	if _, err := d.conn.Write(request); err != nil {
		return err
	}
	length := 0
	for {
		line, err := d.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if digits, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			for _, c := range bytes.TrimSpace(digits) {
				length = 10*length + int(c-'0')
			}
		}
		if len(line) == 2 {
			break
		}
	}
	_, err := d.in.Discard(length)
	return err
}
