package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// wanted is the input of a driver: a call.
type wanted struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// outcome is the output of a driver.
type outcome struct {
	Version    mcp.Version     `json:"version"`
	Server     string          `json:"server"`
	Tools      []string        `json:"tools"`
	Text       string          `json:"text"`
	Structured json.RawMessage `json:"structured"`
	IsError    bool            `json:"isError"`
	Progress   int             `json:"progress"`
	Error      string          `json:"error"`
	Closed     bool            `json:"closed"`
}

// drive runs a client for one call.
func (d *driver) drive(t *testing.T, url, mode, tool, arguments string) outcome {
	t.Helper()
	h := d.begin(t, url, mode)
	defer h.end()
	o := h.call(tool, json.RawMessage(arguments))
	if o.Error != "" {
		t.Fatalf("%s: %s", tool, o.Error)
	}
	return o
}

// host is a running client of another SDK.
type host struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *json.Decoder
	stderr bytes.Buffer
	ended  bool
}

// begin runs a client until the host or the test ends. target is a URL, or a command as a JSON array.
func (d *driver) begin(t *testing.T, target, mode string) *host {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	argv := append(d.argv(t), target, mode)
	h := &host{t: t, cmd: exec.CommandContext(ctx, argv[0], argv[1:]...)}
	h.cmd.Env, h.cmd.Stderr = environment(), &h.stderr
	diesWithParent(h.cmd)
	in, err := h.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.in, h.out = in, json.NewDecoder(out)
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if !h.ended {
			h.cmd.Wait()
		}
	})
	return h
}

// call makes the client list tools and call one.
func (h *host) call(tool string, arguments json.RawMessage) (o outcome) {
	h.t.Helper()
	err := json.NewEncoder(h.in).Encode(wanted{tool, arguments})
	if err == nil {
		err = h.out.Decode(&o)
	}
	if err != nil {
		h.end()
		h.t.Fatalf("%s: %v", tool, err)
	}
	return o
}

// end disconnects the client and waits for its end.
func (h *host) end() {
	h.t.Helper()
	if h.ended {
		return
	}
	h.ended = true
	h.in.Close()
	if err := h.cmd.Wait(); err != nil {
		said := h.stderr.String()
		h.t.Errorf("%s: %v\n%s", h.cmd.Args, err, said[max(0, len(said)-2000):])
	}
}
