package mcpclient

import "testing"

func TestOpenTasksAreBounded(t *testing.T) {
	o := new(openTasks)
	over := &Task{made: true, over: true}
	o.add(over)
	if o.some() {
		t.Error("a task that has ended: want none open")
	}
	first := &Task{made: true}
	o.add(first)
	for range 2 * maxOpenTasks {
		o.add(&Task{made: true, over: true})
	}
	if len(o.all) > maxOpenTasks || !o.some() {
		t.Errorf("want at most %d tasks and the open one, got %d", maxOpenTasks, len(o.all))
	}
	for range 2 * maxOpenTasks {
		o.add(&Task{made: true})
	}
	if len(o.all) != maxOpenTasks {
		t.Errorf("want %d open tasks at most, got %d", maxOpenTasks, len(o.all))
	}
}
