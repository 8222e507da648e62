package telemetrytest_test

import "testing"

func TestExampleRuns(t *testing.T) { failureIsSeen(t) }
