package redisstore_test

import (
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mcpotel/mcpotel/mcpserver/redisstore"
	"github.com/mcpotel/mcpotel/mcpserver/store"
	"github.com/mcpotel/mcpotel/mcpserver/store/storetest"
)

const slots = 16384

// startCluster starts a cluster of one node that has all slots. Like every cluster, it refuses commands and scripts
// that use keys in several slots.
func startCluster(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	bus := l.Addr().(*net.TCPAddr).Port
	l.Close()
	r, err := startRedis("", "--appendonly", "no", "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(bus))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.stop)
	c := redis.NewClient(&redis.Options{Addr: r.address})
	defer c.Close()
	all := make([]int, slots)
	for i := range all {
		all[i] = i
	}
	if err := c.ClusterAddSlots(t.Context(), all...).Err(); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 1000 { // the cluster needs a moment to become ready
		if err = c.Set(t.Context(), "x", 1, time.Second).Err(); err == nil {
			return r.address
		}
		<-tick.C
	}
	t.Fatal(err)
	return ""
}

// TestStoresPassConformanceTestsInCluster runs the conformance tests of all stores in a cluster.
func TestStoresPassConformanceTestsInCluster(t *testing.T) {
	cluster := startCluster(t)
	open := func(t *testing.T, o redisstore.Options) *redisstore.Store {
		c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{cluster}})
		o.Prefix = t.Name() + ":"
		s := redisstore.New(c, &o)
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			c.Close()
		})
		return s
	}
	t.Run("sessions", func(t *testing.T) {
		storetest.TestSessions(t, func(t *testing.T) store.Sessions { return open(t, redisstore.Options{}).Sessions() })
	})
	t.Run("events", func(t *testing.T) {
		storetest.TestEvents(t, 500, 2<<20, func(t *testing.T) store.SharedEvents {
			return open(t, redisstore.Options{MaxEvents: 500, MaxEventBytes: 2 << 20}).Events()
		})
	})
	t.Run("tasks", func(t *testing.T) {
		storetest.TestTasks(t, storetest.TasksHarness{
			Open: func(t *testing.T) (one, other store.Tasks) {
				return open(t, redisstore.Options{}).Tasks(), open(t, redisstore.Options{}).Tasks()
			},
			Pass: pass,
			Unit: time.Second,
		})
	})
}
