package storetest_test

import "testing"

func TestExampleSessionsPassConformanceTests(t *testing.T) { testSessions(t) }

func TestExampleEventsPassConformanceTests(t *testing.T) { testEvents(t) }
