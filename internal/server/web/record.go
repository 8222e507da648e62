package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// sessionRecord is what a [store.Sessions] keeps of a session, as JSON. What is added to it must be zero in the records
// of older processes, and is lost in those that replace it.
type sessionRecord struct {
	Principal string    `json:"principal,omitzero"`
	Created   time.Time `json:"created"`
	Heard     int64     `json:"heard,omitzero"`   // position among the messages to all at which it was created
	Process   string    `json:"process,omitzero"` // that has the stream of a session of HTTP+SSE

	State
}

// maxRecord is how large the record of a session may be, in bytes: clients say part of what is in it.
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
