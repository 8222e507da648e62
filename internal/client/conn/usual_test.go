package conn

import (
	"reflect"
	"runtime"
	"sync"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
)

func saidBy(name string) *Said { return &Said{Server: mcp.Implementation{Name: name}} }

func same(a, b *Said) bool { return reflect.DeepEqual(a, b) }

func TestSessionsShareEqualServerInfo(t *testing.T) {
	var u Usual[Said]
	first := u.Of(saidBy("a"), same)
	if u.Of(saidBy("a"), same) != first {
		t.Error("equal descriptions are not shared")
	}
	other := u.Of(saidBy("b"), same)
	if other == first || other.Server.Name != "b" || first.Server.Name != "a" {
		t.Errorf("got %q and %q, want each server's own description", first.Server.Name, other.Server.Name)
	}
	if u.Of(saidBy("b"), same) != other {
		t.Error("the latest description is not shared")
	}
	runtime.KeepAlive(first)
	runtime.KeepAlive(other)
}

func TestUnusedServerInfoIsNotKept(t *testing.T) {
	var u Usual[Said]
	u.Of(saidBy("a"), same)
	runtime.GC()
	runtime.GC()
	if u.latest.Value() != nil {
		t.Error("the unused description is still in memory")
	}
}

func TestConcurrentSessionsGetTheirOwnServerInfo(t *testing.T) {
	var u Usual[Said]
	var all sync.WaitGroup
	for i := range 64 {
		name := []string{"a", "b"}[i%2]
		all.Go(func() {
			for range 100 {
				if got := u.Of(saidBy(name), same); got.Server.Name != name {
					t.Errorf("got %q, want %q", got.Server.Name, name)
				}
			}
		})
	}
	all.Wait()
}
