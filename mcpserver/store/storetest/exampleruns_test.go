package storetest_test

import "testing"

func TestTheExampleHolds(t *testing.T) { testSessions(t) }
