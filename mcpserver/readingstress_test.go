package mcpserver_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// A client calls tools in bursts, answers questions and cancels calls. Most calls are quick; some wait, ask or fail.
func TestRandomQuickToolsAnswerEachRequestOnce(t *testing.T) {
	seeds := uint64(8)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			s := withTool(t, mcpserver.Options{Limits: mcpserver.Limits{Concurrent: 1 + random.IntN(8)}}, "tool", moods)
			w := openedAble(t, s, "2025-11-25")
			open := map[any]bool{} // ids without an answer
			sent := 0
			for id := range 2000 {
				mood := "quick"
				if random.IntN(50) == 0 {
					mood = []string{"short", "slow", "ask", "panic", "exit", "wait"}[random.IntN(6)]
				}
				open[float64(id)] = true
				time.Sleep(time.Duration(random.IntN(2)))
				w.in <- received{frame: []byte(callOf(id, "tool", fmt.Sprintf(`{"mood":%q}`, mood)))}
				if mood == "wait" {
					w.in <- received{frame: fmt.Appendf(nil,
						`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id)}
					delete(open, float64(id))
				}
				if random.IntN(10) == 0 {
					time.Sleep(time.Duration(random.IntN(400)) * time.Microsecond)
				}
				if id%50 == 49 {
					time.Sleep(time.Second)
					for synctest.Wait(); ; synctest.Wait() {
						out := w.taken()
						if len(out) == 0 {
							break
						}
						for _, frame := range out {
							m := decoded(t, frame)
							if m.Method == mcp.MethodListRoots {
								sent++
								w.in <- received{frame: fmt.Appendf(nil, noRoots, int(m.ID.(float64)))}
								continue
							}
							if !open[m.ID] {
								t.Errorf("seed %d: %s answers nothing that is asked", seed, frame)
							}
							delete(open, m.ID)
						}
						time.Sleep(time.Second)
					}
				}
			}
			if len(open) > 0 || sent == 0 {
				t.Errorf("seed %d: no answers to %v, and %d questions, want answers to all and some questions", seed, open, sent)
			}
			if err := w.finish(); err != nil {
				t.Error(err)
			}
		})
	}
}

// moods is a tool whose arguments select its behaviour.
func moods(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
	switch string(r.Arguments) {
	case `{"mood":"short"}`:
		time.Sleep(30 * time.Microsecond)
	case `{"mood":"slow"}`:
		time.Sleep(5 * time.Millisecond)
	case `{"mood":"ask"}`:
		return rootsTool(ctx, r)
	case `{"mood":"panic"}`:
		panic("mood")
	case `{"mood":"exit"}`:
		runtime.Goexit()
	case `{"mood":"wait"}`:
		return wait(ctx)
	}
	return nil, nil
}
