package storetest_test

import "testing"

func TestTheExampleHolds(t *testing.T) { testSessions(t) }

func TestTheExampleOfEventsHolds(t *testing.T) { testEvents(t) }
