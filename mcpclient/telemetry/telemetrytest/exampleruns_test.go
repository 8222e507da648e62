package telemetrytest_test

import "testing"

func TestTheExampleHolds(t *testing.T) { failureIsSeen(t) }
