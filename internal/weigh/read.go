package weigh

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"io"
	"reflect"
)

// A Budget bounds the JSON of all answers to one question together: as text, and as Go values. Its zero value allows
// nothing. It is not safe for concurrent use.
type Budget struct {
	Text   int // remaining bytes of text, for one or several answers
	Values int // remaining bytes of memory for their values
}

// Read decodes the JSON text in r into v, a pointer, and charges the budget for the text and the values. If the budget
// does not suffice, the error is [ErrTooMuch] and nothing is decoded.
func (b *Budget) Read(r io.Reader, v any) error {
	var all bytes.Buffer
	if _, err := all.ReadFrom(io.LimitReader(r, int64(b.Text)+1)); err != nil {
		return err
	}
	text := all.Bytes()
	if len(text) > b.Text {
		return fmt.Errorf("the text has more than %d KiB: %w", b.Text>>10, ErrTooMuch)
	}
	if err := b.Charge(len(text), Of(reflect.TypeOf(v).Elem()).of(text)); err != nil {
		return err
	}
	return stdjson.Unmarshal(text, v)
}

// Charge subtracts from the budget. The error is [ErrTooMuch].
func (b *Budget) Charge(text, values int) error {
	if text > b.Text || values > b.Values {
		return fmt.Errorf("%d KiB of JSON take %w, more than %d KiB", text>>10, ErrTooMuch, b.Values>>10)
	}
	b.Text, b.Values = b.Text-text, b.Values-values
	return nil
}
