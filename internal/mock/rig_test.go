package mock_test

import (
	"errors"
	"testing"

	"github.com/mcpotel/mcpotel/internal/mock"
	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/testsupport/conversation"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

type input struct {
	N int `json:"n"`
}

func parsed(t *testing.T, text []byte) *recording.File {
	t.Helper()
	f, err := recording.Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return f
}

func served(t *testing.T, f *recording.File, o *mock.Options) transport.Transport {
	t.Helper()
	own := mock.Options{Problem: func(text string) { t.Errorf("a problem: %s", text) }}
	if o != nil {
		own = *o
	}
	s, err := mock.New(f, &own)
	must(t, err)
	return conversation.Reach(s)
}

// recorded returns a recording of a client's session with a server that has every recordable feature.
func recorded(t *testing.T, use func(transport.Transport)) *recording.File {
	t.Helper()
	return parsed(t, conversation.Record(t, conversation.Reach(conversation.Full(t)), true, use))
}
