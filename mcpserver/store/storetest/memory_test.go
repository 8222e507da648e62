package storetest_test

import "testing"

func TestTheMemoryTaskStoreKeepsItsPromises(t *testing.T) { testTasks(t) }
