package workload

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

const cannedEnv = "MCPOTEL_BENCHMARK_CANNED"

// Command returns the command of a canned server as a child process: this program, whose TestMain calls [Play].
func (c Canned) Command() (command, env []string, err error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GORACE=") {
			env = append(env, kv)
		}
	}
	// Under the race detector, a process waits a second before it exits.
	return []string{exe}, append(env, cannedEnv+"="+c.String(), "GORACE=atexit_sleep_ms=0", "GOMAXPROCS=1"), nil
}

// Play runs the canned server on the standard streams and exits, if the environment requests it. TestMain calls it
// first.
func Play() {
	what := os.Getenv(cannedEnv)
	if what == "" {
		return
	}
	c, err := parseCanned(what)
	if err == nil {
		err = c.Serve(os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "canned server:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Serve answers the requests of r on w until r ends. Small answers to requests that arrive together are sent together.
func (c Canned) Serve(r io.Reader, w io.Writer) error {
	const small, most = 16 << 10, 64 << 10
	k, in := newResponder(c), bufio.NewReaderSize(r, 256<<10)
	var out []byte
	flush := func() (err error) {
		if len(out) > 0 {
			_, err = w.Write(out)
			out = out[:0]
		}
		return err
	}
	for {
		request, err := in.ReadSlice('\n')
		if err == io.EOF || errors.Is(err, os.ErrClosed) {
			return nil
		} else if err != nil {
			return err
		}
		answer := k.answer(request)
		if len(answer) <= small {
			out = append(out, answer...)
		}
		if len(answer) > small || len(out) > most || !waiting(in) {
			if err := flush(); err != nil {
				return err
			}
		}
		if len(answer) > small {
			if _, err := w.Write(answer); err != nil {
				return err
			}
		}
	}
}

// waiting reports whether a whole line is in the buffer.
func waiting(in *bufio.Reader) bool {
	ahead, _ := in.Peek(in.Buffered())
	return bytes.IndexByte(ahead, '\n') >= 0
}

// Pipe starts a canned server in this process and returns the client's ends of two operating system pipes to it. The
// server ends when w is closed; wait waits for that.
func (c Canned) Pipe() (r, w *os.File, wait func(), err error) {
	in, w, r, out, err := Pipes()
	if err != nil {
		return nil, nil, nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = c.Serve(in, out) // the client may leave at any time
		_ = in.Close()
		_ = out.Close()
	}()
	return r, w, func() { <-done }, nil
}

// Pipes returns a pipe to a server and a pipe from it. The latter holds a megabyte if the system allows it.
func Pipes() (toServer, fromClient, toClient, fromServer *os.File, err error) {
	if toServer, fromClient, err = os.Pipe(); err != nil {
		return nil, nil, nil, nil, err
	}
	if toClient, fromServer, err = os.Pipe(); err != nil {
		_ = toServer.Close()
		_ = fromClient.Close()
		return nil, nil, nil, nil, err
	}
	enlarge(toClient)
	return toServer, fromClient, toClient, fromServer, nil
}
