package mock

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/relay"
)

// judge tells in what the answer of a host differs from the recorded one. Of errors the code counts.
func (m *mock) judge(recorded *recording.Entry, result json.RawMessage, err error) {
	answered, isError := errors.AsType[*relay.Error](err)
	switch {
	case err != nil && !isError: // the host is gone, or has been told that the answer is not wanted
	case isError != (recorded.Kind == recording.Error):
		m.problem(fmt.Sprintf("the host has answered %s with %s, and with %s in the recording, entry %d", recorded.Method,
			outcome(isError), outcome(!isError), recorded.Seq))
	case isError && answered.Server.Code != recorded.Code:
		m.problem(fmt.Sprintf("the host has answered %s with the error %d, and with %d in the recording, entry %d",
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
