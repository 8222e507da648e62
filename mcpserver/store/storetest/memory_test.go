package storetest_test

import "testing"

func TestMemoryTasksPassesConformanceTests(t *testing.T) { testTasks(t) }
