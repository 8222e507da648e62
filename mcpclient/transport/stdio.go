package transport

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Stdio starts a server as a child process for each Dial, and exchanges frames over the child's standard streams. Each
// line is one frame.
// (specification 2026-07-28, basic/transports/stdio)
//
// The child leads its own process group (a job on Windows): a Ctrl-C for the client does not reach it, and Close
// also ends its descendants. When the child ends, the rest of its group is killed. If the client process dies
// without closing, the child reads the end of its standard input and should exit.
//
// When the child ends, [Conn.Receive] returns its remaining output and then an [*ExitError]. If a process outside of
// the group holds the streams open, Receive returns that error at most about 50 ms later. If a child closes its
// standard output and keeps running, Receive returns [io.EOF] after a quarter of a second.
//
// [Conn.Close] sends the accepted frames, closes the child's standard input and waits for 40 % of the available time;
// then it sends SIGTERM to the group and waits for 30 % more; then it sends SIGKILL to the group. Windows has no
// SIGTERM, so Close terminates the job at the end. If the context is cancelled, Close sends SIGKILL at once. If a
// process is still stuck in the kernel two seconds later, in an uninterruptible wait, Close returns an error. The
// process is then reaped in the background when it ends.
//
// For [Config.QueueWait] and [Info], a frame waits until the child's pipe has accepted it. Frames that are written
// together all wait until the pipe has accepted the last of them.
//
// A Stdio is a value; its methods do not modify it.
type Stdio struct {
	// Command is the path of the executable, or a name to look up in PATH, as for [exec.Command].
	Command string

	// Args are the arguments, without the command itself.
	Args []string

	// Env is the complete environment of the child, as entries of the form key=value; the last entry of a key
	// counts. Nil means the environment of this process, as for [exec.Cmd]. To add a variable, use
	// append(os.Environ(), "KEY=value"). A server that must not see the secrets in this process's environment
	// needs an explicit list, usually with PATH and HOME.
	Env []string

	// Dir is the working directory of the child. Empty means the directory of this process.
	Dir string

	// Stderr, if not nil, is called with each line of the child's standard error, sequentially from one goroutine,
	// without line ending and with invalid UTF-8 replaced. A line of more than 64 KiB is split into pieces of that
	// size. Until Stderr returns, standard error is not read, and a child that fills its pipe waits. Close waits
	// for Stderr too, so Stderr must not call Close.
	//
	// The lines also go to [Config.Logger] at debug level, and the last ones into the [ExitError].
	Stderr func(line string)

	// TraceContext, if true, gives the child the trace context of the attempt to connect in environment variables:
	// TRACEPARENT, TRACESTATE and BAGGAGE, or those of another propagator, such as B3 and X_AMZN_TRACE_ID. That context is
	// for the child's work before the first request; each request has its own trace context in its _meta. TraceContext is
	// off by default: a child that uses its environment as the parent of all its spans would put all of them into one
	// endless trace.
	TraceContext bool

	// Grace bounds [Conn.Close] when its context has no deadline. Zero means 5 s.
	Grace time.Duration
}

// Name returns the base name of the command, without the extension .exe.
func (s Stdio) Name() string {
	return strings.TrimSuffix(filepath.Base(s.Command), ".exe")
}

// Network reports a pipe.
func (s Stdio) Network() Network { return Network{Transport: "pipe"} }

// Dial starts the child and returns as soon as it runs, before it is known whether the child is an MCP server. The
// error is permanent, in the sense of [Permanent], if the executable does not exist, may not be executed or is not an
// executable.
func (s Stdio) Dial(ctx context.Context, cfg Config) (Conn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if s.Command == "" {
		return nil, permanentError{errors.New("the server has no command: Stdio.Command is empty")}
	}
	ours, theirs, err := openStreams()
	if err != nil {
		return nil, err
	}
	proc, err := startProcess(s.cmd(theirs, &cfg))
	theirs.close()
	if err != nil {
		ours.close()
		err = s.notStarted(err)
		if errors.Is(err, syscall.ENOEXEC) {
			err = permanentError{err}
		}
		return nil, err
	}
	c := newStdioConn(s, cfg, proc, ours)
	if ctx.Err() != nil {
		return nil, errors.Join(context.Cause(ctx), c.Close(ctx))
	}
	return c, nil
}

func (s Stdio) cmd(std streams, cfg *Config) *exec.Cmd {
	cmd := exec.Command(s.Command, s.Args...)
	cmd.Env, cmd.Dir = s.Env, s.Dir
	if s.TraceContext && (cfg.Traceparent != "" || len(cfg.Propagated) > 0) {
		if cmd.Env == nil {
			cmd.Env = os.Environ()
		}
		cmd.Env = withTraceContext(cmd.Env, cfg)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = std.in, std.out, std.err
	return cmd
}

// withTraceContext returns a copy of env with the trace context of cfg in place of its own.
// (OpenTelemetry specification, "Environment Variables as Context Propagation Carriers")
func withTraceContext(env []string, cfg *Config) []string {
	names := map[string]string{"TRACEPARENT": cfg.Traceparent, "TRACESTATE": cfg.Tracestate, "BAGGAGE": cfg.Baggage}
	for key, value := range cfg.Propagated {
		names[variable(key)] = value
	}
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, ours := names[name]
		return ours
	})
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if names[name] != "" {
			env = append(env, name+"="+names[name])
		}
	}
	return env
}

// variable returns the environment variable for a key of a propagator.
func variable(key string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, key)
}

// streams holds one end of each pipe to the child's standard streams.
type streams struct{ in, out, err *os.File }

// openStreams creates the pipes. The ends of this process are in non-blocking mode. They must stay in that mode, so
// their Fd method must not be called.
func openStreams() (ours, theirs streams, err error) {
	defer func() {
		if err != nil {
			ours.close()
			theirs.close()
		}
	}()
	if theirs.in, ours.in, err = os.Pipe(); err != nil {
		return
	}
	if ours.out, theirs.out, err = os.Pipe(); err != nil {
		return
	}
	if ours.err, theirs.err, err = os.Pipe(); err != nil {
		return
	}
	enlarge(ours.out)
	return
}

func (s streams) close() {
	for _, f := range []*os.File{s.in, s.out, s.err} {
		if f != nil {
			_ = f.Close() // a pipe has no buffered data to lose
		}
	}
}
