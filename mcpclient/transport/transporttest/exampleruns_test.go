package transporttest_test

import "testing"

func TestExamplePassesTransportTests(t *testing.T) { testContract(t) }
