package mcpserver_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func TestChangeIsSentAfterStoreRecovers(t *testing.T) {
	isolated(t, mcpserver.HTTPOptions{}, func(t *testing.T, a, b process) {
		s := b.stream("GET", "", "Mcp-Session-Id", b.open("2025-11-25"))
		time.Sleep(time.Second)
		a.store.cut.Store(true)
		a.change()
		time.Sleep(10 * time.Second)
		a.store.cut.Store(false)
		defer time.AfterFunc(time.Minute, s.leave).Stop()
		if m := s.message(); m.Method != mcp.NotificationToolListChanged {
			t.Errorf("got %+v, want the change", m)
		}
		s.leave()
		synctest.Wait()
	})
}

// The client reconnects to another process, or to the process that answered.
func TestStreamEndsThoughStoreLostItsEnd(t *testing.T) {
	for i, name := range []string{"another process", "the same process"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				one, gate, _ := gated(t, mcpserver.Options{})
				other, _, _ := gated(t, mcpserver.Options{})
				all := processes(t, mcpserver.HTTPOptions{}, one, other)
				session := all[0].open("2025-11-25")
				s := all[0].stream("POST", gatedCall, "Mcp-Session-Id", session)
				s.next()
				progress := s.next()
				s.leave()
				all[0].store.lag.Store(true)
				close(gate)
				synctest.Wait()
				all[0].store.lag.Store(false)
				s = all[1-i].resumed(session, progress.ID)
				defer time.AfterFunc(time.Minute, s.leave).Stop()
				if m := s.message(); m.ID != 5.0 || m.Error == nil || !strings.Contains(m.Error.Message, "is lost") {
					t.Errorf("got %+v, want an error that answers the request", m)
				}
				s.over()
				all[0].end()
				all[1].end()
			})
		})
	}
}

func TestProcessWithSignalGapReportsEverythingChanged(t *testing.T) {
	isolated(t, mcpserver.HTTPOptions{}, func(t *testing.T, a, b process) {
		session := a.open("2025-11-25")
		s := a.stream("GET", "", "Mcp-Session-Id", session)
		modern := a.stream("POST", listenFor(1, toolsFilter), modernHeaders("subscriptions/listen", "")...)
		modern.next()
		gone := a.open("2025-11-25")
		other := a.stream("GET", "", "Mcp-Session-Id", gone)
		synctest.Wait()
		a.store.deaf.Store(true)
		b.change()
		b.do("DELETE", "", "Mcp-Session-Id", gone)
		time.Sleep(time.Second)
		a.store.deaf.Store(false)
		b.server.ElicitationComplete("anything")
		for _, e := range []*events{s, modern} {
			if m := e.message(); m.Method != mcp.NotificationToolListChanged {
				t.Errorf("got %+v, want the change", m)
			}
			e.leave()
		}
		other.over()
		synctest.Wait()
	})
}

// The store fails over to a replica that lacks a signal. One process has received the signal and notices the loss. The
// other process cannot notice a gap; the first process informs it of the loss.
func TestProcessReportsSignalsLostByStore(t *testing.T) {
	isolated(t, mcpserver.HTTPOptions{}, func(t *testing.T, a, b process) {
		s := b.stream("GET", "", "Mcp-Session-Id", b.open("2025-11-25"))
		a.server.ElicitationComplete("anything")
		synctest.Wait()
		a.store.lag.Store(true)
		a.change()
		time.Sleep(time.Second)
		a.store.lag.Store(false)
		a.store.back.Store(true)
		a.server.ElicitationComplete("anything")
		defer time.AfterFunc(time.Minute, s.leave).Stop()
		if m := s.message(); m.Method != mcp.NotificationToolListChanged {
			t.Errorf("got %+v, want the change", m)
		}
		s.leave()
		synctest.Wait()
	})
}

// The store fails over to a replica that lacks the signal with which a process takes over a stream.
func TestStreamTakeoverSurvivesLostSignal(t *testing.T) {
	isolated(t, mcpserver.HTTPOptions{}, func(t *testing.T, a, b process) {
		session := a.open("2025-11-25")
		a.server.ElicitationComplete("anything")
		synctest.Wait()
		b.store.lag.Store(true)
		s := b.stream("GET", "", "Mcp-Session-Id", session)
		synctest.Wait()
		b.store.lag.Store(false)
		a.store.back.Store(true)
		a.server.ElicitationComplete("anything")
		time.Sleep(time.Second)
		a.change()
		defer time.AfterFunc(time.Minute, s.leave).Stop()
		if m := s.message(); m.Method != mcp.NotificationToolListChanged {
			t.Errorf("got %+v, want the change", m)
		}
		s.leave()
		synctest.Wait()
	})
}

// A store that has lost signals repeats earlier signals. One of them announces that another process reads the stream.
func TestRepeatedSignalsDoNotEndStreams(t *testing.T) {
	isolated(t, mcpserver.HTTPOptions{}, func(t *testing.T, a, b process) {
		session := a.open("2025-11-25")
		a.stream("GET", "", "Mcp-Session-Id", session).leave()
		s := b.stream("GET", "", "Mcp-Session-Id", session)
		synctest.Wait()
		b.store.all.Store(true)
		a.change()
		time.Sleep(time.Second)
		a.change()
		defer time.AfterFunc(time.Minute, s.leave).Stop()
		for range 2 {
			if m := s.message(); m.Method != mcp.NotificationToolListChanged && m.Method != mcp.NotificationPromptListChanged {
				t.Errorf("got %+v, want a change", m)
			}
		}
		s.leave()
		synctest.Wait()
	})
}
