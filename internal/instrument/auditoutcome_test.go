package instrument

import (
	"errors"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// TestOutcomesOfEveryResult compares what the end of a call proves with a table, for every combination of facts.
func TestOutcomesOfEveryResult(t *testing.T) {
	bools, errBroken := []bool{false, true}, errors.New("broken pipe")
	n := 0
	for _, sent := range bools {
		for _, unsent := range bools {
			for _, toolError := range bools {
				for _, left := range bools {
					for _, code := range []int64{0, -32700, -32600, -32601, -32602, -32603, -32002, 7} {
						for _, errorType := range []string{"", names.ErrorTimeout, names.ErrorConnectionLost, "503"} {
							for _, err := range []error{nil, errBroken} {
								for _, resultType := range []string{"", "complete", "input_required", "task", "acme"} {
									r := Result{Unsent: unsent, ToolError: toolError, CallerLeft: left, Code: code,
										HasCode: code != 0, ErrorType: errorType, Err: err, ResultType: resultType}
									failed := left || code != 0 || errorType != "" || err != nil
									want := names.AuditMayHaveRun
									switch {
									case !sent, unsent:
										want = names.AuditDidNotRun
									case toolError, !failed && (resultType == "" || resultType == "complete"):
										want = names.AuditRan
									}
									if got := toolRunOf(&r, sent).String(); got != want {
										t.Fatalf("sent %t, %+v: got %s, want %s", sent, r, got, want)
									}
									n++
								}
							}
						}
					}
				}
			}
		}
	}
	if n == 0 {
		t.Error("nothing was compared")
	}
}
