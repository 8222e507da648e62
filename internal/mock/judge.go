package mock

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/relay"
)

// compareAnswer reports a problem if a host's answer differs from the recorded one. Errors differ if their codes do.
func (m *mock) compareAnswer(recorded *recording.Entry, result json.RawMessage, err error) {
	answered, isError := errors.AsType[*relay.Error](err)
	switch {
	case err != nil && !isError: // the host has disconnected, or the request was cancelled
	case isError != (recorded.Kind == recording.Error):
		m.problem(fmt.Sprintf("the host answered %s with %s, but with %s in the recording, entry %d", recorded.Method,
			outcome(isError), outcome(!isError), recorded.Seq))
	case isError && answered.Server.Code != recorded.Code:
		m.problem(fmt.Sprintf("the host answered %s with the error %d, but with %d in the recording, entry %d",
			recorded.Method, answered.Server.Code, recorded.Code, recorded.Seq))
	case !isError:
		var all []string
		for _, d := range recording.Compare(recording.ValueOf(recorded.Content), recording.ValueOf(result), m.wild,
			maxDifferences) {
			all = append(all, d.String())
		}
		if all != nil {
			m.problem(fmt.Sprintf("the host's answer to %s differs from the recorded one, entry %d, in %s", recorded.Method,
				recorded.Seq, strings.Join(all, "; ")))
		}
	}
}

func outcome(isError bool) string {
	if isError {
		return "an error"
	}
	return "a result"
}
