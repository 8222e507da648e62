package instrument

import (
	"reflect"
	"sync"
	"testing"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/mcpotel/mcpotel/internal/instrument/series"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// budgets returns all budgets of a meter.
func (i *instruments) budgets() []*series.Budget {
	all := []*series.Budget{&i.durations[0], &i.durations[1]}
	for _, p := range []*places{&i.clientPlaces, &i.serverPlaces} {
		all = append(all, &p.plain, &p.active, &p.handlers, &p.panic, &p.notification, &p.violation, &p.drop, &p.retry,
			&p.size, &p.decode, &p.lost, &p.stream, &p.streamEnd, &p.session, &p.transition, &p.attempt, &p.lookup, &p.result,
			&p.loop, &p.toolChange, &p.gap, &p.task, &p.taskEnd, &p.policy)
	}
	return all
}

// The arithmetic of decision 0021: when the longer forms have used all their places, each form still has places left.
func TestBudgetReservesSeriesForEveryAttributeForm(t *testing.T) {
	for i, b := range newInstruments(sdkmetric.NewMeterProvider().Meter("test")).budgets() {
		least := int(reflect.ValueOf(b).Elem().FieldByName("least").Int())
		if least < words.FoldedNames {
			t.Errorf("budget %d: got %d places for the shortest forms, want at least one for each group", i, least)
		}
		if names, groups := b.RoomForNames(), b.RoomForGroups(); names < words.MaxSets/3 || groups < names ||
			groups+least != words.MaxSets {
			t.Errorf("budget %d: got room for %d, %d and %d sets", i, names, groups, words.MaxSets)
		}
		if got := b.RoomForTools(1000); got > b.RoomForTools(1) || b.RoomForTools(1) > words.MaxPrecisely {
			t.Errorf("budget %d: got room for %d sets with tools among 1,000 names, %d with one name", i, got, b.RoomForTools(1))
		}
	}
}

// mutexOf returns the mutex of a value of package series.
func mutexOf(v any) *sync.Mutex {
	return (*sync.Mutex)(reflect.ValueOf(v).Elem().FieldByName("mu").Addr().UnsafePointer())
}

// TestCallDoesNotTakeSharedLocks makes a call while the locks that all clients share are held.
func TestCallDoesNotTakeSharedLocks(t *testing.T) {
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	c := NewClient(telemetry.New(telemetry.WithMeterProvider(meters)), "files", Network{})
	defer c.Close()
	call := func() {
		_, op := c.StartRequest(t.Context(), Request{Method: words.MethodCallTool, TargetKind: Tool, Target: "add"})
		op.Sent(10)
		op.Received(10)
		op.End(Result{})
	}
	call() // the first call gives its attribute sets their places
	for _, b := range c.tel.ins.budgets() {
		mu := mutexOf(b)
		mu.Lock()
		defer mu.Unlock()
	}
	mu := mutexOf(&c.tel.ins.names)
	mu.Lock()
	defer mu.Unlock()
	done := make(chan struct{})
	go func() { call(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("a call waits for a lock that all clients share")
	}
}
