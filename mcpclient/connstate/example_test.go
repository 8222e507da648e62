package connstate_test

import (
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

func ExampleTransition() {
	lost := connstate.Transition{
		From:     connstate.Ready,
		To:       connstate.Backoff,
		Reason:   connstate.ReasonTransportDown,
		Epoch:    3,
		Duration: 90 * time.Second,
	}
	fmt.Printf("%v after %v: %v (%v)\n", lost.To, lost.Duration, lost.Reason, lost.From)
	// Output: backoff after 1m30s: transport_down (ready)
}
