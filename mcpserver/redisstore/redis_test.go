package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mcpotel/mcpotel/mcpserver/redisstore"
	"github.com/mcpotel/mcpotel/mcpserver/store"
	"github.com/mcpotel/mcpotel/mcpserver/store/storetest"
)

// address is the address of the Redis that all tests share.
var address string

func TestMain(m *testing.M) {
	if served, ok := os.LookupEnv(environmentServe); ok {
		serve(served)
		return
	}
	r, err := startRedis("", "--appendonly", "no")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	address = r.address
	code := m.Run()
	r.stop()
	os.Exit(code)
}

// redisServer is a Redis process of the tests.
type redisServer struct {
	address string
	dir     string
	cmd     *exec.Cmd
	exited  chan error
}

// startRedis starts Redis on a free port. dir is its directory; empty means a new one. If another process takes the
// port first, startRedis tries again.
func startRedis(dir string, arguments ...string) (*redisServer, error) {
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, errors.New("redis-server is missing, version 7 or later, which tests need: apt-get install redis-server")
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "redisstore"); err != nil {
			return nil, err
		}
	}
	for range 5 {
		r, failed := tryRedis(binary, dir, arguments)
		if failed == nil {
			return r, nil
		}
		err = failed
	}
	os.RemoveAll(dir)
	return nil, err
}

func tryRedis(binary, dir string, arguments []string) (*redisServer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &redisServer{address: l.Addr().String(), dir: dir, exited: make(chan error, 1)}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	return r, r.start(binary, port, arguments)
}

// start starts the process and waits until Redis answers.
func (r *redisServer) start(binary string, port int, arguments []string) error {
	r.cmd = exec.Command(binary, append([]string{
		"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", r.dir, "--save", "",
		"--daemonize", "no", "--maxmemory-policy", "noeviction",
	}, arguments...)...)
	diesWithParent(r.cmd)
	if err := r.cmd.Start(); err != nil {
		return err
	}
	go func() { r.exited <- r.cmd.Wait() }()
	c := redis.NewClient(&redis.Options{Addr: r.address})
	defer c.Close()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 1000 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		err := c.Ping(ctx).Err()
		cancel()
		if err == nil {
			return nil
		}
		select {
		case err := <-r.exited:
			return fmt.Errorf("redis-server has exited: %v", err)
		case <-tick.C:
		}
	}
	r.kill()
	return errors.New("redis-server does not answer")
}

// kill kills the process and keeps its directory.
func (r *redisServer) kill() {
	r.cmd.Process.Kill()
	<-r.exited
}

func (r *redisServer) stop() {
	r.kill()
	os.RemoveAll(r.dir)
}

// open returns a store in the shared Redis. The store has its own prefix.
func open(t testing.TB, o *redisstore.Options) (*redisstore.Store, *redis.Client) {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: address})
	if o == nil {
		o = &redisstore.Options{}
	}
	o.Prefix = t.Name() + ":"
	s := redisstore.New(c, o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: want no error, got %v", err)
		}
		c.Close()
	})
	return s, c
}

func TestSessions(t *testing.T) {
	storetest.TestSessions(t, func(t *testing.T) store.Sessions {
		s, _ := open(t, nil)
		return s.Sessions()
	})
}

func TestEvents(t *testing.T) {
	storetest.TestEvents(t, 500, 2<<20, func(t *testing.T) store.SharedEvents {
		s, _ := open(t, &redisstore.Options{MaxEvents: 500, MaxEventBytes: 2 << 20})
		return s.Events()
	})
}

func TestTasks(t *testing.T) {
	storetest.TestTasks(t, storetest.TasksHarness{
		Open: func(t *testing.T) (one, other store.Tasks) {
			a, _ := open(t, nil)
			b, _ := open(t, nil)
			return a.Tasks(), b.Tasks()
		},
		Pass: pass,
		Unit: time.Second,
	})
}

// pass waits until d has passed for Redis and for this process.
func pass(t *testing.T, d time.Duration) {
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}
