// Command shop runs the public benchmark of MCP servers by TM Dev Lab, version 2, with three Go libraries and without
// containers: see package shop.
//
//	go -C benchmarks/peers run ./cmd/shop                # each library, one after the other
//	go -C benchmarks/peers run ./cmd/shop serve mcpotel  # one server, for the benchmark's own containers
//
// It needs redis-server. The servers are processes of their own; Redis, the web service and the load share the machine
// with them. So the rate is that of the whole machine, and the CPU time of a request is that of the server alone.
//
// The command serve reads the addresses of the contract from the environment: API_SERVICE_URL, REDIS_URL and PORT.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/mcpotel/mcpotel/benchmarks/peers/shop"
	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	clients := flag.Int("clients", 50, "number of `clients`")
	warm := flag.Duration("warm", 5*time.Second, "`time` before the measurement")
	measured := flag.Duration("for", 30*time.Second, "measured `time` of each server")
	flag.Parse()
	var err error
	switch {
	case flag.NArg() == 2 && flag.Arg(0) == "serve":
		err = serve(ctx, flag.Arg(1))
	case flag.NArg() == 0:
		err = compare(ctx, *clients, *warm, *measured)
	default:
		err = fmt.Errorf("unexpected arguments %q: want none, or serve and one of %q", flag.Args(), shop.Libraries)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "shop:", err)
		os.Exit(1)
	}
}

// serve runs the server of a library until ctx ends. It prints the URL of the server.
func serve(ctx context.Context, library string) error {
	s, err := shop.Open(library, cmp.Or(os.Getenv("API_SERVICE_URL"), "http://mcp-api-service:8100"),
		cmp.Or(os.Getenv("REDIS_URL"), "redis://mcp-redis:6379"))
	if err != nil {
		return err
	}
	defer s.Close()
	handler, err := shop.Server(library, s)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", ":"+cmp.Or(os.Getenv("PORT"), "8097"))
	if err != nil {
		return err
	}
	fmt.Printf("http://127.0.0.1:%d/mcp\n", l.Addr().(*net.TCPAddr).Port)
	return serveUntil(ctx, l, handler)
}

// serveUntil serves until ctx ends, and waits for the running requests.
func serveUntil(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return server.Shutdown(patience)
}

// compare measures the servers of all libraries.
func compare(ctx context.Context, clients int, warm, measured time.Duration) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	redisURL, endRedis, err := startRedis(ctx)
	if err != nil {
		return err
	}
	defer endRedis()
	if err := shop.Fill(ctx, redisURL); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	over := make(chan error, 1)
	go func() { over <- serveUntil(ctx, l, shop.Service()) }()
	defer func() { stop(); <-over }()
	env := append(os.Environ(), "API_SERVICE_URL=http://"+l.Addr().String(), "REDIS_URL="+redisURL, "PORT=0")
	fmt.Println("| server | requests/s | mean | p50 | p95 | p99 | CPU of a request | memory |")
	fmt.Println("|---|--:|--:|--:|--:|--:|--:|--:|")
	for _, library := range shop.Libraries {
		if err := one(ctx, library, env, clients, warm, measured); err != nil {
			return fmt.Errorf("%s: %w", library, err)
		}
	}
	return nil
}

// one measures the server of a library, and prints its row.
func one(ctx context.Context, library string, env []string, clients int, warm, measured time.Duration) (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	server := exec.CommandContext(ctx, self, "serve", library)
	server.Env, server.Stderr = env, os.Stderr
	server.Cancel = func() error { return server.Process.Signal(syscall.SIGTERM) }
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	var url string
	_, err = fmt.Fscan(out, &url)
	var r *shop.Report
	if err == nil {
		r, err = shop.Load(ctx, url, clients, warm, measured)
	}
	err = errors.Join(err, server.Process.Signal(syscall.SIGTERM), server.Wait())
	if err != nil {
		return err
	}
	var sum time.Duration
	for _, d := range r.Latencies {
		sum += d
	}
	state, usage := server.ProcessState, ""
	if u, ok := state.SysUsage().(*syscall.Rusage); ok {
		usage = fmt.Sprintf("%d MiB", u.Maxrss>>10)
	}
	spent := float64((state.UserTime() + state.SystemTime()).Microseconds()) / float64(r.Sent)
	fmt.Printf("| %s | %.0f | %v |", library, r.Rate(), ms(sum/time.Duration(len(r.Latencies))))
	for _, q := range []float64{50, 95, 99} {
		fmt.Printf(" %v |", ms(workload.Percentile(r.Latencies, q)))
	}
	fmt.Printf(" %.0f µs | %s |\n", spent, usage)
	return nil
}

func ms(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

// startRedis starts a Redis without persistence, and returns its URL.
func startRedis(ctx context.Context) (url string, end func(), err error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return "", nil, errors.New("redis-server is missing: install the package redis-server")
	}
	dir, err := os.MkdirTemp("", "shop")
	if err != nil {
		return "", nil, err
	}
	socket := dir + "/redis.sock"
	redis := exec.CommandContext(ctx, program, "--port", "0", "--unixsocket", socket, "--save", "", "--dir", dir)
	if err := redis.Start(); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	end = func() {
		_ = redis.Process.Kill()
		_ = redis.Wait()
		_ = os.RemoveAll(dir)
	}
	for range 100 {
		if c, err := net.Dial("unix", socket); err == nil {
			return "unix://" + socket, end, c.Close()
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			end()
			return "", nil, context.Cause(ctx)
		}
	}
	end()
	return "", nil, errors.New("redis-server does not answer")
}
