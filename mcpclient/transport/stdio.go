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

// Stdio starts a server as a child process, one for each Dial, and talks to it over its standard streams, a line a
// frame. (specification 2026-07-28, basic/transports/stdio)
//
// The child leads a process group of its own (a job on Windows): a Ctrl-C meant for the client does not reach it, and
// closing ends its descendants too. When the child ends, so does what is left of its group. If the client dies without
// closing, the child reads the end of its standard input, which is its sign to exit.
//
// When the child ends, [Conn.Receive] returns what it has still written and then an [*ExitError], about 50 ms later at
// most even if a process that has left the group holds the streams open. A child that closes its standard output and
// lives is reported as [io.EOF] after a quarter of a second.
//
// [Conn.Close] lets what has been accepted go out, closes the child's standard input and gives it until 40 % of the
// time there is; then SIGTERM to the group and 30 % more; then SIGKILL to the group. Windows has no SIGTERM, so there
// the job is terminated in the end. A context that is cancelled brings SIGKILL at once. A process the kernel does not
// let go of two seconds after that, in an uninterruptible wait, is reported as an error and reaped in the background
// whenever it ends.
//
// A frame waits, in the sense of [Config.QueueWait] and [Info], until the child's pipe has taken it. Frames that are
// written together leave when the last of them has.
//
// A Stdio is a value; its methods do not change it.
type Stdio struct {
	// Command is the path of the executable, or a name to look up in PATH, by the rules of [exec.Command].
	Command string

	// Args are the arguments, without the command itself.
	Args []string

	// Env is the environment of the child, by the rule of [exec.Cmd]: nil means that of this process, and otherwise these
	// entries of the form key=value are all there is; of equal keys the last one counts. To add to this process's own,
	// write append(os.Environ(), "KEY=value"). A server that is not trusted with what this process has in its environment
	// gets a list of its own, usually with PATH and HOME.
	Env []string

	// Dir is the working directory of the child. Empty means that of this process.
	Dir string

	// Stderr, if not nil, is called with each line the child writes to its standard error, one after the other from one
	// goroutine, without line ending and with invalid UTF-8 replaced. A line of more than 64 KiB comes in pieces of that
	// size. As long as Stderr does not return, nothing is read, and a child that writes more than its pipe holds waits;
	// Close waits for it too, so it must not call Close.
	//
	// The lines go to [Config.Logger] at debug level as well, and the last of them into the [ExitError].
	Stderr func(line string)

	// TraceContext gives the child the trace context of the attempt to connect, in the environment variables TRACEPARENT,
	// TRACESTATE and BAGGAGE, or those of another propagator, such as B3 and X_AMZN_TRACE_ID, for what it does before the
	// first request. Each request has its own in its _meta. It is off by default: a child that makes its environment the
	// parent of all its spans would put them into one endless trace.
	TraceContext bool

	// Grace is how long [Conn.Close] may take when its context has no deadline. Zero means 5 s.
	Grace time.Duration
}

// Name returns the base name of the command, without the extension .exe.
func (s Stdio) Name() string {
	return strings.TrimSuffix(filepath.Base(s.Command), ".exe")
}

// Network says that the server is at the other end of a pipe.
func (s Stdio) Network() Network { return Network{Transport: "pipe"} }

// Dial starts the child. It returns as soon as that runs; whether it is a server shows when it answers. The error is
// permanent, in the sense of [Permanent], if the executable does not exist, may not be executed or is no executable.
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

// withTraceContext returns the environment with the trace context in place of any that it has.
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

// variable returns the name of the environment variable for a key of a propagator.
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

// streams are one end each of the pipes to the child's standard streams.
type streams struct{ in, out, err *os.File }

// openStreams makes the pipes. Our ends are in non-blocking mode and stay so as long as their Fd method is not called.
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
			_ = f.Close() // an end of a pipe: nothing is buffered that could be lost
		}
	}
}
