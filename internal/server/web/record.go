package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// sessionRecord is the content of a session in a [store.Sessions], as JSON. In records of older processes, a new field
// has its zero value. An older process that replaces a record drops the new field.
type sessionRecord struct {
	Principal string    `json:"principal,omitzero"`
	Created   time.Time `json:"created"`
	Heard     int64     `json:"heard,omitzero"`   // position of the latest signal to all at creation
	Process   string    `json:"process,omitzero"` // process that has the stream of an HTTP+SSE session

	State
}

// maxRecord bounds the size of a session's record in bytes: it contains data from the client.
const maxRecord = 1 << 20

var errRecordTooLarge = errors.New("the session's record is too large")

func (r *sessionRecord) encode() ([]byte, error) {
	raw, err := json.Marshal(r)
	switch {
	case err != nil:
		return nil, fmt.Errorf("session record: %w", err)
	case len(raw) > maxRecord:
		return nil, errRecordTooLarge
	}
	return raw, nil
}

func decodeSessionRecord(raw []byte) (r sessionRecord, err error) {
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, fmt.Errorf("session record: %w", err)
	}
	return r, nil
}
