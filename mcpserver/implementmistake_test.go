package mcpserver_test

import (
	"context"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

type halfASubscriber struct{ shelf }

func (halfASubscriber) SubscribeResource(context.Context, string) error { return nil }

type oddInit struct{ toolbox }

func (oddInit) Init(*mcpserver.Session) {}

type oddInitByPointer struct{ toolbox }

func (*oddInitByPointer) Init() error { return nil }

type byPointer struct{ toolbox }

func (*byPointer) SetLevel(context.Context, mcp.LoggingLevel) error { return nil }

func TestImplementRefusesMethodsItWouldNeverCall(t *testing.T) {
	for _, tt := range []struct {
		handler any
		want    string
	}{
		{halfASubscriber{}, "it has SubscribeResource, but no UnsubscribeResource"},
		{oddInit{}, "its method Init does not match Initializer, which has Init(context.Context, *mcpserver.Session) error"},
		{&oddInitByPointer{}, "its method Init does not match Initializer"},
		{byPointer{}, "only *mcpserver_test.byPointer has the methods of LevelSetter: pass a pointer"},
	} {
		if err := empty(t, nil).Implement(tt.handler); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Implement(%T) returned %v, want %q", tt.handler, err, tt.want)
		}
	}
	if err := empty(t, nil).Implement(&byPointer{}); err != nil {
		t.Errorf("a handler with complete interfaces was refused: %v", err)
	}
}
