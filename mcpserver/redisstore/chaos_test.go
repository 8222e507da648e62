package redisstore_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mcpotel/mcpotel/mcp"
)

var (
	chaosTime = flag.Duration("chaos.time", 50*time.Second, "how long TestRedisUnderFaults lasts")
	chaosSeed = flag.Uint64("chaos.seed", 0, "draws the faults of TestRedisUnderFaults; 0 for another seed each time")
)

const (
	chaosLease     = 2 * time.Second // shorter than the longest fault
	chaosTaskLease = 8 * time.Second // longer than the longest fault: a task of a process that is alive does not fail
	margin         = 8 * time.Second // for a busy machine
)

// chaos is the state of TestRedisUnderFaults: the load and the Redis that it uses.
type chaos struct {
	*load
	draw    *rand.Rand
	proxy   *lossy // between the processes and Redis
	redis   *redisServer
	stopped *exec.Cmd // suspended process; nil if none is suspended
	names   int       // number of processes so far
	wiped   int       // number of times that Redis has lost all its data
}

// fault is a kind of failure.
type fault struct {
	name string
	fair bool // calls must succeed despite the fault
	do   func(*chaos)
}

var faults = []fault{
	{"a process is killed", false, (*chaos).killProcess},
	{"connections are cut", false, (*chaos).cutClients},
	{"Redis is killed", false, (*chaos).killRedis},
	{"Redis loses its data", false, (*chaos).wipeRedis},
	{"Redis stops for 5 s", false, (*chaos).stopRedis},
	{"a reply of Redis is lost", true, (*chaos).loseReply},
	{"Redis fails over to a replica that lags", false, (*chaos).failOver},
}

// TestRedisUnderFaults runs legacy and modern clients against three processes that share a Redis, and injects one
// fault after the other. It checks the promises of docs/guides/scale-out.md.
func TestRedisUnderFaults(t *testing.T) {
	seed := *chaosSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	lasts := *chaosTime
	if testing.Short() {
		lasts = min(lasts, 10*time.Second)
	}
	t.Logf("go test -run %s -chaos.time %v -chaos.seed %d", t.Name(), lasts, seed)
	c := newChaos(t, seed)
	end := time.Now().Add(lasts)
	for round := 0; time.Now().Before(end) && c.problems() == 0; {
		for _, i := range c.draw.Perm(len(faults)) {
			if round++; time.Now().Before(end) && c.problems() == 0 {
				c.round(round, faults[i])
			}
		}
	}
	c.finish()
	c.sessions()
	t.Logf("calls: %v; the longest took %v", c.count, c.longest.Round(time.Millisecond))
}

func newChaos(t *testing.T, seed uint64) *chaos {
	t.Helper()
	c := &chaos{draw: rand.New(rand.NewPCG(seed, seed))}
	c.redis = c.startRedis(t, "")
	t.Cleanup(func() { c.redis.stop() })
	c.proxy = newLossy(t, c.redis.address)
	c.load = &load{t: t, stop: make(chan struct{}), runs: map[string]*run{}, touches: map[string][]touch{},
		count: map[string]int{}}
	const processes = 3
	c.f = launchServed(t, processes, served{
		Redis: c.proxy.Addr().String(), Prefix: "chaos:", Files: t.TempDir(), Lease: chaosLease, TaskLease: chaosTaskLease,
	}, c.said)
	c.names = processes
	for _, uri := range uris {
		if err := os.WriteFile(c.f.served.Files+"/"+uri[len(uri)-1:], []byte("0"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.join("modern", mcp.Version20260728)
	c.join("legacy", mcp.Version20251125)
	c.join("old", mcp.Version20250618)
	for i, uri := range uris {
		u, version := c.users[i], 0
		c.work.Go(func() {
			u.repeat(80, func() {
				if !c.quiet.Load() {
					version++
					u.touch(uri, version)
				}
			})
		})
	}
	return c
}

func (c *chaos) startRedis(t *testing.T, dir string, arguments ...string) *redisServer {
	t.Helper()
	// With the default appendfsync, Redis may reply up to two seconds before it writes, while it waits for the disk.
	settings := []string{"--appendonly", "yes", "--appendfsync", "no", "--repl-diskless-sync-delay", "0"}
	r, err := startRedis(dir, append(settings, arguments...)...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (c *chaos) problems() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wrong
}

// between returns a random duration.
func (c *chaos) between(from, to time.Duration) time.Duration {
	return from + time.Duration(c.draw.Int64N(int64(to-from)))
}

// round injects one fault, waits until everything works again, and then pauses for a moment.
func (c *chaos) round(n int, f fault) {
	time.Sleep(c.between(200*time.Millisecond, time.Second))
	begun := time.Now()
	c.t.Logf("%s %d: %s", begun.Format("15:04:05.000"), n, f.name)
	c.change(!f.fair)
	c.work.Go(func() {
		v := []mcp.Version{mcp.Version20260728, mcp.Version20251125, mcp.Version20250618}[n%3]
		c.visit(fmt.Sprint("visitor", n), v)
	})
	f.do(c)
	c.goOn()
	c.quiet.Store(true)
	healed := time.Now()
	c.recover(c.f.procs)
	c.t.Logf("%s %d: healed after %v, recovered in %v", time.Now().Format("15:04:05.000"), n,
		healed.Sub(begun).Round(time.Millisecond), time.Since(healed).Round(time.Millisecond))
	for _, p := range c.f.procs {
		select {
		case <-p.dead:
			c.problem("process %s has died by itself", p.name)
		default:
		}
	}
	c.change(false)
	c.quiet.Store(false)
}

func (c *chaos) killProcess() {
	i := c.draw.IntN(len(c.f.procs))
	c.f.procs[i].kill()
	time.Sleep(c.between(0, 500*time.Millisecond))
	p := c.f.start(string(rune('A'+c.names%26)) + fmt.Sprint(c.names/26))
	c.names++
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	c.f.procs[i] = p
}

func (c *chaos) cutClients() { c.f.cut() }

// stopProcess suspends a process until goOn resumes it.
func (c *chaos) stopProcess() {
	c.stopped = c.f.procs[c.draw.IntN(len(c.f.procs))].cmd
	c.signal(c.stopped, syscall.SIGSTOP)
}

func (c *chaos) goOn() {
	if c.stopped != nil {
		c.signal(c.stopped, syscall.SIGCONT)
		c.stopped = nil
	}
}

// wait waits for the duration of a Redis fault. During this time it stops the changes of resources. It may also kill a
// process, cut connections, or suspend a process until the fault is over.
func (c *chaos) wait(lasts time.Duration) {
	end := time.Now().Add(lasts)
	defer time.AfterFunc(c.between(0, lasts+1), func() { c.quiet.Store(true) }).Stop()
	more := []func(*chaos){nil, (*chaos).killProcess, (*chaos).cutClients, (*chaos).stopProcess}[c.draw.IntN(4)]
	time.Sleep(c.between(0, lasts/2+1))
	if more != nil {
		more(c)
	}
	time.Sleep(time.Until(end))
}

// killRedis kills Redis without loss of data, because Redis writes before it replies.
func (c *chaos) killRedis() {
	c.redis.kill()
	c.wait(c.between(0, 3*time.Second))
	c.redis = c.startRedis(c.t, c.redis.dir)
	c.proxy.switchTo(c.redis.address)
}

func (c *chaos) wipeRedis() {
	c.redis.stop()
	c.wait(c.between(0, 3*time.Second))
	c.redis = c.startRedis(c.t, "")
	c.proxy.switchTo(c.redis.address)
	c.wiped++
	c.lose(time.Time{}, time.Now())
}

func (c *chaos) stopRedis() {
	c.signal(c.redis.cmd, syscall.SIGSTOP)
	c.wait(5 * time.Second)
	c.signal(c.redis.cmd, syscall.SIGCONT)
}

func (c *chaos) signal(cmd *exec.Cmd, s syscall.Signal) {
	if err := cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
}

func (c *chaos) loseReply() {
	for range 1 + c.draw.IntN(5) {
		before := c.proxy.lost.Load()
		c.proxy.lose.Store(true)
		for c.proxy.lost.Load() == before {
			time.Sleep(time.Millisecond)
		}
	}
}

// failOver promotes a replica that lacks the latest writes.
func (c *chaos) failOver() {
	host, port, _ := strings.Cut(c.redis.address, ":")
	replica := c.startRedis(c.t, "", "--replicaof", host, port)
	admin := redis.NewClient(&redis.Options{Addr: replica.address})
	defer admin.Close()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	for {
		info, err := admin.Info(ctx, "replication").Result()
		if err != nil {
			c.t.Fatal(err)
		}
		if strings.Contains(info, "master_link_status:up") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	begun := time.Now() // the replica gets no more data
	if err := admin.ReplicaOf(ctx, "NO", "ONE").Err(); err != nil {
		c.t.Fatal(err)
	}
	c.wait(c.between(0, 2*time.Second))
	c.redis.stop()
	c.redis = replica
	c.proxy.switchTo(replica.address)
	c.lose(begun, time.Now())
}

// sessions checks that clients have opened new sessions only if Redis has lost data.
func (c *chaos) sessions() {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	by := map[string]int{}
	for _, client := range c.f.sessions {
		by[client]++
	}
	for _, u := range c.users {
		if most := 1 + c.wiped; !u.modern && (by[u.name] == 0 || by[u.name] > most) {
			c.t.Errorf("%s had %d sessions, want %d at most, for Redis has lost its data", u.name, by[u.name], most)
		}
	}
}
