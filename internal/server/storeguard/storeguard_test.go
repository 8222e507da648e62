package storeguard

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// badStore fails in every method.
type badStore struct{ fail func() }

func (b badStore) Append(context.Context, string, store.Event) error { b.fail(); return nil }
func (b badStore) Forget(string)                                     { b.fail() }

func (b badStore) Behind(context.Context, string, store.EventID) iter.Seq2[store.Event, error] {
	return func(func(store.Event, error) bool) { b.fail() }
}

func (b badStore) Open(context.Context, string, []byte) (int64, error) { b.fail(); return 0, nil }

func (b badStore) Note(context.Context, string, int64) ([]byte, error) { b.fail(); return nil, nil }

func (b badStore) Latest(context.Context, string) (int64, error) { b.fail(); return 0, nil }

func (b badStore) Follow(context.Context, string, store.EventID) iter.Seq2[store.Event, error] {
	b.fail()
	return nil
}

func (b badStore) Create(context.Context, string, []byte, time.Duration) error { b.fail(); return nil }

func (b badStore) Use(context.Context, string, int64, time.Duration) ([]byte, int64, error) {
	b.fail()
	return nil, 0, nil
}

func (b badStore) Replace(context.Context, string, []byte, int64) error { b.fail(); return nil }

func (b badStore) Delete(context.Context, string, time.Duration) (bool, error) {
	b.fail()
	return false, nil
}

func (b badStore) Beat(context.Context, string, time.Duration) error { b.fail(); return nil }
func (b badStore) Alive(context.Context, string) (bool, error)       { b.fail(); return false, nil }
func (b badStore) Publish(context.Context, string, []byte) error     { b.fail(); return nil }

func (b badStore) Receive(context.Context, string, int64) iter.Seq2[store.Message, error] {
	return func(yield func(store.Message, error) bool) {
		if yield(store.Message{Position: 1}, nil) {
			b.fail()
		}
	}
}

func (b badStore) Load(context.Context, string) (*store.Task, error) { b.fail(); return nil, nil }
func (b badStore) Save(context.Context, *store.Task) error           { b.fail(); return nil }

func (b badStore) List(context.Context, string, store.TaskPlace, int) ([]*store.Task, error) {
	b.fail()
	return nil, nil
}

func (b badStore) Watch(context.Context, func(string, int64)) (func(), error) {
	b.fail()
	return nil, nil
}

// TestPanicOrGoexitInStoreBecomesError calls every method of every kind of store.
func TestPanicOrGoexitInStoreBecomesError(t *testing.T) {
	for name, fail := range map[string]func(){"panic": func() { panic("oops") }, "exit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			bad, asked, failures := badStore{fail}, 0, 0
			apart := Apart(func(_ context.Context, _ string, f func()) error {
				if failure := usercode.Apart(f); failure != nil {
					failures++
					return failure
				}
				return nil
			})
			for kind, store := range map[reflect.Type]any{
				reflect.TypeFor[store.Events]():       apart.Events(struct{ store.Events }{bad}),
				reflect.TypeFor[store.SharedEvents](): apart.Events(bad),
				reflect.TypeFor[store.Sessions]():     apart.Sessions(bad),
				reflect.TypeFor[store.Tasks]():        apart.Tasks(bad),
			} {
				if !reflect.TypeOf(store).Implements(kind) {
					t.Fatalf("%T does not implement %v", store, kind)
				}
				for m := range kind.Methods() {
					asked++
					var err error
					if failure := usercode.Apart(func() {
						err = ask(t, reflect.ValueOf(store).MethodByName(m.Name))
					}); failure != nil {
						t.Errorf("%v.%s: %v\n%s", kind, m.Name, failure, failure.Stack)
					}
					if _, ok := errors.AsType[*usercode.Failure](err); !ok && m.Name != "Forget" {
						t.Errorf("%v.%s: got the error %v, want the failure", kind, m.Name, err)
					}
				}
			}
			if failures != asked {
				t.Errorf("%d failures reported, want %d", failures, asked)
			}
		})
	}
}

// ask calls a method with zero arguments, and returns its error, or the last error of its sequence.
func ask(t *testing.T, m reflect.Value) (err error) {
	var in []reflect.Value
	for p := range m.Type().Ins() {
		if p == reflect.TypeFor[context.Context]() {
			in = append(in, reflect.ValueOf(t.Context()))
		} else {
			in = append(in, reflect.Zero(p))
		}
	}
	for _, out := range m.Call(in) {
		switch v := out.Interface().(type) {
		case error:
			err = v
		case iter.Seq2[store.Event, error]:
			for _, err = range v {
			}
		case iter.Seq2[store.Message, error]:
			for _, err = range v {
			}
		}
	}
	return err
}
