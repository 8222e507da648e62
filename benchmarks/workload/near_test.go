package workload

import (
	"context"
	"testing"
)

func TestIdleClientsAndSessionsAnswerAndClose(t *testing.T) {
	c := Canned{Modern, Text, Tiny}
	call, _ := c.sizes()
	for _, p := range peers() {
		n := newNear(c)
		client, err := p.Pipe(WithEra(context.Background(), Modern), n, n)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := client.Call(context.Background(), TinyTool); err != nil || !p.Right(call, n) {
			t.Errorf("%s: want %d bytes, got %d, %v", p.Name, call.Content, n, err)
		}
		if err := client.Close(); err != nil {
			t.Errorf("%s: close: %v", p.Name, err)
		}
	}
	for _, s := range []Server{FloorServer, FloorJSONServer, OursServer} {
		stop, err := idleSession(s)
		if err == nil {
			err = stop()
		}
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}
