package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// sessionRecord is the content of a session in a [store.Sessions], as JSON. Records of older processes lack new fields,
// which then have their zero values. An older process that replaces a record drops new fields.
type sessionRecord struct {
	Principal string    `json:"principal,omitzero"`
	Created   time.Time `json:"created"`
	Heard     int64     `json:"heard,omitzero"`   // position of the latest signal to all processes at creation
	Process   string    `json:"process,omitzero"` // process that has the stream of an HTTP+SSE session

	State
}

// maxRecord limits the size of a session's record in bytes, because the record contains data from the client.
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
